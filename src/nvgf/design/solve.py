r"""Many small systems :math:`R_i h_i = p_i` at once: the equations that an optimal NVGF solves at every
node."""

from __future__ import annotations

import torch

RTOL = 1e-12
"""Eigenvalues of the (unit-diagonal) matrix below this share of the largest count as zero."""


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
    of the scaled ones.

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
        # Any solution plus the null space is a solution: take away what lies in the null space of the
        # unscaled matrix.
        null = (vectors[singular] * ~kept[singular][:, None, :]) / scale[singular][..., None]
        null = null / null.norm(dim=-2, keepdim=True).clamp_min(torch.finfo(gram.dtype).tiny)
        inside = null @ (torch.linalg.pinv(null, rtol=1e-10) @ taps[singular][..., None])
        taps[singular] = taps[singular] - inside[..., 0]
    return taps, kept.sum(dim=-1)
