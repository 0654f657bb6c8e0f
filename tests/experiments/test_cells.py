from dataclasses import replace

import pytest

from nvgf.experiments import Data, cell_key, enumerate_cells, make_study
from nvgf.experiments.authorship import hyperparameters
from nvgf.experiments.cells import batches
from nvgf.experiments.follow import following_cells, sweep_cells
from nvgf.experiments.study import Hyper


def test_the_exhaustive_search_of_the_paper_has_15120_cells():
    study = make_study("authorship")
    cells = sweep_cells(study)
    searched = [cell for cell in cells if cell.model in study.comparison]
    assert len(searched) == len(set(searched)) == 15_120
    others = [cell.model for cell in cells if cell.model not in study.comparison]
    assert {model: others.count(model) for model in others} == dict.fromkeys(
        ("lsigf", "gcnn", "design-nvgf", "logistic-regression", "linear-svm"), 210
    )
    assert len({cell_key(cell, study) for cell in cells}) == len(cells)


def test_the_table_is_the_papers():
    table = hyperparameters()
    assert set(table) == set(make_study("authorship").subjects)
    assert table["austen"] == {
        "learn-nvgf": Hyper(0.001, 32, 3),
        "gcn": Hyper(0.01, 64),
        "sgc": Hyper(0.005, 64, 2),
        "gat": Hyper(0.01, 64),
    }
    assert table["poe"]["learn-nvgf"].learning_rate == 0.005  # printed 0005
    study = make_study("authorship")
    for row in table.values():
        for model, hyper in row.items():
            assert hyper in study.grid_hypers(model)


def test_experiment_2_has_the_hyper_parameters_of_learn_nvgf():
    study = make_study("authorship")
    cells = enumerate_cells(study, subjects=["poe"], splits=1)
    assert {cell.hyper for cell in cells if cell.model in study.creation} == {Hyper(0.005, 32, 4)}


@pytest.mark.parametrize(
    "change",
    [
        {"model": "gcnn"},
        {"seed": 7},
        {"hyper": Hyper(0.01, 16, 3)},
        {"data": Data("ann", 1)},
        {"data": Data("bob", 0)},
        {"data": Data("ann", 0, "scaled")},
        {"data": Data("ann", 0, "paper", "book")},
    ],
)
def test_all_that_decides_the_numbers_changes_the_key(study, change):
    (cell,) = enumerate_cells(study, subjects=["ann"], models=["lsigf"], splits=1, settings=["paper"])
    assert cell_key(replace(cell, **change), study) != cell_key(cell, study)
    assert cell_key(replace(cell, analyse=True), study) == cell_key(cell, study)


def test_other_data_or_another_protocol_change_the_key(study, monkeypatch):
    (cell,) = enumerate_cells(study, subjects=["ann"], models=["lsigf"], splits=1, settings=["paper"])
    key = cell_key(cell, study)
    monkeypatch.setattr(type(study), "schedule", replace(study.schedule, epochs=26))
    assert cell_key(cell, study) != key
    monkeypatch.undo()
    assert cell_key(cell, study) == key
    assert cell_key(cell, make_study("authorship")) != key


def test_the_fingerprint_is_that_of_the_data_set(study):
    for data in (Data("ann"), Data("bob", 3, "scaled"), Data("cyd", 1, "standard")):
        assert study.fingerprint(data) == study.dataset(data).fingerprint


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("size", [None, 3])
def test_batches_hold_every_cell_once_and_one_shape_each(study, device, size):
    cells = enumerate_cells(study, grid="paper", splits=2)
    cut = list(batches(cells, device, size))
    assert sorted((cell for batch in cut for cell in batch), key=str) == sorted(cells, key=str)
    assert all(len({cell.shape for cell in batch}) == 1 for batch in cut)
    assert size is None or max(map(len, cut)) <= size
    if device == "cpu":
        assert all(len({(cell.data.subject, cell.data.split) for cell in batch}) == 1 for batch in cut)
    if size is None:
        designed = [batch for batch in cut if any(cell.model == "design-nvgf" for cell in batch)]
        assert all({cell.model for cell in batch} == {"design-nvgf", "gcnn"} for batch in designed)


def test_all_models_have_numbers_early(study):
    cells = enumerate_cells(study)
    first = cells[: len(cells) // 10]
    assert {cell.model for cell in first} == set(study.models)
    assert {cell.data.split for cell in first} == {0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subjects": ["anne"]}, "unknown author 'anne'; did you mean ann"),
        ({"models": ["gcm"]}, "unknown model 'gcm'; did you mean sgc or gcn"),
        ({"settings": ["papr"]}, "unknown setting 'papr'; did you mean paper"),
        ({"split_by": "page"}, "unknown way to split 'page'"),
        ({"splits": 0}, "splits must be at least 1, got 0"),
        ({"seed": -1}, "seed must be from 0"),
        ({"grid": "all"}, "grid must be one of table, paper, got 'all'"),
    ],
)
def test_bad_input_is_named(study, options, message):
    with pytest.raises(ValueError, match=message):
        enumerate_cells(study, **options)


def test_experiment_2_follows_what_the_search_chose(study, make_row):
    rows = [
        make_row("ann", "learn-nvgf", split, test_error=test, valid_error=valid, hyper=hyper)
        for split in range(2)
        for hyper, valid, test in (((0.01, 16, 2), 0.1, 0.3), ((0.01, 32, 2), 0.2, 0.2), ((0.01, 64, 2), 0.3, 0.4))
    ]
    cells = following_cells(study, rows)
    assert {cell.hyper for cell in cells} == {Hyper(0.01, 16, 2), Hyper(0.01, 32, 2)}
    assert {cell.model for cell in cells} == {"lsigf", "gcnn", "design-nvgf"}
    assert len(cells) == 2 * 2 * 3
    assert following_cells(study, rows, cells) == []
