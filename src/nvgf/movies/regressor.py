"""``RatingRegressor``: any item for any user, in the form of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from nvgf.graph import GraphShift
from nvgf.movies.anchors import baselines, centred
from nvgf.movies.ratings import check_ids
from nvgf.movies.similarity import nearest_neighbour_graph, similarity
from nvgf.training import Job, Schedule, Signals, Task, fit_many

ARCHITECTURES = ("lsigf", "gcnn", "learn-nvgf", "design-nvgf")

_MIN_VALID = 2


class RatingRegressor(RegressorMixin, BaseEstimator):
    """Predict the rating of any item by any user from a table of ratings, item by item.

    For each item with at least ``min_ratings`` ratings a model is trained on the graph of items: its signals
    are the other ratings of the users who rated the item, its label their rating of the item, both less the
    biases of user and item (a user's without the rating of the item), so that 0 at an item that was not rated says
    "as expected". The other items,
    users that ``fit`` did not see, and tables too thin for a graph are predicted by the biases alone.

    Args:
        architecture: ``"lsigf"``, ``"gcnn"``, ``"learn-nvgf"`` or ``"design-nvgf"``.
        features, order: hidden features F and order K of the filters.
        neighbours, min_common: of the graph, see :func:`~nvgf.movies.movie_graph`.
        min_ratings: ratings that an item needs for a model of its own.
        learning_rate, epochs, batch_size: of Adam.
        validation_fraction: share of an item's ratings that chooses the kept weights. They are in the
            graph and in the item's bias.
        random_state: seed of the split, the weights and the order of the signals, or a generator that draws it.
        device: where to train.

    Attributes:
        user_ids_, item_ids_: the ids that ``fit`` saw, ascending.
        models_: the trained models, by the item's position.
        n_features_in_: columns of X.

    Shapes:
        - ``X``: ``(ratings, columns)``; the first column is the user's id, the second the item's, both whole
          numbers; further columns (a time stamp, say) are ignored. Repeated pairs are averaged.
        - ``y``: ``(ratings,)``, on any scale

    >>> from nvgf.movies import planted_ratings
    >>> ratings = planted_ratings(users=60, items=8, seed=0).ratings
    >>> X = np.column_stack([ratings.users, ratings.items])
    >>> model = RatingRegressor(features=2, order=1, epochs=2, neighbours=3).fit(X, ratings.values)
    >>> model.predict([[0, 3], [999, 3]]).shape
    (2,)
    """

    def __init__(
        self,
        architecture: str = "learn-nvgf",
        *,
        features: int = 16,
        order: int = 3,
        neighbours: int = 10,
        min_common: int = 1,
        min_ratings: int = 20,
        learning_rate: float = 0.005,
        epochs: int = 40,
        batch_size: int = 5,
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = 0,
        device: str = "cpu",
    ) -> None:
        self.architecture = architecture
        self.features = features
        self.order = order
        self.neighbours = neighbours
        self.min_common = min_common
        self.min_ratings = min_ratings
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that X holds categories, and that random ones cannot be learned from."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> RatingRegressor:
        """Train on ratings ``y`` of the pairs ``X``."""
        self._check_options()
        pairs, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        users, items = _ids(pairs)
        self.user_ids_, user_places = np.unique(users, return_inverse=True)
        self.item_ids_, item_places = np.unique(items, return_inverse=True)
        shape = (len(self.user_ids_), len(self.item_ids_))
        counts, sums = np.zeros(shape), np.zeros(shape)
        np.add.at(counts, (user_places, item_places), 1.0)
        np.add.at(sums, (user_places, item_places), np.asarray(y, dtype=np.float64))
        self._low, self._high = float(np.min(y)), float(np.max(y))
        # 0 stands for "not rated", so that ratings are moved to begin at 1.
        self._offset = 1.0 - self._low
        self._known = np.where(counts > 0, sums / np.maximum(counts, 1.0) + self._offset, 0.0)
        self._baselines = baselines(self._known)
        near = similarity(self._known, min_common=self.min_common)
        weights = nearest_neighbour_graph(near.normalised, self.neighbours)
        self.models_: dict[int, torch.nn.Module] = {}
        if weights.any():
            self._shift = GraphShift(weights / np.abs(np.linalg.eigvalsh(weights)).max(), dtype=torch.float32)
            self._fit_items()
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Ratings of the pairs ``X``, ``(pairs,)``, within the range of the ratings that ``fit`` saw."""
        check_is_fitted(self)
        users, items = _ids(validate_data(self, X, dtype=np.float64, reset=False))
        user_places, user_known = _places(self.user_ids_, users)
        item_places, item_known = _places(self.item_ids_, items)
        predictions = self._fallback(user_places, user_known, item_places, item_known)
        for item in np.unique(item_places[user_known & item_known]):
            if int(item) not in self.models_:
                continue
            rows = np.flatnonzero(user_known & item_known & (item_places == item))
            signals, expected = centred(self._known, int(item))
            x = torch.as_tensor(signals[user_places[rows]]).unsqueeze(-1)
            with torch.no_grad():
                outputs = self.models_[int(item)](x, self._shift.to(dtype=torch.float64))
            predictions[rows] = expected[user_places[rows]] + outputs[:, int(item), 0].numpy()
        return np.clip(predictions - self._offset, self._low, self._high)

    def _check_options(self) -> None:
        if self.architecture not in ARCHITECTURES:
            raise ValueError(f"architecture must be one of {', '.join(ARCHITECTURES)}, got {self.architecture!r}")
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must lie between 0 and 1, got {self.validation_fraction}")
        if self.min_ratings < 2 * _MIN_VALID:
            raise ValueError(f"min_ratings must be at least {2 * _MIN_VALID}, got {self.min_ratings}")

    def _fit_items(self) -> None:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        jobs = []
        for item in np.flatnonzero((self._known > 0).sum(0) >= self.min_ratings):
            raters = np.random.default_rng((seed, int(item))).permutation(np.flatnonzero(self._known[:, item]))
            held = max(_MIN_VALID, round(self.validation_fraction * len(raters)))
            signals, expected = (torch.as_tensor(values) for values in centred(self._known, int(item)))
            labels = torch.as_tensor(self._known[:, item]) - expected
            train, valid = (
                Signals(signals[users].unsqueeze(-1).float(), labels[users].float())
                for users in (raters[held:], raters[:held])
            )
            task = Task(self._shift, train, valid, valid, loss="smooth-l1", node=int(item))
            options = {"features": self.features, "order": self.order}
            schedule = Schedule(epochs=self.epochs, batch_size=self.batch_size, dropout=0.0)
            jobs.append(Job(self.architecture, task, options, self.learning_rate, seed, schedule, tag=int(item)))
        for result in fit_many(jobs, device=self.device) if jobs else []:
            self.models_[result.job.tag] = result.model().double()

    def _fallback(
        self,
        user_places: NDArray[np.int64],
        user_known: NDArray[np.bool_],
        item_places: NDArray[np.int64],
        item_known: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Biases of user and item; those of an unknown user or item are the average ones."""
        users = np.where(user_known, self._baselines.mean(1)[user_places], self._baselines.mean())
        items = np.where(item_known, self._baselines.mean(0)[item_places], self._baselines.mean())
        return users + items - self._baselines.mean()


def _ids(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if X.shape[1] < 2:
        raise ValueError(f"X must have the columns user and item, got {X.shape[1]} feature(s)")
    ids = X[:, :2]
    broken = ids != np.round(ids)
    if broken.any():
        raise ValueError(f"X must hold integer ids of users and items, got {ids[broken][0]:g}")
    check_ids(ids, "ids")
    return ids[:, 0].astype(np.int64), ids[:, 1].astype(np.int64)


def _places(known: NDArray[np.int64], ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    places = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return places, known[places] == ids
