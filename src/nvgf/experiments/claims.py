"""Claims: statements of the paper as data, each with a test on results, a statistic and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from nvgf.experiments.rows import Row
from nvgf.experiments.study import Study, make_study
from nvgf.experiments.tables import Selection, Summary, comparison, creation_models

Answer = Literal["holds", "does not hold", "undecided"]


@dataclass(frozen=True)
class Evidence:
    """What a claim is tested on: the rows of one setting and one way to split, and the analyses of the same.

    ``analysis`` has for each subject what :mod:`nvgf.experiments.analysis` writes.
    """

    study: Study
    rows: Sequence[Row]
    analysis: Mapping[str, Any]
    setting: str
    split_by: str
    selection: Selection

    @cached_property
    def comparison(self) -> dict[tuple[str, str], Summary]:
        """Experiment 1 by subject and model, with the baselines."""
        found = comparison(self.rows, self.study, self.selection)
        return {(summary.place.subject, summary.model): summary for summary in found}

    @cached_property
    def creation(self) -> dict[tuple[str, str], Summary]:
        """Experiment 2 by subject and model."""
        found = creation_models(self.rows, self.study, self.selection)
        return {(summary.place.subject, summary.model): summary for summary in found}


@dataclass(frozen=True)
class Finding:
    """The outcome of a test: the statistic in words, the numbers it is made of, and the verdict."""

    verdict: Answer
    statistic: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and its test.

    ``test`` is called with the evidence and ``thresholds``; it returns ``None`` where the results have nothing to
    say about the claim, which makes the verdict undecided.
    """

    id: str
    text: str
    where: str
    test: Callable[[Evidence, Mapping[str, Any]], Finding | None]
    thresholds: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """A claim with its finding, ready to be printed."""

    id: str
    text: str
    where: str
    statistic: str
    numbers: Mapping[str, Any]
    verdict: Answer
    note: str
    setting: str
    split_by: str


def evaluate(
    rows: Iterable[Row],
    analysis: Mapping[str, Any] | None = None,
    *,
    study: Study | None = None,
    selection: Selection = "valid",
    setting: str | None = None,
    split_by: str | None = None,
) -> list[Verdict]:
    """Test every claim of a study on its results.

    Args:
        rows: of one study.
        analysis: the contents of ``analysis.json``; without it what needs spectra is undecided.
        study: by default that of the rows.
        selection: how hyper-parameters are chosen.
        setting: only this; by default the first of the study's settings that has rows (the paper's own).
        split_by: only this; by default the first that has rows.
    """
    rows = list(rows)
    if not rows:
        raise ValueError("there are no rows to test claims on")
    study = study or make_study(rows[0].study)
    setting = setting or _first(study.settings, {row.setting for row in rows}, "setting")
    split_by = split_by or _first(study.split_bys, {row.split_by for row in rows}, "way to split")
    chosen = [row for row in rows if row.setting == setting and row.split_by == split_by]
    subjects = (analysis or {}).get("subjects", {})
    evidence = Evidence(study, chosen, subjects, setting, split_by, selection)
    return [_verdict(claim, evidence) for claim in study.claims()]


def _first(order: Sequence[str], present: set[str], what: str) -> str:
    for name in order:
        if name in present:
            return name
    raise ValueError(f"the rows have no known {what}: {', '.join(sorted(present))}")


def _verdict(claim: Claim, evidence: Evidence) -> Verdict:
    finding = claim.test(evidence, claim.thresholds) if evidence.rows else None
    if finding is None:
        finding = Finding("undecided", "no results to test it on")
    note = " ".join(part for part in (claim.note, finding.note) if part)
    return Verdict(
        claim.id,
        claim.text,
        claim.where,
        finding.statistic,
        finding.numbers,
        finding.verdict,
        note,
        evidence.setting,
        evidence.split_by,
    )


def decide(low: float, high: float, *, above: float = -math.inf, below: float = math.inf) -> Answer:
    """Judge whether a quantity lies between two bounds, from its confidence interval.

    It holds if the whole interval lies between them, does not hold if the interval lies wholly on the other side of
    one, and is undecided if a bound is in it.

    Example:
        >>> decide(1.0, 2.0, above=0.0), decide(-2.0, -1.0, above=0.0), decide(-1.0, 1.0, above=0.0)
        ('holds', 'does not hold', 'undecided')
    """
    if math.isnan(low) or math.isnan(high):
        return "undecided"
    if low > above and high < below:
        return "holds"
    return "does not hold" if high <= above or low >= below else "undecided"
