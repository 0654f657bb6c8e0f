"""How alike two movies are rated, and the graph of nearest neighbours that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nvgf.graph import GraphShift

_NO_VARIANCE = 1e-12
"""A variance below this share of the squared ratings is rounding: the ratings are all the same."""


@dataclass(frozen=True, eq=False)
class Similarity:
    """Rating similarity between all pairs of items.

    Shapes:
        - ``covariance``: ``(items, items)``, the appendix' w_ij; 0 without enough common raters
        - ``normalised``: ``(items, items)``, ``diag(W)^-1/2 W diag(W)^-1/2 - I``; 0 without variance
        - ``common``: ``(items, items)``, the number of common raters (on the diagonal, of raters)
        - ``constant``: positions of the items whose ratings do not vary
    """

    covariance: NDArray[np.float64]
    normalised: NDArray[np.float64]
    common: NDArray[np.int64]
    constant: NDArray[np.int64]


def similarity(known: NDArray[np.float64], *, min_common: int = 1) -> Similarity:
    r"""The appendix' similarity ``w_ij = |T_ij|^-1 sum_{t in T_ij} (x_ti - mu_ij)(x_tj - mu_ji)``.

    ``T_ij`` are the users who rated both items and ``mu_ij`` is the mean of item i among them. (The paper
    prints ``mu_ij`` in both factors. That is the same number, since the first factor sums to zero.)

    Pairs with fewer than ``min_common`` common raters get 0.

    Shapes:
        - ``known``: ``(users, items)``, 0 for "not rated"

    >>> import numpy as np
    >>> known = np.array([[5.0, 4.0, 0.0], [1.0, 2.0, 3.0], [3.0, 3.0, 0.0]])
    >>> similarity(known).covariance
    array([[2.66666667, 1.33333333, 0.        ],
           [1.33333333, 0.66666667, 0.        ],
           [0.        , 0.        , 0.        ]])
    >>> round(float(similarity(known).normalised[0, 1]), 6), similarity(known).constant
    (1.0, array([2]))
    """
    if known.ndim != 2:
        raise ValueError(f"known must be a (users, items) matrix, got shape {known.shape}")
    if not np.isfinite(known).all() or (known < 0).any():
        raise ValueError("known must hold finite ratings, positive or 0 for 'not rated'")
    if min_common < 1:
        raise ValueError(f"min_common must be at least 1, got {min_common}")
    rated = (known > 0).astype(np.float64)
    raters = rated.sum(0)
    # A covariance does not feel a shift of an item's ratings; centred ones lose fewer digits below.
    means = known.sum(0) / np.maximum(raters, 1)
    centred = np.where(rated > 0, known - means, 0.0)
    common = rated.T @ rated
    sums = centred.T @ rated
    count = np.maximum(common, 1)
    covariance = np.where(common >= min_common, (centred.T @ centred - sums * sums.T / count) / count, 0.0)
    variance = (centred**2).sum(0) / np.maximum(raters, 1)
    varies = variance > _NO_VARIANCE * np.maximum(means, 1e-300) ** 2
    scale = np.where(varies, 1 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
    normalised = covariance * scale[:, None] * scale
    np.fill_diagonal(normalised, 0.0)
    return Similarity(
        covariance=covariance,
        normalised=normalised,
        common=common.astype(np.int64),
        constant=np.flatnonzero(~varies),
    )


def nearest_neighbour_graph(weights: NDArray[np.float64], neighbours: int) -> NDArray[np.float64]:
    """Keep of each row its ``neighbours`` largest positive entries; keep an edge that either end keeps.

    A negative similarity makes no neighbour. Of equal weights the smaller position is kept.

    Shapes:
        - ``weights``: ``(nodes, nodes)``, symmetric; its diagonal is ignored; returns the same shape

    >>> import numpy as np
    >>> nearest_neighbour_graph(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0.0]]), 1)
    array([[0., 3., 0.],
           [3., 0., 2.],
           [0., 2., 0.]])
    """
    if not isinstance(neighbours, (int, np.integer)):
        raise TypeError(f"neighbours must be an integer, got {neighbours!r}")
    if neighbours < 1:
        raise ValueError(f"neighbours must be at least 1, got {neighbours}")
    positive = np.maximum(weights, 0.0)
    np.fill_diagonal(positive, 0.0)
    order = np.argsort(-positive, axis=1, kind="stable")[:, :neighbours]
    kept = np.zeros(positive.shape, dtype=bool)
    np.put_along_axis(kept, order, True, axis=1)
    return np.where(kept | kept.T, positive, 0.0)


@dataclass(frozen=True, eq=False)
class MovieGraph:
    """The graph of movies, and what had to be handled to make it.

    Attributes:
        shift: the support S, symmetric, of spectral norm 1.
        weights: the same graph before the division by the spectral norm, ``(movies, movies)``.
        pairs_without_common: number of pairs of movies that too few users rated both.
        constant: names of the movies whose ratings do not vary: they cannot be normalised.
        isolated: names of the movies without any neighbour (the constant ones among them); they stay nodes.
    """

    shift: GraphShift
    weights: NDArray[np.float64]
    pairs_without_common: int
    constant: tuple[str, ...]
    isolated: tuple[str, ...]

    def summary(self) -> str:
        """One line on the graph and on what was handled."""
        text = f"{self.shift.num_nodes} movies, {np.count_nonzero(self.weights) // 2} edges"
        if self.pairs_without_common:
            text += f"; {self.pairs_without_common} pairs without common raters"
        for what, names in (("without variance", self.constant), ("without neighbours", self.isolated)):
            if names:
                text += f"; {len(names)} {what} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"
        return text


def movie_graph(
    known: NDArray[np.float64],
    names: Sequence[str] | None = None,
    *,
    neighbours: int = 10,
    min_common: int = 1,
    dtype: torch.dtype | None = None,
) -> MovieGraph:
    """The movie support of the appendix, with unit spectral norm.

    The similarity, normalised by its diagonal and without it, is cut to the nearest neighbours, symmetrised and
    divided by its spectral norm.

    ``known`` must hold training ratings only: whatever is in it shapes the graph.

    Shapes:
        - ``known``: ``(users, movies)``, 0 for "not rated"

    >>> import numpy as np
    >>> ratings = np.random.default_rng(0).integers(1, 6, size=(30, 6)).astype(float)
    >>> graph = movie_graph(ratings, neighbours=2)
    >>> graph.shift.num_nodes, round(float(np.linalg.norm(graph.shift.to_dense().numpy(), 2)), 4)
    (6, 1.0)
    """
    near = similarity(known, min_common=min_common)
    weights = nearest_neighbour_graph(near.normalised, neighbours)
    if not weights.any():
        raise ValueError(
            "no two movies have a positive similarity: the movie graph has no edge. Are there common raters?"
        )
    labels = tuple(names) if names is not None else tuple(str(i) for i in range(known.shape[1]))
    norm = np.abs(np.linalg.eigvalsh(weights)).max()
    return MovieGraph(
        shift=GraphShift(weights / norm, names=names, dtype=dtype),
        weights=weights,
        pairs_without_common=int(np.count_nonzero(np.triu(near.common < min_common, 1))),
        constant=tuple(labels[i] for i in near.constant),
        isolated=tuple(labels[i] for i in np.flatnonzero(~weights.any(1))),
    )
