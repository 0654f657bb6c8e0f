"""Honest yardsticks beside the graph methods: means, item neighbours, a biased matrix factorisation.

All functions take the known ratings as a matrix with 0 for "unknown", and the places to predict.

Shapes:
    - ``known``: ``(users, items)``
    - ``users``, ``items``: ``(pairs,)``, positions to predict; returns ``(pairs,)``
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nvgf.movies.similarity import Similarity, similarity

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

USER_SHRINKAGE = 15.0
ITEM_SHRINKAGE = 10.0
"""Ratings of average size that are added before a bias is taken (Koren 2010)."""


def _sums(known: Floats) -> tuple[NDArray[np.bool_], float]:
    rated = known > 0
    if not rated.any():
        raise ValueError("known holds no rating: there is nothing to predict from")
    return rated, float(known[rated].mean())


def _means(known: Floats, rated: NDArray[np.bool_], axis: int, fallback: float) -> Floats:
    counts = rated.sum(axis)
    return np.where(counts > 0, known.sum(axis) / np.maximum(counts, 1), fallback)


def mean_of_means(known: Floats, users: Places, items: Places) -> Floats:
    """(user mean + item mean) / 2; the overall mean stands in for a user or an item without ratings.

    >>> import numpy as np
    >>> mean_of_means(np.array([[5.0, 0.0], [3.0, 1.0]]), np.array([0]), np.array([1]))
    array([3.])
    """
    rated, overall = _sums(known)
    return (_means(known, rated, 1, overall)[users] + _means(known, rated, 0, overall)[items]) / 2


def nearest_neighbours(known: Floats, users: Places, items: Places, weights: Floats) -> Floats:
    """Average of the ratings that the user gave to the neighbours of the item on a graph.

    A user who rated no neighbour gets the mean of his ratings, one without ratings the item's mean.

    Shapes:
        - ``weights``: ``(items, items)``; entry ``[i, j] != 0`` makes j a neighbour of i

    >>> import numpy as np
    >>> graph = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    >>> nearest_neighbours(np.array([[0.0, 4.0, 5.0, 1.0]]), np.array([0]), np.array([0]), graph)
    array([4.5])
    """
    if weights.shape != (known.shape[1],) * 2:
        raise ValueError(f"weights must have shape {(known.shape[1],) * 2}, one row per item, got {weights.shape}")
    rated, overall = _sums(known)
    near = (weights[items] != 0) & rated[users]
    counts = near.sum(1)
    item_means = _means(known, rated, 0, overall)
    lonely = np.where(rated[users].any(1), _means(known, rated, 1, overall)[users], item_means[items])
    return np.where(counts > 0, (known[users] * near).sum(1) / np.maximum(counts, 1), lonely)


def baselines(
    known: Floats, *, user_shrinkage: float = USER_SHRINKAGE, item_shrinkage: float = ITEM_SHRINKAGE
) -> Floats:
    """``mu + b_u + b_i`` with shrunken biases of users and items (Koren 2010), ``(users, items)``."""
    rated, overall = _sums(known)
    centred = np.where(rated, known - overall, 0.0)
    items = centred.sum(0) / (item_shrinkage + rated.sum(0))
    users = np.where(rated, centred - items, 0.0).sum(1) / (user_shrinkage + rated.sum(1))
    return overall + users[:, None] + items


def centred(known: Floats, item: int) -> tuple[Floats, Floats]:
    """Ratings of the other items less their baselines, and the baselines of one item.

    The biases come without the item's ratings, so that a user's own rating of it is not among the former; its own
    bias is added to the latter.

    Shapes:
        - returns ``(users, items)``, 0 where there is no rating and at the item, and ``(users,)``
    """
    others = known.copy()
    others[:, item] = 0.0
    expected = baselines(others)
    raters = np.flatnonzero(known[:, item])
    # The item's column is empty here, so that `expected` holds no bias of it yet.
    excess = known[raters, item] - expected[raters, item]
    offset = expected[:, item] + excess.sum() / (ITEM_SHRINKAGE + len(raters))
    return np.where(others > 0, others - expected, 0.0), offset


def item_knn(known: Floats, users: Places, items: Places, *, neighbours: int = 40, shrinkage: float = 100.0) -> Floats:
    """Baseline plus the weighted mean residual of the user's ratings of the most similar items.

    The similarity is the covariance over n common raters, divided by the roots of both variances, each over all
    raters of its item, and shrunk by ``n / (n + shrinkage)``.
    """
    if neighbours < 1:
        raise ValueError(f"neighbours must be at least 1, got {neighbours}")
    base = baselines(known)
    rated = known > 0
    residuals = np.where(rated, known - base, 0.0)
    near: Similarity = similarity(known)
    weights = np.maximum(near.normalised, 0.0) * near.common / (near.common + shrinkage)
    predictions = base[users, items]
    for item in np.unique(items):
        wanted = np.flatnonzero(items == item)
        rows = users[wanted]
        strength = weights[item] * rated[rows]
        if neighbours < strength.shape[1]:
            top = np.argpartition(-strength, neighbours - 1, axis=1)[:, :neighbours]
        else:
            top = np.broadcast_to(np.arange(strength.shape[1]), strength.shape)
        chosen = np.take_along_axis(strength, top, 1)
        total = chosen.sum(1)
        shift = (chosen * np.take_along_axis(residuals[rows], top, 1)).sum(1)
        predictions[wanted] += np.where(total > 0, shift / np.where(total > 0, total, 1.0), 0.0)
    return predictions


def biased_factorisation(
    known: Floats,
    users: Places,
    items: Places,
    *,
    rank: int = 10,
    regularisation: float = 0.1,
    sweeps: int = 20,
    seed: int = 0,
) -> Floats:
    """``mu + b_u + b_i + p_u . q_i`` by alternating ridge regressions (ALS with count-weighted ridge).

    A ridge of ``regularisation`` times the number of ratings keeps rare users and items near the means.
    """
    if rank < 1 or sweeps < 1:
        raise ValueError(f"rank and sweeps must be at least 1, got {rank} and {sweeps}")
    if regularisation <= 0:
        raise ValueError(f"regularisation must be positive, got {regularisation}")
    rated, overall = _sums(known)
    generator = np.random.default_rng(seed)
    left = np.zeros((known.shape[0], rank + 1))  # bias first
    right = generator.normal(scale=0.1, size=(known.shape[1], rank + 1))
    right[:, 0] = 0.0
    for _ in range(sweeps):
        left = _ridge(known, rated, overall, right, regularisation)
        right = _ridge(known.T, rated.T, overall, left, regularisation)
    return overall + left[users, 0] + right[items, 0] + (left[users, 1:] * right[items, 1:]).sum(1)


def _ridge(known: Floats, rated: NDArray[np.bool_], overall: float, other: Floats, regularisation: float) -> Floats:
    """Bias and factors of every row of ``known`` at once, those of the columns held fixed."""
    design = np.concatenate([np.ones((len(other), 1)), other[:, 1:]], axis=1)
    size = design.shape[1]
    target = np.where(rated, known - overall - other[:, 0], 0.0)
    products = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    gram = (rated.astype(np.float64) @ products).reshape(-1, size, size)
    ridge = regularisation * np.maximum(rated.sum(1), 1)
    gram += ridge[:, None, None] * np.eye(size)
    return np.linalg.solve(gram, (target @ design)[..., None])[..., 0]
