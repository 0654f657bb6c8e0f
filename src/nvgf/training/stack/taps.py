"""Stacks of LSIGF and LearnNVGF: coefficients are taps on b_m(S) x, for powers S^m x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch

from nvgf.graph import GraphShift
from nvgf.models import LSIGF, GraphModel, LearnNVGF
from nvgf.models.basis import Basis, basis_shifts, product_coefficients
from nvgf.training.job import Job
from nvgf.training.stack.bilinear import BilinearNet
from nvgf.training.stack.data import Prepare, StackData, TaskCache
from nvgf.training.stack.net import READOUT
from nvgf.training.stack.slots import Slot, Slots

LSI_TAPS = Slot("filters.0.taps", "kf", "kf")
NODE_TAPS = Slot("node_filters.0.taps", "knfg", "nfkg")


def heard(order: int, basis: Basis) -> Prepare:
    """Return the preparation that computes b_0(S) x, ..., b_order(S) x; for powers S^k x."""

    def prepare(x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        return basis_shifts(x, shift, order, basis).squeeze(-1).permute(1, 2, 0)

    return prepare


def is_single_filter(model: GraphModel, kind: type[GraphModel]) -> bool:
    """Return whether a model is of exactly this architecture, one layer, one input feature, no bias in filters."""
    return type(model) is kind and len(model.widths) == 1 and model.in_features == 1 and not model.config["bias"]


class LSIGFNet(BilinearNet):
    """A stack of LSIGF with one layer, one input feature and no bias."""

    def __init__(self, jobs: Sequence[Job], cache: TaskCache) -> None:
        super().__init__(jobs, cache)
        model = cast(LSIGF, jobs[0].build(device="meta"))
        order = model.order
        self.data = StackData(jobs, cache, model.basis, order + 1, heard(order, model.basis))
        sizes = {"k": order + 1, "f": model.widths[0], "c": self.data.outputs, "n": self.data.most_nodes}
        self.slots = Slots((LSI_TAPS, *READOUT), jobs, sizes, self.data.nodes, self.device)

    @classmethod
    def takes(cls, model: GraphModel) -> bool:
        """Return whether the formulas cover the model."""
        return is_single_filter(model, LSIGF)

    @property
    def terms(self) -> int:
        """K + 1."""
        return self.slots.sizes["k"]

    def features(self, rows: torch.Tensor) -> torch.Tensor:
        """Return b_k(S) x."""
        return self.node_batches(rows)

    def coefficients(self) -> torch.Tensor:
        """Return the taps."""
        return self.weights[LSI_TAPS.name].unsqueeze(1)

    def coefficients_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradient of the taps."""
        torch.sum(gradient, dim=1, out=self.gradients[LSI_TAPS.name])


class LearnNVGFNet(BilinearNet):
    r"""A stack of LearnNVGF with one layer, one input feature and no bias.

    Coefficients are the composed taps :math:`C_{nmg} = \sum_{kl} P_{mkl} \sum_f h_{lf} H_{nfkg}`. The node-variant
    taps are stored with the node first, so that each node is a product of small matrices, forward and backward.
    """

    node_taps = NODE_TAPS

    def __init__(self, jobs: Sequence[Job], cache: TaskCache) -> None:
        super().__init__(jobs, cache)
        model = cast(LearnNVGF, jobs[0].build(device="meta"))
        order, width = model.order, model.widths[0]
        self.data = StackData(jobs, cache, model.basis, 2 * order + 1, heard(2 * order, model.basis))
        sizes = {"k": order + 1, "f": width, "g": width, "c": self.data.outputs, "n": self.data.most_nodes}
        self.slots = Slots((LSI_TAPS, self.node_taps, *READOUT), jobs, sizes, self.data.nodes, self.device)
        product = product_coefficients(model.basis, order).transpose(1, 2).flatten(1)
        self.product = product.float().to(self.device).unsqueeze(0)
        self.in_power_basis = model.basis == "power"

    @classmethod
    def takes(cls, model: GraphModel) -> bool:
        """Return whether the formulas cover the model."""
        return is_single_filter(model, LearnNVGF)

    @property
    def terms(self) -> int:
        """2 K + 1."""
        return self.product.shape[1]

    def features(self, rows: torch.Tensor) -> torch.Tensor:
        """Return b_m(S) x."""
        return self.node_batches(rows)

    def _sizes(self) -> tuple[int, int, int, int]:
        return len(self.jobs), self.slots.sizes["n"], self.slots.sizes["k"], self.slots.sizes["f"]

    def coefficients(self) -> torch.Tensor:
        """Return the composed taps."""
        jobs, nodes, terms, width = self._sizes()
        lsi = self.weights[LSI_TAPS.name].unsqueeze(1).expand(-1, nodes, -1, -1)
        self._lsi = lsi.reshape(jobs * nodes, terms, width)
        self._node_taps = self.weights[NODE_TAPS.name].view(jobs * nodes, width, terms * width)
        mixed = self.buffer("mixed", jobs * nodes, terms, terms * width)
        torch.bmm(self._lsi, self._node_taps, out=mixed)
        composed = self.buffer("composed", jobs * nodes, self.terms, width)
        product = self.product.expand(jobs * nodes, -1, -1)
        torch.bmm(product, mixed.view(jobs * nodes, terms * terms, width), out=composed)
        return composed.view(jobs, nodes, self.terms, width)

    def coefficients_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradients of both filters."""
        jobs, nodes, terms, width = self._sizes()
        mixed = self.buffer("mixed", jobs * nodes, terms, terms * width)
        product = self.product.transpose(1, 2).expand(jobs * nodes, -1, -1)
        flat = gradient.reshape(jobs * nodes, self.terms, width)
        torch.bmm(product, flat, out=mixed.view(jobs * nodes, terms * terms, width))
        target = self.gradients[NODE_TAPS.name].view(jobs * nodes, width, terms * width)
        torch.bmm(self._lsi.transpose(1, 2), mixed, out=target)
        partial = self.buffer("partial", jobs * nodes, terms, width)
        torch.bmm(mixed, self._node_taps.transpose(1, 2), out=partial)
        torch.sum(partial.view(jobs, nodes, terms, width), dim=1, out=self.gradients[LSI_TAPS.name])


class JoinedLearnNVGFNet(LearnNVGFNet):
    r"""The same for a GPU, which is slow at thousands of small products: one product a job for all nodes.

    With the taps of the nodes side by side and the LSI taps in a matrix :math:`A_{m,kf} = \sum_l P_{mkl} h_{lf}`, the
    composed taps are :math:`C_{m,ng} = \sum_{kf} A_{m,kf} H_{kf,ng}`, and both gradients are products of that size.
    """

    device_type = "cuda"
    node_taps = Slot(NODE_TAPS.name, NODE_TAPS.public, "kfng")

    def __init__(self, jobs: Sequence[Job], cache: TaskCache) -> None:
        super().__init__(jobs, cache)
        order = self.slots.sizes["k"]
        self._spread = self.product.view(-1, order, order).transpose(1, 2).reshape(-1, order)

    def coefficients(self) -> torch.Tensor:
        """Return the composed taps."""
        jobs, nodes, terms, width = self._sizes()
        self._joined = self.weights[NODE_TAPS.name].view(jobs, terms * width, nodes * width)
        self._lsi = torch.matmul(self._spread, self.weights[LSI_TAPS.name]).view(jobs, self.terms, terms * width)
        composed = self.buffer("composed", jobs, self.terms, nodes * width)
        torch.bmm(self._lsi, self._joined, out=composed)
        return composed.view(jobs, self.terms, nodes, width).transpose(1, 2)

    def coefficients_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradients of both filters."""
        jobs, nodes, _, width = self._sizes()
        joined = gradient.transpose(1, 2).reshape(jobs, self.terms, nodes * width)
        torch.bmm(self._lsi.transpose(1, 2), joined, out=self.gradients[NODE_TAPS.name].view_as(self._joined))
        partial = torch.bmm(joined, self._joined.transpose(1, 2)).view(jobs, -1, width)
        torch.matmul(self._spread.T, partial, out=self.gradients[LSI_TAPS.name])
