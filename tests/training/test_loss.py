"""Losses, their gradients and errors, against those of PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from nvgf.training.loss import error, loss_and_gradient

LENGTHS = (20, 13)
"""Signals of two jobs; the second is padded."""


def batch(outputs: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return outputs, targets (one-hot where there are several outputs) and weights of two jobs."""
    generator = torch.Generator().manual_seed(seed)
    found = 3 * torch.randn(2, LENGTHS[0], outputs, generator=generator)
    targets = torch.randn(2, LENGTHS[0], 1, generator=generator)
    if outputs > 1:
        targets = nn.functional.one_hot(torch.randint(outputs, found.shape[:2], generator=generator), outputs).float()
    weights = torch.zeros(2, LENGTHS[0])
    for job, length in enumerate(LENGTHS):
        weights[job, :length] = 1 / length
    return found, targets, weights


@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_loss_and_gradient_are_pytorchs(outputs):
    found, targets, weights = batch(outputs)
    loss, gradient = loss_and_gradient(found.clone(), targets, weights, "cross-entropy" if outputs > 1 else "smooth-l1")
    for job, length in enumerate(LENGTHS):
        leaf = found[job, :length].requires_grad_()
        if outputs > 1:
            expected = nn.functional.cross_entropy(leaf, targets[job, :length].argmax(1))
        else:
            expected = nn.functional.smooth_l1_loss(leaf, targets[job, :length])
        (slope,) = torch.autograd.grad(expected, leaf)
        torch.testing.assert_close(loss[job], expected.detach())
        torch.testing.assert_close(gradient[job, :length], slope)
        assert not gradient[job, length:].any()


def test_errors_are_the_ratio_of_wrong_classes_and_the_rmse():
    found, targets, weights = batch(4)
    wrong = error(found, targets, weights, "cross-entropy")
    for job, length in enumerate(LENGTHS):
        classes = found[job, :length].argmax(1), targets[job, :length].argmax(1)
        assert wrong[job] == (classes[0] != classes[1]).float().mean()
    found, targets, weights = batch(1)
    rmse = error(found, targets, weights, "smooth-l1")
    for job, length in enumerate(LENGTHS):
        torch.testing.assert_close(rmse[job], nn.functional.mse_loss(found[job, :length], targets[job, :length]).sqrt())


@pytest.mark.parametrize("samples", [78, 118, 300])
def test_as_many_wrong_classes_are_the_same_error_whichever_they_are(samples):
    jobs = 200
    generator = torch.Generator().manual_seed(samples)
    targets = nn.functional.one_hot(torch.zeros(jobs, samples, dtype=torch.int64), 2).float()
    ranks = torch.rand(jobs, samples, generator=generator).argsort(1)
    outputs = targets.flip(-1).where((ranks < samples // 6).unsqueeze(-1), targets)
    found = error(outputs, targets, torch.full((jobs, samples), 1 / samples), "cross-entropy")
    assert found.unique().tolist() == [pytest.approx((samples // 6) / samples)]


@pytest.mark.parametrize(("outputs", "loss"), [(2, "cross-entropy"), (1, "smooth-l1")])
def test_outputs_that_are_not_finite_make_an_infinite_error_unless_they_are_padding(outputs, loss):
    found, targets, weights = batch(outputs)
    found[0, 3, 0] = torch.nan
    found[1, LENGTHS[1] :] = torch.inf
    assert torch.isfinite(error(found, targets, weights, loss)).tolist() == [False, True]
