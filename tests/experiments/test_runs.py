from dataclasses import replace

import pytest

from nvgf.experiments import Store
from nvgf.experiments.compact import format_table, read_table, write_table
from nvgf.experiments.export import write_parquet
from nvgf.experiments.runs import load_results, merge, save_table, store_path, write_beside


@pytest.fixture
def rows(make_row):
    found = [make_row(split=split, test_error=split / 78, valid_error=split / 118, seconds=1.25) for split in range(4)]
    found.append(make_row(model="linear-svm", hyper=(None, None, None), extras={"C": 0.1}, diverged_at=5, kept_step=10))
    return found


def test_the_compact_table_keeps_all_but_curves(tmp_path, rows):
    write_table(tmp_path / "t.csv", rows, {"note": "x"})
    found, facts = read_table(tmp_path / "t.csv")
    assert facts == {"note": "x", "rows": 5, "study": "authorship"}
    for before, after in zip(rows, found, strict=True):
        assert after.test_error == pytest.approx(before.test_error, rel=1e-5)
        assert replace(after, key=before.key, test_error=0, valid_error=0) == replace(
            before, test_error=0, valid_error=0
        )
    assert format_table(found, facts) == (tmp_path / "t.csv").read_text()


def test_the_compact_table_tells_the_protocol(tmp_path, rows):
    first, second = '{"epochs": 25, "version": 2}', '{"epochs": 25, "version": 3}'
    write_table(tmp_path / "t.csv", [replace(row, protocol=first) for row in rows], {})
    found, facts = read_table(tmp_path / "t.csv")
    assert {row.protocol for row in found} == {first}
    write_table(tmp_path / "t.csv", [replace(found[0], protocol=second, split=9), *found], facts)
    found, facts = read_table(tmp_path / "t.csv")
    assert {row.protocol for row in found} == {""}  # a line does not say which it is from
    assert [protocol["version"] for protocol in facts["protocols"]] == [2, 3]


def test_a_row_of_the_compact_table_is_short(make_row):
    row = make_row("hawthorne", "learn-nvgf", 9, test_error=1 / 78, kept_step=1700, seconds=0.123456, device="cuda")
    lines = format_table([row] * 100, {}).splitlines()
    assert len(lines[3]) < 110


def second_line(facts):
    return lambda text: "\n".join([text.splitlines()[0], f"# {facts}", *text.splitlines()[2:]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "a,b\n1,2\n", "no table of results"),
        (lambda text: text[: text.rindex("paper")], "line|cut off"),
        (lambda text: "\n".join(text.splitlines()[:-1]), "cut off: it announces 5 rows and has 4"),
        (lambda text: text.replace("subject,setting", "author,setting"), "the columns must be subject"),
        (lambda text: text.replace("0.0128205", "much"), "line 5: not a result"),
        (lambda text: text.replace("# {", "# ["), "facts as JSON"),
        (lambda text: text.splitlines()[0], "line 2: it must hold facts"),
        (second_line("5"), "line 2: .* must be a JSON object, got 5"),
        (second_line('{"rows": 0}'), 'line 2: .*"study" must be a name, got null'),
        (second_line('{"study": "songs", "rows": 5}'), "line 2: .*study must be 'authorship' or 'movies', got 'songs'"),
        (second_line('{"study": "authorship", "rows": "5"}'), 'line 2: .*"rows" must be the number of rows, got "5"'),
        (second_line('{"study": "authorship", "rows": 5, "runs": 5}'), '"runs" must be a list of objects, got 5'),
        (second_line('{"study": "authorship", "rows": 5, "runs": ["x"]}'), '"runs" must be a list of objects'),
        (
            second_line('{"study": "authorship", "rows": 5, "runs": [{"command": 5}]}'),
            '"command" of a run must be text',
        ),
        (second_line('{"study": "authorship", "rows": 5, "protocols": {"0": 1}}'), '"protocols" must be a list of obj'),
        (second_line('{"study": "authorship", "rows": 5, "protocols": [2]}'), '"protocols" must be a list of objects'),
        (lambda text: text.replace("0.0128205", "nan"), "line 5: .*test_error must be from 0 to 1, or inf, got nan"),
        (
            lambda text: text.replace("0.0128205", "-0.01"),
            "line 5: .*test_error must be from 0 to 1, or inf, got -0.01",
        ),
        (lambda text: text.replace("0.0128205", "1.5"), "line 5: .*test_error must be from 0 to 1"),
        (lambda text: text.replace(",1,1,", ",1,-1,"), "line 5: .*split must be at least 0, got -1"),
        (
            lambda text: text.replace("0.001,32,3,1,", "nan,32,3,1,"),
            "line 5: .*learning_rate must be positive, got nan",
        ),
        (lambda text: text.replace("0.001,32,3,1,", "0.001,-2,3,1,"), "line 5: .*features must be at least 0, got -2"),
        (lambda text: text.replace(",1,1,", ",0,0,"), "line 5: .*the model is there already"),
        (lambda text: text.replace("1.25,cpu,,", "1.25,cpu,,,5", 1), "line 4: .*must have 17 cells"),
        (lambda text: text.replace('"{""C"":0.1}"', "[1]"), r"line 8: .*extras must be a JSON object, got \[1\]"),
    ],
)
def test_a_broken_table_is_named(tmp_path, rows, change, message):
    path = tmp_path / "t.csv"
    path.write_text(change(format_table(rows, {})))
    with pytest.raises(ValueError, match=message):
        read_table(path)


def test_errors_may_be_infinite_and_other_errors_large(tmp_path, make_row):
    diverged = make_row(valid_error=float("inf"), test_error=float("inf"), diverged_at=5)
    movie = make_row(subject="fargo", study="movies", split_by="user", test_error=2.5)
    for row in (diverged, movie):
        write_table(tmp_path / "t.csv", [row], {})
        assert read_table(tmp_path / "t.csv")[0][0].test_error == row.test_error


MODEL = '"gcnn": {"outputs": [], "first_outputs": [], "transfer": [], "creation": 0, "creation_last": 0'
SPECTRA = '"eigenvalues": [], "input_mean": [], "input_std": []'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "it must be a JSON object"),
        ('{"subjects": []}', r'"subjects" must be a JSON object, got \[\]'),
        ('{"subjects": {"austen": 5}}', "the analysis of austen must be a JSON object, got 5"),
        ('{"subjects": {"austen": {"setting": 1}}}', 'the "setting" of austen must be text, got 1'),
        ('{"subjects": {"austen": {"models": []}}}', 'the "models" of austen must be'),
        ('{"subjects": {"austen": {"models": {"gcnn": 1}}}}', "gcnn of austen must be"),
        ('{"subjects": {"austen": {"others": {"scaled/excerpt": 1}}}}', "scaled/excerpt of austen must be"),
        ('{"subjects": {"austen": {"nodes": "many"}}}', 'nodes of austen must be a number, got "many"'),
        ('{"subjects": {"austen": {"eigenvalues": [1]}}}', "input_mean of austen must be a list, got null"),
        ('{"subjects": {"austen": {"models": {"gcnn": {"last": 3}}}}}', '"last" of gcnn of austen must be'),
        ('{"subjects": {"austen": {"models": {"gcnn": {"last": {"peak": "x"}}}}}}', "peak of gcnn of austen must be"),
        (
            f'{{"subjects": {{"austen": {{{SPECTRA}, "models": {{{MODEL}}}}}}}}}}}',
            "creation_first of gcnn of austen must be a number, got null",
        ),
    ],
)
def test_a_broken_analysis_is_named(tmp_path, rows, text, message):
    write_table(tmp_path / "t.csv", rows, {})
    (tmp_path / "t.analysis.json").write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        load_results(tmp_path / "t.csv")
    assert "t.analysis.json" in str(caught.value)


def test_folders_may_be_called_like_files(tmp_path, rows):
    for name in ("run.db", "run.csv", "run.sqlite"):
        with Store(store_path(tmp_path / name), write=True) as store:
            store.add(rows)
        assert len(load_results(tmp_path / name).rows) == len(rows)
    merge([tmp_path / "run.db"], tmp_path / "merged.db")
    assert (tmp_path / "merged.db").is_dir()
    assert len(load_results(tmp_path / "merged.db").rows) == len(rows)


def test_tables_of_nothing_or_of_two_studies_are_refused(rows):
    with pytest.raises(ValueError, match="got no rows"):
        format_table([], {})
    with pytest.raises(ValueError, match="one study, got authorship, movies"):
        format_table([rows[0], replace(rows[1], study="movies")], {})


def test_a_run_folder_its_store_and_its_table_tell_the_same(tmp_path, rows):
    key = ("austen", "paper", "excerpt", "gcnn")
    with Store(tmp_path, write=True) as store:
        store.add_run({"command": "nvgf", "study": "authorship", "source": None})
        store.add(rows, [(key, {"outputs": [1.0]})])
        write_beside(store, load_results(tmp_path).study)
    assert {path.name for path in tmp_path.iterdir()} >= {"config.json", "analysis.json", "results.sqlite"}
    results = load_results(tmp_path)
    save_table(results, tmp_path / "out.csv")
    for path in (tmp_path / "results.sqlite", tmp_path / "out.csv"):
        found = load_results(path)
        assert len(found.rows) == len(rows)
        assert found.analysis == results.analysis
        assert found.runs[0]["command"] == "nvgf"
    assert results.analysis["subjects"]["austen"]["models"]["gcnn"] == {"outputs": [1.0]}
    with pytest.raises(ValueError, match=r"must end in \.csv"):
        save_table(results, tmp_path / "out.txt")


def test_results_that_are_not_there_are_named(tmp_path):
    for name in ("nothing", "nothing.csv"):
        with pytest.raises(FileNotFoundError, match="nothing"):
            load_results(tmp_path / name)
    Store(tmp_path / "empty", write=True).close()
    with pytest.raises(ValueError, match="has no results yet"):
        load_results(tmp_path / "empty")


def test_merging_takes_every_model_once(tmp_path, rows):
    for name, part in (("a", rows[:3]), ("b", [replace(rows[2], test_error=0.9), *rows[3:]])):
        with Store(tmp_path / name, write=True) as store:
            store.add_run({"command": name, "study": "authorship"})
            store.add(part, [(("austen", "paper", "excerpt", name), {"from": name})])
    done = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert (done.rows, done.repeated, done.differing) == (5, 1, 1)
    merged = load_results(tmp_path / "c")
    assert sorted(merged.rows, key=lambda row: row.key) == sorted(rows, key=lambda row: row.key)
    assert [run["command"] for run in merged.runs] == ["a", "b"]
    assert set(merged.analysis["subjects"]["austen"]["models"]) == {"a", "b"}
    again = merge([tmp_path / "b", tmp_path / "a"], tmp_path / "c")
    assert (again.rows, again.repeated) == (0, 6)
    assert len(load_results(tmp_path / "c").runs) == 2


def test_studies_are_not_mixed(tmp_path, rows):
    for name, study in (("a", "authorship"), ("b", "movies")):
        with Store(tmp_path / name, write=True) as store:
            store.add([replace(rows[0], study=study)])
    with pytest.raises(ValueError, match="different studies: authorship, movies"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert not (tmp_path / "c").exists()
    with pytest.raises(ValueError, match="results of another study"):
        merge([tmp_path / "a"], tmp_path / "b")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"fingerprint": "f"}, "b holds models of austen .* on other data"), ({"protocol": "p"}, "by another protocol")],
)
def test_other_data_are_not_mixed(tmp_path, rows, change, message):
    for name, row in (("a", rows[0]), ("b", replace(rows[0], key="other", **change))):
        with Store(tmp_path / name, write=True) as store:
            store.add([row])
    with pytest.raises(ValueError, match=message):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert not (tmp_path / "c").exists()
    with pytest.raises(ValueError, match=message):
        merge([tmp_path / "a"], tmp_path / "b")
    assert len(load_results(tmp_path / "b").rows) == 1


def test_runs_on_other_data_are_not_merged_though_they_share_no_subject(tmp_path, make_row):
    for name, subject in (("a", "ann"), ("b", "bob"), ("old", "cyd")):
        with Store(tmp_path / name, write=True) as store:
            store.add_run({"command": name, "study": "authorship"} | ({"data": name} if name != "old" else {}))
            store.add([make_row(subject=subject)])
    with pytest.raises(ValueError, match=r"b holds models of other data than .*a; keep them apart"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    with pytest.raises(ValueError, match="b holds models of other data than"):
        merge([tmp_path / "a"], tmp_path / "b")
    assert merge([tmp_path / "a", tmp_path / "old"], tmp_path / "c").rows == 2


def test_parquet_holds_all_fields(tmp_path, rows):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "t.parquet", [replace(rows[0], curve=(0.5, 0.25)), *rows[1:]])
    table = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert table[0]["curve"] == [0.5, 0.25]
    assert [line["test_error"] for line in table] == [row.test_error for row in rows]
