"""Claims: statements of the paper as data, each with a test on results, a statistic and a verdict."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from nvgf.experiments.rows import Row
from nvgf.experiments.statistics import holm
from nvgf.experiments.study import SIZES, Study, check_name, make_study
from nvgf.experiments.tables import Selection, Summary, comparison, creation_models

Answer = Literal["holds", "does not hold", "undecided"]


SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Evidence:
    """What a claim is tested on: the rows of one setting and one way to split, and the analyses of the same.

    ``analysis`` has for each subject what :mod:`nvgf.experiments.analysis` writes, see :func:`analysis_of`.
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
    """The outcome of a test: the statistic in words, the numbers it is made of, and the verdict.

    ``against`` are one-sided p-values against each of the statements that it is made of, where it is part of another.
    """

    verdict: Answer
    statistic: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    against: Sequence[float] = ()


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
        setting: only this, one that has rows; by default the first of the study's that has (the paper's own).
        split_by: only this, one that has rows; by default the first that has.
    """
    rows = list(rows)
    if not rows:
        raise ValueError("there are no rows to test claims on")
    study = study or make_study(rows[0].study)
    setting = _one_of(setting, study.settings, [row.setting for row in rows], "setting")
    split_by = _one_of(split_by, study.split_bys, [row.split_by for row in rows], "way to split")
    chosen = [row for row in rows if row.setting == setting and row.split_by == split_by]
    found = analysis_of((analysis or {}).get("subjects", {}), setting, split_by, sizes=True)
    evidence = Evidence(study, chosen, found, setting, split_by, selection)
    return [_verdict(claim, evidence) for claim in study.claims()]


def _one_of(wanted: str | None, order: Sequence[str], rows: Sequence[str], what: str) -> str:
    present = dict.fromkeys(rows)
    if wanted is not None:
        return check_name(wanted, tuple(present), what)
    for name in order:
        if name in present:
            return name
    raise ValueError(f"the rows have no known {what}: {', '.join(sorted(present))}")


def analysis_of(
    subjects: Mapping[str, Mapping[str, Any]], setting: str, split_by: str, *, sizes: bool = False
) -> dict[str, Mapping[str, Any]]:
    """Return the analyses of one setting and one way to split, from the ``subjects`` of ``analysis.json``.

    So a statement about spectra speaks of the same models as one about errors. With ``sizes`` a subject that was
    analysed otherwise alone has at least the sizes of its data.

    Example:
        >>> first = {"setting": "paper", "split_by": "excerpt", "nodes": 192, "models": {"gcnn": {}}}
        >>> analysis_of({"austen": first}, "scaled", "excerpt", sizes=True)
        {'austen': {'nodes': 192}}
    """
    found: dict[str, Mapping[str, Any]] = {}
    for subject, first in subjects.items():
        same = (first.get("setting"), first.get("split_by")) == (setting, split_by)
        entry = first if same else first.get("others", {}).get(f"{setting}/{split_by}")
        if entry is not None:
            found[subject] = entry
        elif sizes:
            found[subject] = {name: first[name] for name in SIZES if name in first}
    return found


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


def together(answers: Sequence[Answer], against: Sequence[float]) -> Answer:
    """Return the verdict on several statements at once, with the one-sided p-values against each of them.

    All must hold. One that is contradicted decides, if it still is after Holm's correction for their number: of many,
    some go wrong by chance.

    Example:
        >>> together(["holds", "does not hold"], [0.9, 0.02]), together(["holds", "does not hold"], [0.9, 0.001])
        ('undecided', 'does not hold')
    """
    if any(p < SIGNIFICANCE / 2 for p in holm(against)):
        return "does not hold"
    return "holds" if answers and all(answer == "holds" for answer in answers) else "undecided"


def as_json(verdicts: Iterable[Verdict]) -> str:
    """Return verdicts as JSON; numbers that are infinite or none become null."""
    plain = [_finite(asdict(verdict)) for verdict in verdicts]
    return json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
