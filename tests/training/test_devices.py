"""Training on a GPU, in CUDA graphs and by formulas of its own, gives the numbers of the CPU."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.training.tasks import SHORT, TRAINED, VARIANTS, assert_same, mixed_jobs, toy

from nvgf.training import Job, TrainingInterrupted, fit_many

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.mark.parametrize(("name", "options"), VARIANTS)
@pytest.mark.parametrize("node", [None, 3])
def test_the_same_training_as_on_a_cpu(name, options, node):
    jobs = mixed_jobs(name, node, **options)
    expected = fit_many(jobs, memory=1 << 30, native=False)
    for one, other in zip(fit_many(jobs, device="cuda"), expected, strict=True):
        assert_same(one, other, 1e-4)


def test_autograd_and_design_are_the_same():
    task = toy(8, 65)
    jobs = [
        Job("learn-nvgf", task, {"features": [4, 3], "order": 1, "bias": True}, 0.01, schedule=SHORT),
        Job("design-nvgf", task, {"features": 5, "order": 2, "retrain_readout": True}, 0.01, schedule=SHORT),
    ]
    for one, other in zip(fit_many(jobs, device="cuda"), fit_many(jobs, native=False), strict=True):
        assert_same(one, other, 2e-4)


@pytest.mark.parametrize("name", TRAINED)
def test_interrupted_and_resumed_equals_undisturbed(name, tmp_path):
    jobs = mixed_jobs(name)
    steps = []

    def interrupt(progress):
        steps.append(progress.steps_done)
        if len(steps) == 2:
            raise KeyboardInterrupt

    options = {"device": "cuda", "checkpoint": tmp_path, "checkpoint_seconds": 0}
    with pytest.raises(TrainingInterrupted):
        fit_many(jobs, progress=interrupt, **options)
    for one, other in zip(fit_many(jobs, resume=True, **options), fit_many(jobs, device="cuda"), strict=True):
        assert_same(one, other, 1e-5)


def test_a_diverging_job_leaves_its_neighbours_alone():
    jobs = mixed_jobs("learn-nvgf")
    jobs[1] = replace(jobs[1], learning_rate=1e30)
    results = fit_many(jobs, device="cuda")
    assert [result.diverged for result in results] == [False, True, False, False]
    for place in (0, 2, 3):
        assert_same(results[place], fit_many([jobs[place]], device="cuda")[0], 1e-5)
