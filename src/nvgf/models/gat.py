"""GAT (Veličković et al., 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import nn

from nvgf.design.activations import pointwise
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.models.base import GraphModel, ReadoutKind, named_activation
from nvgf.models.support import neighbourhoods

SLOPE = 0.2
"""The negative slope of GAT's LeakyReLU, from its paper."""


class GATLayer(nn.Module):
    r"""One layer of attention: :math:`y_i = \Vert_h \sum_j \alpha^h_{ij} W^h x_j` over the neighbours j and i itself.

    .. math:: \alpha_{ij} = \mathrm{softmax}_j\, \mathrm{LeakyReLU}(a_{dst}^T W x_i + a_{src}^T W x_j)

    Attention is computed densely: memory grows with nodes squared.

    Shapes:
        - ``weight``: ``(in_features, heads, features)``, ``source`` and ``target``: ``(heads, features)``
        - input ``(..., nodes, in_features)``, output ``(..., nodes, heads * features)``
    """

    def __init__(
        self,
        in_features: int,
        features: int,
        heads: int,
        bias: bool,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_features, heads, features, device=device, dtype=dtype))
        self.source = nn.Parameter(torch.empty(heads, features, device=device, dtype=dtype))
        self.target = nn.Parameter(torch.empty(heads, features, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(heads * features, device=device, dtype=dtype)) if bias else None

    def forward(self, x: torch.Tensor, neighbours: torch.Tensor) -> torch.Tensor:
        """Attend over ``neighbours``, the ``(nodes, nodes)`` matrix of :func:`nvgf.models.support.neighbourhoods`."""
        mapped = torch.einsum("...nf,fhg->...hng", x, self.weight)
        to = torch.einsum("...hng,hg->...hn", mapped, self.target)
        of = torch.einsum("...hng,hg->...hn", mapped, self.source)
        score = nn.functional.leaky_relu(to.unsqueeze(-1) + of.unsqueeze(-2), SLOPE)
        attention = score.masked_fill(neighbours == 0, -torch.inf).softmax(-1)
        y = (attention @ mapped).movedim(-3, -2).flatten(-2)
        return y if self.bias is None else y + self.bias

    def bounds(self) -> dict[str, float]:
        """Return Glorot's bounds, as GAT's paper initialises."""
        inputs, heads, features = self.weight.shape
        return {
            "weight": (6 / (inputs + heads * features)) ** 0.5,
            "source": (6 / (features + 1)) ** 0.5,
            "target": (6 / (features + 1)) ** 0.5,
            "bias": 0.0,
        }


class GAT(GraphModel):
    r"""Graph attention: attention layers (LeakyReLU 0.2, softmax over neighbours and self), ReLU, linear readout.

    Args:
        features: features a head.
        heads: attention heads of each layer, concatenated.
        activation: after each layer; the paper compares with ``"relu"``, GAT's own paper uses ``"elu"``.

    Shapes:
        - input ``(..., nodes, in_features)``
        - output ``(..., outputs)`` with readout ``"all"``, ``(..., nodes, outputs)`` with ``"shared"``

    Example:
        >>> import torch
        >>> from nvgf import GraphShift
        >>> GAT(3, features=4, heads=2)(torch.randn(5, 3, 1), GraphShift.from_edges([(0, 1), (1, 2)])).shape
        torch.Size([5, 2])
    """

    name = "gat"

    def __init__(
        self,
        num_nodes: int,
        in_features: int = 1,
        features: int | Sequence[int] = 32,
        *,
        heads: int = 1,
        activation: str = "relu",
        readout: ReadoutKind = "all",
        outputs: int = 2,
        dropout: float = 0.5,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        heads = whole_number("heads", heads, 1)
        super().__init__(
            num_nodes,
            in_features,
            features,
            readout=readout,
            outputs=outputs,
            dropout=dropout,
            options={"heads": heads, "activation": activation, "bias": bias},
            width=heads,
            device=device,
            dtype=dtype,
        )
        self.activation = named_activation(activation)
        inputs = (in_features, *(f * heads for f in self.widths[:-1]))
        self.layers = nn.ModuleList(
            GATLayer(i, o, heads, bias, device, dtype) for i, o in zip(inputs, self.widths, strict=True)
        )
        self.reset_parameters()

    def hidden(self, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Return the last layer's output."""
        neighbours = neighbourhoods(shift)
        rho = pointwise(self.activation)
        for layer in self.layers:
            x = rho(layer(x, neighbours))
        return x

    def bounds(self) -> dict[str, float]:
        """Return the bounds: Glorot's in the layers."""
        bounds = self.readout_bounds()
        for number, layer in enumerate(self.layers):
            own = cast(GATLayer, layer).bounds()
            bounds |= {f"layers.{number}.{name}": bound for name, bound in own.items()}
        return bounds
