"""Any architecture, one job at a time: the module itself, its gradients by autograd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from nvgf.models import GraphModel, Prepared
from nvgf.training.job import Job
from nvgf.training.stack.data import Part, StackData, TaskCache
from nvgf.training.stack.net import StackedNet
from nvgf.training.stack.slots import Slot, Slots

_CHUNK = 256


class GeneralNet(StackedNet):
    """The stack of one: whatever the module computes from prepared input, any number of layers and features."""

    most_jobs = 1

    def __init__(self, jobs: Sequence[Job], cache: TaskCache) -> None:
        super().__init__(jobs, cache)
        (self.job,) = jobs
        task = self.job.task
        self.model = self.job.build(device=self.device)
        self._shift = cache.shift(task).to(dtype=torch.float32)
        self.data = StackData(jobs, cache, "plain", task.train.x.shape[-1], lambda x, shift: x, at_node=False)
        self._prepared = self.model.prepare(self.data.train.features[0], self._shift)
        self._parts: dict[int, tuple[Part, list[Prepared]]] = {}
        # One letter a dimension: modules and stack hold the parameters in the same order.
        letters = iter(chr(code) for code in range(ord("A"), ord("A") + 10_000))
        sizes: dict[str, int] = {}
        slots = []
        for name, parameter in self.model.named_parameters():
            own = "".join(next(letters) for _ in parameter.shape)
            sizes |= dict(zip(own, parameter.shape, strict=True))
            slots.append(Slot(name, own, own))
        self.slots = Slots(slots, jobs, sizes, self.data.nodes, self.device)

    @classmethod
    def takes(cls, model: GraphModel) -> bool:
        """Return true: every architecture is a module."""
        return True

    @property
    def width(self) -> int:
        """The number of hidden features of a node."""
        inputs = self.model.readout.in_features
        return inputs // self.model.num_nodes if self.model.readout_kind == "all" else inputs

    def bind(self, weights: Mapping[str, torch.Tensor], gradients: Mapping[str, torch.Tensor]) -> None:
        """Let the module's parameters be views of the stack's weights and gradients."""
        super().bind(weights, gradients)
        for name, parameter in self.model.named_parameters():
            parameter.data = weights[name][0]
            parameter.grad = gradients[name][0]

    def forward(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the outputs of a batch."""
        with torch.enable_grad():
            hidden = self.model.hidden_prepared(self._prepared[rows[0]])
            self._outputs = self._read(hidden, mask[0].transpose(0, 1)).unsqueeze(0)
        return self._outputs.detach()

    def backward(self, gradient: torch.Tensor) -> None:
        """Write all gradients."""
        for target in self.gradients.values():
            target.zero_()
        self._outputs.backward(gradient)

    def evaluate(self, part: Part) -> torch.Tensor:
        """Return the outputs for a part of the data."""
        with torch.no_grad():
            outputs = [self._read(self.model.hidden_prepared(chunk), None) for chunk in self._chunks(part)]
        return torch.cat(outputs).unsqueeze(0)

    def _chunks(self, part: Part) -> list[Prepared]:
        # Kept with its part, so that the number cannot come to stand for another one.
        if id(part) not in self._parts:
            chunks = [self.model.prepare(x, self._shift) for x in part.features[0].split(_CHUNK)]
            self._parts[id(part)] = part, chunks
        return self._parts[id(part)][1]

    def _read(self, hidden: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        node = self.job.task.node
        if node is not None:
            hidden = hidden[:, [node]]
        if mask is not None:
            hidden = hidden * mask
        return self.model.readout(hidden.flatten(1))
