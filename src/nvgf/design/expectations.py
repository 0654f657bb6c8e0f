r"""The moments of an activation on one entry: :math:`E[\rho(x)]`, :math:`E[\rho(x)x]` and :math:`E[\rho(x)^2]`."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import torch
from scipy import integrate

from nvgf.design.activations import Pointwise, apply_pointwise

REACH = 12
"""Deviations: what of a Gaussian lies beyond weighs less than 1e-32."""
TOLERANCE = 1e-13
"""A piece whose halves add up to it within this share of the whole is integrated."""
HALVINGS = 60
NEEDED = ("mean", "std", "support", "pdf", "ppf")


def gaussian_moments(activation: Pointwise, deviation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    r"""Return :math:`E[\rho(x)], E[\rho(x)x], E[\rho(x)^2]` for :math:`x \sim N(0, \sigma^2)`, for each
    deviation.

    By Gauss-Legendre quadrature on pieces of half a deviation, which are halved until nothing changes: a kink or
    a step of the activation costs no accuracy, wherever it is.

    Example:
        >>> gaussian_moments(torch.relu, torch.tensor([1.0, 2.0]))[1]
        tensor([0.5000, 2.0000], dtype=torch.float64)
    """
    sigma = deviation.double()
    edges = torch.arange(-2 * REACH, 2 * REACH + 1, device=sigma.device).double() / 2
    which = torch.arange(len(sigma), device=sigma.device).repeat_interleave(len(edges) - 1)
    low, high = edges[:-1].repeat(len(sigma)), edges[1:].repeat(len(sigma))
    whole = _pieces(activation, sigma[which], low, high)
    size = torch.zeros(len(sigma), 3, dtype=torch.float64, device=sigma.device).index_add_(0, which, whole.abs())
    total, most = torch.zeros_like(size), 2 * len(which)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        left, right = (_pieces(activation, sigma[which], *ends) for ends in ((low, middle), (middle, high)))
        rough = ((left + right - whole).abs() > TOLERANCE * size[which]).any(dim=-1)
        total.index_add_(0, which[~rough], (left + right)[~rough])
        low, high = torch.cat([low[rough], middle[rough]]), torch.cat([middle[rough], high[rough]])
        whole, which = torch.cat([left[rough], right[rough]]), which[rough].repeat(2)
        if not 0 < len(which) <= most:  # done, or rough everywhere: an activation that computes in a lower precision
            break
    first, cross, second = total.index_add_(0, which, whole).unbind(dim=-1)
    return first, cross, second


def distribution_moments(activation: Pointwise, distribution: Any) -> tuple[float, float, float, float]:
    r"""Return the deviation :math:`\sigma`, :math:`E[\rho(x)]`, :math:`E[\rho(x)x]/\sigma` and the variance of
    :math:`\rho(x)`.

    The integrals are taken in units of the deviation, between quantiles, and of :math:`\rho(x) - \rho(0)`: so
    that entries may be of any size.

    Args:
        activation: the pointwise function.
        distribution: continuous and frozen, of ``scipy.stats``, with mean zero.

    Example:
        >>> from scipy import stats
        >>> [round(value, 6) for value in distribution_moments(torch.relu, stats.uniform(-2, 4))]
        [1.154701, 0.5, 0.57735, 0.416667]
    """
    deviation = _checked_deviation(distribution)
    anchor = _at(activation, 0.0)
    anchor = anchor if math.isfinite(anchor) else 0.0
    quantiles = distribution.ppf((np.arange(64) + 0.5) / 64)
    size = math.sqrt(np.mean([(_at(activation, x) - anchor) ** 2 for x in quantiles])) or 1.0

    def integrand(z: float) -> np.ndarray:
        y, x = (_at(activation, z * deviation) - anchor) / size, z * deviation
        density = float(distribution.pdf(x)) * deviation
        return np.array([y, y * z, y * y]) * (density if math.isfinite(density) else 0.0)  # a pole at an end

    low, high = (end / deviation for end in distribution.support())
    inner = [0.0, *(distribution.ppf([1e-3, 0.5, 1 - 1e-3]) / deviation)]
    exact = max(1e-12, 1e-15 * abs(anchor) / size)
    values, error = integrate.quad_vec(
        integrand,
        low,
        high,
        epsabs=exact,
        epsrel=1e-10,
        norm="max",
        limit=500,
        points=[z for z in inner if low < z < high],
    )[:2]
    if not np.isfinite(values).all():
        raise ValueError("activation must have a finite mean and variance on the distribution, got NaN or infinity")
    if error > 1e-6 * max(1.0, float(abs(values).max())):
        warnings.warn(f"distribution: the expected values are exact to a share of {error:.1g} only", stacklevel=3)
    first, cross, second = (float(value) for value in values)
    return deviation, size * first + anchor, size * cross, size**2 * max(second - first**2, 0.0)


def _pieces(activation: Pointwise, sigma: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    """Return the three integrals over every piece from ``low`` to ``high`` deviations, ``(pieces, 3)``."""
    nodes, weights = (torch.from_numpy(part).to(low) for part in np.polynomial.legendre.leggauss(12))
    half = (high - low)[:, None] / 2
    points = low[:, None] + (nodes + 1) * half
    x = sigma[:, None] * points
    y = apply_pointwise(activation, x)
    weights = weights * half * torch.exp(-points.square() / 2) / math.sqrt(2 * math.pi)
    return torch.stack([(part * weights).sum(dim=-1) for part in (y, y * x, y.square())], dim=-1)


def _checked_deviation(distribution: Any) -> float:
    missing = [name for name in NEEDED if not callable(getattr(distribution, name, None))]
    if missing:
        raise TypeError(
            "distribution must be a continuous frozen distribution of scipy.stats, got "
            f"{type(distribution).__name__} without {', '.join(missing)}"
        )
    deviation, mean = float(distribution.std()), float(distribution.mean())
    if not (math.isfinite(deviation) and deviation > 0):
        raise ValueError(f"distribution must have a positive, finite variance, got deviation {deviation}")
    if abs(mean) > 1e-9 * deviation:
        raise ValueError(f"distribution must have mean zero, got {mean:.6g}")
    return deviation


def _at(activation: Pointwise, x: float) -> float:
    with torch.no_grad():
        return float(activation(torch.tensor(x, dtype=torch.float64)))
