"""Design NVGF as a job: the trained GCNN with its activations replaced."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from nvgf.graph import GraphShift
from nvgf.models import GCNN, DesignNVGF
from nvgf.training.data import Signals, Task
from nvgf.training.design_at_node import NodeDesign, readable_at_node
from nvgf.training.job import Job, Result
from nvgf.training.loss import error
from nvgf.training.stack.data import TaskCache

Predict = Callable[[torch.Tensor], torch.Tensor]
"""From signals ``(samples, nodes, features)`` to outputs ``(samples, outputs)``."""


def gcnn_job(job: Job) -> Job:
    """Return the job of the GCNN that a Design NVGF job is designed from."""
    options = {key: value for key, value in job.options.items() if key != "retrain_readout"}
    return replace(job, architecture="gcnn", options=options)


def designed(job: Job, gcnn: Result, cache: TaskCache, keep_weights: bool = True) -> Result:
    """Replace the activations of a trained GCNN by optimal NVGFs, and validate and test what comes out.

    ``curve``, ``losses`` and ``kept_step`` are those of the GCNN, or of the readout's training if it is retrained.
    Where one node is read, the errors are made from its filters alone, and those of the others are designed only for
    ``keep_weights``: the errors are the same either way.
    """
    start = time.perf_counter()
    model, task, retrain = _as_gcnn(gcnn).to(cache.device), job.task, job.options.get("retrain_readout", False)
    x, shift = task.train.x.to(cache.device).float(), cache.shift(task).to(dtype=torch.float32)
    predict: Predict | None = None
    whole: DesignNVGF | None = None
    if task.node is not None and readable_at_node(model):
        predict = NodeDesign(model, x, shift, task.node)
    if predict is None or keep_weights or retrain:
        whole = DesignNVGF.from_gcnn(model, x, shift)
        predict = predict or partial(_outputs, whole, shift, task.node)
    result = replace(
        gcnn,
        job=job,
        valid_error=task_error(predict, task, task.valid, cache.device),
        test_error=task_error(predict, task, task.test, cache.device),
        state={} if whole is None else {name: tensor.cpu() for name, tensor in whole.state_dict().items()},
    )
    if not math.isfinite(gcnn.valid_error):
        # Designed from weights that were never trained: no error of it may look like one of a trained model.
        result = replace(result, valid_error=math.inf, test_error=math.inf)
    elif retrain and whole is not None:
        result = _retrained(result, whole, cache)
    return replace(result, seconds=gcnn.seconds + time.perf_counter() - start)


def task_error(predict: Predict, task: Task, signals: Signals, device: torch.device) -> float:
    """Return the error of predictions for signals of a task: ratio of wrong classes, or RMSE."""
    outputs = predict(signals.x.to(device).float())
    one_hot = task.loss == "cross-entropy"
    y = torch.nn.functional.one_hot(signals.y, outputs.shape[-1]) if one_hot else signals.y.unsqueeze(-1)
    weights = torch.full((1, len(signals)), 1 / len(signals), dtype=torch.float32, device=device)
    return float(error(outputs.unsqueeze(0), y.unsqueeze(0).to(outputs), weights, task.loss))


def _outputs(model: DesignNVGF, shift: GraphShift, node: int | None, x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        outputs: torch.Tensor = model(x, shift)
    return outputs if node is None else outputs[:, node]


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
    diverged_at = result.diverged_at if trained.diverged_at is None else trained.diverged_at
    return replace(trained, state={**result.state, **trained.state}, diverged_at=diverged_at)
