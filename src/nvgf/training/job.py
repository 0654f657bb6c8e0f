"""What to train (:class:`Job`) and what came of it (:class:`Result`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import torch

from nvgf.models import GraphModel, architecture, build
from nvgf.training.data import Task
from nvgf.training.schedule import PAPER_AUTHORSHIP, Schedule


@dataclass(frozen=True)
class Job:
    """One model to train.

    Args:
        architecture: a name of :data:`nvgf.models.ARCHITECTURES`.
        task: graph and signals.
        options: the architecture's hyper-parameters as plain data: ``features``, ``order``, ``basis``, ...; the
            numbers of nodes, input features and outputs, the readout and dropout follow from task and schedule.
            ``"design-nvgf"`` also takes ``retrain_readout``: whether to train the readout anew after the design.
        learning_rate: Adam's.
        seed: of initial weights, order of the signals and dropout; nothing else is random.
        schedule: the protocol.
        tag: anything; carried along to the result.
    """

    architecture: str
    task: Task
    options: Mapping[str, Any] = field(default_factory=dict)
    learning_rate: float = 0.001
    seed: int = 0
    schedule: Schedule = PAPER_AUTHORSHIP
    tag: Any = None

    def __post_init__(self) -> None:
        """Check what can be checked without building the model."""
        architecture(self.architecture)
        for name, kind in (("task", Task), ("schedule", Schedule), ("options", Mapping)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} must be a {kind.__name__}, got {type(getattr(self, name)).__name__}")
        rate = self.learning_rate
        if isinstance(rate, bool) or not isinstance(rate, Real) or not (rate > 0 and math.isfinite(rate)):
            raise ValueError(f"learning_rate must be a positive, finite number, got {rate!r}")
        object.__setattr__(self, "learning_rate", float(rate))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be a whole number from 0 to 2**63 - 1, got {self.seed!r}")
        options = {key: _plain(value) for key, value in self.options.items()}
        if "retrain_readout" in options and self.architecture != "design-nvgf":
            raise ValueError(f"options: only 'design-nvgf' has retrain_readout, not {self.architecture!r}")
        object.__setattr__(self, "options", options)

    def model_options(self) -> dict[str, Any]:
        """Return the arguments of :func:`nvgf.models.build`, apart from the name."""
        options = {key: value for key, value in self.options.items() if key != "retrain_readout"}
        task = self.task
        derived: dict[str, Any] = {
            "num_nodes": task.shift.num_nodes,
            "in_features": task.train.x.shape[-1],
            "readout": "all" if task.node is None else "shared",
            "outputs": task.outputs,
            "dropout": self.schedule.dropout,
        }
        for key in derived.keys() & options.keys():
            if options[key] != derived[key]:
                raise ValueError(f"options: {key} is {derived[key]!r} by task and schedule, got {options[key]!r}")
        return {**derived, **options}

    def build(self, device: torch.device | str | None = None) -> GraphModel:
        """Make the job's model, in float32; its weights are still to be drawn."""
        return build(self.architecture, **self.model_options(), device=device, dtype=torch.float32)


@dataclass(frozen=True)
class Result:
    """A trained model and its record.

    ``curve`` holds the validation error after every ``interval`` steps, ``losses`` the mean training loss of those
    steps. The error is the ratio of wrong classes for cross-entropy and the RMSE for smooth L1. Of equally good
    weights the earliest are kept. A job whose loss or validation error was not finite has ``diverged_at``, the number
    of steps after which it was seen; its kept weights are the best before.

    ``state`` are the kept weights as the model's ``state_dict``, on the CPU; empty if weights were not asked for.
    """

    job: Job
    interval: int
    curve: tuple[float, ...]
    losses: tuple[float, ...]
    kept_step: int
    valid_error: float
    test_error: float
    seconds: float
    diverged_at: int | None
    state: dict[str, torch.Tensor] = field(repr=False)

    @property
    def diverged(self) -> bool:
        """Whether the loss or the validation error became infinite or not a number."""
        return self.diverged_at is not None

    def model(self) -> GraphModel:
        """Return the trained model, in evaluation mode, on the CPU, with weights of its own."""
        if not self.state:
            raise ValueError("weights were not kept: fit with keep_weights=True")
        model = self.job.build(device="meta")
        model.load_state_dict({name: tensor.clone() for name, tensor in self.state.items()}, assign=True)
        return model.eval()


def _plain(value: Any) -> Any:
    """Return a number of numpy's as Python's, also in a list of them: options are stored as JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
