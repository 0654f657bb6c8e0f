"""GCNN: banks of LSI filters, each followed by a pointwise activation, eq. (GCNN)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nvgf.design.activations import pointwise
from nvgf.graph import GraphShift
from nvgf.models.base import Prepared, named_activation
from nvgf.models.polynomial import PolynomialModel


class GCNN(PolynomialModel):
    r"""Graph convolutional neural network, :math:`x_\ell = \rho\big(H_\ell^{lsi}(x_{\ell-1}; S, h_\ell)\big)`.

    Args:
        activation: the name of :math:`\rho`, ``"relu"`` in the paper.

    Shapes:
        - input ``(..., nodes, in_features)``
        - output ``(..., outputs)`` with readout ``"all"``, ``(..., nodes, outputs)`` with ``"shared"``

    Example:
        >>> import torch
        >>> from nvgf import GraphShift
        >>> model = GCNN(3, features=[4, 2], order=2, readout="shared", outputs=1)
        >>> model(torch.randn(5, 3, 1), GraphShift.from_edges([(0, 1), (1, 2)])).shape
        torch.Size([5, 3, 1])
    """

    name = "gcnn"

    def __init__(
        self,
        num_nodes: int,
        in_features: int = 1,
        features: int | Sequence[int] = 32,
        order: int = 3,
        *,
        activation: str = "relu",
        **options: Any,
    ) -> None:
        super().__init__(num_nodes, in_features, features, order, **options)
        self.activation = named_activation(activation)
        self.config["activation"] = activation

    def hidden(self, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Return the activation of the last bank's output."""
        rho = pointwise(self.activation)
        for layer in range(len(self.filters)):
            x = rho(self.filtered(layer, x, shift))
        return x

    def hidden_prepared(self, prepared: Prepared) -> torch.Tensor:
        """Return the same as :meth:`hidden`, from what :meth:`prepare` computed."""
        rho = pointwise(self.activation)
        x = rho(self.filtered_prepared(prepared))
        for layer in range(1, len(self.filters)):
            x = rho(self.filtered(layer, x, prepared.shift))
        return x
