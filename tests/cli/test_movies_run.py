import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nvgf.cli.app import app, main
from nvgf.cli.experiment import default_out
from nvgf.cli.movies import targets_of
from nvgf.experiments.movies import MovieStudy
from nvgf.experiments.store import Store
from nvgf.movies import planted_ratings


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
    assert str(seen["out"]) == "runs/movies-planted-sweep-all"


@pytest.mark.parametrize(
    ("source", "subjects", "folder"),
    [
        (None, ["star-wars"], "runs/movies-star-wars"),
        ("planted", None, "runs/movies-planted-all"),
        ("some/where/ml-1m.zip", None, "runs/movies-ml-1m-all"),
    ],
)
def test_the_folder_of_a_run_names_other_data(source, subjects, folder):
    assert default_out(MovieStudy(source), subjects) == Path(folder)


def test_other_ratings_are_refused_by_the_folder_of_a_run(tmp_path):
    ratings = planted_ratings(users=60, items=12, seed=3).ratings
    lines = zip(ratings.users, ratings.items, ratings.values, strict=True)
    (tmp_path / "other.csv").write_text("".join(f"{u},{i + 500},{value}\n" for u, i, value in lines))
    command = ["run", "--models", "item-knn", "--splits", 1, "--workers", 1, "--no-report", "--out", tmp_path / "run"]
    assert run(*command, "--data", "planted").exit_code == 0
    before = Store(tmp_path / "run").runs()
    assert len(before[0]["data"]) == 64
    refused = run(*command, "--data", tmp_path / "other.csv")  # no movie is in both
    assert re.search(r"run/results.sqlite holds models of other data .*; use another --out", str(refused.exception))
    assert Store(tmp_path / "run").runs() == before
    assert run(*command, "--data", "planted", "--target", "Movie 5").exit_code == 0


@pytest.mark.data
@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Liar, Liar, Contact", ["liar-liar", "contact"]),
        ("Empire Strikes Back, The, Fargo", ["empire-strikes-back-the", "fargo"]),
        ("50, star wars", ["star-wars"]),
        ("Fargo,Good, The Bad and The Ugly, The", ["fargo", "good-the-bad-and-the-ugly-the"]),
    ],
)
def test_commas_in_titles_of_movielens(nvgf_data, text, keys):
    assert targets_of(MovieStudy(str(nvgf_data / "ml-100k")), text) == keys


def test_a_target_with_too_few_raters_is_told_once_before_training(tmp_path, monkeypatch, capsys):
    lines = [f"{user},{item},{1 + user * item % 5}" for user in range(30) for item in range(8) if item or user < 5]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    command = ["nvgf", "movies", "run", "--data", str(tmp_path / "mine.csv"), "--target", "0,3"]
    monkeypatch.setattr("sys.argv", [*command, "--out", str(tmp_path / "run")])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "nvgf: 0 has 5 ratings, a split needs at least 12\n"
    assert not (tmp_path / "run").exists()


def test_what_is_unusual_about_a_graph_is_told_before_training_and_on_the_page(tmp_path):
    lines = [
        f"{user},{item},{3 if item == 4 else 1 + (user * item + user // 5) % 5}"
        for user in range(40)
        for item in range(1, 9)
    ]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    command = ["run", "--data", tmp_path / "mine.csv", "--target", "1,3", "--models", "lsigf", "--splits", 1]
    result = run(*command, "--setting", "paper", "--workers", 1, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    told = [line for line in result.output.splitlines() if line.startswith("the graph of 1: 8 movies, ")]
    assert len(told) == 1
    assert "1 without variance (4); 1 without neighbours (4)" in told[0]
    assert result.output.index(told[0]) < result.output.index("0 of 6 models are there")
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert page.count("1 without variance (4); 1 without neighbours (4)") == 2
    assert "<dt>graph of 3</dt>" in page


def test_a_limit_is_not_negative(tmp_path):
    result = run("sweep", "--data", "planted", "--limit", -1, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "--limit" in result.output
    assert not (tmp_path / "run").exists()


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
        (["--target", "Solaris"], "unknown movie 'Solaris'; known are movie-"),
        (["--models", "gnn"], "unknown model 'gnn'"),
        (["--setting", "scaled"], "unknown setting 'scaled'"),
        (["--select", "best"], "--select must be one of"),
        (["--target", ","], "expected names separated by commas"),
        (["--target", " "], "expected names separated by commas"),
        (["--target", "..."], "must have letters or digits"),
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
    assert targets_of(planted, "Movie 7, 9, movie-7, Movie 9") == ["movie-7", "movie-9"]
    with pytest.raises(ValueError, match="unknown movie 'Solaris'"):
        targets_of(planted, "Movie 7, Solaris, Movie 9")
    assert targets_of(planted, "All") is None


@pytest.mark.parametrize("option", ["--target", "--targets"])
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_one_target_or_several_is_one_option(command, option, tmp_path):
    arguments = ["movies", command, "--data", "planted", option, "no such movie", "--out", str(tmp_path / "r")]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, ValueError)
    assert "no such movie" in str(result.exception)
