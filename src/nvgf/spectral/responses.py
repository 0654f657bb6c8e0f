r"""Frequency responses of LSI and node-variant filters, in the monomial and in the Chebyshev basis.

In the monomial basis taps multiply :math:`S^k`, as in the paper. In the Chebyshev basis of an interval ``(a,
b)`` they multiply :math:`T_k((2S - (a + b)I) / (b - a))`, and stay accurate at large orders, where the
columns of the Vandermonde matrix become parallel.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.spectral.inputs import analysis_shift, filter_bank
from nvgf.spectral.spectrum import Spectrum, as_spectrum

Basis = Literal["monomial", "chebyshev"]
Interval = tuple[float, float]


def vandermonde(
    points: torch.Tensor, order: int, *, basis: Basis = "monomial", interval: Interval | None = None
) -> torch.Tensor:
    r"""Return :math:`\Lambda` with :math:`[\Lambda]_{ik} = \lambda_i^k`, or :math:`T_k` in place of the
    powers.

    Args:
        points: ``(points,)``, eigenvalues or any grid.
        order: the paper's K.
        basis: of the taps.
        interval: that the Chebyshev polynomials live on; by default from the least to the largest point.

    Returns:
        ``(points, order + 1)``, float64 (``eq:GFTfilter``).

    Example:
        >>> vandermonde(torch.tensor([1.0, 2.0]), 2)
        tensor([[1., 1., 1.],
                [1., 2., 4.]], dtype=torch.float64)
    """
    order = whole_number("order", order, 0)
    points = points.detach().double()
    if points.ndim != 1 or len(points) == 0:
        raise ValueError(f"points must have shape (points,), got {tuple(points.shape)}")
    if basis == "monomial":
        step, columns = points, [torch.ones_like(points)]
        while len(columns) <= order:
            columns.append(columns[-1] * step)
    elif basis == "chebyshev":
        low, high = checked_interval(interval or (float(points.min()), float(points.max())))
        step = (2 * points - (low + high)) / (high - low)
        columns = [torch.ones_like(step), step]
        while len(columns) <= order:
            columns.append(2 * step * columns[-1] - columns[-2])
        columns = columns[: order + 1]
    else:
        raise ValueError(f"basis must be 'monomial' or 'chebyshev', got {basis!r}")
    return torch.stack(columns, dim=1)


def checked_interval(interval: Interval) -> Interval:
    """Return an interval of positive length; a single point is widened by one on both sides."""
    low, high = interval
    if not low <= high:
        raise ValueError(f"interval must be (low, high) with low <= high, got {interval}")
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def lsi_response(
    taps: torch.Tensor, points: torch.Tensor, *, basis: Basis = "monomial", interval: Interval | None = None
) -> torch.Tensor:
    r"""Return :math:`\tilde h(\lambda) = \sum_k h_k \lambda^k` (``eq:freqResponse``) at any points.

    Shapes:
        - taps: ``(order + 1, ...)``, any trailing shape
        - points: ``(points,)``
        - returns ``(points, ...)``

    Example:
        >>> lsi_response(torch.tensor([1.0, 0.0, 1.0]), torch.tensor([0.0, 1.0, 3.0]))
        tensor([ 1.,  2., 10.], dtype=torch.float64)
    """
    matrix = vandermonde(points, taps.shape[0] - 1, basis=basis, interval=interval)
    return torch.einsum("pk,k...->p...", matrix, taps.detach().double())


def node_responses(
    filter: Any,
    points: torch.Tensor,
    num_nodes: int | None = None,
    *,
    basis: Basis = "monomial",
    interval: Interval | None = None,
) -> torch.Tensor:
    r"""Return the response of every node,
    :math:`\tilde h_i(\lambda) = \sum_k h_{ik} \lambda^k = [H\Lambda^T]`.

    Args:
        filter: taps or a filter, see :func:`nvgf.spectral.filter_bank`.
        points: ``(points,)``.
        num_nodes: of the graph; may be left out for node-variant taps.

    Returns:
        ``(nodes, points, in, out)``.

    Example:
        >>> taps = torch.tensor([[1.0, 2.0], [0.0, 1.0]])  # two taps for each of two nodes
        >>> node_responses(taps, torch.tensor([0.0, 10.0]))[..., 0, 0]
        tensor([[ 1.,  1.],
                [ 2., 12.]], dtype=torch.float64)
    """
    if num_nodes is None:
        num_nodes = int(filter.shape[1]) if isinstance(filter, torch.Tensor) else _node_count(filter)
    bank = filter_bank(filter, num_nodes)
    matrix = vandermonde(points, bank.shape[0] - 1, basis=basis, interval=interval)
    return torch.einsum("pk,knio->npio", matrix, bank)


def _node_count(filter: Any) -> int:
    count = getattr(filter, "num_nodes", None)
    if count is None and callable(getattr(filter, "bank", None)):
        count = filter.bank().shape[1]
    if count is None:
        raise ValueError("num_nodes is needed: this filter has the same taps at every node")
    return int(count)


def output_spectrum(
    taps: torch.Tensor, spectrum: Spectrum | GraphShift, x_hat: torch.Tensor, *, basis: Basis = "monomial"
) -> torch.Tensor:
    r"""Return :math:`\tilde y_i = \tilde h(\lambda_i) \tilde x_i`, the convolution theorem of LSI filters.

    Shapes:
        - taps: ``(order + 1,)`` or ``(order + 1, in, out)``
        - x_hat: ``(..., eigenvalues, in)``, the GFT of the input
        - returns ``(..., eigenvalues, out)``

    Example:
        >>> S = GraphShift([[0.0, 1.0], [1.0, 0.0]])  # eigenvalues -1 and 1
        >>> output_spectrum(torch.tensor([1.0, 0.5]), S, torch.tensor([[2.0], [2.0]]))
        tensor([[1.],
                [3.]], dtype=torch.float64)
    """
    spectrum = as_spectrum(spectrum)
    if taps.ndim not in (1, 3):
        raise ValueError(f"taps must have shape (order + 1,) or (order + 1, in, out), got {tuple(taps.shape)}")
    response = lsi_response(taps, spectrum.eigenvalues, basis=basis)
    if response.ndim == 1:
        return response[:, None] * x_hat.double()
    return torch.einsum("pio,...pi->...po", response, x_hat.double())


def fit_taps(
    response: torch.Tensor,
    points: torch.Tensor,
    order: int,
    *,
    basis: Basis = "monomial",
    interval: Interval | None = None,
) -> torch.Tensor:
    """Return the taps whose response is nearest, in least squares, to the one given at the points.

    Shapes:
        - response: ``(points, ...)``
        - returns ``(order + 1, ...)``

    Example:
        >>> points = torch.linspace(-1, 1, 5)
        >>> fit_taps(1 + 2 * points**2, points, order=2).round(decimals=6).abs()
        tensor([1., 0., 2.], dtype=torch.float64)
    """
    matrix = vandermonde(points, order, basis=basis, interval=interval)
    if response.shape[0] != len(points):
        raise ValueError(f"response must have one row for each of {len(points)} points, got {tuple(response.shape)}")
    flat = response.detach().double().reshape(len(points), -1)
    # Least norm by singular values: there may be fewer distinct points than taps.
    solution = torch.linalg.lstsq(matrix, flat, driver="gelsd" if matrix.device.type == "cpu" else None).solution
    return solution.reshape(order + 1, *response.shape[1:])


def to_chebyshev(taps: torch.Tensor, interval: Interval) -> torch.Tensor:
    r"""Return the same filter's taps in the Chebyshev basis of an interval; any trailing shape.

    Example:
        >>> to_chebyshev(torch.tensor([0.0, 0.0, 1.0]), (-1, 1))  # x^2 = (1 + T_2) / 2
        tensor([0.5000, 0.0000, 0.5000], dtype=torch.float64)
    """
    low, high = checked_interval(interval)
    middle, half = (low + high) / 2, (high - low) / 2
    taps = taps.detach().double()
    # Column k holds (middle + half t)^k in the basis T_j; t T_j = (T_{j+1} + T_{j-1}) / 2.
    power = torch.zeros(taps.shape[0], dtype=torch.float64, device=taps.device)
    power[0] = 1.0
    columns = [power]
    for _ in range(taps.shape[0] - 1):
        times_t = torch.zeros_like(power)
        times_t[1:] += power[:-1] / 2
        times_t[:-1] += power[1:] / 2
        times_t[1] += power[0] / 2
        power = middle * power + half * times_t
        columns.append(power)
    return torch.einsum("jk,k...->j...", torch.stack(columns, dim=1), taps)


def chebyshev_filter(
    x: torch.Tensor, shift: GraphShift | torch.Tensor, taps: torch.Tensor, interval: Interval
) -> torch.Tensor:
    r"""Filter signals with taps in the Chebyshev basis, by the three-term recurrence: no powers, no overflow.

    Args:
        x: ``(..., nodes, in)``.
        shift: the graph.
        taps: of an LSI filter or an NVGF, see :func:`nvgf.spectral.filter_bank`.
        interval: that holds the spectrum of S.

    Returns:
        ``(..., nodes, out)``, float64.

    Example:
        >>> S = GraphShift([[0.0, 1.0], [1.0, 0.0]])
        >>> chebyshev_filter(torch.tensor([[1.0], [2.0]]), S, torch.tensor([0.0, 1.0]), (-1, 1))  # T_1(S) = S
        tensor([[2.],
                [1.]], dtype=torch.float64)
    """
    shift = analysis_shift(shift)
    bank = filter_bank(taps, shift.num_nodes)
    low, high = checked_interval(interval)
    before, now = x.double(), None
    result = torch.einsum("...ni,nio->...no", before, bank[0])
    for tap in bank[1:]:
        if now is None:
            now = (2 * (shift @ before) - (low + high) * before) / (high - low)
        else:
            before, now = now, 2 * (2 * (shift @ now) - (low + high) * now) / (high - low) - before
        result = result + torch.einsum("...ni,nio->...no", now, tap)
    return result
