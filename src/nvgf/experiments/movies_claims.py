"""What the paper's appendix states about movie recommendation, each statement with its test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nvgf.experiments.claim_tests import (
    Test,
    all_better,
    gap,
    input_energy,
    numbers_of,
    on_par,
    pairs,
    size,
    spectrum,
    within,
)
from nvgf.experiments.claims import Answer, Claim, Evidence, Finding, together
from nvgf.experiments.tables import ALIKE

LEARN, GCNN, LSIGF, DESIGN = "learn-nvgf", "gcnn", "lsigf", "design-nvgf"
RMGCNN, RMCAYLEY, NEAREST = "rmgcnn", "rmcayley", "nearest-neighbour"
TARGETS = ("star-wars", "contact", "fargo", "return-of-the-jedi", "liar-liar")
BUT_CONTACT = tuple(target for target in TARGETS if target != "contact")
PAIRS = {"star-wars": 583, "contact": 509, "fargo": 508, "return-of-the-jedi": 507, "liar-liar": 485}


def _together(tests: Mapping[str, Test]) -> Test:
    """Test several statements at once; one that nothing is known about leaves the whole undecided, unless one fails.

    Failures are corrected for the number of all statements that these are made of.
    """

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        found = {name: one(evidence, thresholds) for name, one in tests.items()}
        if all(one is None for one in found.values()):
            return None
        verdicts: list[Answer] = ["undecided" if one is None else one.verdict for one in found.values()]
        told = [f"{name}: {'not run' if one is None else one.statistic}" for name, one in found.items()]
        numbers = {name: one.numbers for name, one in found.items() if one is not None}
        against = [p for one in found.values() if one is not None for p in one.against]
        return Finding(together(verdicts, against), "; ".join(told), numbers, against=against)

    return test


def _changes_within(models: Sequence[str]) -> Test:
    """Test that the changes relative to the GCNN are within ``margin`` for all targets and models, all at once."""

    def test(evidence: Evidence, thresholds: Mapping[str, Any]) -> Finding | None:
        margin = thresholds["margin"]
        found = {
            (both[0].place.subject, model): gap(evidence, [both], relative=True)
            for model in models
            for both in pairs(evidence, "creation", GCNN, model, TARGETS)
        }
        if not found:
            return None
        verdict, against = within(list(found.values()), above=-margin, below=margin)
        if len(found) < len(models) * len(TARGETS) and verdict == "holds":
            verdict = "undecided"
        subject, model = max(found, key=lambda key: abs(found[key].mean))
        largest, inside = found[subject, model], sum(abs(one.mean) <= margin for one in found.values())
        text = (
            f"{inside} of {len(found)} changes are within {100 * margin:g} %; the largest is {model} for {subject}, "
            f"{largest.scaled(100).text(' %', 1)}"
        )
        numbers = {f"{s} {m}": numbers_of(one) for (s, m), one in found.items()}
        return Finding(verdict, text, numbers, against=against)

    return test


_DATA = "appendix, Movie Recommendation, Dataset and code"
_FIRST = "appendix, Movie Recommendation, Experiment 1"
_SECOND = "appendix, Movie Recommendation, Experiment 2"
_EXACT = {"tolerance": 0.0}
_LEARNED = "The taps of Learn NVGF are trained at the target alone: at all other nodes they are as they were drawn."

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "size-ratings",
        "The 250 most rated movies have 54746 ratings",
        _DATA,
        size("star-wars", lambda facts: facts["ratings"]),
        {"printed": 54746, **_EXACT},
    ),
    Claim(
        "size-nodes",
        "The graph has 250 nodes",
        _DATA,
        size("star-wars", lambda facts: facts["nodes"]),
        {"printed": 250, **_EXACT},
    ),
    *(
        Claim(
            f"size-{target}",
            f"{target} has {count} pairs",
            _DATA,
            size(target, lambda facts: facts["train"] + facts["valid"] + facts["test"]),
            {"printed": count, **_EXACT},
        )
        for target, count in PAIRS.items()
    ),
    *(
        Claim(
            f"learn-{rival}",
            f"Learn NVGF is better than {name} for all targets but Contact",
            _FIRST,
            all_better(LEARN, rival, "comparison", BUT_CONTACT),
        )
        for rival, name in ((RMGCNN, "RMGCNN"), (RMCAYLEY, "RMCayley"))
    ),
    Claim(
        "contact-on-par",
        "For Contact, Learn NVGF is comparable to RMGCNN and RMCayley",
        _FIRST,
        _together({rival: on_par(LEARN, rival, "comparison", ("contact",)) for rival in (RMGCNN, RMCAYLEY)}),
        {"margin": ALIKE},
    ),
    Claim(
        "nearest-learn",
        "Learn NVGF is better than the nearest neighbours for all targets",
        _FIRST,
        all_better(LEARN, NEAREST, "comparison", TARGETS),
    ),
    Claim(
        "nearest-worst",
        "The nearest neighbours are worse than all other methods",
        _FIRST,
        _together({model: all_better(model, NEAREST, "comparison", TARGETS) for model in (LEARN, RMGCNN, RMCAYLEY)}),
    ),
    Claim(
        "changes-small",
        "The relative change is at most about 1.5 %, for Fargo and Liar, Liar",
        _SECOND,
        _changes_within((LSIGF, DESIGN, LEARN)),
        {"margin": 0.015},
        "About 50 test ratings a split: intervals are wider than the margin unless models err alike.",
    ),
    Claim(
        "changes-alike",
        "All four architectures have relatively similar performance",
        _SECOND,
        _changes_within((LSIGF, DESIGN, LEARN)),
        {"margin": ALIKE},
    ),
    Claim(
        "input-low",
        "The signals of Star Wars have low-eigenvalue content",
        "appendix, Movie Recommendation, figure of the input frequencies",
        input_energy("star-wars", "lower"),
        {"share": 0.75},
    ),
    Claim(
        "input-low-variation",
        "The same with frequencies in the order of total variation: large eigenvalues vary least",
        "appendix, Movie Recommendation, figure of the input frequencies",
        input_energy("star-wars", "upper"),
        {"share": 0.75},
        "A reading of the statement under which the figure can be what the text says.",
    ),
    Claim(
        "spectrum-lsigf",
        "For the input v_N, LSIGF creates no frequency",
        _SECOND,
        spectrum("star-wars", [(LSIGF, "own_share", "min_share")], "last", "Star Wars, input v_N"),
        {"min_share": 1 - 1e-9},
    ),
    Claim(
        "spectrum-gcnn",
        "For the input v_N, GCNN creates frequencies",
        _SECOND,
        spectrum("star-wars", [(GCNN, "own_share", "max_share")], "last", "Star Wars, input v_N"),
        {"max_share": 0.99},
        "Where v_N is positive, ReLU passes a multiple of it or nothing: GCNN cannot create any frequency from it.",
    ),
    Claim(
        "spectrum-gcnn-variation",
        "The same with frequencies in the order of total variation: the input is v_1, which varies most",
        _SECOND,
        spectrum("star-wars", [(GCNN, "own_share", "max_share")], "first", "Star Wars, input v_1"),
        {"max_share": 0.99},
        "A reading of the statement under which the figure can be what the text says.",
    ),
    Claim(
        "spectrum-learn",
        "For the input v_N, Learn NVGF creates frequencies",
        _SECOND,
        spectrum("star-wars", [(LEARN, "own_share", "max_share")], "last", "Star Wars, input v_N"),
        {"max_share": 0.99},
        _LEARNED,
    ),
)
