"""The two losses with their gradients, and the errors that validation and test report, for stacks of jobs."""

from __future__ import annotations

import torch

from nvgf.training.data import Loss


def loss_and_gradient(
    outputs: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor, loss: Loss
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each job's loss ``(jobs,)`` and the gradient of the outputs ``(jobs, batch, outputs)``.

    Args:
        outputs: ``(jobs, batch, outputs)``.
        targets: the same shape; one-hot for cross-entropy.
        weights: ``(jobs, batch)``, adding up to 1 for each job; 0 for what is not there.
        loss: which loss; smooth L1 has its corner at 1.
    """
    if loss == "cross-entropy":
        log = torch.log_softmax(outputs, dim=-1)
        each = -(log * targets).sum(-1)
        gradient = log.exp_().sub_(targets)
    else:
        off = outputs - targets
        size = off.abs()
        each = torch.where(size < 1, 0.5 * off * off, size - 0.5).sum(-1)
        gradient = off.clamp_(-1, 1)
    # A plain product would turn an overflow in a signal that is not there into NaN.
    each = (each * weights).masked_fill_(weights == 0, 0.0)
    return each.sum(-1), gradient.mul_(weights.unsqueeze(-1))


def error(outputs: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor, loss: Loss) -> torch.Tensor:
    """Return each job's error ``(jobs,)``: ratio of wrong classes, or RMSE; infinite where outputs are not finite.

    Wrong classes are counted, whole numbers, so that the same number of them is the same error whichever they are.
    """
    there = weights > 0
    if loss == "cross-entropy":
        wrong = (outputs.argmax(-1) != targets.argmax(-1)) & there
        found = wrong.sum(-1).to(weights.dtype) / there.sum(-1)
    else:
        squares = (outputs - targets).square().sum(-1)
        found = (squares * weights).masked_fill(~there, 0.0).sum(-1).sqrt()
    finite = torch.isfinite(outputs).all(-1) | ~there
    return found.masked_fill(~finite.all(-1), torch.inf)
