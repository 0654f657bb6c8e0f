"""Sweeps as programs of their own: interrupted, killed, two at once, on a cluster."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nvgf.experiments import Store
from nvgf.experiments.sweep import main

MODELS = ["--models", "lsigf,gcnn", "--splits", "2", "--workers", "2"]
CELLS = 3 * 2 * 27 * 2


def start(corpus_file, out, *more):
    command = [sys.executable, "-m", "nvgf.experiments.sweep", "--source", str(corpus_file), *MODELS, *more]
    return subprocess.Popen([*command, "--out", str(out)], stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def counted(out):
    try:
        return len(Store(out))
    except (FileNotFoundError, ValueError):  # the store is just being made
        return 0


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid):
    status = Path(f"/proc/{pid}/stat")
    return status.is_file() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
def test_interrupted_and_killed_sweeps_end_with_every_cell_exactly_once(tmp_path, corpus_file):
    out = tmp_path / "run"
    first = start(corpus_file, out)
    wait_for(lambda: counted(out) >= 4)
    os.kill(first.pid, signal.SIGINT)
    assert first.wait(60) == 130
    assert "the same command continues" in first.stderr.read()
    stored = {row.key: row for row in Store(out).rows()}
    assert 4 <= len(stored) < CELLS

    second = start(corpus_file, out)
    wait_for(lambda: counted(out) >= len(stored) + 4)
    workers = children(second.pid)
    assert main(["--source", str(corpus_file), "--out", str(out), *MODELS]) == 2  # two sweeps at once
    os.kill(second.pid, signal.SIGKILL)
    second.wait(60)
    wait_for(lambda: not any(map(alive, workers)), 60)

    killed = {row.key: row for row in Store(out).rows()}
    assert len(stored) < len(killed) < CELLS
    assert main(["--source", str(corpus_file), "--out", str(out), *MODELS]) == 0
    rows = {row.key: row for row in Store(out).rows()}
    assert len(rows) == len(Store(out)) == CELLS
    assert all(rows[key] == row for key, row in (stored | killed).items())
    assert len(Store(out).runs()) == 3


def test_a_dask_cluster_that_loses_a_worker_ends_complete_with_the_same_numbers(tmp_path, corpus_file, study):
    pytest.importorskip("distributed")
    from nvgf.experiments import enumerate_cells
    from nvgf.experiments.driver import sweep
    from nvgf.experiments.pools import DaskPool

    programs = []

    def dask(kind, *options):
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(tmp_path / "scheduler.json"), *options]
        programs.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return programs[-1]

    try:
        dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        wait_for((tmp_path / "scheduler.json").is_file)
        workers = [dask("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard") for _ in range(2)]
        pool = DaskPool(json.loads((tmp_path / "scheduler.json").read_text())["address"])
        pool.client.wait_for_workers(2, timeout=120)
        cells = enumerate_cells(study, models=["lsigf", "gcnn", "design-nvgf"], settings=["paper"], splits=3)

        def tell(progress):
            if progress.done >= 4:
                workers[0].kill()

        with Store(tmp_path / "a", write=True) as there, Store(tmp_path / "b", write=True) as here:
            outcome = sweep(study, cells, there, pool=pool, tell=tell)
            pool.close()
            assert outcome.complete
            sweep(study, cells, here)
            assert [(row.key, row.curve, row.test_error) for row in there.rows()] == [
                (row.key, row.curve, row.test_error) for row in here.rows()
            ]
            assert len(there) == len(cells)
        assert workers[0].wait(60) != 0
        assert workers[1].poll() is None
    finally:
        for program in programs:
            program.kill()
            program.wait()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--authors", "anne"], "unknown author 'anne'; did you mean ann"),
        (["--authors", ","], "expected names separated by commas"),
        (["--part", "3/2"], "part must be from 1/2 to 2/2"),
        (["--part", "1/0"], "part must be like 1/4, the first of four parts, got '1/0'"),
        (["--limit", "-1"], "limit must be at least 0 minutes, got -1"),
        (["--limit", "nan"], "limit must be at least 0 minutes, got nan"),
        (["--source", "/nowhere.npz"], "nowhere.npz"),
        (["--device", "tpu-9"], "device must be a torch device"),
        (["--study", "songs"], "study must be 'authorship' or 'movies'"),
    ],
)
def test_bad_input_is_told_with_exit_code_2(tmp_path, corpus_file, options, message, capsys):
    assert main(["--source", str(corpus_file), "--out", str(tmp_path / "run"), *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert not (tmp_path / "run").exists()


def test_a_part_without_an_author_is_said_to_be_empty(tmp_path, corpus_file, capsys):
    arguments = ["--source", str(corpus_file), "--out", str(tmp_path / "run"), "--authors", "ann", "--part", "2/2"]
    assert main(arguments) == 0
    assert "part 2/2 has no author" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_file_in_place_of_the_folder_is_left_alone(tmp_path, corpus_file, capsys):
    (tmp_path / "run").write_text("precious")
    assert main(["--source", str(corpus_file), "--out", str(tmp_path / "run"), *MODELS]) == 2
    assert "is a file, expected a folder" in capsys.readouterr().err
    assert (tmp_path / "run").read_text() == "precious"
