"""The NVGF nearest to a given linear operator: what a network can compute by exchanges with neighbours
alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from nvgf.design.regression import rounding
from nvgf.design.solve import RTOL, solve_systems
from nvgf.graph import GraphShift
from nvgf.spectral.inputs import analysis_shift

CHUNK = 256
"""Columns of the operator taken at once."""


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
    rtol: float = RTOL,
) -> OperatorApproximation:
    r"""Return the NVGF nearest to a linear operator B in the Frobenius norm (Segarra, Marques and Ribeiro
    2017).

    Row i of an NVGF is :math:`\sum_k h_{ik} e_i^T S^k`, so that every node solves a least-squares fit of row
    i of B by itself: the optimal design for white signals. Where the fit is not unique, its taps have least
        norm.

    Args:
        operator: B, ``(nodes, nodes)``, or a function that applies it to ``(nodes, columns)``.
        shift: the graph.
        order: the paper's K; with ``order >= N - 1`` any operator is met exactly at a node whose eigenvector
            entries are all non-zero, if the eigenvalues differ.
        ridge: penalty on the squared taps.
        rtol: see :func:`nvgf.design.solve.solve_systems`.

    Example:
        >>> ring = GraphShift.from_edges([(i, (i + 1) % 6) for i in range(6)])
        >>> smooth = torch.eye(6) + torch.arange(6.0)[:, None] * ring.to_dense()  # node i weighs neighbours by i
        >>> result = approximate_operator(smooth, ring, order=1)
        >>> result.taps[1].round(decimals=6).abs(), result.relative_error < 1e-6
        (tensor([0., 1., 2., 3., 4., 5.], dtype=torch.float64), True)
    """
    shift = analysis_shift(shift)
    nodes = shift.num_nodes
    if not isinstance(order, int) or order < 0:
        raise ValueError(f"order must be an integer of at least 0, got {order!r}")
    if isinstance(operator, torch.Tensor):
        if operator.shape != (nodes, nodes):
            raise ValueError(f"operator must have shape ({nodes}, {nodes}), got {tuple(operator.shape)}")
        matrix = operator.detach().double()
        apply: Callable[[torch.Tensor], torch.Tensor] = lambda columns: matrix @ columns  # noqa: E731
    elif callable(operator):
        apply = operator
    else:
        raise TypeError(f"operator must be a tensor or a function, got {type(operator).__name__}")
    scatter = torch.zeros(nodes, order + 2, order + 2, dtype=torch.float64, device=shift.device)
    for start in range(0, nodes, CHUNK):
        count = min(CHUNK, nodes - start)
        columns = torch.zeros(nodes, count, dtype=torch.float64, device=shift.device)
        columns[start + torch.arange(count), torch.arange(count)] = 1.0
        target = apply(columns)
        if target.shape != columns.shape or not bool(torch.isfinite(target).all()):
            raise ValueError(
                f"operator must map (nodes, columns) to finite (nodes, columns), got {tuple(target.shape)}"
            )
        heard = [columns]
        for _ in range(order):
            heard.append(shift.multiply_columns(heard[-1]))
        rows = torch.stack([*heard, target.double()], dim=1)
        scatter += rows @ rows.transpose(1, 2)
    gram, cross, size = scatter[:, :-1, :-1], scatter[:, :-1, -1], scatter[:, -1, -1]
    unit = torch.ones(nodes, 1, dtype=torch.float64, device=shift.device)
    noise = rounding(shift, order, unit, torch.finfo(torch.float64).eps)[:, 0]
    taps, _ = solve_systems(gram, cross, noise=noise, ridge=ridge, rtol=rtol)
    error = torch.einsum("nk,nkl,nl->n", taps, gram, taps) - 2 * (taps * cross).sum(-1) + size
    return OperatorApproximation(taps.T.contiguous(), error.clamp_min(0), size)
