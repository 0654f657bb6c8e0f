"""Stacks of GCNN: ReLU of taps on b_k(S) x, for powers S^k x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch

from nvgf.models import GCNN, GraphModel
from nvgf.training.job import Job
from nvgf.training.stack.data import Part, StackData, TaskCache
from nvgf.training.stack.net import READOUT, StackedNet
from nvgf.training.stack.slots import Slots
from nvgf.training.stack.taps import LSI_TAPS, heard, is_single_filter

_CHUNK = 1 << 25
"""The most hidden values that are held at once when a part of the data is evaluated."""


class GCNNNet(StackedNet):
    """A stack of GCNN with one layer, ReLU, one input feature and no bias."""

    def __init__(self, jobs: Sequence[Job], cache: TaskCache) -> None:
        super().__init__(jobs, cache)
        model = cast(GCNN, jobs[0].build(device="meta"))
        order = model.order
        self.data = StackData(jobs, cache, model.basis, order + 1, heard(order, model.basis))
        sizes = {"k": order + 1, "f": model.widths[0], "c": self.data.outputs, "n": self.data.most_nodes}
        self.slots = Slots((LSI_TAPS, *READOUT), jobs, sizes, self.data.nodes, self.device)

    @classmethod
    def takes(cls, model: GraphModel) -> bool:
        """Return whether the formulas cover the model."""
        return is_single_filter(model, GCNN) and model.config["activation"] == "relu"

    @property
    def width(self) -> int:
        """The number of hidden features of a node."""
        return self.slots.sizes["f"]

    def forward(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the outputs of a batch."""
        jobs, nodes, batch, width = mask.shape
        self._heard = self.node_batches(rows).view(jobs, nodes * batch, -1)
        hidden = self.buffer("hidden", jobs, nodes * batch, width)
        torch.bmm(self._heard, self.weights[LSI_TAPS.name], out=hidden)
        self._hidden = hidden.relu_().view_as(mask).mul_(mask).view(jobs * nodes, batch, width)
        readout = self.weights["readout.weight"].view(jobs * nodes, -1, width).transpose(1, 2)
        read = self.buffer("read", jobs * nodes, batch, readout.shape[2])
        torch.bmm(self._hidden, readout, out=read)
        self._mask = mask
        return read.view(jobs, nodes, batch, -1).sum(dim=1).add_(self.weights["readout.bias"].unsqueeze(1))

    def backward(self, gradient: torch.Tensor) -> None:
        """Write all gradients."""
        jobs, nodes, batch, width = self._mask.shape
        torch.sum(gradient, dim=1, out=self.gradients["readout.bias"])
        spread = gradient.unsqueeze(1).expand(-1, nodes, -1, -1).reshape(jobs * nodes, batch, -1)
        target = self.gradients["readout.weight"].view(jobs * nodes, -1, width)
        torch.bmm(spread.transpose(1, 2), self._hidden, out=target)
        back = self.buffer("back", jobs * nodes, batch, width)
        torch.bmm(spread, self.weights["readout.weight"].view(jobs * nodes, -1, width), out=back)
        back.view_as(self._mask).mul_(self._mask)
        torch.ops.aten.threshold_backward.grad_input(back, self._hidden, 0, grad_input=back)
        flat = back.view(jobs, nodes * batch, width)
        torch.bmm(self._heard.transpose(1, 2), flat, out=self.gradients[LSI_TAPS.name])

    def evaluate(self, part: Part) -> torch.Tensor:
        """Return the outputs for a part of the data."""
        features = self.data.per_job(part, "features")
        jobs, _, nodes, terms = features.shape
        readout = self.weights["readout.weight"].transpose(2, 3).reshape(jobs, nodes * self.width, -1)
        taps, bias = self.weights[LSI_TAPS.name], self.weights["readout.bias"].unsqueeze(1)
        size = max(1, _CHUNK // (jobs * nodes * self.width))
        outputs = []
        for chunk in features.split(size, dim=1):
            hidden = torch.bmm(chunk.reshape(jobs, -1, terms), taps).relu_()
            outputs.append(torch.baddbmm(bias, hidden.view(jobs, chunk.shape[1], -1), readout))
        return torch.cat(outputs, dim=1)
