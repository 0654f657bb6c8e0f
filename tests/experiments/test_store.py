import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nvgf.experiments import Store
from nvgf.experiments.store import SCHEMA


def test_rows_come_back_as_they_went_in(tmp_path, make_row):
    row = make_row(valid_error=1 / 118, test_error=1 / 3, extras={"C": 0.1}, kept_step=1285, interval=5, seconds=1.5)
    row = replace(row, curve=(0.5, 0.25, float("inf")), losses=(0.6875, 0.5), diverged_at=15, fingerprint="f")
    with Store(tmp_path / "run", write=True) as store:
        store.add([row])
        assert store.rows() == [row]
    assert Store(tmp_path / "run").rows() == [row]
    assert [path.name for path in (tmp_path / "run").iterdir() if not path.name.startswith(".")] == ["results.sqlite"]


def test_filters_take_values_lists_and_none(tmp_path, make_row):
    rows = [make_row(subject=name, model=model) for name in ("ann", "bob") for model in ("gcnn", "lsigf")]
    rows.append(make_row(model="linear-svm", hyper=(None, None, None)))
    with Store(tmp_path, write=True) as store:
        store.add(rows)
        assert {row.subject for row in store.rows(model="gcnn")} == {"ann", "bob"}
        assert len(store.rows(subject=["ann", "austen"])) == 3
        assert [row.model for row in store.rows(features=None)] == ["linear-svm"]
        assert len(store.rows(order=[None, 3])) == 5
        assert store.rows(subject=[]) == []
        with pytest.raises(ValueError, match="no field colour"):
            store.rows(colour="red")


def test_a_model_is_stored_once_and_a_failed_add_adds_nothing(tmp_path, make_row):
    with Store(tmp_path, write=True) as store:
        store.add([make_row()])
        with pytest.raises(ValueError, match="no model is stored twice"):
            store.add([make_row(split=1), make_row()])
        assert [row.split for row in store.rows()] == [0]


def test_analyses_are_replaced_and_runs_recorded_in_order(tmp_path):
    key = ("ann", "paper", "excerpt", "gcnn")
    with Store(tmp_path, write=True) as store:
        store.add([], [(key, {"a": [1, 2]})])
        store.add([], [(key, {"a": [3]})])
        store.add_run({"command": "first"})
        store.add_run({"command": "second"})
    store = Store(tmp_path)
    assert store.analyses() == {key: {"a": [3]}}
    assert [run["command"] for run in store.runs()] == ["first", "second"]


def test_readers_look_on_while_a_sweep_writes(tmp_path, make_row):
    with Store(tmp_path, write=True) as writer, Store(tmp_path) as reader:
        assert len(reader) == 0
        writer.add([make_row()])
        assert len(reader) == 1


def test_a_reader_cannot_write(tmp_path, make_row):
    Store(tmp_path, write=True).close()
    with pytest.raises(OSError, match="readonly"):
        Store(tmp_path).add([make_row()])


def test_a_second_writer_is_refused_here_and_from_another_process(tmp_path, make_row):
    program = f"from nvgf.experiments import Store\nStore({str(tmp_path)!r}, write=True)"
    with Store(tmp_path, write=True) as store:
        with pytest.raises(BlockingIOError, match="another sweep is writing to"):
            Store(tmp_path, write=True)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert "another sweep is writing to" in done.stderr
        store.add([make_row()])
    with Store(tmp_path, write=True) as store:
        assert len(store) == 1


def test_bad_places_and_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no result store at"):
        Store(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError, match="expected a folder"):
        Store(tmp_path / "file", write=True)
    for name, content in {"text.sqlite": b"not a database at all" * 100, "cut.sqlite": b"SQLite format 3\0abc"}.items():
        (tmp_path / name).write_bytes(content)
        for write in (False, True):
            with pytest.raises(ValueError, match="damaged, or no result store"):
                Store(tmp_path / name, write=write)
        assert (tmp_path / name).read_bytes() == content
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE people (name)")
    other.close()
    with pytest.raises(ValueError, match="no result store of nvgf"):
        Store(tmp_path / "other.sqlite", write=True)


def test_another_version_is_refused_and_left_alone(tmp_path, make_row):
    with Store(tmp_path, write=True) as store:
        store.add([make_row()])
    db = sqlite3.connect(tmp_path / "results.sqlite")
    db.execute(f"PRAGMA user_version={SCHEMA + 1}")
    db.close()
    before = (tmp_path / "results.sqlite").read_bytes()
    for write in (False, True):
        with pytest.raises(ValueError, match=f"version {SCHEMA + 1}, this nvgf reads version {SCHEMA}"):
            Store(tmp_path, write=write)
    assert (tmp_path / "results.sqlite").read_bytes() == before


def test_a_damaged_store_is_found_before_anything_is_written(tmp_path, make_row):
    with Store(tmp_path, write=True) as store:
        store.add([make_row(split=split, extras={"x": "y" * 3000}) for split in range(50)])
    path = tmp_path / "results.sqlite"
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 12] = b"\xff" * (4096 * 9)
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="damaged"):
        Store(tmp_path, write=True)
    assert path.read_bytes() == bytes(data)


def test_a_store_in_a_folder_where_nothing_can_be_made_is_read(tmp_path, make_row):
    with Store(tmp_path / "a", write=True) as store:
        store.add([make_row()])
    shutil.copy(tmp_path / "a" / "results.sqlite", tmp_path / "copy.sqlite")
    (tmp_path / "copy.sqlite").chmod(0o444)
    assert len(Store(tmp_path / "copy.sqlite")) == 1


def test_what_a_killed_run_stored_last_is_read_where_nothing_can_be_made(tmp_path, make_row):
    writer = Store(tmp_path / "a", write=True)
    writer.add([make_row(), make_row(split=1)])
    (tmp_path / "b").mkdir()
    for name in ("results.sqlite", "results.sqlite-wal"):
        shutil.copy(tmp_path / "a" / name, tmp_path / "b" / name)
    writer.close()
    assert (tmp_path / "b" / "results.sqlite-wal").stat().st_size
    # A link to where nothing is, so that not even the superuser can make this file.
    (tmp_path / "b" / "results.sqlite-shm").symlink_to(tmp_path / "nowhere" / "x")
    before = {path.name: path.lstat().st_size for path in (tmp_path / "b").iterdir()}
    with Store(tmp_path / "b") as store:
        assert [row.split for row in store.rows()] == [0, 1]
    assert {path.name: path.lstat().st_size for path in (tmp_path / "b").iterdir()} == before


FULL_DISK = """
import resource, sys
from nvgf.experiments import Store
from tests.experiments.test_store import row_number
store = Store(sys.argv[1], write=True)
store.add([row_number(0)])
limit = 250_000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    for number in range(1, 1000):
        store.add([row_number(number)])
except OSError as error:
    print(number, error)
    store.close()
"""


def row_number(number):
    from nvgf.experiments import Row

    row = Row(f"key {number}", "authorship", "ann", "paper", number, "excerpt", "lsigf", 0.1, 1, 1, 0, 0.1, 0.2)
    return replace(row, extras={"filler": os.urandom(4000).hex()})


def test_a_full_disk_keeps_what_was_stored_and_the_store_can_be_continued(tmp_path):
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert "what was stored before is safe" in done.stdout, done.stderr
    failed = int(done.stdout.split()[0])
    with Store(tmp_path, write=True) as store:
        assert {row.split for row in store.rows()} == set(range(failed))
        store.add([row_number(failed)])
