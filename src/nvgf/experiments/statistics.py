"""Intervals and tests for paired errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
NOISE = 1e-9
"""Differences that vary by less, relative to their mean or 1, are taken for equal: it is rounding."""
FEWEST_EQUAL = 5
"""Fewer equal differences say nothing about how much others would differ."""


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval, the p-value of the mean being 0, and the number of observations.

    With fewer than two observations, or a few that are equal, the interval is the whole line and p is 1.
    """

    mean: float
    low: float
    high: float
    p: float
    n: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of 0."""
        return self.low > 0 or self.high < 0

    def scaled(self, factor: float) -> Interval:
        """Return the interval of a multiple, ``factor`` positive."""
        return Interval(self.mean * factor, self.low * factor, self.high * factor, self.p, self.n)

    def text(self, unit: str = "", digits: int = 2) -> str:
        """Return ``mean [low, high]``."""
        return f"{self.mean:+.{digits}f}{unit} [{self.low:+.{digits}f}, {self.high:+.{digits}f}]"


def mean_interval(values: Sequence[float], *, test_ratio: float = 0.0, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of some differences with its t interval.

    Over random splits of the same data, differences are not independent, since the training sets overlap. The
    correction of Nadeau and Bengio (2003) takes the variance of the mean as ``(1 / n + test_ratio) var``.

    Args:
        values: the differences.
        test_ratio: test samples to training samples for splits of the same data, 0 for independent values.
        confidence: of the interval.

    Example:
        >>> mean_interval([1.0, 2.0, 3.0]).text()
        '+2.00 [-0.48, +4.48]'
        >>> mean_interval([1.0, 2.0, 3.0], test_ratio=0.1).text()
        '+2.00 [-0.83, +4.83]'
    """
    data = np.asarray(values, dtype=float)
    n = len(data)
    mean = float(data.mean()) if n else math.nan
    if n < 2 or not np.isfinite(data).all():
        return Interval(mean, -math.inf, math.inf, 1.0, n)
    deviation = float(data.std(ddof=1))
    if deviation <= NOISE * max(1.0, abs(mean)):
        return _of_equal(mean, n)
    error = math.sqrt(1 / n + test_ratio) * deviation
    half = error * float(stats.t.ppf((1 + confidence) / 2, n - 1))
    return Interval(mean, mean - half, mean + half, 2 * float(stats.t.sf(abs(mean) / error, n - 1)), n)


def _of_equal(mean: float, n: int) -> Interval:
    """Return the interval of differences that are equal but for rounding: no width, or unknown for a few."""
    if n < FEWEST_EQUAL:
        return Interval(mean, -math.inf, math.inf, 1.0, n)
    exact = mean if abs(mean) > NOISE else 0.0
    return Interval(exact, exact, exact, 0.0 if exact else 1.0, n)


def p_outside(found: Interval, *, above: float = -math.inf, below: float = math.inf) -> float:
    """Return the one-sided p-value against a mean that lies between two bounds; half of 1 - 95 % decides.

    ``found`` is a 95 % interval of :func:`mean_interval`. One that touches a bound from outside has p = 0.025.

    Example:
        >>> found = mean_interval([1.0, 2.0, 3.0])
        >>> round(p_outside(found, below=found.low), 6), round(p_outside(found, above=2.0), 6)
        (0.025, 0.5)
    """
    half = (found.high - found.low) / 2
    if not math.isfinite(half):
        return 1.0
    if half == 0:
        return 0.0 if found.mean <= above or found.mean >= below else 1.0
    error = half / float(stats.t.ppf((1 + CONFIDENCE) / 2, found.n - 1))
    away = max((found.mean - below) / error, (above - found.mean) / error)
    return float(stats.t.sf(away, found.n - 1))


def wilcoxon(values: Sequence[float]) -> float:
    """Return the two-sided p-value of the signed-rank test that the values are symmetric about 0.

    Example:
        >>> wilcoxon([1, 2, 3, 4, 5, 6])
        0.03125
        >>> wilcoxon([0.0, 0.0])
        1.0
    """
    data = np.asarray(values, dtype=float)
    data = data[data != 0]
    return float(stats.wilcoxon(data).pvalue) if len(data) else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's step-down method.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = largest
    return corrected


def proportion_interval(successes: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return Wilson's interval of a proportion.

    Example:
        >>> [round(end, 2) for end in proportion_interval(11, 21)]
        [0.32, 0.72]
    """
    if n == 0:
        return 0.0, 1.0
    found = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)
