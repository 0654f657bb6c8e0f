"""Ratings with a planted graph of items: for examples, tests, and those without MovieLens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nvgf.movies.ratings import Ratings


class PlantedRatings(NamedTuple):
    """Ratings and the graph that made them.

    Shapes:
        - ``adjacency``: ``(items, items)``, symmetric, 0 or 1, in the order of ``ratings.item_ids``
    """

    ratings: Ratings
    adjacency: NDArray[np.float64]


def planted_ratings(
    users: int = 300,
    items: int = 40,
    *,
    neighbours: int = 4,
    density: float = 0.5,
    smoothness: float = 1.5,
    noise: float = 0.3,
    seed: int = 0,
) -> PlantedRatings:
    r"""Ratings 1..5 by users whose tastes are smooth over a ring of items.

    The items lie on a ring in an order drawn at random; each is linked to its ``neighbours`` nearest. The
    taste of a user is Gaussian with the covariance :math:`e^{-\tau L}` of heat that flows on the ring for a
    time :math:`\tau` = ``smoothness``, scaled to unit variance: the closer two items, the more alike they are
    rated. Rating = 3 + popularity of the item + taste + noise, rounded and cut to 1..5; each is given with
    probability ``density``, popular items more often.

    >>> ratings, adjacency = planted_ratings(users=50, items=12, seed=1)
    >>> ratings.num_users, ratings.num_items, int(adjacency.sum(axis=1).max())
    (50, 12, 4)
    """
    if users < 2:
        raise ValueError(f"users must be at least 2, got {users}")
    if neighbours < 2 or neighbours % 2:
        raise ValueError(f"neighbours must be even and at least 2 (half on each side), got {neighbours}")
    if items <= neighbours:
        raise ValueError(f"items must be more than the {neighbours} neighbours of each, got {items}")
    if not 0 < density <= 1:
        raise ValueError(f"density must lie in (0, 1], got {density}")
    if smoothness <= 0 or noise < 0:
        raise ValueError(f"smoothness must be positive and noise not negative, got {smoothness} and {noise}")
    generator = np.random.default_rng(seed)
    place = generator.permutation(items)
    gap = np.abs(place[:, None] - place)
    gap = np.minimum(gap, items - gap)
    adjacency = ((gap > 0) & (gap <= neighbours // 2)).astype(np.float64)
    eigenvalues, vectors = np.linalg.eigh(np.diag(adjacency.sum(1)) - adjacency)
    root = vectors * np.exp(-smoothness * eigenvalues / 2)
    root /= np.sqrt((root**2).sum(1, keepdims=True))
    taste = generator.normal(size=(users, items)) @ root.T
    popularity = generator.normal(scale=0.5, size=items)
    exact = 3 + popularity + taste + generator.normal(scale=noise, size=(users, items))
    odds = np.exp(0.3 * popularity)
    odds *= density / odds.mean()
    given = generator.random((users, items)) < np.minimum(odds, 1.0)
    # Everybody rates and is rated at least twice, so that no mean and no variance is empty.
    given[np.arange(users), generator.integers(items, size=users)] = True
    given[generator.permuted(np.tile(np.arange(users), (items, 1)), axis=1)[:, :2].T, np.arange(items)] = True
    rows, columns = np.nonzero(given)
    values = np.clip(np.round(exact), 1, 5)[rows, columns]
    titles = {item: f"Movie {item}" for item in range(1, items + 1)}
    ratings = Ratings.from_triples(rows + 1, columns + 1, values, titles=titles, scale=(1.0, 5.0))
    return PlantedRatings(ratings, adjacency)
