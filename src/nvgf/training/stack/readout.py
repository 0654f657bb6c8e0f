"""The readout alone, on hidden features that do not change: Design NVGF with its readout retrained."""

from __future__ import annotations

import torch

from nvgf.models import GraphModel
from nvgf.training.job import Job
from nvgf.training.stack.data import Part, StackData, TaskCache
from nvgf.training.stack.net import StackedNet
from nvgf.training.stack.slots import Slot, Slots


class ReadoutNet(StackedNet):
    """A stack of one whose hidden features a given model computes once; only the readout is trained."""

    most_jobs = 1

    def __init__(self, job: Job, model: GraphModel, cache: TaskCache) -> None:
        super().__init__([job], cache)
        model = model.to(self.device).eval()
        shift = cache.shift(job.task).to(dtype=torch.float32)

        def hidden(x: torch.Tensor, _: object) -> torch.Tensor:
            with torch.no_grad():
                return model.hidden(x.float(), shift)

        self._width = model.widths[-1]
        private = TaskCache(self.device)
        self.data = StackData([job], private, "hidden", self._width, hidden)
        sizes = {"n": self.data.most_nodes, "f": self._width, "c": self.data.outputs}
        slots = Slot("readout.weight", "cnf", "cnf"), Slot("readout.bias", "c", "c")
        self.slots = Slots(slots, [job], sizes, self.data.nodes, self.device)

    @classmethod
    def takes(cls, model: GraphModel) -> bool:
        """Return false: it is never chosen by itself."""
        return False

    @property
    def width(self) -> int:
        """The number of hidden features of a node."""
        return self._width

    def forward(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the outputs of a batch."""
        self._hidden = (self.data.train.features[0, rows[0]] * mask[0].transpose(0, 1)).flatten(1)
        return self._read(self._hidden)

    def backward(self, gradient: torch.Tensor) -> None:
        """Write both gradients."""
        self.gradients["readout.weight"].view(1, gradient.shape[-1], -1)[0] = gradient[0].T @ self._hidden
        self.gradients["readout.bias"][0] = gradient[0].sum(0)

    def evaluate(self, part: Part) -> torch.Tensor:
        """Return the outputs for a part of the data."""
        return self._read(part.features[0].flatten(1))

    def _read(self, hidden: torch.Tensor) -> torch.Tensor:
        weight = self.weights["readout.weight"][0].flatten(1)
        return torch.addmm(self.weights["readout.bias"][0], hidden, weight.T).unsqueeze(0)
