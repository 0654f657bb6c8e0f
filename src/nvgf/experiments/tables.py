"""Tables: pure functions from rows to what is printed, plotted and claimed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nvgf.experiments.rows import Row, as_written
from nvgf.experiments.statistics import Interval, mean_interval
from nvgf.experiments.study import Hyper, Study

Selection = Literal["valid", "test", "paper"]
"""How hyper-parameters are chosen: by validation error, by test error as the paper did, or from the paper's table."""

SELECTION_NOTES: dict[Selection, str] = {
    "valid": "hyper-parameters chosen on the validation set",
    "test": "hyper-parameters chosen on the TEST set, as the paper did: errors are too low",
    "paper": "hyper-parameters of the paper's table, which were chosen on the test set of the paper's data",
}

ALIKE = 0.05
"""The paper's bound on a relative variation in performance that counts as comparable."""

EQUAL = 1e-5
"""Mean errors that differ by less, relative to the least or 1, are equally good where one is chosen."""


class Place(NamedTuple):
    """What a table is about: one subject under one setting and one way to split."""

    subject: str
    setting: str
    split_by: str


@dataclass(frozen=True)
class Summary:
    """One model with one choice of hyper-parameters over the splits of a place.

    ``errors`` and ``valid_errors`` are by split, in the order of ``splits``; ``std`` is the sample's.
    """

    place: Place
    model: str
    hyper: Hyper
    splits: tuple[int, ...]
    errors: tuple[float, ...]
    valid_errors: tuple[float, ...]
    diverged: int = 0
    seconds: float = 0.0

    @property
    def n(self) -> int:
        """The number of splits."""
        return len(self.splits)

    @property
    def mean(self) -> float:
        """The mean test error."""
        return float(np.mean(self.errors))

    @property
    def std(self) -> float:
        """The standard deviation of the test error; 0 for a single split."""
        return float(np.std(self.errors, ddof=1)) if self.n > 1 else 0.0

    @property
    def third(self) -> float:
        """One third of the standard deviation: the error bars of the paper."""
        return self.std / 3

    @property
    def valid_mean(self) -> float:
        """The mean validation error."""
        return float(np.mean(self.valid_errors))


@dataclass(frozen=True)
class Difference:
    """Test error of ``model`` minus that of ``other``, paired over the splits that both have."""

    place: Place
    model: str
    other: str
    interval: Interval
    differences: tuple[float, ...]


@dataclass(frozen=True)
class Change:
    """Change of the mean error of ``summary`` relative to that of the reference: 0.1 is 10 % more errors.

    Both are over the splits that both have. ``interval`` is that of the paired differences, relative to the reference's
    mean.
    """

    place: Place
    model: str
    summary: Summary
    reference: Summary
    change: float
    interval: Interval


@dataclass(frozen=True)
class Group:
    """The paper's group of a place: 1, 2 or 3, or 0 for none, see :func:`groups`."""

    place: Place
    number: int
    learn: float
    lsigf: float


@dataclass(frozen=True)
class BestHyper:
    """The chosen hyper-parameters beside the paper's; ``paper_mean`` is the error with the paper's, if trained.

    Where the paper leaves several open, it is that of those which validate best.
    """

    place: Place
    model: str
    chosen: Summary
    paper: tuple[Hyper, ...]
    paper_mean: float | None

    @property
    def agrees(self) -> bool:
        """Whether the choice is the paper's."""
        return self.chosen.hyper in self.paper


def summaries(rows: Iterable[Row]) -> list[Summary]:
    """Gather rows that differ in their split alone. A split that was run with several seeds counts their mean."""
    gathered: dict[tuple[Place, str, Hyper], dict[int, list[Row]]] = {}
    for row in rows:
        place = Place(row.subject, row.setting, row.split_by)
        gathered.setdefault((place, row.model, row.hyper), {}).setdefault(row.split, []).append(row)
    found = []
    for (place, model, hyper), by_split in gathered.items():
        splits = sorted(by_split)
        found.append(
            Summary(
                place,
                model,
                hyper,
                tuple(splits),
                tuple(float(np.mean([row.test_error for row in by_split[split]])) for split in splits),
                tuple(float(np.mean([row.valid_error for row in by_split[split]])) for split in splits),
                sum(row.diverged for split in splits for row in by_split[split]),
                sum(row.seconds for split in splits for row in by_split[split]),
            )
        )
    return found


def best(candidates: Sequence[Summary], study: Study, selection: Selection = "valid") -> Summary | None:
    """Choose hyper-parameters: the least mean error over the splits, among candidates with the most splits.

    Of equally good ones (within ``EQUAL``) the smallest model is taken: the fewest features, then the lowest order,
    then the smallest learning rate. Errors are compared as a table of results has them. ``None`` where there is no
    candidate, or for ``"paper"`` none with the paper's values (the best of these by validation, where the paper gives
    several).
    """
    if selection not in get_args(Selection):
        raise ValueError(f"selection must be one of {', '.join(get_args(Selection))}, got {selection!r}")
    if selection == "paper":
        candidates = [
            c for c in candidates if c.model in study.models and c.hyper in study.paper_hypers(c.place.subject, c.model)
        ]
    if not candidates:
        return None
    most = max(candidate.n for candidate in candidates)
    errors = [
        (_compared(candidate.errors if selection == "test" else candidate.valid_errors), candidate)
        for candidate in candidates
        if candidate.n == most
    ]
    least = min(error for error, _ in errors)
    bound = least + EQUAL * max(1.0, least)
    return min((candidate for error, candidate in errors if error <= bound), key=_model_size)


def _compared(errors: Sequence[float]) -> float:
    """Return the mean of errors with the digits of a table of results, so that it and its store choose alike."""
    mean = float(np.mean([as_written(error) for error in errors]))
    return mean if math.isfinite(mean) else math.inf


def _model_size(summary: Summary) -> tuple[float, ...]:
    rate, features, order = (value or 0 for value in summary.hyper)
    return features, order, rate


def comparison(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> list[Summary]:
    """Experiment 1: the models side by side, each at its best hyper-parameters; baselines follow.

    Places are in the order of the study's subjects and settings, models in that of the study.
    """
    wanted = tuple(dict.fromkeys((*study.comparison, *study.baselines)))
    groups: dict[tuple[Place, str], list[Summary]] = {}
    for summary in summaries(row for row in rows if row.model in wanted):
        groups.setdefault((summary.place, summary.model), []).append(summary)
    chosen = [found for found in (best(group, study, selection) for group in groups.values()) if found]
    return sorted(chosen, key=lambda s: (*_rank(s.place, study), wanted.index(s.model)))


def creation_models(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> list[Summary]:
    """Experiment 2: all its models at the same hyper-parameters, those that are best for the first of ``comparison``.

    The choice is among hyper-parameters at which every model of the experiment that has any row was trained.
    """
    by_place: dict[Place, dict[str, dict[Hyper, Summary]]] = {}
    for found in summaries(row for row in rows if row.model in study.creation):
        by_place.setdefault(found.place, {}).setdefault(found.model, {})[found.hyper] = found
    chosen = []
    for models in by_place.values():
        learned = models.get(study.comparison[0])
        if learned is None or study.reference not in models:
            continue
        common = set.intersection(*(set(by_hyper) for by_hyper in models.values()))
        pick = best([summary for hyper, summary in learned.items() if hyper in common], study, selection)
        if pick is not None:
            chosen += [by_hyper[pick.hyper] for by_hyper in models.values()]
    return sorted(chosen, key=lambda s: (*_rank(s.place, study), study.creation.index(s.model)))


def on_common_splits(first: Summary, second: Summary) -> tuple[Summary, Summary] | None:
    """Return two summaries over the splits that both have, so that their means differ by the paired difference.

    ``None`` where they have no split in common.
    """
    common = set(first.splits) & set(second.splits)
    return (_restricted(first, common), _restricted(second, common)) if common else None


def _restricted(summary: Summary, splits: set[int]) -> Summary:
    kept = [place for place, split in enumerate(summary.splits) if split in splits]
    return replace(
        summary,
        splits=tuple(summary.splits[place] for place in kept),
        errors=tuple(summary.errors[place] for place in kept),
        valid_errors=tuple(summary.valid_errors[place] for place in kept),
    )


def difference(first: Summary, second: Summary, study: Study) -> Difference:
    """Return the paired difference of two models of a place, with a t interval that allows for overlapping splits."""
    both = on_common_splits(first, second)
    values = tuple(a - b for a, b in zip(both[0].errors, both[1].errors, strict=True)) if both else ()
    interval = mean_interval(values, test_ratio=study.test_ratio)
    return Difference(first.place, first.model, second.model, interval, values)


def paired_differences(chosen: Iterable[Summary], study: Study, model: str | None = None) -> list[Difference]:
    """Return, for each place, the difference of every other model to ``model`` (the paper's, by default)."""
    name = model or study.comparison[0]
    chosen = list(chosen)
    anchors = {summary.place: summary for summary in chosen if summary.model == name}
    return [
        found
        for summary in chosen
        if summary.model != name and summary.place in anchors
        if (found := difference(summary, anchors[summary.place], study)).differences
    ]


def relative_change(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> list[Change]:
    """Experiment 2: the relative change of the mean error with respect to the reference, for the other models."""
    chosen = creation_models(rows, study, selection)
    references = {summary.place: summary for summary in chosen if summary.model == study.reference}
    changes = []
    for one in chosen:
        both = on_common_splits(one, references[one.place])
        if one.model == study.reference or both is None:
            continue
        summary, reference = both
        gap = difference(summary, reference, study).interval
        if reference.mean > 0:
            interval, change = gap.scaled(1 / reference.mean), summary.mean / reference.mean - 1
        else:
            change = 0.0 if summary.mean == 0 else math.inf
            interval = Interval(change, -math.inf, math.inf, 1.0, gap.n)
        changes.append(Change(summary.place, summary.model, summary, reference, change, interval))
    return changes


def groups(changes: Iterable[Change], alike: float = ALIKE) -> list[Group]:
    """Sort places into the paper's groups by the changes of Learn NVGF and LSIGF relative to the GCNN.

    Group 1: Learn NVGF within 5 %, LSIGF worse by more. Group 2: Learn NVGF better by more than 5 %. Group 3: both
    within 5 %. Group 0, which the paper does not have: Learn NVGF worse by more than 5 %, or it alone within 5 % and
    LSIGF better by more.
    """
    found: dict[Place, dict[str, float]] = {}
    for change in changes:
        found.setdefault(change.place, {})[change.model] = change.change
    sorted_in = []
    for place, of_model in found.items():
        if {"learn-nvgf", "lsigf"} <= of_model.keys():
            learn, lsigf = of_model["learn-nvgf"], of_model["lsigf"]
            sorted_in.append(Group(place, int(group_numbers(learn, lsigf, alike)), learn, lsigf))
    return sorted_in


def group_numbers(learn: ArrayLike, lsigf: ArrayLike, alike: float = ALIKE) -> NDArray[np.int64]:
    """Return the groups for changes of Learn NVGF and LSIGF, see :func:`groups`.

    Example:
        >>> group_numbers([0.0, -0.1, 0.0, 0.0, 0.1], [0.1, 0.1, 0.0, -0.1, 0.0])
        array([1, 2, 3, 0, 0])
    """
    learn, lsigf = np.asarray(learn), np.asarray(lsigf)
    conditions = [learn < -alike, learn > alike, lsigf > alike, lsigf < -alike]
    return np.select(conditions, [2, 0, 1, 0], default=3)


def best_hypers(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> list[BestHyper]:
    """Return for each place and trained model of experiment 1 the chosen hyper-parameters beside the paper's."""
    rows = list(rows)
    by_paper = {(s.place, s.model): s.mean for s in comparison(rows, study, "paper")}
    return [
        BestHyper(
            chosen.place,
            chosen.model,
            chosen,
            study.paper_hypers(chosen.place.subject, chosen.model),
            by_paper.get((chosen.place, chosen.model)),
        )
        for chosen in comparison(rows, study, selection)
        if chosen.model not in study.baselines
    ]


def _rank(place: Place, study: Study) -> tuple[int, str, int, str]:
    subject = study.subjects.index(place.subject) if place.subject in study.subjects else len(study.subjects)
    setting = study.settings.index(place.setting) if place.setting in study.settings else len(study.settings)
    return subject, place.subject, setting, place.split_by
