"""``fit`` and ``fit_many``: train one job, or many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from nvgf.training.design import designed, gcnn_job
from nvgf.training.job import Job, Result
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

    Raises:
        TrainingInterrupted: at Ctrl-C, with the results so far.
    """
    jobs = list(jobs)
    target = check_device(device)
    results: list[Result | None] = [None] * len(jobs)
    trained, waiting = _arrange(jobs)
    cache = TaskCache(target)

    def finish(place: int, result: Result) -> None:
        results[place] = result if keep_weights else replace(result, state={})
        if on_result is not None:
            on_result(place, results[place])

    try:
        for number, result in _train(trained, cache, memory, stack_size, progress, keep_weights or bool(waiting)):
            for place in waiting.get(number, ()):
                if jobs[place].architecture == "design-nvgf":
                    finish(place, designed(jobs[place], result, cache))
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


def _arrange(jobs: Sequence[Job]) -> tuple[list[Job], dict[int, list[int]]]:
    """Return what is to be trained, and for each of it the places of the jobs that wait for it."""
    trained: list[Job] = []
    waiting: dict[int, list[int]] = {}
    numbers: dict[tuple[object, ...], int] = {}
    for place, job in enumerate(jobs):
        base = gcnn_job(job) if job.architecture == "design-nvgf" else job
        key = id(base.task), base.architecture, repr(sorted(base.model_options().items())), base.learning_rate
        key = (*key, base.seed, base.schedule)
        if key not in numbers:
            numbers[key] = len(trained)
            trained.append(base)
        waiting.setdefault(numbers[key], []).append(place)
    return trained, waiting


def _train(
    jobs: Sequence[Job],
    cache: TaskCache,
    memory: int | None,
    stack_size: int | None,
    progress: ProgressCallback | None,
    keep_weights: bool,
) -> Iterator[tuple[int, Result]]:
    pieces = plan(jobs, cache.device, memory, stack_size)
    steps = sum(job.schedule.steps(len(job.task.train)) for job in jobs)
    steps_done = jobs_done = 0
    best = float("inf")
    for piece in pieces:
        run = make_run(piece, jobs, cache)
        before = steps_done
        while not run.done:
            run.run_block()
            if progress is not None:
                steps_done = before + int(run.blocks_of.clamp(max=run.block).sum()) * run.interval
                progress(Progress(jobs_done, len(jobs), steps_done, steps, best))
        steps_done = before + int(run.blocks_of.sum()) * run.interval
        for number, result in zip(piece.numbers, run.results(keep_weights), strict=True):
            jobs_done += 1
            best = min(best, result.valid_error)
            yield number, result
        # A graph and its memory go before those of the next stack come.
        del run
        if progress is not None:
            progress(Progress(jobs_done, len(jobs), steps_done, steps, best))


def make_run(piece: Piece, jobs: Sequence[Job], cache: TaskCache) -> Run:
    """Make the run of a piece."""
    return Run(piece.net([jobs[number] for number in piece.numbers], cache))
