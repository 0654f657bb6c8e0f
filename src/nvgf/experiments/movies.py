"""The study of movie recommendation: what a user gives to a target movie, after the ratings of other movies."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from nvgf.experiments.study import Data, Hyper, Metric, Outcome, Study, check_name
from nvgf.training import PAPER_MOVIES, Schedule, Task

if TYPE_CHECKING:
    from nvgf.experiments.claims import Claim
    from nvgf.movies import MovieDataset, Ratings, RivalScore
    from nvgf.movies.completion.model import Method

PLANTED = "planted"
"""The source that stands for ratings from the generator, for those without MovieLens."""
MOVIES = 250
TARGETS = 5


class Target(NamedTuple):
    """A target movie of the paper with the features F and the order K of all architectures."""

    title: str
    features: int
    order: int


PAPER_TARGETS: Mapping[str, Target] = {
    "star-wars": Target("Star Wars", 64, 3),
    "contact": Target("Contact", 64, 3),
    "fargo": Target("Fargo", 16, 4),
    "return-of-the-jedi": Target("Return of the Jedi", 32, 4),
    "liar-liar": Target("Liar Liar", 16, 3),
}
COMPLETIONS = ("rmgcnn", "rmcayley")
SIMPLE = ("nearest-neighbour", "mean-of-means", "item-knn", "biased-mf")


class MovieStudy(Study):
    """Experiments 1 and 2 of the appendix for the movies with the most ratings.

    A rival's ratings are those of the ``paper`` setting whatever the setting: it takes ratings as they are.

    Args:
        source: a folder, zip or file of ratings, or ``"planted"``; by default MovieLens 100k, where
            :func:`nvgf.movies.find_movielens` finds it.

    Example:
        >>> study = MovieStudy("planted")
        >>> study.subjects[0], study.title(study.subjects[0])
        ('movie-37', 'Movie 37')
        >>> study.task(Data("movie-37", split_by="user")).train.x.shape
        torch.Size([...])
        >>> [str(hyper) for hyper in study.paper_hypers("fargo", "gcnn")]
        ['eta=0.001, F=16, K=4', 'eta=0.005, F=16, K=4', 'eta=0.01, F=16, K=4']
    """

    name = "movies"
    subject_noun = "movie"
    metric = Metric("RMSE", "rating points")
    comparison = ("learn-nvgf", *COMPLETIONS, SIMPLE[0])
    baselines = (*COMPLETIONS, *SIMPLE)
    costly = frozenset(COMPLETIONS)
    settings = ("paper", "centred")
    default_settings = ("paper", "centred")
    split_bys = ("user",)
    test_ratio = 0.10 / 0.81
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "learning_rate": (0.001, 0.005, 0.01),
        "features": (16, 32, 64),
        "order": (3, 4),
    }
    schedule: ClassVar[Schedule] = PAPER_MOVIES
    constants: ClassVar[Mapping[str, Any]] = {"completion_iterations": 2000}
    """The Adam steps of a matrix completion, of which the best on the validation ratings is kept."""

    def __init__(self, source: str | None = None) -> None:
        super().__init__(source)
        self._scores: dict[tuple[str, str, int, int], Outcome] = {}

    @cached_property
    def all_ratings(self) -> Ratings:
        """The ratings of all movies, loaded when first needed."""
        from nvgf.movies import find_movielens, planted_ratings, read_ratings

        planted = self.source == PLANTED
        return planted_ratings().ratings if planted else read_ratings(find_movielens(self.source))

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings of the most rated movies."""
        return self.all_ratings.most_rated(min(MOVIES, self.all_ratings.num_items))

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The paper's five targets, the most rated first; for other ratings the five most rated movies."""
        paper = tuple(PAPER_TARGETS)
        if self.source is None or all(key in self._places for key in paper):
            return paper
        most = sorted(range(self.ratings.num_items), key=lambda place: -self.ratings.counts()[place])[:TARGETS]
        return tuple(self._keys[place] for place in most)

    def check_subject(self, name: str) -> str:
        """Return the key of a movie on the graph, by its id, its key, or its title or a part of it, in this order."""
        key = _slug(name)
        if key in PAPER_TARGETS and self.source is None:
            return key
        number = int(key) if key and _is_number(key) else None
        if number is not None and number in self.all_ratings.item_ids:
            return self._key_of(self.all_ratings.item(number))
        if key in self._places:
            return key
        if any(key in _slug(title) for title in self.ratings.titles):
            return self._keys[self.ratings.item(name)]
        try:
            place = self.all_ratings.item(name if number is None else number)
        except ValueError:
            if number is not None:
                raise
            near = difflib.get_close_matches(key, self._keys, n=3, cutoff=0.5)
            return check_name(name.strip(), tuple(near) or self.subjects, self.subject_noun)
        return self._key_of(place)

    def _key_of(self, place: int) -> str:
        """Return the key of a movie by its place among all, or say that it is not on the graph."""
        table, item = self.all_ratings, self.all_ratings.item_ids[place]
        if item not in self.ratings.item_ids:
            raise ValueError(
                f"{table.titles[place]} has {table.counts()[place]} ratings and is not among the "
                f"{self.ratings.num_items} most rated movies"
            )
        return self._keys[self.ratings.item(item)]

    def title(self, subject: str) -> str:
        """Return the movie's title without its year; its key where the ratings are not at hand."""
        if subject in PAPER_TARGETS:
            return PAPER_TARGETS[subject].title
        try:
            place = self._places.get(subject)
        except FileNotFoundError:
            place = None
        return subject if place is None else _without_year(self.ratings.titles[place])

    def dataset(self, data: Data) -> MovieDataset:
        """Make the data set with all that it knows about the graph and the users."""
        from nvgf.movies import MovieDataset

        return MovieDataset(self.ratings, **self._options(data))

    def task(self, data: Data) -> Task:
        """Make the data set."""
        return self.dataset(data).task

    @property
    def digest(self) -> str:
        """That of the ratings."""
        return self.ratings.digest

    def fingerprint(self, data: Data) -> str:
        """Return a hash of the ratings and of how the data set is made from them."""
        text = json.dumps([self.digest, _default_options() | self._options(data)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def warnings(self, subjects: Sequence[str]) -> tuple[str, ...]:
        """Return a line on the graph of the first movie for which movies have no variance or no neighbour."""
        for dataset in [self.dataset(Data(subject, split_by=self.split_bys[0])) for subject in subjects]:
            if dataset.graph.constant or dataset.graph.isolated:
                return (f"the graph of {dataset.title}: {dataset.graph.summary()}",)
        return ()

    def paper_hypers(self, subject: str, model: str) -> tuple[Hyper, ...]:
        """Return the paper's F and K with the three learning rates that the validation chooses among.

        A movie that is not in the paper gets the values that are most frequent there.
        """
        if model in self.baselines:
            return (Hyper(),)
        values = [(target.features, target.order) for target in PAPER_TARGETS.values()]
        features, order = max(values, key=lambda value: (values.count(value), value))
        if subject in PAPER_TARGETS:
            _, features, order = PAPER_TARGETS[subject]
        return tuple(Hyper(rate, features, order) for rate in self.grid["learning_rate"])

    def run_baseline(self, model: str, data: Data, seed: int) -> Outcome:
        """Predict the target's held-out ratings by a rival."""
        return self.run_baselines(model, [data], [seed])[0]

    def run_baselines(
        self, model: str, datas: Sequence[Data], seeds: Sequence[int], device: str = "cpu"
    ) -> list[Outcome]:
        """Predict with a rival on several data sets; matrix completions are trained all at once.

        A rival that has been run on a target and a split is not run again for another setting.
        """
        keys = [(model, data.subject, data.split, seed) for data, seed in zip(datas, seeds, strict=True)]
        new = {key: data for key, data in zip(keys, datas, strict=True) if key not in self._scores}
        if new:
            start = time.perf_counter()
            datasets = [self.dataset(Data(data.subject, data.split, "paper", data.split_by)) for data in new.values()]
            scores = self._predict(model, datasets, [key[-1] for key in new], device)
            seconds = (time.perf_counter() - start) / len(new)
            for key, score in zip(new, scores, strict=True):
                extras = {} if score.best_iteration is None else {"best_iteration": score.best_iteration}
                self._scores[key] = Outcome(score.valid_rmse, score.rmse, seconds, extras)
        return [self._scores[key] for key in keys]

    def claims(self) -> tuple[Claim, ...]:
        """Return the paper's statements about movies."""
        from nvgf.experiments.movies_claims import CLAIMS

        return CLAIMS

    def describe(self, subject: str) -> Mapping[str, Any]:
        """Add the number of ratings, and what had to be handled to make the graph."""
        dataset = self.dataset(Data(subject, split_by=self.split_bys[0]))
        return {**super().describe(subject), "ratings": len(self.ratings), "graph": dataset.graph.summary()}

    def _predict(self, model: str, datasets: list[MovieDataset], seeds: list[int], device: str) -> list[RivalScore]:
        from nvgf.movies import score_completion, score_simple

        if model in COMPLETIONS:
            iterations, method = self.constants["completion_iterations"], cast("Method", model)
            return score_completion(datasets, method, seeds=seeds, iterations=iterations, device=device)
        check_name(model, SIMPLE, "rival")
        return [score_simple(data, model, seed=seed) for data, seed in zip(datasets, seeds, strict=True)]

    def _options(self, data: Data) -> dict[str, Any]:
        if data.setting not in self.settings:
            raise ValueError(f"setting must be one of {', '.join(self.settings)}, got {data.setting!r}")
        place = self._places.get(data.subject)
        if place is None:
            raise ValueError(f"there is no movie {data.subject!r} among the {self.ratings.num_items} most rated")
        return {"target": self.ratings.item_ids[place], "split": data.split, "scaling": data.setting}

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """The titles without their year as they are written in addresses; with year or id where two are alike.

        A bare number is an id: a title that is one comes with its year or id too.
        """
        titles, ids = self.ratings.titles, self.ratings.item_ids
        short = [_slug(_without_year(title)) for title in titles]
        plain = Counter(short)
        keys = [
            own if plain[own] == 1 and not _is_number(own) else _slug(title)
            for own, title in zip(short, titles, strict=True)
        ]
        keys = [f"{key}-{item}".strip("-") if _is_number(key) else key for key, item in zip(keys, ids, strict=True)]
        while len(counts := Counter(keys)) < len(keys):
            keys = [key if counts[key] == 1 else f"{key}-{item}" for key, item in zip(keys, ids, strict=True)]
        return tuple(keys)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {key: place for place, key in enumerate(self._keys)}


def _without_year(title: str) -> str:
    return re.sub(r"\s*\(\d{4}\)\s*$", "", title)


def _is_number(key: str) -> bool:
    return re.fullmatch("[0-9]*", key) is not None


def _slug(title: str) -> str:
    """Return the words of a title in the form of keys.

    Example:
        >>> _slug("Liar, Liar")
        'liar-liar'
    """
    return "-".join(re.findall(r"\w+", title.casefold()))


@cache
def _default_options() -> dict[str, Any]:
    from nvgf.movies import MovieDataset

    parameters = inspect.signature(MovieDataset).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty and p.name != "dtype"}
