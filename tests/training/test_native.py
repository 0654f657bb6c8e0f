"""Compiled steps against the PyTorch formulas, their oracle."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.training.tasks import mixed_jobs

from nvgf.training import Schedule, fit_many
from nvgf.training.randomness import mix

pytest.importorskip("numba")

from nvgf.training.native import kernels
from nvgf.training.plan import plan
from nvgf.training.run import Run
from nvgf.training.stack.data import TaskCache

CPU = torch.device("cpu")
COVERED = ["lsigf", "gcnn", "learn-nvgf", "gcn", "sgc"]


def runs(jobs, **options):
    (piece,) = plan(jobs, CPU, memory=1 << 30)
    chosen = [jobs[number] for number in piece.numbers]
    return [Run(piece.net(chosen, TaskCache(CPU)), native=native) for native in (False, True)]


def assert_same_steps(native: Run, torch_run: Run) -> None:
    """Compare vectors, not entries: where a gradient is all rounding, Adam makes a full step of it either way."""
    torch.testing.assert_close(native.losses, torch_run.losses, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(native.curve, torch_run.curve, rtol=1e-4, atol=1e-5)
    for kind in ("weights", "means", "squares"):
        for name, expected in torch_run.views[kind].items():
            off = torch.linalg.vector_norm(native.views[kind][name] - expected)
            assert off <= 1e-3 * torch.linalg.vector_norm(expected), (kind, name)


@pytest.mark.parametrize("name", COVERED)
@pytest.mark.parametrize("node", [None, 3])
@pytest.mark.parametrize("width", [6, 13, 70])
def test_same_steps_as_the_formulas(name, node, width):
    torch_run, native_run = runs(mixed_jobs(name, node, features=width))
    assert native_run.native is not None
    for _ in range(3):
        torch_run.run_block()
        native_run.run_block()
    assert_same_steps(native_run, torch_run)


@pytest.mark.parametrize("node", [None, 3])
def test_attention_is_the_formulas(node):
    torch_run, native_run = runs(mixed_jobs("gat", node))
    assert native_run.net.native
    assert not torch_run.net.native
    for _ in range(3):
        torch_run.run_block()
        native_run.run_block()
    assert_same_steps(native_run, torch_run)


@pytest.mark.parametrize(("name", "order"), [*(("learn-nvgf", k) for k in range(5)), ("lsigf", 0), ("lsigf", 7)])
def test_any_order(name, order):
    torch_run, native_run = runs(mixed_jobs(name, order=order))
    assert native_run.native is not None
    for run in (torch_run, native_run):
        run.run_block()
        run.run_block()
    assert_same_steps(native_run, torch_run)


def test_either_can_take_the_next_step():
    one, other = runs(mixed_jobs("gcnn"))
    one.run_block()
    other.run_block()
    other.restore(*one.snapshot())
    one.run_block()
    other.run_block()
    torch.testing.assert_close(other.losses, one.losses, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gcnn", {"features": [4, 3]}),
        ("learn-nvgf", {"order": 5}),
        ("learn-nvgf", {"basis": "chebyshev"}),
        ("lsigf", {"schedule": Schedule(epochs=2, batch_size=20, dropout=0.3)}),
    ],
)
def test_what_is_not_covered_is_left_to_the_formulas(name, options):
    jobs = mixed_jobs(name, **options)[:1]
    assert runs(jobs)[1].native is None
    assert math.isfinite(fit_many(jobs, native=True)[0].test_error)


def test_divergence_is_seen_and_stays_alone():
    jobs = mixed_jobs("learn-nvgf")
    jobs[1] = replace(jobs[1], learning_rate=1e30)
    results = fit_many(jobs, native=True, memory=1 << 30)
    assert [result.diverged for result in results] == [False, True, False, False]


def test_hash_is_the_same():
    for value in (0, 1, 2**63, 2**64 - 1):
        assert int(kernels._mix(np.uint64(value))) == mix(value)


def test_without_numba(monkeypatch):
    monkeypatch.setattr("nvgf.training.engine.available", lambda: False)
    with pytest.raises(ValueError, match="numba is not installed; install nvgf\\[fast\\]"):
        fit_many(mixed_jobs("lsigf"), native=True)
