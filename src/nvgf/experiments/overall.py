"""Both experiments over all subjects: subjects are the observations, taken as independent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nvgf.experiments.rows import Row
from nvgf.experiments.statistics import Interval, mean_interval
from nvgf.experiments.study import Study
from nvgf.experiments.tables import Selection, Summary, comparison, creation_models


@dataclass(frozen=True)
class Overall:
    """A model of an experiment over all subjects that have it.

    ``interval`` is that of the differences of its mean error to the ``anchor``'s over the subjects that have both
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
    errors: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for summary in chosen:
        of_model = errors.setdefault((summary.place.setting, summary.place.split_by), {})
        of_model.setdefault(summary.model, {})[summary.place.subject] = summary.mean
    found = []
    for (setting, split_by), models in errors.items():
        anchors = models.get(anchor, {})
        for model, means in models.items():
            gaps = [means[subject] - anchors[subject] for subject in means.keys() & anchors.keys()]
            if len(means) < 2 or len(gaps) < 2:
                continue
            interval = None if model == anchor else mean_interval(gaps)
            mean, better = float(np.mean(list(means.values()))), sum(gap < 0 for gap in gaps)
            found.append(Overall(experiment, setting, split_by, model, anchor, mean, interval, better, len(gaps)))
    return found
