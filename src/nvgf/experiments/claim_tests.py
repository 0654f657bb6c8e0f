"""Tests that claims are made of: is one model better, are they ordered, on a par, by how much.

Over several subjects the differences of their means are the observations, and subjects are taken as independent; for
one subject they are the differences over its splits, with an interval that allows for overlapping training sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from nvgf.experiments.claims import SIGNIFICANCE, Answer, Evidence, Finding, decide, together
from nvgf.experiments.statistics import Interval, holm, mean_interval, p_outside, wilcoxon
from nvgf.experiments.tables import Summary, difference, on_common_splits

Experiment = Literal["comparison", "creation"]
Test = Callable[[Evidence, Mapping[str, Any]], Finding | None]
FEWEST = 5
"""With fewer subjects a statement about all of them stays undecided."""


def pairs(
    evidence: Evidence, experiment: Experiment, first: str, second: str, subjects: Iterable[str] | None = None
) -> list[tuple[Summary, Summary]]:
    """Return both models' summaries for every subject that has both, over the splits that both have."""
    found = evidence.comparison if experiment == "comparison" else evidence.creation
    known = dict.fromkeys(subject for subject, _ in found)
    wanted = known if subjects is None else [subject for subject in subjects if subject in known]
    both = [
        on_common_splits(found[subject, first], found[subject, second])
        for subject in wanted
        if (subject, first) in found and (subject, second) in found
    ]
    return [pair for pair in both if pair is not None]


def gap(evidence: Evidence, both: Sequence[tuple[Summary, Summary]], *, relative: bool = False) -> Interval:
    """Return the interval of the second model's error minus the first's, relative to the first's if asked for.

    Positive means that the first is better. A relative gap takes the first's mean as known.
    """
    if len(both) == 1:
        (first, second) = both[0]
        found = difference(second, first, evidence.study).interval
        return found.scaled(1 / first.mean) if relative and first.mean > 0 else found
    values = [
        (second.mean - first.mean) / (first.mean if relative else 1.0)
        for first, second in both
        if not relative or first.mean > 0
    ]
    return mean_interval(values)


def tell(evidence: Evidence, first: str, second: str, both: Sequence[tuple[Summary, Summary]], found: Interval) -> str:
    """Return a gap in words."""
    metric = evidence.study.metric
    # A difference of percentages is in points, so that it is not taken for a relative one.
    unit = "points" if metric.unit == "%" else metric.unit
    scaled = found.scaled(metric.scale)
    text = f"{second} minus {first}: {scaled.text(f' {unit}' if unit else '', 3 if metric.scale == 1 else 2)}"
    if len(both) == 1:
        return f"{text} over {found.n} splits, p = {found.p:.2g}"
    wins = sum(second.mean > first.mean for first, second in both)
    values = [second.mean - first.mean for first, second in both]
    return (
        f"{text} over {len(both)} {evidence.study.subject_noun}s, {first} better for {wins}, "
        f"p = {found.p:.2g} (signed ranks {wilcoxon(values):.2g})"
    )


def too_few(evidence: Evidence, count: int) -> str:
    """Return what to say where so few subjects were run that nothing can be said about all; else an empty text."""
    study = evidence.study
    needed = min(FEWEST, len(study.subjects))
    return f"Only {count} {study.subject_noun}{'s' * (count > 1)} of {len(study.subjects)}." if count < needed else ""


def better(first: str, second: str, experiment: Experiment, subject: str | None = None) -> Test:
    """Test that ``first`` has the smaller error, for one subject or over all."""

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        both = pairs(evidence, experiment, first, second, [subject] if subject else None)
        if not both:
            return None
        found = gap(evidence, both)
        verdict = decide(found.low, found.high, above=thresholds.get("gain", 0.0))
        note = "" if subject else too_few(evidence, len(both))
        text = tell(evidence, first, second, both, found)
        return Finding("undecided" if note else verdict, text, numbers_of(found), note)

    return test


def ordered(models: Sequence[str], experiment: Experiment, subject: str | None = None) -> Test:
    """Test that errors grow along a list of models; Holm's correction for the number of neighbours.

    It holds if every neighbouring pair differs in the stated direction, and does not hold if some pair differs in the
    other.
    """

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        del thresholds
        found, texts = [], []
        for first, second in pairwise(models):
            both = pairs(evidence, experiment, first, second, [subject] if subject else None)
            if not both:
                return None
            found.append(gap(evidence, both))
            texts.append(tell(evidence, first, second, both, found[-1]))
        corrected = holm([one.p for one in found])
        right = [p < SIGNIFICANCE and one.mean > 0 for p, one in zip(corrected, found, strict=True)]
        wrong = [p < SIGNIFICANCE and one.mean < 0 for p, one in zip(corrected, found, strict=True)]
        verdict: Answer = "holds" if all(right) else "does not hold" if any(wrong) else "undecided"
        note = "" if subject else too_few(evidence, len(both))
        return Finding("undecided" if note else verdict, "; ".join(texts), {"p_corrected": corrected}, note)

    return test


def on_par(first: str, second: str, experiment: Experiment, subjects: Sequence[str] | None = None) -> Test:
    """Test that two models are within ``margin`` (relative) of one another, for each of the subjects.

    Equivalence is shown by an interval inside the margin; an interval that is too wide shows nothing. That it fails for
    one of several subjects is corrected for their number.
    """

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        margin = thresholds["margin"]
        both = pairs(evidence, experiment, first, second, subjects)
        if not both or (subjects is not None and len(both) < len(subjects)):
            return None
        groups = [[one] for one in both] if subjects is not None else [both]
        found = [gap(evidence, group, relative=True) for group in groups]
        verdict, against = within(found, above=-margin, below=margin)
        names = [group[0][0].place.subject if len(group) == 1 else "all" for group in groups]
        texts = [f"{name} {one.scaled(100).text(' %', 0)}" for name, one in zip(names, found, strict=True)]
        text = f"{second} relative to {first}: {', '.join(texts)}; margin {100 * margin:g} %"
        note = "" if subjects is not None else too_few(evidence, len(both))
        numbers = {name: numbers_of(one) for name, one in zip(names, found, strict=True)}
        return Finding("undecided" if note else verdict, text, numbers, note, against)

    return test


def within(
    found: Sequence[Interval], *, above: float = -math.inf, below: float = math.inf
) -> tuple[Answer, list[float]]:
    """Judge whether several quantities are all between two bounds; also return the p-values against each."""
    against = [p_outside(one, above=above, below=below) for one in found]
    return together([decide(one.low, one.high, above=above, below=below) for one in found], against), against


def by_about(first: str, second: str, experiment: Experiment, subject: str) -> Test:
    """Test that ``second`` has an error that is larger by ``percent`` up to ``points``, relative to ``first``."""

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        both = pairs(evidence, experiment, first, second, [subject])
        if not both or both[0][0].mean == 0:
            return None
        found = gap(evidence, both, relative=True).scaled(100)
        printed, points = thresholds["percent"], thresholds["points"]
        verdict = decide(found.low, found.high, above=printed - points, below=printed + points)
        text = (
            f"{second} relative to {first}: {found.text(' %', 0)} over {found.n} splits; printed {printed:+g} %, "
            f"tolerance {points:g} points"
        )
        return Finding(verdict, text, numbers_of(found))

    return test


def all_better(first: str, second: str, experiment: Experiment, subjects: Sequence[str]) -> Test:
    """Test that ``first`` is better than ``second`` for every one of some subjects, with Holm's correction."""

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        del thresholds
        both = pairs(evidence, experiment, first, second, subjects)
        if not both:
            return None
        found = [gap(evidence, [one]) for one in both]
        corrected = holm([one.p for one in found])
        signs = [np.sign(one.mean) if p < SIGNIFICANCE else 0 for p, one in zip(corrected, found, strict=True)]
        verdict: Answer = "undecided"
        if any(sign < 0 for sign in signs):
            verdict = "does not hold"
        elif len(both) == len(subjects) and all(sign > 0 for sign in signs):
            verdict = "holds"
        toward = sum(one.mean > 0 for one in found)
        text = (
            f"{first} has the smaller mean error for {toward} of {len(both)} ({', '.join(subjects)}), "
            f"significantly for {sum(sign > 0 for sign in signs)}, the larger one significantly for "
            f"{sum(sign < 0 for sign in signs)}"
        )
        gains = {pair[0].place.subject: one.mean for pair, one in zip(both, found, strict=True)}
        return Finding(verdict, text, gains, against=[p_outside(one, above=0.0) for one in found])

    return test


def between(low: str, middle: str, high: str, experiment: Experiment, subject: str) -> Test:
    """Test that the error of one model lies half-way between those of two others, up to a ``share`` of their gap.

    Its place is 0 at ``low`` and 1 at ``high``; the gap is taken as known.
    """

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        lower = pairs(evidence, experiment, low, middle, [subject])
        upper = pairs(evidence, experiment, middle, high, [subject])
        if not lower or not upper:
            return None
        sides = [gap(evidence, lower), gap(evidence, upper)]
        _, against = within(sides, above=0.0)
        answers = [decide(one.low, one.high, above=0.0) for one in sides]
        share = thresholds["share"]
        place = _place_between(evidence, lower[0], upper[0])
        if place is None:
            answers.append("undecided")
        else:
            answers.append(decide(place.low, place.high, above=0.5 - share, below=0.5 + share))
            against.append(p_outside(place, above=0.5 - share, below=0.5 + share))
        told = "undefined" if place is None else place.text()
        texts = [
            tell(evidence, low, middle, lower, sides[0]),
            tell(evidence, middle, high, upper, sides[1]),
            f"place between them {told} (half-way is 0.5, tolerance {share:g})",
        ]
        numbers = {"below": sides[0].mean, "above": sides[1].mean}
        return Finding(together(answers, against), "; ".join(texts), numbers, against=against)

    return test


def _place_between(
    evidence: Evidence, lower: tuple[Summary, Summary], upper: tuple[Summary, Summary]
) -> Interval | None:
    """Return where the middle one of three models is from 0 to 1, or ``None`` where the outer two are not in order."""
    ends = on_common_splits(lower[0], upper[1])
    if ends is None or ends[1].mean <= ends[0].mean:
        return None
    low, middle, high = (dict(zip(one.splits, one.errors, strict=True)) for one in (ends[0], lower[1], ends[1]))
    whole = ends[1].mean - ends[0].mean
    values = [0.5 + (middle[split] - (low[split] + high[split]) / 2) / whole for split in ends[0].splits]
    return mean_interval(values, test_ratio=evidence.study.test_ratio)


def size(subject: str, fact: Callable[[Mapping[str, Any]], float]) -> Test:
    """Test that a size of a subject's data is the ``printed`` one, within a relative ``tolerance``."""

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        try:
            found, printed = fact(evidence.analysis.get(subject, {})), thresholds["printed"]
        except KeyError:
            return None
        away = found / printed - 1
        verdict: Answer = "holds" if abs(away) <= thresholds["tolerance"] else "does not hold"
        text = (
            f"{found:g} here, {printed:g} printed ({100 * away:+.1f} %, tolerance {100 * thresholds['tolerance']:g} %)"
        )
        return Finding(verdict, text, {"found": found})

    return test


def input_energy(subject: str, half: Literal["upper", "lower"]) -> Test:
    """Test that at least a ``share`` of the energy of a subject's test signals is in a half of the spectrum."""

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        facts = evidence.analysis.get(subject, {})
        names = [f"input_{name}_share" for name in ("high", "last", "rest_high")]
        if any(name not in facts for name in names):
            return None
        high, last, rest = (facts[name] for name in names)
        share, of_rest = (high, rest) if half == "upper" else (1 - high, 1 - rest)
        bound = thresholds["share"]
        text = (
            f"{100 * share:.0f} % of the energy is in the {half} half of the spectrum (at least {100 * bound:g} % "
            f"wanted), {100 * last:.0f} % at v_N alone; without v_N {100 * of_rest:.0f} % of the rest is there"
        )
        note = ""
        if facts.get("last_is_positive", False):
            note = "v_N is the positive (Perron) vector of a non-negative S, and varies least over the graph."
        numbers = {"share": share, "last": last, "rest": of_rest}
        return Finding("holds" if share >= bound else "does not hold", text, numbers, note)

    return test


def spectrum(subject: str, conditions: Sequence[tuple[str, str, str]], source: str, text: str) -> Test:
    """Test measures of the outputs' spectra for one eigenvector, see :func:`nvgf.experiments.analysis.spread_of`.

    Args:
        subject: whose graph and models.
        conditions: model, measure and the threshold that it is set against: ``min_...`` or ``max_...``.
        source: the eigenvector, ``"last"`` or ``"first"``.
        text: what the numbers are about.
    """

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        models = evidence.analysis.get(subject, {}).get("models", {})
        if any(model not in models for model, _, _ in conditions):
            return None
        answers: list[Answer] = []
        told = []
        for model, measure, threshold in conditions:
            # Where nothing was created, there is no place of the largest created content.
            value = models[model].get(source, {}).get(measure)
            bound = thresholds[threshold]
            good = value is not None and (value >= bound if threshold.startswith("min") else value <= bound)
            answers.append("holds" if good else "does not hold")
            sign = ">=" if threshold.startswith("min") else "<="
            told.append(f"{model} {measure} {'none' if value is None else f'{value:.3g}'} ({sign} {bound:g})")
        return Finding(every(answers), f"{text}: {', '.join(told)}")

    return test


def every(answers: Sequence[Answer]) -> Answer:
    """Return the verdict on several statements at once: all must hold, and one that does not decides.

    Example:
        >>> every(["holds", "undecided"]), every(["undecided", "does not hold"])
        ('undecided', 'does not hold')
    """
    if "does not hold" in answers:
        return "does not hold"
    return "undecided" if "undecided" in answers or not answers else "holds"


def numbers_of(found: Interval) -> dict[str, float]:
    """Return an interval as numbers that JSON can hold."""
    ends = {"mean": found.mean, "low": found.low, "high": found.high, "p": found.p, "n": found.n}
    return {name: float(value) for name, value in ends.items() if np.isfinite(value)}
