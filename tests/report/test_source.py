"""From a store to the content of a report, and the command around it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from nvgf.cli.app import app
from nvgf.experiments.compact import write_table
from nvgf.experiments.rows import Row
from nvgf.experiments.store import Store
from nvgf.report import SELECTIONS, read_run, render_page

ERRORS = {
    "learn-nvgf": (0.06, 0.08, 0.07), "gat": (0.08, 0.09, 0.1), "gcn": (0.1, 0.1, 0.1), "sgc": (0.1, 0.12, 0.14),
    "gcnn": (0.06, 0.07, 0.08), "design-nvgf": (0.08, 0.09, 0.1), "lsigf": (0.12, 0.12, 0.12),
    "logistic-regression": (0.05, 0.06, 0.07),
}  # fmt: skip
ORDERED = {"learn-nvgf", "gcnn", "design-nvgf", "lsigf", "sgc"}


def _rows(subject: str = "austen", setting: str = "paper", scale: float = 1.0, study: str = "authorship") -> list[Row]:
    return [
        Row(
            f"{study}-{subject}-{setting}-{model}-{split}", study, subject, setting, split, "excerpt", model,
            None if model == "logistic-regression" else 0.001,
            None if model == "logistic-regression" else 32,
            3 if model in ORDERED else None,
            split, error * scale, error * scale, kept_step=10, interval=5,
            curve=(0.5, 0.25 + split / 64, error), seconds=1.5, fingerprint=f"{subject}{split}" * 4, version="0.1.0",
            protocol='{"epochs": 25}',
        )
        for model, errors in ERRORS.items()
        for split, error in enumerate(errors)
    ]  # fmt: skip


def _analyses(subject: str = "austen", setting: str = "paper") -> list[tuple[tuple[str, str, str, str], Any]]:
    place = (subject, setting, "excerpt")
    data = {
        "title": "Jane Austen", "eigenvalues": [-0.5, 0.1, 1.0], "input_mean": [0.1, 0.2, 0.9],
        "input_std": [0.01, 0.02, 0.03], "last_is_positive": True,
    }  # fmt: skip
    model = {
        "outputs": [[0.0, -0.5, 1.0], [0.1, 0.2, -0.3]], "first_outputs": [1.0, 0.0, 0.0],
        "transfer": [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]],
        "creation": 0.25, "creation_last": 0.5, "creation_first": 0.0,
    }  # fmt: skip
    return [((*place, "data"), data), ((*place, "learn-nvgf"), model)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with Store(tmp_path / "run", write=True) as store:
        store.add_run(
            {"command": "nvgf authorship run", "study": "authorship", "versions": {"torch": "2.13.0"}, "source": None}
        )
        store.add([*_rows(), *_rows("poe", scale=2.0), *_rows(setting="scaled", scale=0.5)], _analyses())
    return tmp_path / "run"


def test_scores_are_those_of_the_rows(run: Path) -> None:
    content = read_run(run)
    assert content.subjects == ("austen", "poe")
    assert content.titles["poe"] == "Edgar Allan Poe"
    assert [view.id for view in content.views] == ["paper/excerpt", "scaled/excerpt"]
    assert [view.label for view in content.views] == ["paper", "scaled"]
    scores = {(s.view, s.subject, s.model): s for s in content.scores}
    assert len(scores) == len(content.scores) == 3 * len(ERRORS)
    score = scores["paper/excerpt", "poe", "sgc"]
    assert score.values == pytest.approx((0.2, 0.24, 0.28))
    assert score.mean == pytest.approx(0.24)
    assert score.std == pytest.approx(np.std((0.2, 0.24, 0.28), ddof=1))
    assert score.low < score.mean < score.high
    assert (score.learning_rate, score.features, score.order) == (0.001, 32, 3)
    assert score.seconds == pytest.approx(4.5)


def test_changes_and_groups_follow_from_the_gcnn(run: Path) -> None:
    content = read_run(run)
    changes = {(c.view, c.subject, c.model): c for c in content.changes}
    assert changes["paper/excerpt", "austen", "lsigf"].value == pytest.approx(0.12 / 0.07 - 1)
    assert changes["paper/excerpt", "austen", "learn-nvgf"].value == pytest.approx(0.0)
    assert content.groups["paper/excerpt", "austen"] == 1
    assert content.tolerance == 0.05


def test_curves_are_means_over_the_splits(run: Path) -> None:
    curves = {(c.view, c.subject, c.model): c for c in read_run(run).curves}
    curve = curves["paper/excerpt", "austen", "gat"]
    assert curve.steps == (5, 10, 15)
    assert curve.mean == pytest.approx((0.5, 0.25 + 1 / 64, 0.09), rel=1e-3)


def test_analyses_claims_and_record_are_there(run: Path) -> None:
    content = read_run(run)
    (analysis,) = content.analyses
    assert analysis.responses["learn-nvgf"].tolist() == [[0.0, 0.5, 1.0], [0.1, 0.2, 0.3]]
    assert (analysis.created["learn-nvgf"], analysis.created_mean["learn-nvgf"]) == (0.5, 0.25)
    assert analysis.one_sign
    assert {one.view for one in content.verdicts} == {"paper/excerpt", "scaled/excerpt"}
    assert content.commands == ("nvgf authorship run",)
    assert content.record["versions"] == "torch 2.13.0"
    assert content.record["models trained"] == str(3 * 3 * len(ERRORS))
    assert content.record["protocol"] == "epochs 25"
    assert {best.model for best in content.best} == {"learn-nvgf", "gat", "gcn", "sgc"}
    assert next(best for best in content.best if best.model == "learn-nvgf").paper == "η = 0.001, F = 32, K = 3"
    assert "Edgar Allan Poe" in render_page(content)


def test_one_subject_alone(run: Path) -> None:
    assert read_run(run, subjects=["Poe"]).subjects == ("poe",)
    with pytest.raises(ValueError, match="unknown author 'austin'; did you mean austen"):
        read_run(run, subjects=["austin"])
    with pytest.raises(ValueError, match="has no rows for twain"):
        read_run(run, subjects=["twain"])


def test_models_that_no_experiment_can_place_are_shown(tmp_path: Path) -> None:
    with Store(tmp_path, write=True) as store:
        store.add([row for row in _rows() if row.model in ("lsigf", "gcnn")])
    content = read_run(tmp_path)
    assert {score.model for score in content.scores} == {"lsigf", "gcnn"}
    assert content.changes == ()
    assert "LSIGF" in render_page(content)


def test_models_that_no_study_knows_come_last(run: Path, tmp_path: Path) -> None:
    rows = Store(run).rows()
    own = [replace(row, model="own-filter", key=f"{row.key} own") for row in rows if row.model == "gat"]
    with Store(tmp_path / "own", write=True) as store:
        store.add([*rows, *own])
    for selection in SELECTIONS:
        page = render_page(read_run(tmp_path / "own", selection=selection))
        assert ("own-filter</button>" in page) == (selection != "paper")
    page = render_page(read_run(tmp_path / "own"))
    assert page.index("Logistic regression</button>") < page.index("own-filter</button>")


def test_selection_is_said(run: Path) -> None:
    assert "TEST set" in read_run(run, selection="test").selection
    assert "TEST set" in render_page(read_run(run, selection="test"))


def _refused(arguments: list[str]) -> str:
    outcome = CliRunner().invoke(app, ["report", *arguments])
    assert outcome.exit_code != 0
    assert isinstance(outcome.exception, (ValueError, OSError)), outcome.output
    return str(outcome.exception)


def test_command_writes_page_and_figures_and_prints_the_path_last(run: Path, tmp_path: Path) -> None:
    outcome = CliRunner().invoke(
        app, ["report", str(run), "--figures", str(tmp_path / "figures"), "--subject", "austen"]
    )
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.splitlines()[-1] == str(run / "report.html")
    assert (run / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "figures" / "change-scaled-excerpt.svg").exists()
    outcome = CliRunner().invoke(app, ["report", str(run / "results.sqlite"), "-o", str(tmp_path / "other.html")])
    assert outcome.exit_code == 0, outcome.output
    assert (tmp_path / "other.html").exists()


def test_command_refuses_bad_input(run: Path, tmp_path: Path) -> None:
    assert "there are no results at" in _refused([str(tmp_path / "nowhere")])
    (tmp_path / "empty").mkdir()
    assert "there is no result store at" in _refused([str(tmp_path / "empty")])
    with Store(tmp_path / "none", write=True):
        pass
    assert "has no results yet" in _refused([str(tmp_path / "none")])
    assert "--select must be one of valid, test, paper, got 'luck'" in _refused([str(run), "--select", "luck"])
    assert "cannot be written: there is no folder" in _refused([str(run), "-o", str(tmp_path / "a" / "b.html")])
    (tmp_path / "text.sqlite").write_text("no database at all" * 100)
    assert "text.sqlite" in _refused([str(tmp_path / "text.sqlite")])
    with sqlite3.connect(run / "results.sqlite") as db:
        db.execute("PRAGMA user_version=99")
    assert "result store of version 99, this nvgf reads version" in _refused([str(run)])


def test_one_report_is_about_one_study(tmp_path: Path) -> None:
    with Store(tmp_path, write=True) as store:
        store.add([*_rows(), *_rows("star-wars", study="movies")])
    with pytest.raises(ValueError, match="several studies: authorship, movies"):
        read_run(tmp_path)


def test_analyses_of_every_setting_are_shown_in_their_own(run: Path) -> None:
    with Store(run, write=True) as store:
        store.add([], _analyses(setting="scaled"))
    assert [(one.view, one.subject) for one in read_run(run).analyses] == [
        ("paper/excerpt", "austen"),
        ("scaled/excerpt", "austen"),
    ]


def test_a_compact_table_has_a_report_too(run: Path, tmp_path: Path) -> None:
    write_table(tmp_path / "results.csv", Store(run).rows(), {})
    content = read_run(tmp_path / "results.csv")
    assert len(content.scores) == 3 * len(ERRORS)
    assert content.curves == ()
    outcome = CliRunner().invoke(app, ["report", str(tmp_path / "results.csv")])
    assert outcome.stdout.splitlines()[-1] == str(tmp_path / "results.html")
