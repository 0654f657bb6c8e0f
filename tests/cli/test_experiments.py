import json

import pytest
from tests.experiments.conftest import corpus_file, make_row  # noqa: F401
from typer.testing import CliRunner

from nvgf.cli.app import app, main
from nvgf.experiments import Store


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def finished(tmp_path, make_row):  # noqa: F811
    rows = []
    for setting in ("paper", "scaled"):
        for split in range(3):
            for model, error in (
                ("learn-nvgf", 0.05),
                ("gcnn", 0.1),
                ("lsigf", 0.12),
                ("gcn", 0.08),
                ("linear-svm", 0.03),
            ):
                hyper = (None, None, None) if model == "linear-svm" else (0.001, 32, 3)
                rows.append(make_row("austen", model, split, error + 0.01 * split, hyper=hyper, setting=setting))
    with Store(tmp_path / "run", write=True) as store:
        store.add_run({"command": "nvgf authorship run", "study": "authorship", "source": None})
        store.add(rows)
    return tmp_path / "run"


def test_a_run_prints_both_experiments_and_ends_with_the_page(tmp_path, corpus_file):  # noqa: F811
    command = ["authorship", "run", "--author", "ann", "--corpus", corpus_file, "--splits", 2, "--setting", "paper"]
    command += ["--models", "learn-nvgf,gcnn,lsigf,gcn,linear-svm", "--workers", 1, "--out", tmp_path / "run"]
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert "Experiment 1: test classification error" in result.output
    assert "Experiment 2: change" in result.output
    assert "claims of the paper" in result.output
    page = result.output.strip().splitlines()[-1]
    assert page == str(tmp_path / "run" / "report.html")
    assert "<html" in (tmp_path / "run" / "report.html").read_text("utf-8")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["study"] == "authorship"
    assert config["versions"]["torch"]
    assert set(json.loads((tmp_path / "run" / "analysis.json").read_text())["subjects"]) == {"ann"}
    again = run(*command, "--no-report")
    assert again.exit_code == 0
    assert "10 of 10 models are there" in again.output


def test_results_are_shown_filtered_and_exported(tmp_path, finished):
    shown = run("results", finished)
    assert shown.exit_code == 0
    assert "30 models in" in shown.output
    assert "scaled" in shown.output
    filtered = run("results", "show", finished, "--setting", "paper", "--models", "gcn,lsigf", "--table", "rows")
    assert "6 models in" in filtered.output
    assert "scaled" not in filtered.output
    files = {name: tmp_path / f"out.{name}" for name in ("csv", "parquet", "latex")}
    pytest.importorskip("pyarrow")
    assert run("results", finished, *[x for name, path in files.items() for x in (f"--{name}", path)]).exit_code == 0
    assert run("results", files["csv"], "--table", "comparison").exit_code == 0
    assert "\\toprule" in files["latex"].read_text()
    assert files["parquet"].stat().st_size > 1000


def test_tables_selected_on_the_test_set_say_so(finished):
    assert "TEST" in run("results", finished, "--select", "test").output


def test_claims_are_told_of_folders_and_tables(tmp_path, finished):
    result = run("claims", finished, "--json", tmp_path / "claims.json")
    assert result.exit_code == 0
    verdicts = json.loads((tmp_path / "claims.json").read_text())
    for answer in ("holds", "does not hold", "undecided"):
        assert f"{sum(v['verdict'] == answer for v in verdicts)} {answer}" in result.output
    run("results", finished, "--csv", tmp_path / "t.csv")
    assert run("claims", tmp_path / "t.csv").output.splitlines()[-3:] == result.output.splitlines()[-3:]


def test_claims_about_what_is_not_there_are_refused(finished):
    for option, value, known in (("--setting", "foo", "paper, scaled"), ("--split-by", "book", "excerpt")):
        result = run("claims", finished, option, value)
        assert isinstance(result.exception, ValueError)
        assert f"{value!r}; known are {known}" in str(result.exception)
    assert run("claims", finished, "--setting", "Scaled").exit_code == 0


def test_the_folder_of_a_run_may_have_any_name(tmp_path, corpus_file):  # noqa: F811
    command = ["authorship", "run", "--author", "ann", "--corpus", corpus_file, "--splits", 1, "--setting", "paper"]
    result = run(*command, "--models", "linear-svm", "--workers", 1, "--out", tmp_path / "foo.db")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "foo.db").iterdir()} >= {"results.sqlite", "report.html"}
    assert run("results", tmp_path / "foo.db").exit_code == 0
    (tmp_path / "file.db").write_text("precious")
    result = run(*command, "--models", "linear-svm", "--workers", 1, "--out", tmp_path / "file.db")
    assert isinstance(result.exception, NotADirectoryError)
    assert (tmp_path / "file.db").read_text() == "precious"


def test_an_empty_part_ends_well_and_leaves_nothing(tmp_path, corpus_file):  # noqa: F811
    command = ["authorship", "sweep", "--authors", "ann", "--corpus", corpus_file, "--part", "2/2"]
    result = run(*command, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert result.output.strip() == "part 2/2 has no author"
    assert not (tmp_path / "run").exists()


def test_runs_are_merged(tmp_path, finished):
    result = run("results", "merge", finished, finished, "--out", tmp_path / "merged")
    assert result.exit_code == 0
    assert "30 models added, 30 were there (0 of them with other errors)" in result.output
    assert len(Store(tmp_path / "merged")) == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["authorship", "run", "--author", "Austin"], "did you mean austen"),
        (["authorship", "run", "--select", "luck"], "--select must be one of valid, test, paper"),
        (["authorship", "run", "--device", "cuda"], "no CUDA device is available"),
        (["authorship", "sweep", "--grid", "huge"], "grid must be paper or table"),
        (["results", "nowhere"], "there are no results at nowhere"),
        (["claims", "nowhere.csv"], "there is no file nowhere.csv"),
        (["authorship", "sweep", "--part", "1/0"], "part must be like 1/4, the first of four parts, got '1/0'"),
        (["results", "merge", "nowhere", "--out", "x"], "no result store at nowhere"),
    ],
)
def test_mistakes_end_in_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch, capsys):
    import torch

    if "cuda" in arguments and torch.cuda.is_available():
        pytest.skip("a GPU is there")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["nvgf", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_filter_that_nothing_fits_names_what_there_is(finished):
    result = run("results", finished, "--models", "gat")
    assert isinstance(result.exception, ValueError)
    assert "unknown model 'gat'" in str(result.exception)
