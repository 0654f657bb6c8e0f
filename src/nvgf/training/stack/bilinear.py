r"""Architectures whose outputs are bilinear in prepared features and in coefficients that the weights make.

.. math:: z_{bc} = \sum_n \sum_p \Phi_{bnp} \sum_f M_{bnf}\, C_{npf} W_{ncf}

with features :math:`\Phi`, dropout masks M, coefficients C and the readout W. Summing over the hidden features f first,
as a product of the mask with :math:`U_{n,pc,f} = C_{npf} W_{ncf}`, never forms the hidden layer, and its backward
reads the mask a second time and nothing else of that size.
"""

from __future__ import annotations

from abc import abstractmethod

import torch

from nvgf.training.stack.data import Part
from nvgf.training.stack.net import StackedNet


class BilinearNet(StackedNet):
    """Forward and backward of the bilinear form; subclasses make features and coefficients."""

    @property
    def width(self) -> int:
        """The number of hidden features of a node."""
        return self.slots.sizes["f"]

    @property
    @abstractmethod
    def terms(self) -> int:
        """The number of features of a node, p."""

    @abstractmethod
    def features(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the features of a batch, ``(jobs, nodes, batch, terms)``."""

    @abstractmethod
    def coefficients(self) -> torch.Tensor:
        """Return the coefficients that the weights make, ``(jobs, nodes or 1, terms, width)``."""

    @abstractmethod
    def coefficients_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradients of the weights behind the coefficients, given ``(jobs, nodes, terms, width)``."""

    def features_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradients of weights behind the features, given ``(jobs, nodes, batch, terms)``."""

    learns_features = False
    """Whether there are weights behind the features."""

    def evaluation_features(self, part: Part) -> torch.Tensor:
        """Return the features of a part of the data, ``(jobs, samples, nodes, terms)``."""
        return self.data.per_job(part, "features")

    def forward(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the outputs of a batch."""
        jobs, nodes, batch, width = mask.shape
        readout = self.weights["readout.weight"]
        outputs = readout.shape[2]
        self._mask = mask.view(jobs * nodes, batch, width)
        self._features = self.features(rows).unsqueeze(-1)
        self._coefficients = self.coefficients().unsqueeze(3)
        u = self.buffer("u", jobs, nodes, self.terms, outputs, width)
        torch.mul(self._coefficients, readout.unsqueeze(2), out=u)
        r = self.buffer("r", jobs * nodes, batch, self.terms * outputs)
        torch.bmm(self._mask, u.view(jobs * nodes, -1, width).transpose(1, 2), out=r)
        self._summed = r.view(jobs, nodes, batch, self.terms, outputs)
        weighed = self.buffer("weighed", jobs, nodes, batch, self.terms, outputs)
        torch.mul(self._summed, self._features, out=weighed)
        return weighed.sum(dim=(1, 3)).add_(self.weights["readout.bias"].unsqueeze(1))

    def backward(self, gradient: torch.Tensor) -> None:
        """Write all gradients."""
        jobs, nodes, batch, terms, outputs = self._summed.shape
        readout = self.weights["readout.weight"]
        torch.sum(gradient, dim=1, out=self.gradients["readout.bias"])
        outer = self.buffer("weighed", jobs, nodes, batch, terms, outputs)
        torch.mul(self._features, gradient.view(jobs, 1, batch, 1, outputs), out=outer)
        du = self.buffer("du", jobs * nodes, terms * outputs, self._mask.shape[-1])
        torch.bmm(outer.view(jobs * nodes, batch, -1).transpose(1, 2), self._mask, out=du)
        du = du.view(jobs, nodes, terms, outputs, -1)
        u = self.buffer("u", *du.shape)
        torch.mul(du, self._coefficients, out=u)
        torch.sum(u, dim=2, out=self.gradients["readout.weight"])
        du.mul_(readout.unsqueeze(2))
        self.coefficients_backward(du.sum(dim=3))
        if self.learns_features:
            by_output = self._summed.mul_(gradient.view(jobs, 1, batch, 1, outputs))
            self.features_backward(by_output.sum(dim=-1))

    def evaluate(self, part: Part) -> torch.Tensor:
        """Return the outputs for a part of the data: without a mask the sum over f is done once for all signals."""
        features = self.evaluation_features(part)
        jobs, samples = features.shape[:2]
        combined = torch.einsum(
            "jnpf,jncf->jnpc",
            self.coefficients().expand(-1, features.shape[2], -1, -1),
            self.weights["readout.weight"],
        )
        flat = torch.bmm(features.reshape(jobs, samples, -1), combined.reshape(jobs, -1, combined.shape[-1]))
        return flat.add_(self.weights["readout.bias"].unsqueeze(1))
