"""All rivals on one footing: their predictions of a target's test ratings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from nvgf.movies.anchors import biased_factorisation, item_knn, mean_of_means, nearest_neighbours
from nvgf.movies.completion import METHODS, CompletionConfig, CompletionProblem, fit_completion
from nvgf.movies.completion.fit import Progress
from nvgf.movies.completion.model import Method
from nvgf.movies.dataset import MovieDataset
from nvgf.movies.similarity import nearest_neighbour_graph, similarity

Floats = NDArray[np.float64]

USER_NEIGHBOURS = 10
USER_MIN_COMMON = 5
"""Users are compared on far fewer common ratings than movies; below five a correlation is mostly chance."""


@dataclass(frozen=True, eq=False)
class RivalScore:
    """Predictions of a target's test ratings by one method.

    Attributes:
        method: its name, one of :data:`RIVALS`.
        target, split, seed: what was predicted, on which split, with which seed.
        users: positions of the test users, ``(users,)``.
        predictions: predicted ratings, cut to the scale, ``(users,)``.
        ratings: true ratings, ``(users,)``.
        valid_rmse: error of the same method on the target's validation ratings.
        best_iteration: iteration chosen on the validation ratings (completion methods only).
    """

    method: str
    target: str
    split: int
    seed: int
    users: NDArray[np.int64]
    predictions: Floats
    ratings: Floats
    valid_rmse: float
    best_iteration: int | None = None

    @property
    def rmse(self) -> float:
        """Root mean squared error of the predictions."""
        return _rmse(self.predictions, self.ratings)


def _nearest(data: MovieDataset, users: NDArray[np.int64], items: NDArray[np.int64], seed: int) -> Floats:
    return nearest_neighbours(data.known, users, items, data.graph.weights)


def _means(data: MovieDataset, users: NDArray[np.int64], items: NDArray[np.int64], seed: int) -> Floats:
    return mean_of_means(data.known, users, items)


def _knn(data: MovieDataset, users: NDArray[np.int64], items: NDArray[np.int64], seed: int) -> Floats:
    return item_knn(data.known, users, items)


def _factorisation(data: MovieDataset, users: NDArray[np.int64], items: NDArray[np.int64], seed: int) -> Floats:
    return biased_factorisation(data.known, users, items, seed=seed)


_Predictor = Callable[[MovieDataset, NDArray[np.int64], NDArray[np.int64], int], Floats]

SIMPLE: dict[str, _Predictor] = {
    "nearest-neighbour": _nearest,
    "mean-of-means": _means,
    "item-knn": _knn,
    "biased-mf": _factorisation,
}
RIVALS: tuple[str, ...] = (*METHODS, *SIMPLE)


def score_simple(dataset: MovieDataset, method: str, *, seed: int = 0) -> RivalScore:
    """Predict a target's test ratings with nearest neighbours or an anchor, one of :data:`SIMPLE`.

    >>> from nvgf.movies import planted_ratings
    >>> data = MovieDataset(planted_ratings(users=80, items=20).ratings, "Movie 3")
    >>> score_simple(data, "mean-of-means").predictions.shape == data.labels("test").shape
    True
    """
    if method not in SIMPLE:
        raise ValueError(f"method must be one of {', '.join(SIMPLE)}, got {method!r}")
    users = _held_out(dataset)
    predictions = SIMPLE[method](dataset, users, np.full(len(users), dataset.node), seed)
    return _score(dataset, method, seed, predictions)


def completion_problem(dataset: MovieDataset) -> CompletionProblem:
    """The matrix that RMGCNN and RMCayley complete to predict a target: all ratings but the target's held-out
    ones.

    The movies' graph is the dataset's, the users' graph joins each user to his 10 nearest by the same
    similarity over at least 5 common movies; both from training ratings, and unweighted as those that RMGCNN
    was released with. The target's validation ratings choose the iteration.
    """
    masks = {}
    ratings = dataset.known.copy()
    for part in ("valid", "test"):
        users = dataset.users[part]
        masks[part] = np.zeros(ratings.shape, dtype=bool)
        masks[part][users, dataset.node] = True
        ratings[users, dataset.node] = dataset.labels(part)
    near = similarity(dataset.known.T, min_common=USER_MIN_COMMON)
    user_graph = nearest_neighbour_graph(near.normalised, USER_NEIGHBOURS)
    return CompletionProblem(
        ratings=ratings,
        known=dataset.known > 0,
        user_graph=(user_graph > 0).astype(np.float64),
        item_graph=(dataset.graph.weights > 0).astype(np.float64),
        **masks,
    )


def score_completion(
    datasets: Sequence[MovieDataset],
    method: Method = "rmgcnn",
    *,
    seeds: Sequence[int] | None = None,
    iterations: int = 2000,
    config: CompletionConfig | None = None,
    device: str | torch.device = "cpu",
    stack: int = 50,
    progress: Progress | None = None,
) -> list[RivalScore]:
    """Predict the test ratings of each dataset's target by completing its whole matrix with RMGCNN or
    RMCayley.

    One training per dataset, ``stack`` of them at once: targets and splits of the same ratings have matrices
    of one size and differ in what is hidden and in the graphs. Stacking changes no result, it only saves
    kernel launches.

    Args:
        datasets: targets and splits, of the same ratings.
        method: ``"rmgcnn"`` or ``"rmcayley"``.
        seeds: one per dataset, for its input ratings and weights; the datasets' splits by default.
        iterations: Adam steps; the best on the target's validation ratings is kept.
        config: further hyper-parameters; its ``method`` is replaced by ``method``, and its ``rank`` is at most the
            number of users and of movies.
        device: where to train.
        stack: how many trainings at once.
        progress: see :func:`~nvgf.movies.completion.fit_completion`.

    >>> from nvgf.movies import planted_ratings
    >>> ratings = planted_ratings(users=60, items=15).ratings
    >>> scores = score_completion([MovieDataset(ratings, 3, split=s) for s in (0, 1)], iterations=3)
    >>> [score.split for score in scores]
    [0, 1]
    """
    if not datasets:
        raise ValueError("datasets must hold at least one dataset, got none")
    if stack < 1:
        raise ValueError(f"stack must be at least 1, got {stack}")
    chosen = list(seeds) if seeds is not None else [data.split for data in datasets]
    if len(chosen) != len(datasets):
        raise ValueError(f"seeds must hold one seed for each of the {len(datasets)} datasets, got {len(chosen)}")
    if len({data.ratings.digest for data in datasets}) > 1:
        raise ValueError("datasets must be of the same ratings, of one scale; score others by a call of their own")
    config = config or CompletionConfig()
    config = replace(config, method=method, rank=min(config.rank, *datasets[0].known.shape))
    scores = []
    for first in range(0, len(datasets), stack):
        group, group_seeds = datasets[first : first + stack], chosen[first : first + stack]
        fit = fit_completion(
            [completion_problem(data) for data in group],
            config,
            iterations=iterations,
            seeds=group_seeds,
            scale=datasets[0].ratings.scale,
            device=device,
            progress=progress,
        )
        for place, (data, seed) in enumerate(zip(group, group_seeds, strict=True)):
            predictions = fit.completion[place, _held_out(data), data.node].astype(np.float64)
            best = int(fit.best_iteration[place])
            scores.append(replace(_score(data, method, seed, predictions), best_iteration=best))
    return scores


def _held_out(dataset: MovieDataset) -> NDArray[np.int64]:
    return np.concatenate([dataset.users["valid"], dataset.users["test"]])


def _score(dataset: MovieDataset, method: str, seed: int, predictions: Floats) -> RivalScore:
    """Make a score of the predictions for the users of :func:`_held_out`."""
    low, high = dataset.ratings.scale
    valid, test = np.split(np.clip(predictions, low, high), [len(dataset.users["valid"])])
    return RivalScore(
        method=method,
        target=dataset.title,
        split=dataset.split,
        seed=seed,
        users=dataset.users["test"],
        predictions=test,
        ratings=dataset.labels("test"),
        valid_rmse=_rmse(valid, dataset.labels("valid")),
    )


def _rmse(predictions: Floats, ratings: Floats) -> float:
    """Return the error; infinite where predictions are not finite, as in training."""
    found = float(np.sqrt(np.mean((predictions - ratings) ** 2)))
    return found if np.isfinite(found) else np.inf
