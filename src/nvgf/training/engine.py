"""``fit`` and ``fit_many``: train one job, or many at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from nvgf.graph.checks import whole_number
from nvgf.training.checkpoint import Checkpoint
from nvgf.training.design import designed, gcnn_job
from nvgf.training.job import Job, Result
from nvgf.training.native import available
from nvgf.training.plan import Piece, plan
from nvgf.training.run import Run
from nvgf.training.stack.data import TaskCache


@dataclass(frozen=True)
class Progress:
    """How far :func:`fit_many` is; ``steps`` counts the training steps of all jobs."""

    jobs_done: int
    jobs: int
    steps_done: int
    steps: int
    best_valid_error: float


ProgressCallback = Callable[[Progress], None]


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C during training; ``results`` are those of the jobs that were done, ``None`` for the others."""

    def __init__(self, results: list[Result | None]) -> None:
        done = sum(result is not None for result in results)
        super().__init__(f"interrupted with {done} of {len(results)} models trained")
        self.results = results


def fit(job: Job, *, device: torch.device | str = "cpu", progress: ProgressCallback | None = None) -> Result:
    """Train one job: a stack of one.

    Example:
        >>> from nvgf import GraphShift
        >>> from nvgf.training import Schedule, Signals, Task
        >>> x, y = torch.rand(60, 3, 1), torch.arange(60) % 2
        >>> x[y == 1, 0] += 1
        >>> part = Signals(x, y)
        >>> task = Task(GraphShift.from_edges([(0, 1), (1, 2)]), part, part, part)
        >>> schedule = Schedule(epochs=20, batch_size=20)
        >>> fit(Job("lsigf", task, {"features": 4, "order": 1}, 0.05, schedule=schedule)).test_error
        0.0
    """
    return fit_many([job], device=device, progress=progress)[0]


def fit_many(
    jobs: Sequence[Job],
    *,
    device: torch.device | str = "cpu",
    progress: ProgressCallback | None = None,
    on_result: Callable[[int, Result], None] | None = None,
    keep_weights: bool = True,
    memory: int | None = None,
    stack_size: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 60.0,
    resume: bool = False,
    native: bool | None = None,
) -> list[Result]:
    """Train many jobs, those of one shape as one stacked model, and return their results in the order of the jobs.

    A job takes the same steps alone and in any stack: its seed alone decides its weights, batches and dropout.
    ``"design-nvgf"`` trains the GCNN of the same options, seed and schedule (once, where it is also a job of its own)
    and designs from it.

    Args:
        jobs: what to train.
        device: where.
        progress: called after each validation.
        on_result: called with the place of a job and its result as soon as it is there.
        keep_weights: whether results hold the trained weights.
        memory: bytes that a stack may fill; by default a share of the device's memory, or of the CPU's cache.
        stack_size: the most jobs of a stack; by default as many as fit.
        checkpoint: a folder to store the training in, so that it can be resumed after a crash.
        checkpoint_seconds: how often a stack in training is stored, at most.
        native: whether to take steps in compiled code on a CPU (extra ``fast``), where there is some for the
            architecture; by default if numba is installed. It agrees with the PyTorch formulas to rounding.
        resume: whether to go on with what ``checkpoint`` holds; on the same CPU the results are the same to the bit.

    Raises:
        TrainingInterrupted: at Ctrl-C, with the results so far.
    """
    jobs = _checked(jobs, memory=memory, stack_size=stack_size)
    if resume and checkpoint is None:
        raise ValueError("resume: name the folder to go on with as checkpoint")
    target = check_device(device)
    results: list[Result | None] = [None] * len(jobs)
    trained, waiting = _arrange(jobs)
    cache = TaskCache(target)
    pieces = plan(trained, target, memory, stack_size)
    store = None
    if checkpoint is not None:
        store = Checkpoint(Path(checkpoint), trained, pieces, resume)
        pieces = store.pieces
    # A checkpoint may be resumed by who wants the weights.
    weights = keep_weights or store is not None or any(job.architecture == "design-nvgf" for job in jobs)
    native = available() if native is None else native
    if native and not available():
        raise ValueError("native: numba is not installed; install nvgf[fast] or use native=False")
    trainer = _Trainer(len(jobs), trained, cache, pieces, store, checkpoint_seconds, progress, weights, native)

    def finish(place: int, result: Result) -> None:
        result = result if keep_weights else replace(result, state={})
        results[place] = result
        trainer.jobs_done += 1
        if on_result is not None:
            on_result(place, result)

    try:
        for number, result in trainer:
            for place in waiting.get(number, ()):
                if jobs[place].architecture == "design-nvgf":
                    finish(place, designed(jobs[place], result, cache, keep_weights))
                else:
                    finish(place, replace(result, job=jobs[place]))
    except KeyboardInterrupt:
        raise TrainingInterrupted(results) from None
    return [result for result in results if result is not None]


def check_device(device: torch.device | str) -> torch.device:
    """Return the device, or say that it is not there."""
    try:
        target = torch.device(device)
    except RuntimeError:
        raise ValueError(f"device must be a torch device such as 'cpu' or 'cuda', got {device!r}") from None
    if target.type == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: no CUDA device is available here; use 'cpu'")
    return target


def _checked(jobs: Sequence[Job], **limits: int | None) -> list[Job]:
    """Return the jobs as a list, if they are jobs and the limits whole numbers of at least 1, or ``None``."""
    if isinstance(jobs, Job) or not all(isinstance(job, Job) for job in jobs):
        raise TypeError("jobs must be a sequence of Job; fit() trains a single one")
    for name, limit in limits.items():
        if limit is not None:
            whole_number(name, limit, 1)
    return list(jobs)


def _arrange(jobs: Sequence[Job]) -> tuple[list[Job], dict[int, list[int]]]:
    """Return what is to be trained, and for each of it the places of the jobs that wait for it."""
    trained: list[Job] = []
    waiting: dict[int, list[int]] = {}
    numbers: dict[tuple[object, ...], int] = {}
    for place, job in enumerate(jobs):
        base = gcnn_job(job) if job.architecture == "design-nvgf" else job
        options = repr(sorted(base.model_options().items()))
        key = id(base.task), base.architecture, options, base.learning_rate, base.seed, base.schedule
        if key not in numbers:
            numbers[key] = len(trained)
            trained.append(base)
        waiting.setdefault(numbers[key], []).append(place)
    return trained, waiting


class _Trainer:
    """Trains stacks one after another, and tells how far it is; who takes the results counts ``jobs_done``."""

    def __init__(
        self,
        total: int,
        jobs: Sequence[Job],
        cache: TaskCache,
        pieces: Sequence[Piece],
        checkpoint: Checkpoint | None,
        checkpoint_seconds: float,
        progress: ProgressCallback | None,
        keep_weights: bool,
        native: bool,
    ) -> None:
        self.total, self.jobs, self.cache, self.pieces = total, jobs, cache, pieces
        self.checkpoint, self.checkpoint_seconds = checkpoint, checkpoint_seconds
        self.progress, self.keep_weights, self.native = progress, keep_weights, native
        self.steps_of = [job.schedule.steps(len(job.task.train)) for job in jobs]
        self.steps_done = self.jobs_done = 0
        self.best = float("inf")

    def __iter__(self) -> Iterator[tuple[int, Result]]:
        for number, piece in enumerate(self.pieces):
            results = self.checkpoint.load_done(number) if self.checkpoint is not None else None
            if results is None:
                results = self._run(number, piece)
            self.steps_done += sum(self.steps_of[n] for n in piece.numbers)
            for place, result in zip(piece.numbers, results, strict=True):
                self.best = min(self.best, result.valid_error)
                yield place, result
            self._report(0)

    def _run(self, number: int, piece: Piece) -> list[Result]:
        run = Run(piece.net([self.jobs[n] for n in piece.numbers], self.cache), self.native)
        if self.checkpoint is not None:
            self.checkpoint.load_running(number, run)
        saved = time.monotonic()
        while not run.done:
            run.run_block()
            if self.checkpoint is not None and time.monotonic() - saved >= self.checkpoint_seconds and not run.done:
                self.checkpoint.save_running(number, run)
                saved = time.monotonic()
            self._report(int(run.blocks_of.clamp(max=run.block).sum()) * run.interval)
        results = run.results(self.keep_weights)
        if self.checkpoint is not None:
            self.checkpoint.save_done(number, results)
        return results

    def _report(self, steps_of_this_stack: int) -> None:
        if self.progress is not None:
            done = self.steps_done + steps_of_this_stack
            self.progress(Progress(self.jobs_done, self.total, done, sum(self.steps_of), self.best))
