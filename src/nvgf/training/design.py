"""Design NVGF as a job: the trained GCNN with its activations replaced."""

from __future__ import annotations

import time
from dataclasses import replace

import torch

from nvgf.models import GCNN, DesignNVGF
from nvgf.training.data import Signals, Task
from nvgf.training.job import Job, Result
from nvgf.training.loss import error
from nvgf.training.stack.data import TaskCache


def gcnn_job(job: Job) -> Job:
    """Return the job of the GCNN that a Design NVGF job is designed from."""
    options = {key: value for key, value in job.options.items() if key != "retrain_readout"}
    return replace(job, architecture="gcnn", options=options)


def designed(job: Job, gcnn: Result, cache: TaskCache) -> Result:
    """Replace the activations of a trained GCNN by optimal NVGFs, and validate and test what comes out.

    ``curve``, ``losses`` and ``kept_step`` are those of the GCNN, or of the readout's training if it is retrained.
    """
    start = time.perf_counter()
    model = DesignNVGF.from_gcnn(_as_gcnn(gcnn), job.task.train.x.float(), job.task.shift.to(dtype=torch.float32))
    result = replace(
        gcnn,
        job=job,
        valid_error=task_error(model, job.task, job.task.valid),
        test_error=task_error(model, job.task, job.task.test),
        state=model.state_dict(),
    )
    if job.options.get("retrain_readout", False):
        result = _retrained(result, model, cache)
    return replace(result, seconds=gcnn.seconds + time.perf_counter() - start)


def task_error(model: torch.nn.Module, task: Task, signals: Signals) -> float:
    """Return a trained model's error on signals of a task: ratio of wrong classes, or RMSE."""
    with torch.no_grad():
        outputs = model(signals.x.float(), task.shift.to(dtype=torch.float32))
    if task.node is not None:
        outputs = outputs[:, task.node]
    one_hot = task.loss == "cross-entropy"
    y = torch.nn.functional.one_hot(signals.y, outputs.shape[-1]) if one_hot else signals.y.unsqueeze(-1)
    weights = torch.full((1, len(signals)), 1 / len(signals))
    return float(error(outputs.unsqueeze(0), y.unsqueeze(0).to(outputs.dtype), weights, task.loss))


def _as_gcnn(gcnn: Result) -> GCNN:
    model = gcnn.model()
    if not isinstance(model, GCNN):
        raise TypeError(f"gcnn must be the result of a GCNN, got {type(model).__name__}")
    return model


def _retrained(result: Result, model: DesignNVGF, cache: TaskCache) -> Result:
    from nvgf.training.run import Run
    from nvgf.training.stack.readout import ReadoutNet

    run = Run(ReadoutNet(result.job, model, cache))
    while not run.done:
        run.run_block()
    (trained,) = run.results(keep_weights=True)
    return replace(trained, state={**model.state_dict(), **trained.state})
