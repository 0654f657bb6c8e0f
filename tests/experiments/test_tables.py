import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nvgf.experiments import Hyper, Store, make_study
from nvgf.experiments.claim_tests import gap, pairs
from nvgf.experiments.claims import Evidence
from nvgf.experiments.compact import read_table, write_table
from nvgf.experiments.overall import overall
from nvgf.experiments.sheets import change_sheet, comparison_sheet, hyper_sheet, latex, overall_sheet, row_sheet
from nvgf.experiments.tables import (
    best_hypers,
    comparison,
    creation_models,
    difference,
    groups,
    paired_differences,
    relative_change,
    summaries,
)

STUDY = make_study("authorship")
SMALL, LARGE, PAPER = (0.01, 16, 2), (0.01, 64, 4), (0.001, 32, 3)


def rows_of(make_row, model, hyper, tests, valids=None, **more):
    valids = tests if valids is None else valids
    return [
        make_row(model=model, split=split, hyper=hyper, test_error=test, valid_error=valid, **more)
        for split, (test, valid) in enumerate(zip(tests, valids, strict=True))
    ]


def test_a_summary_is_mean_and_sample_deviation(make_row):
    (found,) = summaries(rows_of(make_row, "gcn", (0.01, 64, None), [0.1, 0.2, 0.6]))
    assert found.mean == pytest.approx(0.3)
    assert found.std == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1))
    assert found.third == pytest.approx(found.std / 3)
    assert found.n == 3


def test_hyper_parameters_are_chosen_as_asked(make_row):
    rows = rows_of(make_row, "learn-nvgf", SMALL, [0.3, 0.3], [0.1, 0.1])
    rows += rows_of(make_row, "learn-nvgf", LARGE, [0.2, 0.2], [0.2, 0.2])
    rows += rows_of(make_row, "learn-nvgf", PAPER, [0.4, 0.4], [0.3, 0.3])
    chosen = {how: comparison(rows, STUDY, how)[0].hyper for how in ("valid", "test", "paper")}
    assert chosen == {"valid": Hyper(*SMALL), "test": Hyper(*LARGE), "paper": Hyper(*PAPER)}
    (beside,) = best_hypers(rows, STUDY, "valid")
    assert (beside.paper, beside.paper_mean, beside.agrees) == ((Hyper(*PAPER),), pytest.approx(0.4), False)
    with pytest.raises(ValueError, match="selection must be one of valid, test, paper, got 'best'"):
        comparison(rows, STUDY, "best")


def test_of_several_hyper_parameters_of_the_paper_the_one_that_validates_best_counts(make_row):
    movies = make_study("movies", "planted")
    rows = [
        row
        for rate, test, valid in ((0.001, 0.8, 0.9), (0.005, 0.7, 1.1), (0.01, 0.9, 0.8))
        for row in rows_of(make_row, "learn-nvgf", (rate, 16, 3), [test], [valid], study="movies", subject="liar-liar")
    ]
    (found,) = best_hypers(rows, movies)
    assert found.agrees
    assert found.paper_mean == found.chosen.mean == 0.9
    assert hyper_sheet(rows, movies).rows[0][4] == "eta=0.001|0.005|0.01, F=16, K=3"


def test_over_all_subjects_the_subjects_are_the_observations(make_row):
    rows = []
    for subject, learn, gcn in (("poe", 0.1, 0.3), ("austen", 0.2, 0.3), ("twain", 0.3, 0.2)):
        rows += rows_of(make_row, "learn-nvgf", PAPER, [learn, learn], subject=subject)
        rows += rows_of(make_row, "gcn", (0.01, 64, None), [gcn, gcn], subject=subject)
        rows += rows_of(make_row, "gcnn", PAPER, [2 * learn, 2 * learn], subject=subject)
    rows += rows_of(make_row, "gat", (0.01, 64, None), [0.9], subject="poe")
    found = {(one.experiment, one.model): one for one in overall(rows, STUDY)}
    assert set(found) == {
        ("comparison", "learn-nvgf"),
        ("comparison", "gcn"),
        *(("creation", m) for m in ("learn-nvgf", "gcnn")),
    }
    gcn = found["comparison", "gcn"]
    assert gcn.mean == pytest.approx(0.8 / 3)
    assert (gcn.better, gcn.subjects, gcn.anchor) == (1, 3, "learn-nvgf")
    differences = np.array([0.2, 0.1, -0.1])
    half = stats.t.ppf(0.975, 2) * differences.std(ddof=1) / np.sqrt(3)
    assert (gcn.interval.low, gcn.interval.high) == pytest.approx(
        (differences.mean() - half, differences.mean() + half)
    )
    assert found["comparison", "learn-nvgf"].interval is None
    assert found["creation", "learn-nvgf"].better == 3
    sheet = overall_sheet(rows, STUDY)
    assert sheet.rows[1][:5] == ("1", "paper", "gcn", "26.67", "minus learn-nvgf")
    assert all(len(row) == len(sheet.columns) for row in sheet.rows)
    assert overall([row for row in rows if row.subject == "poe"], STUDY) == []


def test_a_lucky_unfinished_cell_is_not_chosen(make_row):
    rows = rows_of(make_row, "learn-nvgf", SMALL, [0.0]) + rows_of(make_row, "learn-nvgf", LARGE, [0.2, 0.2])
    assert comparison(rows, STUDY)[0].hyper == Hyper(*LARGE)


def test_of_equally_good_models_the_smallest_is_taken(make_row):
    rows = rows_of(make_row, "learn-nvgf", LARGE, [0.1]) + rows_of(make_row, "learn-nvgf", SMALL, [0.1])
    assert comparison(rows, STUDY)[0].hyper == Hyper(*SMALL)


def test_where_lsigf_is_better_they_are_not_all_alike(make_row):
    rows = [
        row
        for model, error in (("gcnn", 0.1), ("learn-nvgf", 0.1), ("lsigf", 0.08))
        for row in rows_of(make_row, model, PAPER, [error, error])
    ]
    assert [group.number for group in groups(relative_change(rows, STUDY))] == [0]
    sheet = change_sheet(rows, STUDY)
    assert sheet.rows[0][-1] == "none"
    assert "none: Learn NVGF worse, or alike and LSIGF better" in sheet.note


def test_rounding_does_not_choose(tmp_path, make_row):
    three_ways = [0.1 + 0.2, 0.3, 0.3 + 1e-9]
    rows = [
        row
        for hyper, error in zip((SMALL, PAPER, LARGE), sorted(three_ways, reverse=True), strict=True)
        for row in rows_of(make_row, "learn-nvgf", hyper, [error, error])
    ]
    for how in ("valid", "test"):
        assert comparison(rows, STUDY, how)[0].hyper == Hyper(*SMALL)
    clearly = rows + rows_of(make_row, "learn-nvgf", (0.01, 64, 3), [0.2999, 0.2999])
    assert comparison(clearly, STUDY)[0].hyper == Hyper(0.01, 64, 3)


def test_a_store_and_its_table_choose_alike(tmp_path, make_row):
    # All choices make the same errors in another order, so that their means differ by rounding alone.
    rng = np.random.default_rng(3)
    wrong = rng.integers(3, 30, 10)
    rows = [
        row
        for subject in STUDY.subjects[:5]
        for hyper in STUDY.grid_hypers("learn-nvgf")
        for order in [rng.permutation(wrong)]
        for row in rows_of(make_row, "learn-nvgf", hyper, order / 78, order / 118, subject=subject)
    ]
    with Store(tmp_path, write=True) as store:
        store.add(rows)
        stored = store.rows()
    write_table(tmp_path / "t.csv", stored, {})
    table, _ = read_table(tmp_path / "t.csv")
    assert len({summary.valid_mean for summary in summaries(stored)}) > 1
    for how in ("valid", "test"):
        assert {found.hyper for found in comparison(stored, STUDY, how)} == {Hyper(0.001, 16, 2)}
        assert {found.hyper for found in comparison(table, STUDY, how)} == {Hyper(0.001, 16, 2)}


def test_changes_and_means_over_subjects_are_paired_like_their_intervals(make_row):
    rows = []
    for subject, level in (("poe", 0.2), ("austen", 0.3)):
        rows += rows_of(make_row, "learn-nvgf", PAPER, [level, level, 5 * level], subject=subject)
        rows += rows_of(make_row, "gcnn", PAPER, [level, 0.8 * level], subject=subject)
        rows += rows_of(make_row, "gcn", PAPER, [level, 0.8 * level], subject=subject)
    for change in relative_change(rows, STUDY):
        assert change.change == pytest.approx(1 / 0.9 - 1)
        assert change.change == pytest.approx(change.interval.mean)
        assert change.summary.mean / change.reference.mean - 1 == pytest.approx(change.change)
    found = {(one.experiment, one.model): one for one in overall(rows, STUDY)}
    assert found["comparison", "gcn"].interval.mean == pytest.approx(-0.1 * (0.2 + 0.3) / 2)
    assert found["creation", "learn-nvgf"].interval.mean == pytest.approx(0.1 * (0.2 + 0.3) / 2)
    evidence = Evidence(STUDY, rows, {}, "paper", "excerpt", "valid")
    assert gap(evidence, pairs(evidence, "comparison", "learn-nvgf", "gcn")).mean == pytest.approx(-0.025)


def test_models_without_a_split_in_common_are_not_compared(make_row):
    rows = rows_of(make_row, "learn-nvgf", PAPER, [0.1, 0.2])
    rows += [make_row(model=model, split=7, hyper=PAPER, test_error=0.1) for model in ("gcn", "gcnn")]
    chosen = comparison(rows, STUDY)
    assert paired_differences(chosen, STUDY) == relative_change(rows, STUDY) == []
    evidence = Evidence(STUDY, rows, {}, "paper", "excerpt", "valid")
    assert pairs(evidence, "comparison", "learn-nvgf", "gcn") == []
    assert math.isnan(difference(*chosen, STUDY).interval.mean)


def test_the_paired_difference_is_over_common_splits(make_row):
    rows = rows_of(make_row, "learn-nvgf", SMALL, [0.1, 0.2, 0.3]) + rows_of(make_row, "gcn", SMALL, [0.2, 0.2])
    chosen = {summary.model: summary for summary in comparison(rows, STUDY)}
    found = difference(chosen["gcn"], chosen["learn-nvgf"], STUDY)
    assert found.differences == pytest.approx((0.1, 0.0))
    (same,) = paired_differences(chosen.values(), STUDY)
    assert same == found


def test_experiment_2_takes_the_same_hyper_parameters_for_all(make_row):
    rows = rows_of(make_row, "learn-nvgf", SMALL, [0.1, 0.1]) + rows_of(make_row, "learn-nvgf", PAPER, [0.2, 0.2])
    for model, error in (("gcnn", 0.2), ("lsigf", 0.3), ("design-nvgf", 0.25)):
        rows += rows_of(make_row, model, PAPER, [error, error])
    rows += rows_of(make_row, "gcnn", SMALL, [0.01, 0.01])
    assert {summary.hyper for summary in creation_models(rows, STUDY)} == {Hyper(*PAPER)}
    changes = {change.model: change.change for change in relative_change(rows, STUDY)}
    assert changes == pytest.approx({"lsigf": 0.5, "design-nvgf": 0.25, "learn-nvgf": 0.0})


def test_a_reference_without_errors_makes_changes_infinite_or_none(make_row):
    rows = rows_of(make_row, "learn-nvgf", PAPER, [0.0]) + rows_of(make_row, "gcnn", PAPER, [0.0])
    rows += rows_of(make_row, "lsigf", PAPER, [0.1])
    changes = {change.model: change.change for change in relative_change(rows, STUDY)}
    assert changes == {"learn-nvgf": 0.0, "lsigf": math.inf}


@settings(deadline=None)
@given(st.floats(0.001, 0.5), st.floats(0.001, 0.5), st.floats(0.001, 0.5))
def test_groups_follow_the_papers_rule(gcnn, learn, lsigf):
    from nvgf.experiments.rows import Row

    rows = [
        Row(model, "authorship", "poe", "paper", 0, "excerpt", model, *PAPER, 0, error, error)
        for model, error in (("gcnn", gcnn), ("learn-nvgf", learn), ("lsigf", lsigf))
    ]
    (group,) = groups(relative_change(rows, STUDY))
    of_learn, of_lsigf = learn / gcnn - 1, lsigf / gcnn - 1
    expected = (
        of_learn > 0.05 or (abs(of_learn) <= 0.05 and of_lsigf < -0.05),
        abs(of_learn) <= 0.05 and of_lsigf > 0.05,
        of_learn < -0.05,
        abs(of_learn) <= 0.05 and abs(of_lsigf) <= 0.05,
    )
    assert expected[group.number]
    assert sum(expected) == 1


def test_places_are_kept_apart(make_row):
    rows = rows_of(make_row, "gcn", SMALL, [0.1]) + rows_of(make_row, "gcn", SMALL, [0.2], setting="scaled")
    rows += rows_of(make_row, "gcn", SMALL, [0.3], split_by="book") + rows_of(
        make_row, "gcn", SMALL, [0.4], subject="poe"
    )
    assert [found.mean for found in comparison(rows, STUDY)] == [0.3, 0.1, 0.2, 0.4]


def test_sheets_say_how_hyper_parameters_were_chosen(make_row):
    rows = rows_of(make_row, "learn-nvgf", PAPER, [0.1, 0.2]) + rows_of(make_row, "gcnn", PAPER, [0.2, 0.2])
    for make in (comparison_sheet, change_sheet, hyper_sheet):
        assert "chosen on the TEST set" in make(rows, STUDY, "test").note
        assert "chosen on the validation set" in make(rows, STUDY).note
        for sheet in (make(rows, STUDY), row_sheet(rows, STUDY)):
            assert all(len(row) == len(sheet.columns) for row in sheet.rows)
    assert "15.00" in comparison_sheet(rows, STUDY).rows[0]
    assert "-25.0 %" in change_sheet(rows, STUDY).rows[0]
    text = latex(change_sheet(rows, STUDY, "test"))
    assert "TEST" in text
    assert "-25.0 \\%" in text
