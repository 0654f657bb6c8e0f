r"""Many small systems at once: the equations :math:`R_i h_i = p_i` that an optimal NVGF solves at every node, and
least-squares fits on rows."""

from __future__ import annotations

import torch
from torch.nn import functional

RTOL = 1e-12
"""Eigenvalues of the (unit-diagonal) matrix below this share of the largest count as zero."""
ROWS_RTOL = 64 * torch.finfo(torch.float64).eps
"""Singular values of the rows (with columns of unit length) below this share of the largest count as zero."""
WORSE = 1e-6
"""A solution is not made shorter at a cost above this share of what it explains."""


def solve_systems(
    gram: torch.Tensor,
    cross: torch.Tensor,
    *,
    noise: torch.Tensor | float = 0.0,
    ridge: float = 0.0,
    rtol: float = RTOL,
) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Return the solution of least Euclidean norm of every system, and the rank of each.

    The matrices are first scaled to a unit diagonal, since the powers of a shift without unit norm differ by
    orders of magnitude; the rank is decided there. The norm that is least is that of the taps themselves, not
    of the scaled ones, unless that costs accuracy (:data:`WORSE`).

    Args:
        gram: ``(..., m, m)``, symmetric and positive semidefinite, float64.
        cross: ``(..., m)``.
        noise: ``(..., m)``; a diagonal entry of ``gram`` not above it is rounding noise, and counts as zero.
        ridge: added to the diagonal; the penalty on :math:`\|h\|^2` beside the mean squared error.
        rtol: see :data:`RTOL`.

    Returns:
        taps ``(..., m)`` and ranks ``(...)``.

    Example:
        >>> gram, cross = torch.ones(2, 2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
        >>> solve_systems(gram, cross)  # h_1 + h_2 = 1: singular
        (tensor([0.5000, 0.5000], dtype=torch.float64), tensor(1))
    """
    if ridge < 0:
        raise ValueError(f"ridge must not be negative, got {ridge}")
    diagonal = gram.diagonal(dim1=-2, dim2=-1)
    silent = diagonal <= noise
    loud = (~silent).to(gram.dtype)
    gram = gram * loud[..., :, None] * loud[..., None, :] + ridge * torch.eye(
        gram.shape[-1], dtype=gram.dtype, device=gram.device
    )
    cross = cross * loud
    scale = torch.where(silent & (ridge == 0), 1.0, gram.diagonal(dim1=-2, dim2=-1).sqrt())
    values, vectors = torch.linalg.eigh(gram / (scale[..., :, None] * scale[..., None, :]))
    kept = values > rtol * values[..., -1:].clamp_min(torch.finfo(gram.dtype).tiny)
    inverse = torch.where(kept, 1.0 / torch.where(kept, values, 1.0), 0.0)
    coordinates = inverse * torch.einsum("...ji,...j->...i", vectors, cross / scale)
    taps = torch.einsum("...ij,...j->...i", vectors, coordinates) / scale
    singular = ~kept.all(dim=-1)
    if bool(singular.any()):
        # A product that is zero is known up to rounding only.
        weights = values.clamp_min(0) + torch.finfo(gram.dtype).eps * values[..., -1:]
        parts = (part[singular] for part in (taps, scale, vectors, kept, weights))
        taps[singular] = _shortened(*parts)
    return taps, kept.sum(dim=-1)


def solve_rows(
    rows: torch.Tensor,
    target: torch.Tensor,
    *,
    noise: torch.Tensor | float = 0.0,
    ridge: float = 0.0,
    rtol: float = ROWS_RTOL,
) -> tuple[torch.Tensor, torch.Tensor]:
    r"""Return the least-squares fit of least Euclidean norm of every target on its rows, and the rank of each.

    What :func:`solve_systems` finds from products of the columns, which hold half their digits; here by a singular
    value decomposition of the columns, after scaling them to unit length.

    Args:
        rows: ``(..., n, m)`` with n at least m, float64.
        target: ``(..., n)``.
        noise: ``(..., m)``; a column whose squared length is not above it is rounding noise, and counts as zero.
        ridge: the penalty on :math:`\|h\|^2` beside the sum of squares.
        rtol: see :data:`ROWS_RTOL`.

    Returns:
        taps ``(..., m)`` and ranks ``(...)``.

    Example:
        >>> rows = torch.tensor([[1.0, 1.0], [1.0, 1.0 + 1e-9]], dtype=torch.float64)
        >>> taps, rank = solve_rows(rows, rows @ torch.tensor([3.0, -3.0], dtype=torch.float64))
        >>> taps.round(decimals=3), rank
        (tensor([ 3., -3.], dtype=torch.float64), tensor(2))
    """
    if ridge < 0:
        raise ValueError(f"ridge must not be negative, got {ridge}")
    width = rows.shape[-1]
    rows = rows.masked_fill((rows.square().sum(dim=-2) <= noise)[..., None, :], 0.0)
    if ridge > 0:
        damping = ridge**0.5 * torch.eye(width, dtype=rows.dtype, device=rows.device)
        rows = torch.cat([rows, damping.expand(*rows.shape[:-2], width, width)], dim=-2)
        target = functional.pad(target, (0, width))
    length = rows.norm(dim=-2)
    scale = torch.where(length > 0, length, 1.0)
    left, values, right = torch.linalg.svd(rows / scale[..., None, :], full_matrices=False)
    kept = values > rtol * values[..., :1].clamp_min(torch.finfo(rows.dtype).tiny)
    inverse = torch.where(kept, 1.0 / torch.where(kept, values, 1.0), 0.0)
    coordinates = inverse * (left.mT @ target[..., None])[..., 0]
    taps = (right.mT @ coordinates[..., None])[..., 0] / scale
    singular = ~kept.all(dim=-1)
    if bool(singular.any()):
        weights = values.square() + (torch.finfo(rows.dtype).eps * values[..., :1]).square()
        parts = (part[singular] for part in (taps, scale, right.mT, kept, weights))
        taps[singular] = _shortened(*parts)
    return taps, kept.sum(dim=-1)


def _shortened(
    taps: torch.Tensor, scale: torch.Tensor, vectors: torch.Tensor, kept: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Return a solution less what of it lies in the directions that count as absent: a solution too, and shorter.

    That holds as far as they are silent. Scaled back by factors that differ by orders of magnitude they may not be:
    then (:data:`WORSE`) the solution stays as it is. ``weights`` are the squared sizes of the scaled directions.
    """
    null = (vectors * ~kept[:, None, :]) / scale[..., None]
    null = null / null.norm(dim=-2, keepdim=True).clamp_min(torch.finfo(null.dtype).tiny)
    inside = (null @ (torch.linalg.pinv(null, rtol=1e-10) @ taps[..., None]))[..., 0]
    cost, size = (
        (weights * torch.einsum("nji,nj->ni", vectors, part * scale).square()).sum(dim=-1) for part in (inside, taps)
    )
    return taps - torch.where((cost <= WORSE * size)[..., None], inside, 0.0)
