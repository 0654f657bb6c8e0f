"""Training: stacked equals single equals plain PyTorch; protocol, divergence, interruption."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.training.tasks import ARCHITECTURES, SHORT, TRAINED, VARIANTS, assert_same, mixed_jobs, toy
from torch import nn

from nvgf import GraphShift
from nvgf.training import Job, Progress, Result, Schedule, Signals, Task, TrainingInterrupted, fit, fit_many
from nvgf.training import plan as planning
from nvgf.training.native import available
from nvgf.training.order import batches
from nvgf.training.stack.dropout import Dropout
from nvgf.training.stack.general import GeneralNet
from nvgf.training.stack.taps import JoinedLearnNVGFNet


def with_module(job: Job) -> Result:
    """Train a job the plain way: the module, autograd and torch.optim.Adam, in a loop."""
    task, schedule = job.task, job.schedule
    state = fit(replace(job, learning_rate=1e-30)).state  # the initial weights
    model = job.build()
    model.load_state_dict(state)
    adam = torch.optim.Adam(model.parameters(), lr=job.learning_rate)
    nodes = torch.arange(task.shift.num_nodes) if task.node is None else torch.tensor([task.node])
    width = model.readout.in_features // (len(nodes) if task.node is None else 1)
    dropout = Dropout([job], [nodes], width, torch.device("cpu"))
    loss = nn.functional.cross_entropy if task.loss == "cross-entropy" else nn.functional.smooth_l1_loss
    best, kept, curve, losses, kept_state = math.inf, 0, [], [], state

    def outputs(x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        hidden = model.hidden(x, task.shift)[:, nodes]
        hidden = hidden if mask is None else hidden * mask.transpose(0, 1)
        y = model.readout(hidden.flatten(1))
        return y if task.node is None else y[:, 0]

    for step, rows in enumerate(batches(job.seed, len(task.train), schedule)):
        chosen = rows[rows >= 0]
        mask = dropout.draw(step)[0][:, : len(chosen)]
        adam.zero_grad()
        found = loss(outputs(task.train.x[chosen], mask), task.train.y[chosen])
        found.backward()
        adam.step()
        losses.append(found.item())
        if (step + 1) % 5 == 0:
            with torch.no_grad():
                y = outputs(task.valid.x, None)
            wrong = (y.argmax(1) != task.valid.y).float().mean() if task.node is None else None
            error = float(wrong if wrong is not None else ((y - task.valid.y) ** 2).mean().sqrt())
            curve.append(error)
            if error < best:
                best, kept = error, step + 1
                kept_state = {name: t.clone() for name, t in model.state_dict().items()}
    model.load_state_dict(kept_state)
    with torch.no_grad():
        y = outputs(task.test.x, None)
    squares = ((y - task.test.y) ** 2).mean().sqrt() if task.node is not None else None
    tested = float((y.argmax(1) != task.test.y).float().mean() if squares is None else squares)
    means = torch.tensor(losses).reshape(-1, 5).mean(1).tolist()
    return Result(job, 5, tuple(curve), tuple(means), kept, best, tested, 0.0, None, kept_state)


@pytest.mark.parametrize(("name", "options"), VARIANTS)
@pytest.mark.parametrize("node", [None, 3])
def test_stacked_equals_single_equals_plain_pytorch(name, options, node):
    jobs = mixed_jobs(name, node, **options)
    stacked = fit_many(jobs, stack_size=4, memory=1 << 30, native=False)
    for job, result in zip(jobs, stacked, strict=True):
        assert result.job is job
        assert_same(result, fit_many([job], native=False)[0], 1e-5)
        assert_same(result, with_module(job), 2e-4)


@pytest.mark.parametrize("basis", ["power", "chebyshev"])
@pytest.mark.parametrize("node", [None, 3])
def test_formulas_for_a_gpu_are_those_for_a_cpu(monkeypatch, node, basis):
    jobs = mixed_jobs("learn-nvgf", node, basis=basis)
    expected = fit_many(jobs, memory=1 << 30, native=False)
    monkeypatch.setattr(JoinedLearnNVGFNet, "device_type", None)
    (piece,) = planning.plan(jobs, torch.device("cpu"), memory=1 << 30)
    assert piece.net is JoinedLearnNVGFNet
    for one, other in zip(fit_many(jobs, memory=1 << 30, native=False), expected, strict=True):
        assert_same(one, other, 1e-5)


@pytest.mark.parametrize(
    ("name", "options", "features"),
    [
        ("lsigf", {"features": [4, 3], "order": 1}, 1),
        ("gcnn", {"features": 4, "order": 2, "activation": "tanh"}, 1),
        ("learn-nvgf", {"features": [4, 3], "order": 1, "bias": True}, 1),
        ("learn-nvgf", {"features": 4, "order": 1}, 3),
        ("gcn", {"features": [4, 3]}, 1),
        ("gat", {"features": 3, "heads": 2, "activation": "elu"}, 2),
    ],
)
@pytest.mark.parametrize("node", [None, 2])
def test_any_other_shape_is_trained_by_autograd(name, options, features, node):
    job = Job(name, toy(8, 65, node=node, features=features), options, 0.01, schedule=SHORT)
    (piece,) = planning.plan([job], torch.device("cpu"))
    assert piece.net is GeneralNet
    assert_same(fit(job), with_module(job), 2e-4)


@pytest.mark.parametrize("name", TRAINED)
def test_the_papers_shapes_have_formulas_of_their_own(name):
    pieces = planning.plan(mixed_jobs(name), torch.device("cpu"), memory=1 << 30)
    assert [len(piece.numbers) for piece in pieces] == [4]
    assert pieces[0].net is not GeneralNet


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_learns_a_toy_problem(name):
    task = toy(10, 400, seed=3)
    schedule = Schedule(epochs=40, batch_size=20)
    result = fit(Job(name, task, {**ARCHITECTURES[name], "features": 16}, 0.02, schedule=schedule))
    # Guessing is wrong half the time; the aggregation of the rivals blurs what tells the sides apart.
    assert result.test_error < (0.35 if name in ("gcn", "sgc", "gat") else 0.2)
    assert result.valid_error == min(result.curve) or name == "design-nvgf"


def test_two_runs_are_identical():
    jobs = mixed_jobs("learn-nvgf")
    for one, other in zip(fit_many(jobs), fit_many(jobs), strict=True):
        assert one.losses == other.losses
        assert one.curve == other.curve
        assert all(torch.equal(one.state[name], other.state[name]) for name in one.state)


def test_result_gives_the_trained_model():
    job = Job("learn-nvgf", toy(), ARCHITECTURES["learn-nvgf"], 0.02, seed=4, schedule=SHORT)
    before = torch.get_rng_state()
    result = fit(job)
    model = result.model()
    assert torch.equal(torch.get_rng_state(), before)
    wrong = model(job.task.test.x, job.task.shift).argmax(1) != job.task.test.y
    assert result.test_error == pytest.approx(float(wrong.float().mean()))
    wrong = model(job.task.valid.x, job.task.shift).argmax(1) != job.task.valid.y
    assert result.valid_error == pytest.approx(float(wrong.float().mean()))
    assert result.kept_step == 5 * (1 + result.curve.index(min(result.curve)))  # of ties the earlier
    with pytest.raises(ValueError, match="fit with keep_weights=True"):
        fit_many([job], keep_weights=False)[0].model()


def test_nodes_that_are_not_read_keep_their_first_taps():
    job = Job("learn-nvgf", toy(node=3), {"features": 4, "order": 1}, 0.02, schedule=SHORT)
    trained, first = (fit(replace(job, learning_rate=rate)).state["node_filters.0.taps"] for rate in (0.02, 1e-30))
    others = torch.arange(10) != 3
    assert torch.equal(trained[:, others], first[:, others])
    assert not torch.equal(trained[:, 3], first[:, 3])


def test_a_diverging_job_leaves_its_neighbours_alone():
    jobs = mixed_jobs("learn-nvgf")
    broken = replace(jobs[1], learning_rate=1e30)
    results = fit_many([jobs[0], broken, *jobs[2:]], memory=1 << 30)
    assert results[1].diverged
    assert results[1].diverged_at == 5
    assert not any(result.diverged for place, result in enumerate(results) if place != 1)
    for place in (0, 2, 3):
        assert_same(results[place], fit(jobs[place]), 1e-5)


def test_jobs_of_different_length_end_when_they_should():
    tasks = [toy(9, samples, seed) for seed, samples in enumerate((100, 85, 81))]
    jobs = [Job("gcnn", task, {"features": 3, "order": 1}, 0.01, seed=5, schedule=SHORT) for task in tasks]
    results = fit_many(jobs, memory=1 << 30)
    assert [len(result.curve) for result in results] == [6, 6, 6]
    jobs[1] = replace(jobs[1], task=toy(9, 62, 7))
    jobs[2] = replace(jobs[2], task=toy(9, 40, 8))
    results = fit_many(jobs, memory=1 << 30)
    assert [len(result.curve) for result in results] == [6, 4, 2]
    for job, result in zip(jobs, results, strict=True):
        assert_same(result, fit(job), 1e-5)


def test_a_stack_ends_with_its_longest_job():
    jobs = [Job("gcnn", toy(9, samples), {"features": 3, "order": 1}, schedule=SHORT) for samples in (100, 81, 40)]
    jobs[1] = replace(jobs[1], schedule=SHORT, task=toy(9, 99))
    pieces = planning.plan(jobs, torch.device("cpu"), memory=1 << 30)
    assert sorted(sorted(piece.numbers) for piece in pieces) == [[0, 1], [2]]
    sizes = [len(piece.numbers) for piece in planning.plan([jobs[0]] * 5, torch.device("cpu"), stack_size=2)]
    assert sizes == [2, 2, 1]
    by_memory = planning.plan([jobs[0]] * 5, torch.device("cpu"), memory=1)
    assert [len(piece.numbers) for piece in by_memory] == [1] * 5


def test_design_shares_the_training_of_its_gcnn(monkeypatch):
    task = toy(10, 200)
    options = {"features": 5, "order": 2}
    gcnn = Job("gcnn", task, options, 0.01, seed=2, schedule=SHORT)
    design = replace(gcnn, architecture="design-nvgf")
    again = replace(design, options={**options, "retrain_readout": True})
    trained = []
    original = planning.plan
    monkeypatch.setattr("nvgf.training.engine.plan", lambda jobs, *rest: trained.extend(jobs) or original(jobs, *rest))
    base, kept, retrained = fit_many([gcnn, design, again])
    assert [job.architecture for job in trained] == ["gcnn"]
    for result in (kept, retrained):
        assert torch.equal(result.state["filters.0.taps"], base.state["filters.0.taps"])
        wrong = result.model()(task.test.x, task.shift).argmax(1) != task.test.y
        assert result.test_error == pytest.approx(float(wrong.float().mean()))
    assert torch.equal(kept.state["readout.weight"], base.state["readout.weight"])
    assert not torch.equal(retrained.state["readout.weight"], base.state["readout.weight"])
    assert torch.equal(kept.state["activations.0.taps"], retrained.state["activations.0.taps"])
    assert kept.curve == base.curve
    assert len(retrained.curve) == len(base.curve)


@pytest.mark.parametrize("retrain", [False, True])
def test_design_at_a_node(retrain):
    task = toy(10, 200, node=4)
    job = Job("design-nvgf", task, {"features": 5, "order": 2, "retrain_readout": retrain}, 0.01, schedule=SHORT)
    result = fit(job)
    outputs = result.model()(task.test.x, task.shift)[:, 4, 0].detach()
    assert result.test_error == pytest.approx(float((outputs - task.test.y).square().mean().sqrt()), rel=1e-4)


def test_progress_and_results_arrive_in_time():
    seen: list[Progress] = []
    places: list[int] = []
    jobs = mixed_jobs("lsigf")
    results = fit_many(jobs, progress=seen.append, on_result=lambda place, result: places.append(place), stack_size=2)
    assert sorted(places) == [0, 1, 2, 3]
    assert seen[-1].jobs_done == seen[-1].jobs == 4
    assert seen[-1].steps_done == seen[-1].steps == sum(len(result.curve) * 5 for result in results)
    assert seen[-1].best_valid_error == min(result.valid_error for result in results)
    assert all(a.steps_done <= b.steps_done for a, b in itertools.pairwise(seen))


def test_interruption_keeps_what_is_done():
    def interrupt(progress: Progress) -> None:
        if progress.jobs_done == 2:
            raise KeyboardInterrupt

    with pytest.raises(TrainingInterrupted, match="interrupted with 2 of 4 models trained") as info:
        fit_many(mixed_jobs("lsigf"), progress=interrupt, stack_size=1)
    assert sum(result is not None for result in info.value.results) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"architecture": "gnn"}, "architecture must be one of lsigf"),
        ({"learning_rate": 0.0}, "learning_rate must be a positive, finite number, got 0.0"),
        ({"learning_rate": math.nan}, "learning_rate must be a positive, finite number, got nan"),
        ({"learning_rate": "0.1"}, "learning_rate must be a positive, finite number, got '0.1'"),
        ({"options": {"retrain_readout": True}}, "only 'design-nvgf' has retrain_readout, not 'lsigf'"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": 1.5}, "seed must be a whole number from 0"),
    ],
)
def test_bad_jobs(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        replace(Job("lsigf", toy()), **change)


def test_options_that_contradict_the_task():
    with pytest.raises(ValueError, match="options: readout is 'all' by task and schedule, got 'shared'"):
        fit(Job("lsigf", toy(), {"readout": "shared"}))
    with pytest.raises(ValueError, match="has no option 'kernel'"):
        fit(Job("lsigf", toy(), {"kernel": 3}))


def test_bad_devices():
    with pytest.raises(ValueError, match="device must be a torch device"):
        fit_many([Job("lsigf", toy())], device="gpu7")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="no CUDA device is available here"):
            fit_many([Job("lsigf", toy())], device="cuda")


def test_bad_tasks():
    good = toy()
    x, y = good.train.x, good.train.y
    cases = [
        ({"loss": "hinge"}, "loss must be one of cross-entropy, smooth-l1, got 'hinge'"),
        ({"node": 10}, "node must be a whole number from 0 to 9, got 10"),
        ({"node": 1.5}, "node must be a whole number from 0 to 9, got 1.5"),
        ({"node": True}, "node must be a whole number from 0 to 9, got True"),
        ({"valid": Signals(x[:0], y[:0])}, "valid has no signals"),
        ({"test": Signals(x[:, :4], y)}, "test signals have 4 nodes, the shift has 10"),
        ({"test": Signals(x.expand(-1, -1, 2), y)}, "test signals have 2 features, train signals 1"),
        ({"train": Signals(x / 0, y)}, "train has NaN or infinite values"),
        ({"train": Signals(x, y.float())}, "train.y must hold class numbers from 0"),
        ({"train": Signals(x, y - 1)}, "train.y must hold class numbers from 0"),
    ]
    for change, message in cases:
        with pytest.raises(ValueError, match=re.escape(message)):
            replace(good, **change)
    with pytest.raises(ValueError, match="x must have shape"):
        Signals(x[0], y)
    with pytest.raises(ValueError, match="y must have one label for each of the 70 signals"):
        Signals(x, y[:3])
    with pytest.raises(TypeError, match="x must be a tensor, got list"):
        Signals(["a"], y)
    with pytest.raises(TypeError, match="x must hold real numbers"):
        Signals(x + 1j, y)
    with pytest.raises(TypeError, match="shift must be a GraphShift, got Tensor"):
        replace(good, shift=good.shift.to_dense())
    with pytest.raises(TypeError, match="valid must be Signals, got tuple"):
        replace(good, valid=(x, y))
    with pytest.raises(TypeError, match="task must be a Task, got NoneType"):
        Job("lsigf", None)
    with pytest.raises(TypeError, match="schedule must be a Schedule, got int"):
        Job("lsigf", good, schedule=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stack_size": 0}, "stack_size must be a whole number of at least 1, got 0"),
        ({"stack_size": -1}, "stack_size must be a whole number of at least 1, got -1"),
        ({"stack_size": 2.5}, "stack_size must be a whole number of at least 1, got 2.5"),
        ({"memory": "1GB"}, "memory must be a whole number of at least 1, got '1GB'"),
        ({"resume": True}, "resume: name the folder to go on with as checkpoint"),
    ],
)
def test_bad_limits(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fit_many(mixed_jobs("lsigf"), **options)
    with pytest.raises(TypeError, match="jobs must be a sequence of Job"):
        fit_many(mixed_jobs("lsigf")[0])


def test_what_people_hold_data_in():
    plain = toy()
    expected = fit(Job("gcnn", plain, {"features": [4, 2], "order": 1}, schedule=SHORT))

    def held(part: Signals) -> Signals:
        return Signals(part.x.numpy(), part.y.numpy().astype("int32"))

    parts = {name: held(getattr(plain, name)) for name in ("train", "valid", "test")}
    options = {"features": np.array([4, 2]), "order": np.int64(1)}
    rate = np.float64(0.001)
    result = fit(Job("gcnn", replace(plain, **parts), options, rate, schedule=replace(SHORT, betas=[0.9, 0.999])))
    assert_same(result, expected, 1e-7)
    doubles = {name: Signals(part.x.double(), part.y) for name, part in parts.items()}
    for shift in (plain.shift, plain.shift.to(dtype=torch.float64)):
        for name in ("lsigf", "gat", "gcn"):
            options = {**ARCHITECTURES[name]}
            result = fit(Job(name, replace(plain, shift=shift, **doubles), options, schedule=SHORT))
            assert_same(result, fit(Job(name, plain, options, schedule=SHORT)), 1e-5)


@pytest.mark.parametrize("native", [False, True] if available() else [False])
@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_the_default_dtype_changes_nothing(name, native):
    jobs = [*mixed_jobs(name)[:2], *mixed_jobs(name, 3)[:2], replace(mixed_jobs(name)[0], options={"features": [3, 2]})]
    expected = fit_many(jobs, native=native)
    torch.set_default_dtype(torch.float64)
    try:
        found = fit_many(jobs, native=native)
    finally:
        torch.set_default_dtype(torch.float32)
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other, 0)


@pytest.mark.parametrize("name", ["learn-nvgf", "gat", "gcnn"])
def test_a_batch_is_no_larger_than_the_data(name):
    job = Job(name, toy(), ARCHITECTURES[name], 0.01, schedule=Schedule(epochs=6, batch_size=70))
    huge = replace(job, schedule=Schedule(epochs=6, batch_size=10**9))
    assert_same(fit(huge), fit(job), 0)


@pytest.mark.parametrize("native", [False, True] if available() else [False])
def test_attention_survives_signals_that_are_far_apart(native):
    """One node shouts: for nodes that do not hear it, all they hear is far below the largest."""
    shift = GraphShift.from_edges([(i, i + 1) for i in range(9)])
    task = toy()
    loud = torch.zeros(10, 1)
    loud[0] = 300
    parts = {name: Signals(getattr(task, name).x + loud, getattr(task, name).y) for name in ("train", "valid", "test")}
    for seed in range(10):
        job = Job("gat", replace(task, shift=shift, **parts), {"features": 8}, 0.01, seed, Schedule(1, 20, 1))
        (result,) = fit_many([job], native=native)
        assert not result.diverged
        model = result.model()
        wrong = model(job.task.test.x, shift).argmax(1) != job.task.test.y
        assert result.test_error == pytest.approx(float(wrong.float().mean()))


def test_divergence_is_seen_in_what_is_designed_and_in_a_single_block():
    task = toy()
    options = {"features": 4, "order": 1}
    gcnn = Job("gcnn", task, options, 1e30, schedule=SHORT)
    design = replace(gcnn, architecture="design-nvgf")
    again = replace(design, options={**options, "retrain_readout": True})
    for result in fit_many([gcnn, design, again]):
        assert result.diverged
        assert result.valid_error == math.inf
    job = Job("gcnn", toy(node=3), {"features": 4}, 1e30, schedule=Schedule(epochs=1, batch_size=70, dropout=0.0))
    assert fit(job).diverged


def test_a_model_has_weights_of_its_own():
    result = fit(Job("lsigf", toy(), {"features": 2}, schedule=SHORT))
    before = {name: tensor.clone() for name, tensor in result.state.items()}
    with torch.no_grad():
        for parameter in result.model().parameters():
            parameter.add_(7)
    assert all(torch.equal(result.state[name], tensor) for name, tensor in before.items())


def test_progress_counts_the_jobs_that_were_asked_for():
    options = {"features": 4, "order": 1}
    gcnn = Job("gcnn", toy(), options, schedule=SHORT)
    jobs = [gcnn, replace(gcnn, architecture="design-nvgf"), gcnn]
    seen: list[Progress] = []
    fit_many(jobs, progress=seen.append)
    assert (seen[0].jobs_done, seen[0].jobs) == (0, 3)
    assert (seen[-1].jobs_done, seen[-1].jobs) == (3, 3)


def test_three_classes_and_sparse_shift():
    task = toy(10, 100)
    three = Signals(task.train.x, torch.arange(100) % 3)
    shift = GraphShift(task.shift.to_dense(), layout="csr")
    task = Task(shift, three, three, three)
    assert task.outputs == 3
    for name in TRAINED:
        job = Job(name, task, ARCHITECTURES[name], 0.01, schedule=SHORT)
        assert_same(fit(job), with_module(job), 2e-4)
