"""Room ``training``: fit one model, or many at once, by the paper's protocol."""

from nvgf.training.data import Signals, Task
from nvgf.training.engine import Progress, TrainingInterrupted, fit, fit_many
from nvgf.training.job import Job, Result
from nvgf.training.progress import ProgressBar
from nvgf.training.saving import SavedModel, load_model, save_model
from nvgf.training.schedule import PAPER_AUTHORSHIP, PAPER_MOVIES, Schedule

__all__ = [
    "PAPER_AUTHORSHIP",
    "PAPER_MOVIES",
    "Job",
    "Progress",
    "ProgressBar",
    "Result",
    "SavedModel",
    "Schedule",
    "Signals",
    "Task",
    "TrainingInterrupted",
    "fit",
    "fit_many",
    "load_model",
    "save_model",
]
