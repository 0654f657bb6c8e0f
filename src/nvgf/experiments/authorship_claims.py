"""What the paper states about authorship attribution, each statement with its test."""

from __future__ import annotations

from nvgf.experiments.authorship_tests import (
    DESIGN,
    GCNN,
    LEARN,
    LSIGF,
    ORDER,
    austen_in_group_1,
    count,
    designed_alike,
    in_group,
    largest_group,
    more_spread,
    usually_significant,
)
from nvgf.experiments.claim_tests import (
    all_better,
    better,
    between,
    by_about,
    input_energy,
    on_par,
    ordered,
    size,
    spectrum,
)
from nvgf.experiments.claims import Claim
from nvgf.experiments.tables import ALIKE

_DATA = "section 6, Dataset"
_FIRST = "section 6, Experiment 1"
_FIRST_ALL = "appendix, Authorship Attribution, Experiment 1"
_SECOND = "section 6, Experiment 2 and Discussion"
_SECOND_ALL = "appendix, Authorship Attribution, Experiment 2"
_FIGURE = "section 6, figure 3"
_NEAR = {"tolerance": 0.05}
_COUNTED = {"tolerance": 2}
_POINTS = {"points": 10}
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
        usually_significant,
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
        {"percent": 102, **_POINTS},
    ),
    Claim(
        "austen-gat-gcn",
        "For Austen, GAT is 30 % better than GCN",
        _FIRST,
        by_about("gat", "gcn", "comparison", "austen"),
        {"percent": 30, **_POINTS},
    ),
    Claim(
        "austen-learn-gat",
        "For Austen, Learn NVGF is 20 % better than GAT",
        _FIRST,
        by_about(LEARN, "gat", "comparison", "austen"),
        {"percent": 20, **_POINTS},
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
        {"share": 0.25},
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
        count(in_group(1)),
        {"printed": 11, **_COUNTED},
    ),
    Claim(
        "group-2",
        "7 authors: Learn NVGF better than GCNN",
        _SECOND_ALL,
        count(in_group(2)),
        {"printed": 7, **_COUNTED},
    ),
    Claim("group-3", "3 authors: all alike", _SECOND_ALL, count(in_group(3)), {"printed": 3, **_COUNTED}),
    Claim("group-largest", "Group 1 is the largest", _SECOND_ALL, largest_group, _SURE),
    Claim("group-austen", "Austen is in group 1", "section 6, General observations", austen_in_group_1, _SURE),
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
        count(designed_alike),
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
        input_energy("austen", "upper"),
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
        more_spread,
        {"min_gain": 0.1, "min_active": 0.9},
    ),
)
