"""Killed trainings end as undisturbed ones; foreign and damaged checkpoints are refused."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.training.tasks import mixed_jobs, toy

from nvgf import GraphShift
from nvgf.training import Job, Result, Schedule, Signals, Task, fit_many
from nvgf.training.checkpoint import fingerprint

KILLED = """
import sys, time
from pathlib import Path
from nvgf.training import fit_many
from tests.training.tasks import mixed_jobs

def slow(progress):
    time.sleep(0.02)

fit_many(mixed_jobs("learn-nvgf"), checkpoint=Path(sys.argv[1]), checkpoint_seconds=0, resume=True, progress=slow,
         stack_size=2)
"""


def assert_equal(one: list[Result], other: list[Result]) -> None:
    for a, b in zip(one, other, strict=True):
        assert (a.losses, a.curve, a.kept_step, a.test_error) == (b.losses, b.curve, b.kept_step, b.test_error)
        assert all(torch.equal(a.state[name], b.state[name]) for name in b.state)


def test_killed_and_resumed_equals_undisturbed(tmp_path):
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": str(torch.get_num_threads())}
    folder = tmp_path / "checkpoint"
    for awaited in ("running-0.safetensors", "running-1.safetensors"):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], env=environment, cwd=root)
        deadline = time.monotonic() + 120
        while not (folder / awaited).exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        assert process.poll() is None, "the training ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (folder / "done-0.safetensors").exists()
    jobs = mixed_jobs("learn-nvgf")
    assert_equal(fit_many(jobs, checkpoint=folder, resume=True), fit_many(jobs, stack_size=2))
    assert not list(folder.glob("running-*"))


def test_every_moment_is_a_good_moment_to_die(tmp_path):
    jobs = mixed_jobs("gat")[:2]
    expected = fit_many(jobs)
    for number in range(1, 5):
        folder = tmp_path / str(number)
        left = number

        def interrupt(progress):
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit_many(jobs, checkpoint=folder, checkpoint_seconds=0, progress=interrupt)
        assert_equal(fit_many(jobs, checkpoint=folder, resume=True), expected)


def test_done_trainings_are_read_not_repeated(tmp_path):
    jobs = mixed_jobs("lsigf")
    first = fit_many(jobs, checkpoint=tmp_path / "c")
    calls = []
    again = fit_many(jobs, checkpoint=tmp_path / "c", resume=True, progress=calls.append)
    assert_equal(again, first)
    assert len(calls) == 1


def test_resumed_by_who_wants_the_weights(tmp_path):
    gcnn = Job("gcnn", toy(), {"features": 4, "order": 1}, 0.01, schedule=Schedule(epochs=6, batch_size=20))
    expected = fit_many([gcnn])
    (first,) = fit_many([gcnn], checkpoint=tmp_path / "c", keep_weights=False)
    assert first.state == {}
    assert_equal(fit_many([gcnn], checkpoint=tmp_path / "c", resume=True), expected)
    _, design = fit_many([gcnn, replace(gcnn, architecture="design-nvgf")], checkpoint=tmp_path / "c", resume=True)
    assert design.model().name == "design-nvgf"


def test_what_a_kill_left_half_written_is_removed(tmp_path):
    jobs = mixed_jobs("lsigf")
    fit_many(jobs, checkpoint=tmp_path / "c")
    (tmp_path / "c" / ".running-0.safetensors.x1y2").write_bytes(b"half")
    fit_many(jobs, checkpoint=tmp_path / "c", resume=True)
    assert not list((tmp_path / "c").glob(".*"))


def test_fingerprint_of_a_large_sparse_graph_needs_no_dense_one():
    nodes = 30_000
    shift = GraphShift.from_edges([(i, i + 1) for i in range(nodes - 1)])
    part = Signals(torch.zeros(2, nodes, 1), torch.arange(2))
    job = Job("lsigf", Task(shift, part, part, part))
    ring = GraphShift.from_edges([(i, (i + 1) % nodes) for i in range(nodes)])
    assert fingerprint([job]) != fingerprint([replace(job, task=replace(job.task, shift=ring))])


def test_refusals(tmp_path):
    jobs = mixed_jobs("lsigf")
    folder = tmp_path / "c"
    fit_many(jobs, checkpoint=folder)
    with pytest.raises(ValueError, match="holds a training already; resume it or use another folder"):
        fit_many(jobs, checkpoint=folder)
    with pytest.raises(ValueError, match="belongs to other jobs or other data"):
        fit_many(jobs[:2], checkpoint=folder, resume=True)
    done = folder / "done-0.safetensors"
    whole = done.read_bytes()
    done.write_bytes(whole[:-10])
    with pytest.raises(ValueError, match=re.escape("is not a whole safetensors file of nvgf")):
        fit_many(jobs, checkpoint=folder, resume=True)
    manifest = folder / "manifest.json"
    facts = manifest.read_text()
    manifest.write_text(json.dumps({"format": 99}))
    with pytest.raises(ValueError, match="has format 99, expected 1"):
        fit_many(jobs, checkpoint=folder, resume=True)
    for damage in ({"pieces": None}, {"pieces": [["NoNet", [0]]]}):
        manifest.write_text(json.dumps({**json.loads(facts), **damage}))
        with pytest.raises(ValueError, match="is damaged, or of another version"):
            fit_many(jobs, checkpoint=folder, resume=True)
    with pytest.raises(NotADirectoryError, match="is no folder"):
        fit_many(jobs, checkpoint=manifest, resume=True)
    manifest.write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        fit_many(jobs, checkpoint=folder, resume=True)


def test_fingerprint_sees_everything_that_matters():
    job = Job("gcnn", toy(), {"features": 4}, 0.01, seed=1)
    moved = toy()
    moved.test.x[0, 0, 0] += 1
    changed = [
        replace(job, architecture="lsigf"),
        replace(job, options={"features": 5}),
        replace(job, learning_rate=0.02),
        replace(job, seed=2),
        replace(job, schedule=replace(job.schedule, epochs=3)),
        replace(job, task=moved),
        replace(job, task=toy(seed=3)),
    ]
    assert len({fingerprint([j]) for j in [job, *changed]}) == len(changed) + 1
    assert fingerprint([replace(job, task=toy(), tag="elsewhere")]) == fingerprint([job])
