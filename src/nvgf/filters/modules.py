"""The filters as modules: taps to learn, and the functions of :mod:`nvgf.filters.functional` around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from nvgf.filters.bank import Shift
from nvgf.filters.functional import lsi, node_variant
from nvgf.graph.checks import whole_number


class _Filter(nn.Module):
    """What both filters share: sizes, initialisation and the optional bias."""

    taps: nn.Parameter
    bias: nn.Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        order: int,
        tap_shape: Sequence[int],
        bias: bool,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.in_features = whole_number("in_features", in_features, 1)
        self.out_features = whole_number("out_features", out_features, 1)
        self.order = whole_number("order", order, 0)
        shape = (self.order + 1, *tap_shape, self.in_features, self.out_features)
        self.taps = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(out_features, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        r"""Draw taps and bias uniformly from :math:`\pm 1/\sqrt{(K+1)\,F_{in}}`, as the paper's authors do."""
        bound = ((self.order + 1) * self.in_features) ** -0.5
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-bound, bound, generator=generator)

    def _sizes(self) -> str:
        return f"{self.in_features}, {self.out_features}, order={self.order}"

    def _biased(self, y: torch.Tensor) -> torch.Tensor:
        return y if self.bias is None else y + self.bias


class LSIFilter(_Filter):
    r"""A bank of linear shift-invariant filters, :math:`y^g = \sum_f \sum_k h_k^{fg} S^k x^f + b^g`.

    Args:
        in_features: number of input features.
        out_features: number of output features.
        order: K, so that there are ``order + 1`` taps.
        bias: whether to add a bias; without it the filter is linear, as in the paper.

    Shapes:
        - ``taps``: ``(order + 1, in_features, out_features)``
        - input ``(..., nodes, in_features)``, output ``(..., nodes, out_features)``

    Example:
        >>> from nvgf import GraphShift
        >>> module = LSIFilter(1, 4, order=2)
        >>> module
        LSIFilter(1, 4, order=2)
        >>> module(torch.randn(5, 3, 1), GraphShift.from_edges([(0, 1), (1, 2)])).shape
        torch.Size([5, 3, 4])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        order: int,
        *,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features, order, (), bias, device, dtype)

    def forward(self, x: torch.Tensor, shift: Shift) -> torch.Tensor:
        """Filter signals ``(..., nodes, in_features)`` on the graph of ``shift``."""
        return self._biased(lsi(x, shift, self.taps))

    def __repr__(self) -> str:
        return f"LSIFilter({self._sizes()}{', bias=True' if self.bias is not None else ''})"


class NodeVariantFilter(_Filter):
    r"""A bank of node-variant filters, :math:`y^g = \sum_f \sum_k \mathrm{diag}(h^{(k)fg}) S^k x^f + b^g`.

    Args:
        in_features: number of input features.
        out_features: number of output features.
        order: K, so that every node has ``order + 1`` taps.
        num_nodes: number of nodes of the graphs it works on.
        groups: the group of each node, ``num_nodes`` numbers from 0; nodes of one group share their taps (the hybrid
            filter), and the number of parameters does not grow with the graph. See :mod:`nvgf.filters.groups`.
        bias: whether to add a bias (one per output feature).

    Shapes:
        - ``taps``: ``(order + 1, num_nodes or number of groups, in_features, out_features)``
        - input ``(..., num_nodes, in_features)``, output ``(..., num_nodes, out_features)``

    Example:
        >>> NodeVariantFilter(1, 4, order=2, num_nodes=3)
        NodeVariantFilter(1, 4, order=2, num_nodes=3)
        >>> NodeVariantFilter(1, 4, order=2, num_nodes=3, groups=[0, 1, 0]).taps.shape
        torch.Size([3, 2, 1, 4])
    """

    groups: torch.Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        order: int,
        num_nodes: int,
        *,
        groups: Sequence[int] | np.ndarray | torch.Tensor | None = None,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if num_nodes < 1:
            raise ValueError(f"num_nodes must be at least 1, got {num_nodes}")
        labels = None if groups is None else _check_groups(groups, num_nodes)
        owners = num_nodes if labels is None else int(labels.max()) + 1
        super().__init__(in_features, out_features, order, (owners,), bias, device, dtype)
        self.num_nodes = num_nodes
        self.register_buffer("groups", None if labels is None else labels.to(device))

    def node_taps(self) -> torch.Tensor:
        """Return the taps of every node, ``(order + 1, num_nodes, in_features, out_features)``."""
        return self.taps if self.groups is None else self.taps[:, self.groups]

    def forward(self, x: torch.Tensor, shift: Shift) -> torch.Tensor:
        """Filter signals ``(..., num_nodes, in_features)`` on the graph of ``shift``."""
        return self._biased(node_variant(x, shift, self.node_taps()))

    def __repr__(self) -> str:
        groups = f", groups={self.taps.shape[1]}" if self.groups is not None else ""
        bias = ", bias=True" if self.bias is not None else ""
        return f"NodeVariantFilter({self._sizes()}, num_nodes={self.num_nodes}{groups}{bias})"


def _check_groups(groups: Sequence[int] | np.ndarray | torch.Tensor, num_nodes: int) -> torch.Tensor:
    labels = torch.as_tensor(groups).cpu()
    if labels.dtype.is_floating_point or labels.dtype == torch.bool:
        raise TypeError(f"groups must be whole numbers, got {labels.dtype}")
    labels = labels.long()
    if labels.shape != (num_nodes,):
        raise ValueError(f"groups must hold one group for each of the {num_nodes} nodes, got {tuple(labels.shape)}")
    found = labels.unique()
    if not torch.equal(found, torch.arange(len(found))):
        raise ValueError("groups must be numbered 0, 1, 2, ... without gaps")
    return labels
