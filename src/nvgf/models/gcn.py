"""GCN (Kipf and Welling, 2017), as the paper's appendix defines it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from nvgf.design.activations import pointwise
from nvgf.graph import GraphShift
from nvgf.models.base import GraphModel, Prepared, ReadoutKind, named_activation
from nvgf.models.support import gcn_shift


class GCN(GraphModel):
    r"""Layers :math:`x_\ell = \rho(S_{GCN}^K\, x_{\ell-1} W_\ell)`, with K = 1 for GCN.

    With one input feature and one layer, :math:`S_{GCN} x` is all that training needs, computed once.

    Shapes:
        - input ``(..., nodes, in_features)``
        - output ``(..., outputs)`` with readout ``"all"``, ``(..., nodes, outputs)`` with ``"shared"``

    Example:
        >>> import torch
        >>> from nvgf import GraphShift
        >>> GCN(3, features=4)(torch.randn(5, 3, 1), GraphShift.from_edges([(0, 1), (1, 2)])).shape
        torch.Size([5, 2])
    """

    name = "gcn"

    def __init__(
        self,
        num_nodes: int,
        in_features: int = 1,
        features: int | Sequence[int] = 32,
        *,
        activation: str = "relu",
        readout: ReadoutKind = "all",
        outputs: int = 2,
        dropout: float = 0.5,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            num_nodes,
            in_features,
            features,
            readout=readout,
            outputs=outputs,
            dropout=dropout,
            options={"activation": activation, "bias": bias},
            device=device,
            dtype=dtype,
        )
        self.activation = named_activation(activation)
        inputs = (in_features, *self.widths[:-1])
        self.linears = nn.ModuleList(
            nn.Linear(i, o, bias=bias, device=device, dtype=dtype) for i, o in zip(inputs, self.widths, strict=True)
        )

    @property
    def hops(self) -> int:
        """How often a layer applies the support."""
        return 1

    def hidden(self, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Return the last layer's output."""
        return self._layers(self._aggregated(x, gcn_shift(shift)), shift)

    def prepare(self, x: torch.Tensor, shift: GraphShift) -> Prepared:
        """Compute the first layer's aggregation of signals ``(samples, nodes, in_features)``."""
        self._check_samples(x, shift)
        return Prepared(self._aggregated(x, gcn_shift(shift)), shift)

    def hidden_prepared(self, prepared: Prepared) -> torch.Tensor:
        """Return the same as :meth:`hidden`, from what :meth:`prepare` computed."""
        return self._layers(prepared.features, prepared.shift)

    def bounds(self) -> dict[str, float]:
        """Return the bounds, 1 / sqrt(inputs) as of a linear layer."""
        bounds = self.readout_bounds()
        inputs = (self.in_features, *self.widths[:-1])
        for number, count in enumerate(inputs):
            bound = count**-0.5
            bounds[f"linears.{number}.weight"] = bounds[f"linears.{number}.bias"] = bound
        return bounds

    def _aggregated(self, x: torch.Tensor, support: GraphShift) -> torch.Tensor:
        for _ in range(self.hops):
            x = support @ x
        return x

    def _layers(self, aggregated: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        rho = pointwise(self.activation)
        x = rho(self.linears[0](aggregated))
        if len(self.linears) > 1:
            support = gcn_shift(shift)
            for linear in self.linears[1:]:
                x = rho(linear(self._aggregated(x, support)))
        return x
