"""The NVGF nearest to a given linear operator: what a network can compute by exchanges with neighbours
alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from nvgf.design.regression import rounding
from nvgf.design.solve import ROWS_RTOL, solve_rows
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.spectral.inputs import analysis_shift

CHUNK = 8_000_000
"""Numbers in the rows of all nodes that are held at once, 64 MB."""


@dataclass(frozen=True, eq=False)
class OperatorApproximation:
    r"""An NVGF in place of a linear operator B.

    Attributes:
        taps: ``(order + 1, nodes)``.
        squared_error: ``(nodes,)``, of each row of the operator.
        squared_size: ``(nodes,)``, of each row of B.
    """

    taps: torch.Tensor
    squared_error: torch.Tensor
    squared_size: torch.Tensor

    @property
    def relative_error(self) -> float:
        r""":math:`\|H(S) - B\|_F / \|B\|_F`."""
        size = float(self.squared_size.sum())
        return (float(self.squared_error.sum()) / size) ** 0.5 if size > 0 else 0.0


def approximate_operator(
    operator: torch.Tensor | Callable[[torch.Tensor], torch.Tensor],
    shift: GraphShift | torch.Tensor,
    order: int,
    *,
    ridge: float = 0.0,
    rtol: float = ROWS_RTOL,
) -> OperatorApproximation:
    r"""Return the NVGF nearest to a linear operator B in the Frobenius norm (Segarra, Marques and Ribeiro
    2017).

    Row i of an NVGF is :math:`\sum_k h_{ik} e_i^T S^k`, so that every node solves a least-squares fit of row
    i of B by itself: the optimal design for white signals. Where the fit is not unique, its taps have least
    norm. The fit is made on the rows, not on their products, and the error is that of the taps as they are.

    Args:
        operator: B, ``(nodes, nodes)``, or a function that applies it to ``(nodes, columns)``, called twice for
            every column.
        shift: the graph.
        order: the paper's K. In exact arithmetic ``order >= N - 1`` meets any operator at a node whose
            eigenvector entries are all non-zero, if the eigenvalues differ. Rounding sets a limit: the powers of
            a shift grow alike, the taps that tell them apart grow tenfold or more with each, and beyond an order
            of 10 to 20 (on random graphs, sooner than on paths or grids) another tap no longer lessens the error.
        ridge: penalty on the squared taps: smaller taps, at the price of a larger error.
        rtol: see :data:`nvgf.design.solve.ROWS_RTOL`; a larger one also gives smaller taps.

    Example:
        >>> ring = GraphShift.from_edges([(i, (i + 1) % 6) for i in range(6)])
        >>> smooth = torch.eye(6) + torch.arange(6.0)[:, None] * ring.to_dense()  # node i weighs neighbours by i
        >>> result = approximate_operator(smooth, ring, order=1)
        >>> result.taps[1].round(decimals=6).abs(), result.relative_error < 1e-6
        (tensor([0., 1., 2., 3., 4., 5.], dtype=torch.float64), True)
    """
    shift = analysis_shift(shift)
    order = whole_number("order", order, 0)
    apply = _as_function(operator, shift.num_nodes)
    size = torch.zeros(shift.num_nodes, dtype=torch.float64, device=shift.device)
    triangle = torch.zeros(shift.num_nodes, order + 2, order + 2, dtype=torch.float64, device=shift.device)
    for rows in _pieces(apply, shift, order):
        size += rows[:, -1].square().sum(-1)
        triangle = torch.linalg.qr(torch.cat([triangle.mT, rows], dim=2).mT, mode="r").R
    unit = torch.ones(shift.num_nodes, 1, dtype=torch.float64, device=shift.device)
    noise = rounding(shift, order, unit, torch.finfo(torch.float64).eps)[:, 0]
    taps, _ = solve_rows(triangle[..., :-1], triangle[..., -1], noise=noise, ridge=ridge, rtol=rtol)
    error = torch.zeros_like(size)
    for rows in _pieces(apply, shift, order):
        error += (torch.einsum("nk,nkc->nc", taps, rows[:, :-1]) - rows[:, -1]).square().sum(-1)
    return OperatorApproximation(taps.T.contiguous(), error, size)


def _as_function(
    operator: torch.Tensor | Callable[[torch.Tensor], torch.Tensor], nodes: int
) -> Callable[[torch.Tensor], torch.Tensor]:
    if isinstance(operator, torch.Tensor):
        if operator.shape != (nodes, nodes):
            raise ValueError(f"operator must have shape ({nodes}, {nodes}), got {tuple(operator.shape)}")
        return operator.detach().double().matmul
    if not callable(operator):
        raise TypeError(f"operator must be a tensor or a function, got {type(operator).__name__}")
    return operator


def _pieces(apply: Callable[[torch.Tensor], torch.Tensor], shift: GraphShift, order: int) -> Iterator[torch.Tensor]:
    """Give the rows of I, S, ..., S^K and B of every node, ``(nodes, order + 2, columns)``, some columns at a time."""
    nodes = shift.num_nodes
    size = max(order + 2, CHUNK // (nodes * (order + 2)))
    for start in range(0, nodes, size):
        count = min(size, nodes - start)
        columns = torch.zeros(nodes, count, dtype=torch.float64, device=shift.device)
        columns[start + torch.arange(count), torch.arange(count)] = 1.0
        target = apply(columns.clone())
        if target.shape != columns.shape or not bool(torch.isfinite(target).all()):
            raise ValueError(
                f"operator must map (nodes, columns) to finite (nodes, columns), got {tuple(target.shape)}"
            )
        heard = [columns]
        for _ in range(order):
            heard.append(shift.multiply_columns(heard[-1]))
        yield torch.stack([*heard, target.detach().double()], dim=1)
