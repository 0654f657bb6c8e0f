"""In which batches a job sees its training signals."""

from __future__ import annotations

from functools import lru_cache

import torch

from nvgf.training.randomness import ORDER, stream_key
from nvgf.training.schedule import Schedule


@lru_cache(maxsize=64)
def batches(seed: int, samples: int, schedule: Schedule) -> torch.Tensor:
    """Return the signals of each step, ``(steps, batch_size)`` int64, -1 where a last batch is smaller.

    Every epoch is a new permutation of all signals. The result is shared: it must not be changed.

    Example:
        >>> batches(seed=0, samples=3, schedule=Schedule(epochs=1, batch_size=2, validate_every=1)).shape
        torch.Size([2, 2])
    """
    generator = torch.Generator().manual_seed(stream_key(seed, ORDER))
    steps = schedule.steps_per_epoch(samples)
    order = torch.full((schedule.epochs, steps * schedule.batch_size), -1)
    for epoch in range(schedule.epochs):
        order[epoch, :samples] = torch.randperm(samples, generator=generator)
    return order.reshape(-1, schedule.batch_size)[: schedule.steps(samples)]
