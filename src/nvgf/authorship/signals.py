"""Graph signals: how often each function word occurs in an excerpt, and the scalings of these numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nvgf.authorship.corpus import Corpus

Scaling = Literal["paper", "unit-mean", "standard"]
Values = NDArray[np.float64]


def frequencies(corpus: Corpus, excerpts: NDArray[np.int64], nodes: NDArray[np.int64]) -> Values:
    r"""Return the 1-norm frequencies of the words ``nodes`` in some excerpts: the paper's signals.

    .. math::
        [x]_i = \frac{\sum_{s,e} 1\{\omega^s(e) = v_i\}}{\sum_j \sum_{s,e} 1\{\omega^s(e) = v_j\}}

    Shapes:
        - result: ``(len(excerpts), len(nodes))``; each row sums to 1
    """
    counts = corpus.counts[np.ix_(excerpts, nodes)].astype(np.float64)
    total = counts.sum(axis=1, keepdims=True)
    if (total == 0).any():
        bad = int(np.asarray(excerpts)[np.flatnonzero(total[:, 0] == 0)[0]])
        book = corpus.books[corpus.book_of[bad]]
        raise ValueError(
            f"excerpt {bad} ({book.file}, position {corpus.position[bad]}) has none of the {len(nodes)} words of "
            "the graph, so it has no signal"
        )
    return np.asarray(counts / total)


def fit_scaling(train: Values, scaling: Scaling) -> Callable[[Values], Values]:
    """Return the map that scales signals; what it needs to know it takes from the training signals alone.

    ``"paper"`` changes nothing, ``"unit-mean"`` multiplies by the number of nodes (the entries of each signal then
    have mean 1), ``"standard"`` centres and scales each node; a node that never varies is only centred.

    Shapes:
        - ``train``: ``(samples, nodes)``

    Example:
        >>> fit_scaling(np.array([[0.25, 0.75], [0.75, 0.25]]), "unit-mean")(np.array([[1.0, 0.0]]))
        array([[2., 0.]])
    """
    if scaling == "paper":
        return lambda values: values
    if scaling == "unit-mean":
        return lambda values: values * values.shape[1]
    if scaling == "standard":
        mean, deviation = train.mean(axis=0), train.std(axis=0)
        divisor = np.where(deviation > 0, deviation, 1.0)
        return lambda values: (values - mean) / divisor
    raise ValueError(f"scaling must be 'paper', 'unit-mean' or 'standard', got {scaling!r}")
