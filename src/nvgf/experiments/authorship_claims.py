"""What the paper states about authorship attribution, each statement with its test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from nvgf.experiments.claim_tests import (
    Test,
    all_better,
    better,
    between,
    by_about,
    gap,
    on_par,
    ordered,
    pairs,
    size,
    spectrum,
    too_few,
)
from nvgf.experiments.claims import Answer, Claim, Evidence, Finding, decide
from nvgf.experiments.statistics import proportion_interval
from nvgf.experiments.tables import ALIKE

LEARN, GCNN, LSIGF, DESIGN = "learn-nvgf", "gcnn", "lsigf", "design-nvgf"
ORDER = (LEARN, "gat", "gcn", "sgc")
AUTHORS = 21
RESAMPLES = 2000


def _usually_significant(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
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
    learn, lsigf = changes[LEARN], changes[LSIGF]
    return np.select([learn < -ALIKE, learn > ALIKE, lsigf > ALIKE], [2, 0, 1], default=3)


def _count(which: Callable[[Mapping[str, np.ndarray]], np.ndarray | None]) -> Test:
    """Test the number of authors of whom something is true; its interval comes from resampled splits."""

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        authors, changes = _changes(evidence)
        true_of = which(changes)
        if true_of is None or not authors:
            return None
        counts = true_of.sum(0)
        low, high = np.quantile(counts[1:], [0.025, 0.975])
        observed, printed = int(counts[0]), thresholds["printed"]
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


def _group(number: int) -> Callable[[Mapping[str, np.ndarray]], np.ndarray | None]:
    def which(changes: Mapping[str, np.ndarray]) -> np.ndarray | None:
        return _numbers_of_groups(changes) == number if {LEARN, LSIGF} <= changes.keys() else None

    return which


def _designed_alike(changes: Mapping[str, np.ndarray]) -> np.ndarray | None:
    return np.abs(changes[DESIGN]) <= ALIKE if DESIGN in changes else None


def _austen_in_group_1(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
    authors, changes = _changes(evidence)
    if "austen" not in authors or not {LEARN, LSIGF} <= changes.keys():
        return None
    numbers = _numbers_of_groups(changes)[authors.index("austen")]
    share = float((numbers[1:] == 1).mean())
    sure = thresholds["share"]
    verdict: Answer = "holds" if share >= sure else "does not hold" if share <= 1 - sure else "undecided"
    text = f"group {numbers[0]} by the rule; group 1 in {100 * share:.0f} % of {RESAMPLES} resamplings of the splits"
    return Finding(verdict, text, {"group": int(numbers[0]), "share": share})


def _largest_group(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
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


def _input(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
    facts = evidence.analysis.get("austen")
    if facts is None or "input_high_share" not in facts:
        return None
    share, last, rest = (facts[f"input_{name}_share"] for name in ("high", "last", "rest_high"))
    verdict: Answer = "holds" if share >= thresholds["share"] else "does not hold"
    text = (
        f"{100 * share:.0f} % of the energy is in the upper half of the spectrum, {100 * last:.0f} % at v_N alone; "
        f"without v_N {100 * rest:.1f} % of the rest is in the upper half"
    )
    positive = facts.get("last_is_positive", False)
    note = (
        "v_N is the positive (Perron) vector of a non-negative S, and varies least over the graph." if positive else ""
    )
    return Finding(verdict, text, {"high": share, "last": last, "rest": rest}, note)


def _more_spread(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
    models = evidence.analysis.get("austen", {}).get("models", {})
    if not {LEARN, GCNN} <= models.keys():
        return None
    learn, gcnn = (models[name]["last"].get("entropy", 0.0) for name in (LEARN, GCNN))
    active = models[LEARN]["last"].get("active", 0.0)
    holds = learn - gcnn >= thresholds["min_gain"] and active >= thresholds["min_active"]
    text = (
        f"entropy over frequencies (1 is all alike) {learn:.2f} against {gcnn:.2f}; {100 * active:.0f} % of frequencies"
    )
    return Finding("holds" if holds else "does not hold", text, {"learn": learn, "gcnn": gcnn, "active": active})


_DATA = "section 6, Dataset"
_FIRST = "section 6, Experiment 1"
_FIRST_ALL = "appendix, Authorship Attribution, Experiment 1"
_SECOND = "section 6, Experiment 2 and Discussion"
_SECOND_ALL = "appendix, Authorship Attribution, Experiment 2"
_FIGURE = "section 6, figure 3"
_NEAR = {"tolerance": 0.05}
_COUNTED = {"tolerance": 2}
_SURE = {"share": 0.95}

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "size-nodes",
        "Austen's network has 189 nodes",
        _DATA,
        size("austen", lambda f: f["nodes"]),
        {"printed": 189, **_NEAR},
    ),
    Claim(
        "size-edges",
        "Austen's network has 9812 edges",
        _DATA,
        size("austen", lambda f: f["edges"]),
        {"printed": 9812, **_NEAR},
    ),
    Claim(
        "size-train",
        "Austen's training set has 1464 samples, validation included",
        _DATA,
        size("austen", lambda f: f["train"] + f["valid"]),
        {"printed": 1464, **_NEAR},
    ),
    Claim("size-valid", "118 of them validate", _DATA, size("austen", lambda f: f["valid"]), {"printed": 118, **_NEAR}),
    Claim(
        "size-test",
        "Austen's test set has 78 samples",
        _DATA,
        size("austen", lambda f: f["test"]),
        {"printed": 78, **_NEAR},
    ),
    Claim(
        "order-all",
        "Learn NVGF is better than GAT, GAT than GCN, GCN than SGC, over all authors",
        _FIRST_ALL,
        ordered(ORDER, "comparison"),
    ),
    Claim(
        "order-all-learn-gat",
        "Learn NVGF is better than GAT, over all authors",
        _FIRST_ALL,
        better(LEARN, "gat", "comparison"),
    ),
    Claim(
        "order-all-gat-gcn", "GAT is better than GCN, over all authors", _FIRST_ALL, better("gat", "gcn", "comparison")
    ),
    Claim(
        "order-all-gcn-sgc", "GCN is better than SGC, over all authors", _FIRST_ALL, better("gcn", "sgc", "comparison")
    ),
    Claim(
        "order-significant",
        "The differences between the four architectures are usually significant",
        _FIRST_ALL,
        _usually_significant,
        {"share": 0.5},
    ),
    Claim(
        "on-par-gat",
        "For Doyle, Hawthorne and Stevenson, Learn NVGF and GAT are comparable",
        _FIRST_ALL,
        on_par(LEARN, "gat", "comparison", ("doyle", "hawthorne", "stevenson")),
        {"margin": ALIKE},
    ),
    Claim(
        "order-austen",
        "For Austen the order is Learn NVGF, GAT, GCN, SGC",
        _FIRST,
        ordered(ORDER, "comparison", "austen"),
    ),
    Claim(
        "austen-gat-sgc",
        "For Austen, GAT is 102 % better than SGC",
        _FIRST,
        by_about("gat", "sgc", "comparison", "austen"),
        {"percent": 102},
    ),
    Claim(
        "austen-gat-gcn",
        "For Austen, GAT is 30 % better than GCN",
        _FIRST,
        by_about("gat", "gcn", "comparison", "austen"),
        {"percent": 30},
    ),
    Claim(
        "austen-learn-gat",
        "For Austen, Learn NVGF is 20 % better than GAT",
        _FIRST,
        by_about(LEARN, "gat", "comparison", "austen"),
        {"percent": 20},
    ),
    Claim(
        "austen-lsigf-learn",
        "For Austen, LSIGF is worse than Learn NVGF",
        _SECOND,
        better(LEARN, LSIGF, "creation", "austen"),
    ),
    Claim(
        "austen-lsigf-gcnn", "For Austen, LSIGF is worse than GCNN", _SECOND, better(GCNN, LSIGF, "creation", "austen")
    ),
    Claim(
        "austen-learn-gcnn",
        "For Austen, Learn NVGF and GCNN perform the same",
        _SECOND,
        on_par(GCNN, LEARN, "creation", ("austen",)),
        {"margin": ALIKE},
    ),
    Claim(
        "austen-design",
        "For Austen, Design NVGF is half-way between GCNN and LSIGF",
        _SECOND,
        between(GCNN, DESIGN, LSIGF, "creation", "austen"),
    ),
    Claim(
        "creation-drives",
        "What creates frequencies is better: LSIGF is worse than Learn NVGF, over all authors",
        _SECOND_ALL,
        better(LEARN, LSIGF, "creation"),
        note="With a readout over all nodes both are linear classifiers of x: what differs is the training.",
    ),
    Claim("creation-gcnn", "LSIGF is worse than GCNN, over all authors", _SECOND_ALL, better(GCNN, LSIGF, "creation")),
    Claim(
        "creation-alike",
        "Learn NVGF and GCNN perform essentially the same, over all authors",
        _SECOND_ALL,
        on_par(GCNN, LEARN, "creation"),
        {"margin": ALIKE},
    ),
    Claim(
        "group-1",
        "11 authors: Learn NVGF within 5 % of GCNN, LSIGF considerably worse",
        _SECOND_ALL,
        _count(_group(1)),
        {"printed": 11, **_COUNTED},
    ),
    Claim(
        "group-2",
        "7 authors: Learn NVGF better than GCNN",
        _SECOND_ALL,
        _count(_group(2)),
        {"printed": 7, **_COUNTED},
    ),
    Claim("group-3", "3 authors: all alike", _SECOND_ALL, _count(_group(3)), {"printed": 3, **_COUNTED}),
    Claim("group-largest", "Group 1 is the largest", _SECOND_ALL, _largest_group, _SURE),
    Claim("group-austen", "Austen is in group 1", "section 6, General observations", _austen_in_group_1, _SURE),
    Claim(
        "group-2-exceptions",
        "For Jewett and Thoreau, GCNN is considerably better than LSIGF",
        _SECOND_ALL,
        all_better(GCNN, LSIGF, "creation", ("jewett", "thoreau")),
    ),
    Claim(
        "design-alike",
        "For 11 authors Design NVGF closely resembles GCNN",
        _SECOND_ALL,
        _count(_designed_alike),
        {"printed": 11, **_COUNTED},
    ),
    Claim(
        "design-better",
        "For Alcott, James, Cooper and Allen, Design NVGF is better than GCNN",
        _SECOND_ALL,
        all_better(DESIGN, GCNN, "creation", ("alcott", "james", "cooper", "allen")),
    ),
    Claim(
        "design-worse",
        "For Brontë, Dickens, Hawthorne, Page, Stevenson and Melville, Design NVGF is considerably worse than GCNN",
        _SECOND_ALL,
        all_better(GCNN, DESIGN, "creation", ("bronte", "dickens", "hawthorne", "page", "stevenson", "melville")),
    ),
    Claim(
        "input-high",
        "The high-eigenvalue content of Austen's signals is significant",
        "section 6, figure 2 (c)",
        _input,
        {"share": 0.25},
    ),
    Claim(
        "spectrum-lsigf",
        "For the input v_N, the output of LSIGF has a single frequency, that of the input",
        _FIGURE,
        spectrum("austen", [(LSIGF, "own_share", "min_share")], "last", "Austen, input v_N"),
        {"min_share": 1 - 1e-9},
    ),
    Claim(
        "spectrum-gcnn",
        "For the input v_N, the output of GCNN has content in all frequencies and most notably a low-frequency peak",
        _FIGURE,
        spectrum(
            "austen",
            [(GCNN, "active", "min_active"), (GCNN, "peak_other", "max_place")],
            "last",
            "Austen, input v_N, frequencies in the order of eigenvalues",
        ),
        {"min_active": 0.8, "max_place": 0.25},
        "Where v_N is positive, ReLU passes a multiple of it or nothing: GCNN cannot create any frequency from it.",
    ),
    Claim(
        "spectrum-gcnn-variation",
        "The same with frequencies in the order of total variation: the input is v_1, which varies most",
        _FIGURE,
        spectrum(
            "austen",
            [(GCNN, "active", "min_active"), (GCNN, "peak_other", "min_place")],
            "first",
            "Austen, input v_1, place 1 is the eigenvector that varies least",
        ),
        {"min_active": 0.8, "min_place": 0.75},
        "A reading of the statement under which the figure can be what the text says.",
    ),
    Claim(
        "spectrum-learn",
        "For the input v_N, the output of Learn NVGF contains all frequencies, much more spread than that of GCNN",
        _FIGURE,
        _more_spread,
        {"min_gain": 0.1, "min_active": 0.9},
    ),
)
