"""``Design``: the taps and the offset that stand for an activation function, and how well they do."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from nvgf.graph import GraphShift


def gains(x: torch.Tensor, shift: GraphShift | torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    r"""Apply an NVGF to each feature by itself: :math:`\sum_k \mathrm{diag}(h^{(k)}_f) S^k x_f`.

    Shapes:
        - x: ``(..., nodes, features)``
        - taps: ``(order + 1, nodes, features)``
        - returns ``(..., nodes, features)``

    Differentiable in all three.

    Example:
        >>> S = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> gains(torch.tensor([[1.0], [2.0]]), S, torch.tensor([[[1.0], [1.0]], [[0.0], [10.0]]]))
        tensor([[ 1.],
                [12.]])
    """
    if taps.ndim != 3 or x.ndim < 2 or x.shape[-2:] != taps.shape[1:]:
        raise ValueError(
            f"x must have shape (..., nodes, features) ending in {tuple(taps.shape[1:])} as the taps, "
            f"got {tuple(x.shape)}"
        )
    y = taps[0] * x
    for tap in taps[1:]:
        x = shift @ x
        y = y + tap * x
    return y


@dataclass(frozen=True, eq=False)
class Design:
    r"""An NVGF-based estimator :math:`\hat y = H(S) x + c` of a pointwise function, one for each feature.

    Attributes:
        taps: ``(order + 1, nodes, features)``; feature f of the output uses feature f of the input alone.
        offset: ``(nodes, features)``, the unbiased offset of Lemma 4 (``l:unbiased``).
        mse: ``(nodes, features)``, the mean squared error on the moments that the design was made from.
        variance: ``(nodes, features)``, of the target: the error of the best constant.
        rank: ``(nodes, features)``, of the system of each node; below ``order + 1`` it was singular, and the
            taps are those of least norm. None for a
            closed form that solves no system.
        best_linear_mse: ``(nodes, features)``, the least error of any affine function of the *whole* signal,
            or None where the design was made without the full covariance.
    """

    taps: torch.Tensor
    offset: torch.Tensor
    mse: torch.Tensor
    variance: torch.Tensor
    rank: torch.Tensor | None = None
    best_linear_mse: torch.Tensor | None = None

    @property
    def order(self) -> int:
        """The paper's K."""
        return self.taps.shape[0] - 1

    def bank(self) -> torch.Tensor:
        """Return the taps as a filter bank ``(order + 1, nodes, features, features)`` that mixes no
        features."""
        return torch.diag_embed(self.taps)

    def __call__(self, x: torch.Tensor, shift: GraphShift | torch.Tensor) -> torch.Tensor:
        """Return the estimate for signals ``(..., nodes, features)``, in the dtype of ``x``."""
        return gains(x, shift, self.taps.to(x)) + self.offset.to(x)

    def __repr__(self) -> str:
        nodes, features = self.offset.shape
        share = float(self.mse.sum() / self.variance.sum()) if float(self.variance.sum()) > 0 else 0.0
        return f"Design(order={self.order}, nodes={nodes}, features={features}, unexplained={share:.4f})"
