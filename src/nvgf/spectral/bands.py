r"""Spectral bands of large graphs, without an eigen-decomposition.

The indicator of a band is written in Chebyshev polynomials on an interval that holds the spectrum, damped by
Jackson's factors so that it does not ring. The energy of a signal in the band is then a combination of the
moments :math:`x^T T_k(\tilde S) x`, which cost k/2 exchanges with neighbours each
(:math:`T_{2k} = 2T_k^2 - 1`). With random signals the same moments estimate traces, and so count the
eigenvalues. An edge of a band is blurred over about :math:`\pi / \text{order}` of half the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.spectral.inputs import analysis_shift
from nvgf.spectral.interval import spectral_interval
from nvgf.spectral.responses import Interval, checked_interval


@dataclass(frozen=True, eq=False)
class Bands:
    """Something measured in bands of the spectrum.

    Attributes:
        edges: ``(bands + 1,)``, ascending.
        values: ``(..., bands)`` for a density, ``(..., bands, features)`` for energies.
    """

    edges: torch.Tensor
    values: torch.Tensor

    @property
    def centers(self) -> torch.Tensor:
        """The middle of each band, ``(bands,)``."""
        return (self.edges[1:] + self.edges[:-1]) / 2


def chebyshev_moments(
    x: torch.Tensor, shift: GraphShift | torch.Tensor, order: int, interval: Interval
) -> torch.Tensor:
    r"""Return :math:`x^T T_k(\tilde S) x` for k = 0, ..., order, with S mapped from ``interval`` to [-1, 1].

    Shapes:
        - x: ``(nodes, columns)``
        - returns ``(order + 1, columns)``

    Example:
        >>> S = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> chebyshev_moments(torch.tensor([[1.0], [1.0]]), S, 3, (-1, 1))[:, 0]
        tensor([2., 2., 2., 2.], dtype=torch.float64)
    """
    shift = analysis_shift(shift)
    order = whole_number("order", order, 0)
    low, high = checked_interval(interval)

    def step(columns: torch.Tensor) -> torch.Tensor:
        return (2 * shift.multiply_columns(columns) - (low + high) * columns) / (high - low)

    x = x.double().contiguous()
    before, now = x, step(x)
    first, second = x.square().sum(0), (x * now).sum(0)
    moments = [first, second]
    while len(moments) <= order:
        moments.append(2 * now.square().sum(0) - first)
        before, now = now, 2 * step(now) - before
        moments.append(2 * (before * now).sum(0) - second)
    return torch.stack(moments[: order + 1])


def band_energy(
    x: torch.Tensor,
    shift: GraphShift | torch.Tensor,
    bands: int | torch.Tensor = 10,
    *,
    order: int = 1000,
    interval: Interval | None = None,
) -> Bands:
    """Return the energy of signals in bands of the spectrum, by Chebyshev-Jackson polynomials.

    Args:
        x: ``(..., nodes, features)``.
        shift: the graph, symmetric.
        bands: the edges of the bands, ``(bands + 1,)`` ascending, or how many equal ones to cut the interval
            into.
        order: of the polynomials: the larger, the sharper the edges; ``order / 2`` shifts are done.
        interval: that holds the spectrum; by default that of :func:`nvgf.spectral.spectral_interval`.

    Returns:
        :class:`Bands` with values ``(..., bands, features)``.

    Example:
        >>> S = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # eigenvalues -1 and 1
        >>> band_energy(torch.tensor([[1.0], [1.0]]), S, torch.tensor([-1.5, 0.0, 1.5])).values[:, 0]
        tensor([0.0000, 2.0000], dtype=torch.float64)
    """
    shift = analysis_shift(shift)
    if x.ndim < 2 or x.shape[-2] != shift.num_nodes:
        raise ValueError(f"x must have shape (..., {shift.num_nodes}, features), got {tuple(x.shape)}")
    if not bool(torch.isfinite(x).all()):
        raise ValueError("x must be finite, got NaN or infinity")
    order, interval = whole_number("order", order, 1), _interval_of(shift, interval)
    edges = _edges(bands, interval, x.device)
    columns = x.double().reshape(-1, *x.shape[-2:]).transpose(0, 1).reshape(x.shape[-2], -1)
    moments = _checked_moments(columns, shift, order, interval)
    energy = _band_coefficients(edges, order, interval) @ moments
    shape = (len(edges) - 1, *x.shape[:-2], x.shape[-1])
    return Bands(edges, energy.reshape(shape).movedim(0, -2).clamp_min(0))


def spectral_density(
    shift: GraphShift | torch.Tensor,
    bands: int | torch.Tensor = 50,
    *,
    order: int = 1000,
    probes: int = 32,
    seed: int = 0,
    interval: Interval | None = None,
) -> Bands:
    """Return the share of the eigenvalues in each band, by stochastic traces (the kernel polynomial method).

    Args:
        shift: the graph, symmetric.
        bands: edges, or how many equal bands.
        order: of the polynomials.
        probes: random signals of signs; the error of a band falls with the square root of their number.
        seed: of the signals.
        interval: that holds the spectrum; by default that of :func:`nvgf.spectral.spectral_interval`.

    Example:
        >>> path = GraphShift.from_edges([(i, i + 1) for i in range(99)])
        >>> density = spectral_density(path, torch.tensor([-2.1, -1.0, 1.0, 2.1]), probes=64)
        >>> bool((density.values - 1 / 3).abs().max() < 0.02)
        True
    """
    probes, order = whole_number("probes", probes, 1), whole_number("order", order, 1)
    shift = analysis_shift(shift)
    interval = _interval_of(shift, interval)
    edges = _edges(bands, interval, shift.device)
    generator = torch.Generator().manual_seed(whole_number("seed", seed, 0))
    signs = torch.randint(0, 2, (shift.num_nodes, probes), generator=generator).double() * 2 - 1
    moments = _checked_moments(signs.to(shift.device), shift, order, interval).mean(1) / shift.num_nodes
    return Bands(edges, (_band_coefficients(edges, order, interval) @ moments).clamp_min(0))


def jackson(order: int) -> torch.Tensor:
    """Return Jackson's damping factors for k = 0, ..., order, float64: they keep a series of a step from
    ringing.

    Example:
        >>> jackson(2)
        tensor([1.0000, 0.7071, 0.2500], dtype=torch.float64)
    """
    k = torch.arange(order + 1, dtype=torch.float64)
    size = order + 2
    angle = math.pi / size
    return ((size - k) * torch.cos(k * angle) + torch.sin(k * angle) / math.tan(angle)) / size


def _interval_of(shift: GraphShift, interval: Interval | None) -> Interval:
    """The interval given, or one that holds the spectrum; a spectrum of one point lies in the middle of its own."""
    if interval is not None:
        return checked_interval(interval)
    low, high = spectral_interval(shift)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low = high = (low + high) / 2
    return checked_interval((low, high))


def _checked_moments(x: torch.Tensor, shift: GraphShift, order: int, interval: Interval) -> torch.Tensor:
    """The moments, once it is clear that the polynomials stay within [-1, 1] on what the signals hold."""
    moments = chebyshev_moments(x, shift, order, interval)
    # Outside of the interval polynomials grow, up to overflow and NaN.
    if not bool((moments.abs() <= moments[0] * (1 + 1e-6)).all()):
        raise ValueError(f"interval does not hold the spectrum of the shift, got {interval}")
    return moments


def _edges(bands: int | torch.Tensor, interval: Interval, device: torch.device) -> torch.Tensor:
    if np.ndim(bands) == 0:
        return torch.linspace(*interval, whole_number("bands", bands, 1) + 1, dtype=torch.float64, device=device)
    edges = torch.as_tensor(bands, dtype=torch.float64, device=device)
    if edges.ndim != 1 or len(edges) < 2 or bool((edges.diff() <= 0).any()):
        raise ValueError(f"bands must be a number or ascending edges (bands + 1,), got {bands}")
    return edges


def _band_coefficients(edges: torch.Tensor, order: int, interval: Interval) -> torch.Tensor:
    """Damped Chebyshev coefficients of the indicator of each band, ``(bands, order + 1)``."""
    low, high = interval
    angles = torch.arccos(((2 * edges - (low + high)) / (high - low)).clamp(-1, 1))
    k = torch.arange(1, order + 1, dtype=torch.float64, device=edges.device)
    steps = torch.cat([angles[:, None] / math.pi, 2 * torch.sin(k * angles[:, None]) / (k * math.pi)], dim=1)
    return (steps[:-1] - steps[1:]) * jackson(order).to(edges.device)
