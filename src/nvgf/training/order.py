"""In which batches a job sees its training signals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch

from nvgf.training.job import Job
from nvgf.training.randomness import ORDER, stream_key
from nvgf.training.schedule import Schedule


def batch_size(jobs: Sequence[Job]) -> int:
    """Return the most signals of a step of jobs that share a schedule."""
    return max(min(job.schedule.batch_size, len(job.task.train)) for job in jobs)


@lru_cache(maxsize=64)
def batches(seed: int, samples: int, schedule: Schedule) -> torch.Tensor:
    """Return the signals of each step, ``(steps, batch)`` int64, -1 where a last batch is smaller.

    A batch is as large as the schedule says, or as there are signals.

    Every epoch is a new permutation of all signals. The result is shared: it must not be changed.

    Example:
        >>> batches(seed=0, samples=3, schedule=Schedule(epochs=1, batch_size=2, validate_every=1)).shape
        torch.Size([2, 2])
    """
    generator = torch.Generator().manual_seed(stream_key(seed, ORDER))
    steps = schedule.steps_per_epoch(samples)
    size = min(schedule.batch_size, samples)
    order = torch.full((schedule.epochs, steps * size), -1)
    for epoch in range(schedule.epochs):
        order[epoch, :samples] = torch.randperm(samples, generator=generator)
    return order.reshape(-1, size)[: schedule.steps(samples)]
