"""Adam with a learning rate a job, by torch's fused kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from nvgf.training.schedule import Schedule


class StackedAdam:
    """Adam on a stack whose jobs are sorted by learning rate, so that each rate is a slice of every parameter.

    On a GPU the rates are updated side by side, on streams of their own: torch's kernel gives 65,536 numbers to a block
    of threads, so that one rate of a small stack leaves most of the device idle.

    Args:
        learning_rates: the rate of each job, sorted.
        schedule: the forgetting factors.
        weights, gradients, means, squares: ``(jobs, ...)`` by name; the last two are Adam's moments.
    """

    def __init__(
        self,
        learning_rates: Sequence[float],
        schedule: Schedule,
        weights: Mapping[str, torch.Tensor],
        gradients: Mapping[str, torch.Tensor],
        means: Mapping[str, torch.Tensor],
        squares: Mapping[str, torch.Tensor],
    ) -> None:
        if list(learning_rates) != sorted(learning_rates):
            raise ValueError("learning_rates must be sorted")
        device = next(iter(weights.values())).device
        self.steps_taken = torch.zeros((), dtype=torch.float32, device=device)
        self._schedule = schedule
        self._groups: list[tuple[float, list[list[torch.Tensor]]]] = []
        for rate in sorted(set(learning_rates)):
            first = learning_rates.index(rate)
            last = first + list(learning_rates).count(rate)
            slices = [[view[first:last] for view in part.values()] for part in (weights, gradients, means, squares)]
            self._groups.append((rate, slices))
        self._streams = [torch.cuda.Stream(device) for _ in self._groups] if device.type == "cuda" else []

    def step(self) -> None:
        """Take one step; runs on the device alone, so that it can be part of a CUDA graph."""
        self.steps_taken += 1
        if not self._streams:
            for rate, slices in self._groups:
                self._update(rate, *slices)
            return
        here = torch.cuda.current_stream(self.steps_taken.device)
        for stream, (rate, slices) in zip(self._streams, self._groups, strict=True):
            stream.wait_stream(here)
            with torch.cuda.stream(stream):
                self._update(rate, *slices)
        for stream in self._streams:
            here.wait_stream(stream)

    def _update(
        self,
        rate: float,
        weights: list[torch.Tensor],
        gradients: list[torch.Tensor],
        means: list[torch.Tensor],
        squares: list[torch.Tensor],
    ) -> None:
        torch._fused_adam_(
            weights,
            gradients,
            means,
            squares,
            [],
            [self.steps_taken] * len(weights),
            lr=rate,
            beta1=self._schedule.betas[0],
            beta2=self._schedule.betas[1],
            weight_decay=0.0,
            eps=self._schedule.eps,
            amsgrad=False,
            maximize=False,
        )
