import json

import pytest
from typer.testing import CliRunner

from nvgf.cli.app import app
from nvgf.cli.movies import targets_of
from nvgf.experiments.movies import MovieStudy
from nvgf.experiments.store import Store


def run(*arguments):
    return CliRunner().invoke(app, ["movies", *map(str, arguments)])


def test_run_prints_both_experiments_and_writes_the_report(tmp_path, monkeypatch):
    out = tmp_path / "run"
    models = "lsigf,gcnn,design-nvgf,learn-nvgf,nearest-neighbour"
    command = ["run", "--data", "planted", "--splits", 2, "--models", models, "--setting", "paper", "--out", out]
    result = run(*command, "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "Experiment 1: test RMSE (rating points)" in result.stdout
    assert "Experiment 2: change of the RMSE relative to gcnn" in result.stdout
    assert "left out" not in result.output
    last = result.stdout.rstrip().splitlines()[-1]
    assert last == str(out / "report.html")
    page = (out / "report.html").read_text("utf-8")
    assert "Frequency creation in movie recommendation" in page
    rows = Store(out).rows()
    assert len(rows) == 2 * (4 * 3 + 1)
    assert {row.subject for row in rows} == {MovieStudy("planted").subjects[0]}
    analysis = json.loads((out / "analysis.json").read_text())
    (subject,) = analysis["subjects"].values()
    assert set(subject["models"]) == {"lsigf", "gcnn", "design-nvgf", "learn-nvgf"}
    assert subject["models"]["lsigf"]["last"]["own_share"] == pytest.approx(1.0)

    monkeypatch.setattr("nvgf.experiments.driver.run_work", None)  # whatever would be trained would fail
    again = run(*command, "--workers", 1, "--no-report")
    assert again.exit_code == 0
    assert "26 of 26 models are there" in again.output


def test_costly_rivals_are_left_out_and_said_to_be(tmp_path, monkeypatch):
    seen = {}

    def session(study, cells, out, place, settings, **options):
        seen["models"] = {cell.model for cell in cells}
        raise KeyboardInterrupt

    monkeypatch.setattr("nvgf.experiments.session.run_session", session)
    assert run("run", "--data", "planted", "--out", tmp_path).exit_code == 130
    assert not {"rmgcnn", "rmcayley"} & seen["models"]
    run("run", "--data", "planted", "--out", tmp_path, "--models", "rmgcnn")
    assert seen["models"] == {"rmgcnn"}
    run("run", "--data", "planted", "--out", tmp_path, "--device", "cuda")
    assert {"rmgcnn", "rmcayley"} <= seen["models"]


def test_sweep_searches_learn_nvgf_and_runs_the_rest(tmp_path, monkeypatch):
    seen = {}

    def session(study, cells, out, place, settings, **options):
        seen["cells"], seen["out"], seen["follow"] = cells, out, options["follow"]
        raise KeyboardInterrupt

    monkeypatch.setattr("nvgf.experiments.session.run_session", session)
    assert run("sweep", "--data", "planted", "--splits", 1).exit_code == 130
    count = {model: sum(cell.model == model for cell in seen["cells"]) for model in ("learn-nvgf", "gcnn", "item-knn")}
    assert count == {"learn-nvgf": 5 * 18, "gcnn": 5 * 3, "item-knn": 5}
    assert seen["follow"]
    assert str(seen["out"]) == "runs/movies-sweep-all"


def test_no_ratings_end_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("NVGF_DATA", raising=False)
    monkeypatch.setattr("nvgf.movies.fetch.cache_folder", lambda: tmp_path)
    result = run("run")
    assert result.exit_code != 0
    assert isinstance(result.exception, FileNotFoundError)
    assert "run `nvgf movies fetch`" in str(result.exception)
    assert "--data" in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "Solaris"], "unknown movie 'solaris'; known are movie-"),
        (["--models", "gnn"], "unknown model 'gnn'"),
        (["--setting", "scaled"], "unknown setting 'scaled'"),
        (["--select", "best"], "--select must be one of"),
        (["--target", ","], "expected names separated by commas"),
        (["--target", " "], "must have letters or digits"),
    ],
)
def test_wrong_options_are_named(tmp_path, arguments, message):
    result = run("run", "--data", "planted", "--out", tmp_path, *arguments)
    assert isinstance(result.exception, ValueError)
    assert message in str(result.exception)


def test_targets_may_hold_commas_or_be_several():
    movielens, planted = MovieStudy(), MovieStudy("planted")
    assert targets_of(movielens, "Liar, Liar") == ["liar-liar"]
    assert targets_of(planted, "Movie 7,Movie 9") == ["movie-7", "movie-9"]
    assert targets_of(planted, "All") is None
