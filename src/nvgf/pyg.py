"""The filters as PyTorch Geometric layers (extra ``pyg``): ``conv(x, edge_index, edge_weight)``.

They take ``x`` of shape ``(nodes, features)``, or ``(batch, nodes, features)`` for many signals on one graph. Messages
run from ``edge_index[0]`` to ``edge_index[1]``, so that the layers equal the filters on
``GraphShift.from_edge_index(edge_index, edge_weight)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from nvgf.filters import LSIFilter, NodeVariantFilter

try:
    from torch_geometric.nn import MessagePassing
except ImportError as error:
    raise ImportError("nvgf.pyg needs PyTorch Geometric: pip install 'nvgf[pyg]'") from error


class _FilterConv(MessagePassing):
    """Exchange signals with neighbours ``order`` times, and weigh what each exchange brought with taps."""

    filter: LSIFilter | NodeVariantFilter

    def __init__(self, filter: LSIFilter | NodeVariantFilter) -> None:
        super().__init__(aggr="add", node_dim=-2)
        self.filter = filter

    def forward(
        self, x: torch.Tensor, edge_index: torch.Tensor, edge_weight: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Filter the signals ``x`` on the graph of ``edge_index``."""
        taps = self.filter.node_taps() if isinstance(self.filter, NodeVariantFilter) else self.filter.taps
        if isinstance(self.filter, NodeVariantFilter) and (x.ndim < 2 or x.shape[-2] != self.filter.num_nodes):
            raise ValueError(f"x must have shape (..., {self.filter.num_nodes}, features), got {tuple(x.shape)}")
        y = x.new_zeros(*x.shape[:-1], self.filter.out_features)
        for heard, tap in zip(self._heard(x, edge_index, edge_weight), taps, strict=True):
            y = y + (heard @ tap if tap.ndim == 2 else torch.einsum("...nf,nfg->...ng", heard, tap))
        return y if self.filter.bias is None else y + self.filter.bias

    def reset_parameters(self) -> None:
        """Draw new taps."""
        super().reset_parameters()
        self.filter.reset_parameters()

    def message(self, x_j: torch.Tensor, edge_weight: torch.Tensor | None) -> torch.Tensor:
        """Weigh the signals of the sources by their edges."""
        return x_j if edge_weight is None else edge_weight.unsqueeze(-1) * x_j

    def _heard(
        self, x: torch.Tensor, edge_index: torch.Tensor, edge_weight: torch.Tensor | None
    ) -> Iterator[torch.Tensor]:
        if x.ndim < 2 or x.shape[-1] != self.filter.in_features:
            raise ValueError(f"x must have shape (..., nodes, {self.filter.in_features}), got {tuple(x.shape)}")
        if edge_weight is not None and edge_weight.shape != edge_index.shape[1:]:
            raise ValueError(
                f"edge_weight must hold one weight for each of the {edge_index.shape[1]} edges, "
                f"got shape {tuple(edge_weight.shape)}"
            )
        yield x
        for _ in range(self.filter.order):
            x = self.propagate(edge_index, x=x, edge_weight=edge_weight)
            yield x

    def __repr__(self) -> str:
        return repr(self.filter).replace("Filter(", "Conv(")


class LSIConv(_FilterConv):
    r"""The linear shift-invariant filter :math:`\sum_k S^k x\, h_k` as a layer of PyTorch Geometric.

    Args:
        in_channels: number of input features.
        out_channels: number of output features.
        order: K, so that there are ``order + 1`` taps.
        bias: whether to add a bias.

    Shapes:
        - ``x``: ``(nodes, in)`` or ``(batch, nodes, in)``
        - ``edge_index``: ``(2, edges)``, ``edge_weight``: ``(edges,)``
        - output: as ``x``, with ``out`` features

    Example:
        >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> conv = LSIConv(4, 8, order=2)
        >>> conv
        LSIConv(4, 8, order=2)
        >>> conv(torch.randn(5, 3, 4), edge_index).shape
        torch.Size([5, 3, 8])
    """

    def __init__(self, in_channels: int, out_channels: int, order: int, *, bias: bool = False) -> None:
        super().__init__(LSIFilter(in_channels, out_channels, order, bias=bias))


class NodeVariantConv(_FilterConv):
    r"""The node-variant filter :math:`\sum_k \mathrm{diag}(h^{(k)}) S^k x` as a layer of PyTorch Geometric.

    It belongs to graphs of ``num_nodes`` nodes, since each node has taps of its own (or of its group).

    Args:
        in_channels: number of input features.
        out_channels: number of output features.
        order: K, so that every node has ``order + 1`` taps.
        num_nodes: number of nodes of the graph.
        groups: the group of each node, if nodes share taps.
        bias: whether to add a bias.

    Shapes: as :class:`LSIConv`.

    Example:
        >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> conv = NodeVariantConv(4, 8, order=2, num_nodes=3)
        >>> conv(torch.randn(3, 4), edge_index, torch.rand(4)).shape
        torch.Size([3, 8])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        order: int,
        num_nodes: int,
        *,
        groups: Sequence[int] | torch.Tensor | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__(NodeVariantFilter(in_channels, out_channels, order, num_nodes, groups=groups, bias=bias))
