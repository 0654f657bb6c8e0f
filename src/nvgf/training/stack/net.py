"""What a stack of one architecture must offer to be trained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch

from nvgf.models import GraphModel
from nvgf.training.job import Job
from nvgf.training.order import batch_size
from nvgf.training.stack.data import Part, StackData, TaskCache
from nvgf.training.stack.slots import Slot, Slots

READOUT = (Slot("readout.weight", "cnf", "ncf"), Slot("readout.bias", "c", "c"))


class StackedNet(ABC):
    """The formulas of one architecture, forward and backward, for a stack of jobs.

    Intermediate results live in buffers that are made once. The stack is bound to weights and gradients by
    :meth:`bind`; gradients are overwritten, not added to.

    Args:
        jobs: the jobs, all of one shape.
        cache: the tasks' signals on the device.
    """

    most_jobs: ClassVar[int | None] = None
    """The most jobs a stack can have; ``None`` for any number."""
    device_type: ClassVar[str | None] = None
    """The type of device that the formulas are made for; ``None`` for any."""

    data: StackData
    slots: Slots

    def __init__(self, jobs: Sequence[Job], cache: TaskCache) -> None:
        self.jobs = tuple(jobs)
        self.device = cache.device
        self.batch = batch_size(jobs)
        self._buffers: dict[str, torch.Tensor] = {}

    @classmethod
    @abstractmethod
    def takes(cls, model: GraphModel) -> bool:
        """Return whether the formulas cover the (empty) model of a job."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of hidden features of a node, for dropout."""

    @abstractmethod
    def forward(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the outputs ``(jobs, batch, outputs)`` for the training signals numbered ``rows``.

        ``rows`` ``(jobs, batch)`` count in the training features flattened over tasks; ``mask`` is dropout's,
        ``(jobs, nodes, batch, width)``.
        """

    @abstractmethod
    def backward(self, gradient: torch.Tensor) -> None:
        """Write all gradients, given that of the outputs of the last :meth:`forward`."""

    @abstractmethod
    def evaluate(self, part: Part) -> torch.Tensor:
        """Return the outputs ``(jobs, samples, outputs)`` for a part of the data, without dropout."""

    def bind(self, weights: Mapping[str, torch.Tensor], gradients: Mapping[str, torch.Tensor]) -> None:
        """Use these weights and gradients, ``(jobs, ...)`` by the name of the slot."""
        self.weights = dict(weights)
        self.gradients = dict(gradients)

    def buffer(self, name: str, *shape: int) -> torch.Tensor:
        """Return a buffer of this name and shape, made at its first use."""
        found = self._buffers.get(name)
        if found is None or found.shape != shape:
            found = self._buffers[name] = torch.empty(shape, dtype=torch.float32, device=self.device)
        return found

    def node_batches(self, rows: torch.Tensor) -> torch.Tensor:
        """Gather training features as ``(jobs, nodes, batch, terms)``."""
        stored = self.data.train.features
        _, _, nodes, terms = stored.shape
        jobs, batch = rows.shape
        gathered = self.buffer("gathered", jobs * batch, nodes * terms)
        torch.index_select(stored.view(-1, nodes * terms), 0, rows.reshape(-1), out=gathered)
        ordered = self.buffer("ordered", jobs, nodes, batch, terms)
        return ordered.copy_(gathered.view(jobs, batch, nodes, terms).transpose(1, 2))
