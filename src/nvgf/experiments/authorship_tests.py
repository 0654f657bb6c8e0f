"""Tests of claims about authorship that are not of a general kind: groups of authors, sizes, spectra of Austen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from nvgf.experiments.claim_tests import Test, gap, pairs, too_few
from nvgf.experiments.claims import Answer, Evidence, Finding, decide
from nvgf.experiments.statistics import proportion_interval
from nvgf.experiments.tables import ALIKE, group_numbers

LEARN, GCNN, LSIGF, DESIGN = "learn-nvgf", "gcnn", "lsigf", "design-nvgf"
ORDER = (LEARN, "gat", "gcn", "sgc")
AUTHORS = 21
RESAMPLES = 2000


def usually_significant(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
    """Test that more than a share of neighbouring pairs, over all authors, differs in the stated direction."""
    found = [
        gap(evidence, [both])
        for first, second in pairwise(ORDER)
        for both in pairs(evidence, "comparison", first, second)
    ]
    if not found:
        return None
    significant = sum(one.low > 0 for one in found)
    low, high = proportion_interval(significant, len(found))
    text = f"{significant} of {len(found)} neighbouring pairs differ in the stated direction [{low:.2f}, {high:.2f}]"
    verdict = decide(low, high, above=thresholds["share"])
    note = too_few(evidence, len(evidence.comparison.keys() & {(a, LEARN) for a, _ in evidence.comparison}))
    numbers = {"significant": significant, "n": len(found)}
    return Finding("undecided" if note else verdict, text, numbers, note)


def _changes(evidence: Evidence) -> tuple[list[str], dict[str, np.ndarray]]:
    """Changes relative to the GCNN of every author, resampled over splits: ``(authors, 1 + RESAMPLES)`` by model.

    The first column is that of the splits as they are.
    """
    found = evidence.creation
    models = [model for model in (LSIGF, DESIGN, LEARN) if any(name == model for _, name in found)]
    authors = [
        author
        for author in dict.fromkeys(subject for subject, _ in found)
        if all((author, model) in found for model in (*models, GCNN))
    ]
    random = np.random.default_rng(0)
    changes: dict[str, list[np.ndarray]] = {model: [] for model in models}
    for author in authors:
        of_model = {m: dict(zip(s.splits, s.errors, strict=True)) for (a, m), s in found.items() if a == author}
        splits = sorted(set.intersection(*(set(errors) for errors in of_model.values())))
        drawn = random.integers(len(splits), size=(RESAMPLES, len(splits)))
        drawn = np.vstack([np.arange(len(splits)), drawn])
        means = {m: np.array([errors[split] for split in splits])[drawn].mean(1) for m, errors in of_model.items()}
        for model in models:
            with np.errstate(divide="ignore", invalid="ignore"):
                changes[model].append(np.nan_to_num(means[model] / means[GCNN] - 1, nan=0.0))
    return authors, {model: np.array(values) for model, values in changes.items() if values}


def _numbers_of_groups(changes: Mapping[str, np.ndarray]) -> np.ndarray:
    return group_numbers(changes[LEARN], changes[LSIGF])


def count(which: Callable[[Mapping[str, np.ndarray]], np.ndarray | None]) -> Test:
    """Test the number of authors of whom something is true; its interval comes from resampled splits.

    Resampling adds the noise of the splits to means that have it already, which moves authors out of a narrow band, or
    into a wide one, a second time; mirrored at the observed count, the resampled ones err to the other side, and near
    0 not at all. So the interval spans both, and is rather too wide.
    """

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        authors, changes = _changes(evidence)
        true_of = which(changes)
        if true_of is None or not authors:
            return None
        counts = true_of.sum(0)
        observed, printed = int(counts[0]), thresholds["printed"]
        resampled = np.quantile(counts[1:], [0.025, 0.975], method="inverted_cdf")
        both = [*resampled, *(2 * observed - resampled)]
        low, high = np.clip([min(both), max(both)], 0, len(authors))
        named = [author for author, true in zip(authors, true_of[:, 0], strict=True) if true]
        text = f"{observed} of {len(authors)} authors [{low:g}, {high:g}], printed {printed} of {AUTHORS}"
        numbers = {"observed": observed, "low": float(low), "high": float(high), "authors": named}
        if len(authors) < AUTHORS:
            return Finding("undecided", text, numbers, f"Only {len(authors)} of {AUTHORS} authors were run.")
        verdict: Answer = "undecided"
        if not low <= printed <= high:
            verdict = "does not hold"
        elif abs(observed - printed) <= thresholds["tolerance"]:
            verdict = "holds"
        return Finding(verdict, text, numbers)

    return test


def in_group(number: int) -> Callable[[Mapping[str, np.ndarray]], np.ndarray | None]:
    """Return what tells which authors are in a group of the paper, by its rule on means."""

    def which(changes: Mapping[str, np.ndarray]) -> np.ndarray | None:
        return _numbers_of_groups(changes) == number if {LEARN, LSIGF} <= changes.keys() else None

    return which


def designed_alike(changes: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Tell for which authors Design NVGF is within 5 % of its GCNN."""
    return np.abs(changes[DESIGN]) <= ALIKE if DESIGN in changes else None


def austen_in_group_1(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
    """Test that Austen is in group 1 in a share of the resamplings of her splits."""
    authors, changes = _changes(evidence)
    if "austen" not in authors or not {LEARN, LSIGF} <= changes.keys():
        return None
    numbers = _numbers_of_groups(changes)[authors.index("austen")]
    share = float((numbers[1:] == 1).mean())
    sure = thresholds["share"]
    verdict: Answer = "holds" if share >= sure else "does not hold" if share <= 1 - sure else "undecided"
    text = f"group {numbers[0]} by the rule; group 1 in {100 * share:.0f} % of {RESAMPLES} resamplings of the splits"
    return Finding(verdict, text, {"group": int(numbers[0]), "share": share})


def largest_group(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
    """Test that group 1 has the most authors in a share of the resamplings of the splits."""
    authors, changes = _changes(evidence)
    if len(authors) < 2 or not {LEARN, LSIGF} <= changes.keys():
        return None
    numbers = _numbers_of_groups(changes)
    counts = np.array([(numbers == group).sum(0) for group in range(4)])
    largest = counts[1] > np.delete(counts, 1, axis=0).max(0)
    share, sure = float(largest[1:].mean()), thresholds["share"]
    verdict: Answer = "holds" if share >= sure else "does not hold" if share <= 1 - sure else "undecided"
    text = (
        f"authors in groups 1, 2, 3 and in none: {', '.join(str(counts[g, 0]) for g in (1, 2, 3, 0))}; group 1 is the "
    )
    return Finding(verdict, text + f"largest in {100 * share:.0f} % of the resamplings", {"share": share})


def more_spread(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
    """Test that Learn NVGF answers v_N with more evenly spread frequencies than GCNN, and with nearly all."""
    models = evidence.analysis.get("austen", {}).get("models", {})
    if not {LEARN, GCNN} <= models.keys():
        return None
    learn, gcnn = (models[name].get("last", {}).get("entropy", 0.0) for name in (LEARN, GCNN))
    active = models[LEARN].get("last", {}).get("active", 0.0)
    holds = learn - gcnn >= thresholds["min_gain"] and active >= thresholds["min_active"]
    text = (
        f"entropy over frequencies (1 is all alike) {learn:.2f} against {gcnn:.2f}; {100 * active:.0f} % of frequencies"
    )
    return Finding("holds" if holds else "does not hold", text, {"learn": learn, "gcnn": gcnn, "active": active})
