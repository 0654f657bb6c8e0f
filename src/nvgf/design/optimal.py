r"""``optimal_taps``: the NVGF that is nearest, in mean square, to a pointwise function (Proposition 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import torch

from nvgf.design.activations import Pointwise
from nvgf.design.moments import Moments, Shrinkage
from nvgf.design.regression import NodeMoments, rounding
from nvgf.design.result import Design
from nvgf.design.solve import RTOL, solve_systems
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.spectral.inputs import analysis_shift


def optimal_taps(
    signals: torch.Tensor | Iterable[torch.Tensor] | Moments,
    shift: GraphShift | torch.Tensor,
    order: int,
    activation: str | Pointwise | None = None,
    *,
    ridge: float = 0.0,
    shrinkage: Shrinkage = None,
    best_linear: bool = False,
    rtol: float | None = None,
) -> Design:
    r"""Design the NVGF-based estimator :math:`H(S)x + c` of :math:`\rho(x)` with the least mean squared
    error.

    For every node i and feature the taps solve (Proposition 5, ``prop:NVGFoptimal``)

    .. math:: R_i h_i = p_i, \quad R_i = \Lambda^T \mathrm{diag}(u_i) V^T C_x V \mathrm{diag}(u_i) \Lambda,

    which are the normal equations of the least-squares fit of :math:`\rho(x_i)` on
    :math:`x_i, (Sx)_i, \ldots, (S^Kx)_i`, all centred. They are solved as such: by shifts alone. The offset
    is that of Lemma 4 (``l:unbiased``). Where a node's system is singular, its taps are the solution of least
    norm. S need not be symmetric.

    Args:
        signals: ``(..., nodes, features)``, an iterable of such batches (read once), or :class:`Moments`.
        shift: the graph.
        order: the paper's K. The systems are made of moments, which keep half the digits of the signals: beyond
            an order of about 10 the powers of a shift differ by less, what differs by less counts as absent
            (``rtol``), and the error stops falling.
        activation: a name of :data:`nvgf.design.ACTIVATIONS` or any pointwise function, called with float64;
            "relu" by default, and that of the moments if moments are given.
        ridge: penalty on the squared taps of a node, beside its mean squared error.
        shrinkage: ``"ledoit-wolf"`` or a number in [0, 1]: shrink the covariance (needs nodes x nodes
            moments). The reported errors are those on the moments as they are.
        best_linear: report also the least error of any affine function of the whole signal (nodes x nodes
            moments; always reported when moments are given). With fewer signals than nodes it is zero: any
            linear function fits those.
        rtol: see :meth:`NodeMoments.design`.

    Returns:
        a :class:`Design` with taps ``(order + 1, nodes, features)`` and offset ``(nodes, features)``.

    Example:
        On non-negative signals a ReLU is the identity, and so is the design:

        >>> S = GraphShift([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=torch.float64)
        >>> x = torch.rand(20, 3, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        >>> optimal_taps(x, S, order=1).taps[..., 0].round(decimals=6).abs()
        tensor([[1., 1., 1.],
                [0., 0., 0.]], dtype=torch.float64)
    """
    shift = analysis_shift(shift)
    if isinstance(signals, Moments):
        if activation is not None and activation != signals.activation:
            raise ValueError(f"activation is {activation!r}, the moments are those of {signals.activation!r}")
        return design_from_moments(signals, shift, order, ridge=ridge, shrinkage=shrinkage, rtol=rtol)
    activation = "relu" if activation is None else activation
    batches = [signals] if isinstance(signals, torch.Tensor) else signals
    local = NodeMoments(shift, order, activation)
    if shrinkage is None and not best_linear:
        for batch in batches:
            local.update(batch)
        return local.design(ridge=ridge, rtol=rtol)
    moments = Moments(activation)
    for batch in batches:
        moments.update(batch)
        if shrinkage is None:
            local.update(batch)
    full = design_from_moments(moments, shift, order, ridge=ridge, shrinkage=shrinkage, rtol=rtol)
    if shrinkage is not None:
        return full
    return replace(local.design(ridge=ridge, rtol=rtol), best_linear_mse=full.best_linear_mse)


def design_from_moments(
    moments: Moments,
    shift: GraphShift | torch.Tensor,
    order: int,
    *,
    ridge: float = 0.0,
    shrinkage: Shrinkage = None,
    rtol: float | None = None,
) -> Design:
    r"""Design from a mean, a covariance and cross-moments: what :func:`optimal_taps` does when given moments.

    With a factor :math:`C_x = LL^T` the matrix of node i is :math:`[R_i]_{kl} = [S^kL]_i \cdot [S^lL]_i`,
    rows of shifted factors: again without an eigen-decomposition of S.
    """
    order = whole_number("order", order, 0)
    shift = analysis_shift(shift)
    covariance, cross = moments.covariance, moments.cross
    if covariance.shape[-1] != shift.num_nodes:
        raise ValueError(f"moments have {covariance.shape[-1]} nodes, the shift has {shift.num_nodes}")
    size = (covariance.diagonal(dim1=1, dim2=2).T + moments.mean**2).sqrt()
    noise = rounding(shift, order, size, moments.eps)
    rtol = max(RTOL, (64 * moments.eps) ** 2) if rtol is None else rtol
    solved = moments.shrunk_covariance(shrinkage)
    taps, mse, rank, best, offset = [], [], [], [], []
    for feature in range(covariance.shape[0]):
        p = _powers_diagonal(cross[feature], shift, order)
        gram, explained = _node_grams(covariance[feature], cross[feature], shift, order)
        system = gram if shrinkage is None else _node_grams(solved[feature], cross[feature], shift, order)[0]
        h, ranks = solve_systems(system, p, noise=noise[:, feature], ridge=ridge, rtol=rtol)
        variance = moments.target_variance[:, feature]
        taps.append(h.T)
        rank.append(ranks)
        mse.append(torch.einsum("nk,nkl,nl->n", h, gram, h) - 2 * (h * p).sum(-1) + variance)
        best.append(variance - explained)
        mean = moments.mean[:, feature : feature + 1]
        offset.append(moments.target_mean[:, feature])
        for tap in h.T:
            offset[-1] = offset[-1] - tap * mean[:, 0]
            mean = shift.multiply_columns(mean.contiguous())
    return Design(
        torch.stack(taps, dim=-1),
        torch.stack(offset, dim=-1),
        torch.stack(mse, dim=-1).clamp_min(0),
        moments.target_variance,
        torch.stack(rank, dim=-1),
        torch.stack(best, dim=-1).clamp_min(0),
    )


def _node_grams(
    covariance: torch.Tensor, cross: torch.Tensor, shift: GraphShift, order: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return every R_i, ``(nodes, order + 1, order + 1)``, and the variance any linear function explains."""
    values, vectors = torch.linalg.eigh((covariance + covariance.T) / 2)
    heard = [vectors * values.clamp_min(0).sqrt()]
    for _ in range(order):
        heard.append(shift.multiply_columns(heard[-1]))
    rows = torch.stack(heard, dim=1)
    kept = values > RTOL * values[-1].clamp_min(torch.finfo(values.dtype).tiny)
    explained = torch.where(kept, (cross @ vectors) ** 2 / torch.where(kept, values, 1.0), 0.0).sum(-1)
    return rows @ rows.transpose(1, 2), explained


def _powers_diagonal(cross: torch.Tensor, shift: GraphShift, order: int) -> torch.Tensor:
    """Return :math:`[p_i]_k = [S^k P^T]_{ii}` for the cross-moments P, ``(nodes, order + 1)``."""
    heard = cross.T.contiguous()
    columns = [heard.diagonal()]
    for _ in range(order):
        heard = shift.multiply_columns(heard)
        columns.append(heard.diagonal())
    return torch.stack(columns, dim=-1)
