"""Word adjacency networks: how often, and how near, one function word follows another within a sentence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from nvgf.authorship.corpus import Corpus
from nvgf.authorship.skeletons import OTHER, Symbols, end_symbol

DISCOUNT = 0.8
"""The discount alpha of the published networks."""
WINDOW = 10
"""The window D of the published networks: how many following words are looked at."""
MAX_WINDOW = 1000
"""The largest window: no sentence of prose has more words."""


def _check(discount: float, window: int) -> None:
    if not 0 < discount <= 1:
        raise ValueError(f"discount must be above 0 and at most 1, got {discount}")
    if isinstance(window, bool) or not isinstance(window, int | np.integer) or not 1 <= window <= MAX_WINDOW:
        raise ValueError(f"window must be a whole number from 1 to {MAX_WINDOW} words, got {window!r}")


def _pairs(symbols: Symbols, num_words: int, window: int) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Yield the pairs of function words of one sentence, distance by distance from 1 on: where, from, to.

    Ends early when no sentence is long enough for a greater distance.
    """
    end = end_symbol(num_words)
    is_node = (symbols > OTHER) & (symbols < end)
    ends = np.append(np.flatnonzero(symbols == end), len(symbols))  # where sentences end
    where = np.flatnonzero(is_node)
    stop = ends[np.searchsorted(ends, where)]
    for distance in range(1, window + 1):
        inside = where + distance < stop
        where, stop = where[inside], stop[inside]
        if not len(where):
            return
        near = where[is_node[where + distance]]
        yield near, symbols[near].astype(np.int64) - 1, symbols[near + distance].astype(np.int64) - 1


def network(
    symbols: Symbols, num_words: int, *, discount: float = DISCOUNT, window: int = WINDOW
) -> NDArray[np.float64]:
    r"""Return the directed network of one or more skeletons, summed.

    .. math::
        w_{ij} = \sum_{t, s, e} 1\{\omega_t^s(e) = v_i\} \sum_{d=1}^{D} \alpha^{d-1} 1\{\omega_t^s(e + d) = v_j\}

    (the appendix's weights). Rows are source words, columns the words that follow. The pairs are counted as whole
    numbers before they are weighted, so the order of the skeletons does not matter to the last bit.

    Shapes:
        - ``symbols``: ``(symbols,)``, skeletons one after the other, each closed by a sentence end
        - result: ``(num_words, num_words)``

    Example:
        >>> import numpy as np
        >>> the, of, end = 1, 2, 3
        >>> network(np.array([the, 0, of, end, of, end], np.uint8), 2)  # "the .. of": d = 2, and not across the stop
        array([[0. , 0.8],
               [0. , 0. ]])
    """
    _check(discount, window)
    cells = num_words * num_words
    weights = np.float64(discount) ** np.arange(window)
    total = np.zeros(cells)
    for weight, (_, source, target) in zip(weights, _pairs(symbols, num_words, window), strict=False):
        total += weight * np.bincount(source * num_words + target, minlength=cells)
    return total.reshape(num_words, num_words)


def excerpt_networks(
    corpus: Corpus, excerpts: NDArray[np.int64], *, discount: float = DISCOUNT, window: int = WINDOW
) -> sparse.csr_array:
    """Return the network of each of some excerpts, one flattened network in a row.

    Shapes:
        - result: ``(len(excerpts), words * words)``, sparse; ``result[[k]].toarray().reshape(words, words)`` is one
    """
    _check(discount, window)
    num_words = len(corpus.words)
    symbols = corpus.take(excerpts)
    starts = np.cumsum(corpus.sizes[excerpts]) - corpus.sizes[excerpts]
    rows, columns, values = [], [], []
    for distance, (where, source, target) in enumerate(_pairs(symbols, num_words, window)):
        rows.append(np.searchsorted(starts, where, side="right") - 1)
        columns.append(source * num_words + target)
        values.append(np.full(len(where), np.float64(discount) ** distance))
    shape = (len(excerpts), num_words * num_words)
    if not rows:
        return sparse.csr_array(shape)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(sparse.coo_array(entries, shape=shape))


def author_network(
    corpus: Corpus, author: str, *, discount: float = DISCOUNT, window: int = WINDOW
) -> NDArray[np.float64]:
    """Return the directed network of all excerpts of one author, shape ``(words, words)``."""
    return network(corpus.take(corpus.excerpts(author)), len(corpus.words), discount=discount, window=window)


def support_matrix(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    r"""Return the support :math:`S = \frac12 (D^{-1} W + W^T D^{-1})` of a network and the words that it keeps.

    Words without edges are dropped, then all words outside the largest component; S is scaled to unit spectral
    norm. A word that others lead to but that leads nowhere has an empty row in :math:`D^{-1} W`.

    Shapes:
        - ``weights``: ``(words, words)``, not negative
        - result: ``(nodes, nodes)`` and ``(nodes,)``, the indices of the words that are nodes

    Example:
        >>> W = np.array([[0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
        >>> S, nodes = support_matrix(W)
        >>> nodes.tolist(), round(float(np.linalg.norm(S, 2)), 6)
        ([0, 1], 1.0)
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"weights must be a square matrix, got shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("weights must be finite and not negative")
    linked = np.flatnonzero((weights.sum(axis=0) + weights.sum(axis=1)) > 0)
    if linked.size == 0:
        raise ValueError("the network has no edges: no two function words occur near each other in a sentence")
    _, component = connected_components(sparse.csr_array(weights[np.ix_(linked, linked)]), connection="weak")
    nodes = linked[component == np.argmax(np.bincount(component))]
    kept = weights[np.ix_(nodes, nodes)]
    degree = kept.sum(axis=1, keepdims=True)
    walk = np.divide(kept, degree, out=np.zeros_like(kept), where=degree > 0)
    support = (walk + walk.T) / 2
    return support / np.abs(np.linalg.eigvalsh(support)).max(), nodes


def num_edges(weights: NDArray[np.float64]) -> int:
    """Return the number of edges of the support: pairs of words, loops included, that are linked either way."""
    return int(np.count_nonzero(np.triu(weights + weights.T)))
