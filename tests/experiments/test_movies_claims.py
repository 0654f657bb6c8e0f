import numpy as np
import pytest

from nvgf.experiments import Row, make_study
from nvgf.experiments.claims import evaluate
from nvgf.experiments.movies_claims import CLAIMS, PAIRS

STUDY = make_study("movies")
NOISE = np.random.default_rng(0).normal(scale=0.002, size=(5, 10))


def rows(means, subjects=STUDY.subjects, splits=10):
    """Results with these mean errors by model, or by (subject, model) where a subject differs."""
    found = []
    for place, subject in enumerate(subjects):
        for model in {key[1] if isinstance(key, tuple) else key for key in means}:
            mean = means.get((subject, model), means.get(model))
            for hyper in STUDY.paper_hypers(subject, model)[:1]:
                for split in range(splits):
                    # The same for all models but for a little, as on the same test ratings.
                    own = 0.001 * np.sin(7 * split + len(model))
                    error = mean + NOISE[place, split] + own
                    data = (subject, "paper", split, "user", model)
                    key = "-".join(map(str, data))
                    found.append(Row(key, "movies", *data, *hyper, split, error, error))
    return found


def verdicts(means, analysis=None, **options):
    found = evaluate(rows(means, **options), {"subjects": analysis or {}}, study=STUDY)
    return {verdict.id: verdict for verdict in found}


AS_PRINTED = {
    "learn-nvgf": 0.90,
    "rmgcnn": 0.95,
    "rmcayley": 0.96,
    "nearest-neighbour": 1.1,
    "gcnn": 0.90,
    "lsigf": 0.905,
    "design-nvgf": 0.902,
    ("contact", "rmgcnn"): 0.90,
    ("contact", "rmcayley"): 0.91,
}


def test_every_claim_has_a_name_of_its_own_and_a_place():
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert all(claim.text and claim.where.startswith("appendix") for claim in CLAIMS)


def test_results_as_printed_bear_out_the_statements_about_errors():
    found = verdicts(AS_PRINTED)
    names = ("learn-rmgcnn", "learn-rmcayley", "contact-on-par", "nearest-learn", "nearest-worst")
    assert {name: found[name].verdict for name in (*names, "changes-small", "changes-alike")} == dict.fromkeys(
        (*names, "changes-small", "changes-alike"), "holds"
    )


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ({("fargo", "rmgcnn"): 0.8}, {"learn-rmgcnn"}),
        ({("contact", "rmcayley"): 1.05}, {"contact-on-par"}),
        ({("liar-liar", "nearest-neighbour"): 0.92}, {"nearest-worst"}),
        ({("star-wars", "nearest-neighbour"): 0.8}, {"nearest-learn", "nearest-worst"}),
        ({("star-wars", "lsigf"): 0.93}, {"changes-small"}),
        ({("star-wars", "lsigf"): 1.0}, {"changes-small", "changes-alike"}),
    ],
)
def test_one_target_suffices_to_contradict(change, fails):
    found = verdicts({**AS_PRINTED, **change})
    assert {name for name, verdict in found.items() if verdict.verdict == "does not hold"} == fails


def test_one_of_many_that_chance_explains_does_not_contradict():
    # With this error the interval of star-wars alone is beyond the margin, but not among fifteen.
    change = {**AS_PRINTED, ("star-wars", "lsigf"): 0.9145}
    found = verdicts(change)["changes-small"]
    one = found.numbers["star-wars lsigf"]
    assert one["low"] > 0.015
    assert found.verdict == "undecided"


def test_what_was_not_run_leaves_undecided():
    without = {key: mean for key, mean in AS_PRINTED.items() if not isinstance(key, tuple) and key[:2] != "rm"}
    found = verdicts(without)
    assert {found[name].verdict for name in ("learn-rmgcnn", "learn-rmcayley", "nearest-worst")} == {"undecided"}
    assert found["learn-rmgcnn"].statistic == "no results to test it on"
    assert found["nearest-learn"].verdict == "holds"
    some = verdicts({k: v for k, v in AS_PRINTED.items() if not isinstance(k, tuple)}, subjects=("star-wars", "fargo"))
    assert some["changes-small"].verdict == some["learn-rmgcnn"].verdict == "undecided"
    assert "6 of 6 changes are within 1.5 %" in some["changes-small"].statistic


def test_the_largest_change_is_named():
    found = verdicts({**AS_PRINTED, ("fargo", "design-nvgf"): 0.99})
    assert "the largest is design-nvgf for fargo, +10." in found["changes-small"].statistic


def spectra(**changes):
    models = {
        "lsigf": {"last": {"own_share": 1.0}, "first": {"own_share": 1.0}},
        "gcnn": {"last": {"own_share": 1.0}, "first": {"own_share": 0.5}},
        "learn-nvgf": {"last": {"own_share": 0.1}, "first": {"own_share": 0.1}},
    }
    facts = {"ratings": 54746, "nodes": 250, "train": 473, "valid": 52, "test": 58, "models": models}
    shares = {"input_high_share": 0.1, "input_last_share": 0.05, "input_rest_high_share": 0.05}
    place = {"setting": "paper", "split_by": "user"}
    return {"star-wars": {**place, **facts, **shares, "last_is_positive": True, **changes}}


def test_sizes_and_spectra():
    found = verdicts(AS_PRINTED, spectra())
    holding = ("size-ratings", "size-nodes", "size-star-wars", "input-low", "spectrum-lsigf", "spectrum-learn")
    assert all(found[name].verdict == "holds" for name in (*holding, "spectrum-gcnn-variation"))
    assert found["spectrum-gcnn"].verdict == found["input-low-variation"].verdict == "does not hold"
    assert found["input-low"].statistic.startswith("90 % of the energy is in the lower half")
    assert found["input-low-variation"].statistic.startswith("10 % of the energy is in the upper half")
    assert all(found[f"size-{target}"].verdict == "undecided" for target in PAIRS if target != "star-wars")
    assert "as they were drawn" in found["spectrum-learn"].note


def test_spectra_of_other_kinds():
    found = verdicts(AS_PRINTED, spectra(input_high_share=0.9, train=474))
    assert found["input-low"].verdict == found["size-star-wars"].verdict == "does not hold"
    assert found["input-low-variation"].verdict == "holds"
