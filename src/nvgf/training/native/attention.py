"""Attention of one feature, compiled: every pair of nodes is looked at once, and nothing of that size is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_compiled: Any = njit(fastmath={"contract", "nsz", "reassoc"}, nogil=True, cache=True, error_model="numpy")


@_compiled
def attend(
    x: Any, own: Any, neighbours: Any, alpha: Any, beta: Any, slope: Any, s: Any, by_alpha: Any, by_beta: Any
) -> Any:
    """Write what each row of ``neighbours`` gathers, and its derivatives, for signals ``x`` ``(batch, nodes)``.

    ``own`` ``(batch, rows)`` are the signals at the rows. Returned is the smallest sum that was divided by. See
    :class:`nvgf.training.stack.rank_one.GATNet`.
    """
    batch, nodes = x.shape
    one, zero = np.float32(1), np.float32(0)
    smallest = one
    v = np.empty(nodes, np.float32)
    factors = np.empty((6, nodes), np.float32)
    for b in range(batch):
        top = beta * x[b, 0]
        for j in range(nodes):
            v[j] = beta * x[b, j]
            top = max(top, v[j])
        for j in range(nodes):
            steep, flat = np.exp(v[j] - top), np.exp(slope * (v[j] - top))
            factors[0, j] = steep
            factors[1, j] = steep * x[b, j]
            factors[2, j] = steep * x[b, j] * x[b, j]
            factors[3, j] = flat
            factors[4, j] = flat * x[b, j]
            factors[5, j] = flat * x[b, j] * x[b, j]
        for i in range(own.shape[1]):
            u = alpha * own[b, i]
            peak = u + top
            above = np.exp(min(peak, zero) * (one - slope))
            below = np.exp(max(peak, zero) * (slope - one))
            s0 = s1 = s2 = f0 = f1 = f2 = zero
            for j in range(nodes):
                steep = neighbours[i, j] if v[j] > -u else zero
                flat = neighbours[i, j] - steep
                s0 += steep * factors[0, j]
                s1 += steep * factors[1, j]
                s2 += steep * factors[2, j]
                f0 += flat * factors[3, j]
                f1 += flat * factors[4, j]
                f2 += flat * factors[5, j]
            s0, s1, s2 = above * s0, above * s1, above * s2
            f0, f1, f2 = below * f0, below * f1, below * f2
            total = s0 + f0
            if not total >= smallest:
                smallest = total
            found = (s1 + f1) / total
            s[b, i] = found
            by_alpha[b, i] = own[b, i] * ((s1 + slope * f1) - found * (s0 + slope * f0)) / total
            by_beta[b, i] = ((s2 + slope * f2) - found * (s1 + slope * f1)) / total
    return smallest
