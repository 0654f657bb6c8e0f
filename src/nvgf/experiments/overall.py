"""Both experiments over all subjects: subjects are the observations, taken as independent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nvgf.experiments.rows import Row
from nvgf.experiments.statistics import Interval, mean_interval
from nvgf.experiments.study import Study
from nvgf.experiments.tables import Selection, Summary, comparison, creation_models, on_common_splits


@dataclass(frozen=True)
class Overall:
    """A model of an experiment over all subjects that have it.

    ``interval`` is that of the differences of its mean error to the ``anchor``'s, over the splits that both have, over
    the subjects that have both
    (``None`` for the anchor itself); for ``better`` of these ``subjects`` the model errs less.
    """

    experiment: Literal["comparison", "creation"]
    setting: str
    split_by: str
    model: str
    anchor: str
    mean: float
    interval: Interval | None
    better: int
    subjects: int


def overall(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> list[Overall]:
    """Return every model of both experiments over the subjects, for each setting that has two subjects or more."""
    rows = list(rows)
    found = _over_subjects("comparison", comparison(rows, study, selection), study.comparison[0])
    return found + _over_subjects("creation", creation_models(rows, study, selection), study.reference)


def _over_subjects(
    experiment: Literal["comparison", "creation"], chosen: Iterable[Summary], anchor: str
) -> list[Overall]:
    by_place: dict[tuple[str, str], dict[str, dict[str, Summary]]] = {}
    for summary in chosen:
        of_model = by_place.setdefault((summary.place.setting, summary.place.split_by), {})
        of_model.setdefault(summary.model, {})[summary.place.subject] = summary
    found = []
    for (setting, split_by), models in by_place.items():
        anchors = models.get(anchor, {})
        for model, of_subject in models.items():
            both = [on_common_splits(one, anchors[name]) for name, one in of_subject.items() if name in anchors]
            gaps = [pair[0].mean - pair[1].mean for pair in both if pair is not None]
            if len(gaps) < 2:
                continue
            interval = None if model == anchor else mean_interval(gaps)
            mean = float(np.mean([one.mean for one in of_subject.values()]))
            better = sum(gap < 0 for gap in gaps)
            found.append(Overall(experiment, setting, split_by, model, anchor, mean, interval, better, len(gaps)))
    return found
