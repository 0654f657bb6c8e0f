"""The rating of one movie as a supervised interpolation problem on the graph of movies."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from nvgf.movies.anchors import centred
from nvgf.movies.ratings import Ratings
from nvgf.movies.similarity import MovieGraph, movie_graph
from nvgf.training.data import Signals, Task

Part = Literal["train", "valid", "test"]
Scaling = Literal["paper", "centred"]

_MIN_RATERS = 12
"""One rating then validates and one tests; with fewer raters there would not be more to learn from either."""


def split_users(count: int, seed: int, *, valid: float = 0.09, test: float = 0.10) -> dict[Part, NDArray[np.int64]]:
    """Positions 0 .. count - 1 split at random into train, valid and test, each ascending.

    >>> {part: len(users) for part, users in split_users(583, seed=0).items()}
    {'train': 473, 'valid': 52, 'test': 58}
    """
    if not (0 < valid < 1 and 0 < test < 1 and valid + test < 1):
        raise ValueError(f"valid and test must be positive fractions that leave some to train, got {valid}, {test}")
    held_test, held_valid = round(test * count), round(valid * count)
    if min(held_test, held_valid, count - held_test - held_valid) < 1:
        raise ValueError(f"{count} raters are too few to split into train, valid and test")
    order = np.random.default_rng(seed).permutation(count)
    ends = (held_test, held_test + held_valid)
    return {
        "train": np.sort(order[ends[1] :]),
        "valid": np.sort(order[ends[0] : ends[1]]),
        "test": np.sort(order[: ends[0]]),
    }


class MovieDataset:
    """What would a user give to ``target``, after the ratings that he gave to other movies?

    The signals are the ratings of the users who rated the target, 0 where there is none and 0 at the target;
    the labels are their ratings of the target. The graph comes from training ratings alone: the target's
    ratings by validation and test users are hidden before any similarity is computed, and appear in no
    signal.

    Args:
        ratings: all ratings.
        target: title or id of the movie (see :meth:`Ratings.item`).
        split: seed of the random split of the raters into 81 % train, 9 % valid and 10 % test.
        movies: how many of the most rated movies make the graph; ``None`` for all.
        neighbours: nearest neighbours of each movie on the graph.
        min_common: common raters that a pair of movies needs for a similarity.
        scaling: ``"paper"``, ratings as they are; or ``"centred"``, signals and labels less the biases of
            user and movie (from known ratings, a user's without the target), so that 0 says "as expected" and
            not "far below the worst". Errors on the centred labels are errors on the ratings.
        dtype: of the graph and the signals; torch's default by default.

    Attributes:
        ratings: the ratings of the movies on the graph.
        node, title: the target's node and title.
        known: ``(users, movies)`` ratings with the held-out ones hidden (0).
        users: for each part, the users' positions.
        offset: ``(users,)``, what was taken off the labels: rating = label + offset.
        graph: :class:`~nvgf.movies.similarity.MovieGraph`, with a report on what was handled.
        task: :class:`~nvgf.training.data.Task` with ``node`` = target.

    Shapes:
        - ``task.train.x``: ``(users of the part, movies, 1)``; ``task.train.y``: ``(users of the part,)``

    >>> from nvgf.movies import planted_ratings
    >>> data = MovieDataset(planted_ratings(users=80, items=20).ratings, "Movie 3", split=1)
    >>> data
    MovieDataset('Movie 3', split=1, movies=20, train=..., valid=..., test=...)
    >>> data.task.node, tuple(data.task.train.x.shape[1:])
    (2, (20, 1))
    """

    def __init__(
        self,
        ratings: Ratings,
        target: str | int,
        *,
        split: int = 0,
        movies: int | None = 250,
        neighbours: int = 10,
        min_common: int = 1,
        scaling: Scaling = "paper",
        dtype: torch.dtype | None = None,
    ) -> None:
        if scaling not in ("paper", "centred"):
            raise ValueError(f"scaling must be 'paper' or 'centred', got {scaling!r}")
        target_id = ratings.item_ids[ratings.item(target)]
        self.ratings = ratings
        if movies is not None and movies < ratings.num_items:
            self.ratings = ratings.most_rated(movies)
        if target_id not in self.ratings.item_ids:
            raise ValueError(f"{target!r} is not among the {movies} most rated movies; raise `movies`")
        self.node = self.ratings.item(target_id)
        self.title = self.ratings.titles[self.node]
        self.split = split
        matrix = self.ratings.matrix()
        raters = np.flatnonzero(matrix[:, self.node])
        if len(raters) < _MIN_RATERS:
            raise ValueError(f"{self.title} has {len(raters)} ratings, a split needs at least {_MIN_RATERS}")
        self.users = {part: raters[places] for part, places in split_users(len(raters), split).items()}
        self._labels = matrix[:, self.node].copy()
        self.known = matrix
        self.known[np.concatenate([self.users["valid"], self.users["test"]]), self.node] = 0.0
        self.graph: MovieGraph = movie_graph(
            self.known, node_names(self.ratings), neighbours=neighbours, min_common=min_common, dtype=dtype
        )
        signals = self.known.copy()
        signals[:, self.node] = 0.0
        self.offset = np.zeros(len(signals))
        if scaling == "centred":
            signals, self.offset = centred(self.known, self.node)
        kind = self.graph.shift.dtype
        parts = {
            part: Signals(
                x=torch.as_tensor(signals[users], dtype=kind).unsqueeze(-1),
                y=torch.as_tensor(self._labels[users] - self.offset[users], dtype=kind),
            )
            for part, users in self.users.items()
        }
        self.task = Task(
            self.graph.shift, parts["train"], parts["valid"], parts["test"], loss="smooth-l1", node=self.node
        )

    def labels(self, part: Part) -> NDArray[np.float64]:
        """The ratings that the users of a part gave to the target, ``(users of the part,)``."""
        return self._labels[self.users[part]]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{part}={len(users)}" for part, users in self.users.items())
        return f"MovieDataset({self.title!r}, split={self.split}, movies={self.ratings.num_items}, {sizes})"


def node_names(ratings: Ratings) -> tuple[str, ...]:
    """Titles as node names; a title that occurs twice gets its id.

    >>> node_names(Ratings.from_triples([1, 1], [5, 6], [1, 2], titles={5: "Kolya", 6: "Kolya"}))
    ('Kolya [5]', 'Kolya [6]')
    """
    return tuple(
        title if ratings.titles.count(title) == 1 else f"{title} [{item}]"
        for title, item in zip(ratings.titles, ratings.item_ids, strict=True)
    )
