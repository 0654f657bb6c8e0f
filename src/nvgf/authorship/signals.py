"""Graph signals: how often each function word occurs in an excerpt, and the scalings of these numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Scaling = Literal["paper", "unit-mean", "standard"]
Values = NDArray[np.float64]


def frequencies(counts: NDArray[np.integer[Any]]) -> Values:
    r"""Return the 1-norm frequencies of the words of a graph in some excerpts: the paper's signals.

    .. math::
        [x]_i = \frac{\sum_{s,e} 1\{\omega^s(e) = v_i\}}{\sum_j \sum_{s,e} 1\{\omega^s(e) = v_j\}}

    An excerpt that has none of the words has the signal 0.

    Shapes:
        - ``counts``: ``(excerpts, nodes)``, how often each word occurs
        - result: ``(excerpts, nodes)``; each row sums to 1, or is 0

    Raises:
        ValueError: if no excerpt has any of the words.

    Example:
        >>> frequencies(np.array([[1, 3], [0, 0]])).tolist()
        [[0.25, 0.75], [0.0, 0.0]]
    """
    values = counts.astype(np.float64)
    if len(values) and not values.any():
        raise ValueError(f"none of the {values.shape[1]} words of the graph is in the text, so it has no signal")
    total = values.sum(axis=1, keepdims=True)
    return np.asarray(values / np.where(total > 0, total, 1.0))


@dataclass(frozen=True, eq=False)
class FittedScaling:
    """The map that scales signals, with what it knows of the training signals: see :func:`fit_scaling`.

    Shapes:
        - ``mean``, ``divisor``: ``(nodes,)``; they are used by ``"standard"`` alone
    """

    scaling: Scaling
    mean: Values
    divisor: Values

    def __call__(self, values: Values) -> Values:
        """Scale signals of shape ``(samples, nodes)``."""
        if self.scaling == "paper":
            return values
        if self.scaling == "unit-mean":
            return values * values.shape[1]
        return (values - self.mean) / self.divisor


def fit_scaling(train: Values, scaling: Scaling) -> FittedScaling:
    """Return the map that scales signals; what it needs to know it takes from the training signals alone.

    ``"paper"`` changes nothing, ``"unit-mean"`` multiplies by the number of nodes (the entries of each signal then
    have mean 1), ``"standard"`` centres and scales each node; a node that never varies is only centred.

    Shapes:
        - ``train``: ``(samples, nodes)``

    Example:
        >>> fit_scaling(np.array([[0.25, 0.75], [0.75, 0.25]]), "unit-mean")(np.array([[1.0, 0.0]]))
        array([[2., 0.]])
    """
    if scaling not in ("paper", "unit-mean", "standard"):
        raise ValueError(f"scaling must be 'paper', 'unit-mean' or 'standard', got {scaling!r}")
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    return FittedScaling(scaling, mean, np.where(deviation > 0, deviation, 1.0))
