r"""The moments that each node needs for itself: those of :math:`x_i, (Sx)_i, \ldots, (S^Kx)_i` and of the
target.

The optimal taps of a node (Proposition 5, ``prop:NVGFoptimal``) are the least-squares fit of
:math:`\rho(x_i)` on what the node has heard, all centred. That needs ``(order + 2)^2`` numbers a node, no
eigen-decomposition, and no matrix of nodes by nodes beside the shift.
"""

from __future__ import annotations

import torch

from nvgf.design.activations import Pointwise, apply_pointwise, pointwise
from nvgf.design.result import Design
from nvgf.design.solve import RTOL, solve_systems
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.spectral.inputs import analysis_shift, check_signals

CHUNK = 32_000_000
"""Numbers in one piece of the shifted signals, 256 MB: wide products reach memory less often."""

SAME = 1e-6
"""Shifts that differ by less, as a share of their largest entry, are the same up to rounding, float32's too."""


class NodeMoments:
    r"""Streaming moments of the shifted signals at every node, for every feature.

    Batches are taken in one pass (:meth:`update`), and parts seen by different machines are put together by
    :meth:`merge`; both are exact up to rounding, by the pairwise formula of Chan, Golub and LeVeque.

    Args:
        shift: the graph.
        order: the paper's K, at least 0.
        activation: the pointwise function to estimate, a name of :data:`nvgf.design.ACTIVATIONS` or a
            function.

    Attributes:
        count: the number of signals.
        mean: ``(nodes, features, order + 2)``, of :math:`x_i, \ldots, (S^K x)_i, \rho(x_i)`.
        scatter: ``(nodes, features, order + 2, order + 2)``, the sums of centred products.

    Example:
        >>> S = GraphShift([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
        >>> x = torch.tensor([[[1.0], [2.0]], [[-1.0], [0.0]], [[2.0], [-2.0]]], dtype=torch.float64)
        >>> moments = NodeMoments(S, order=1).update(x[:1]).update(x[1:])
        >>> moments.count, moments.design()
        (3, Design(order=1, nodes=2, features=1, unexplained=0.0000))
    """

    def __init__(self, shift: GraphShift | torch.Tensor, order: int, activation: str | Pointwise = "relu") -> None:
        self.order = whole_number("order", order, 0)
        self.shift = analysis_shift(shift)
        self.activation = activation
        self._function = pointwise(activation)
        self.count = 0
        self.mean = torch.empty(0)
        self.scatter = torch.empty(0)
        self._eps = torch.finfo(torch.float64).eps

    def update(self, signals: torch.Tensor) -> NodeMoments:
        """Take in signals ``(..., nodes, features)``; returns itself."""
        x = check_signals(signals, self.shift.num_nodes)
        if x.device != self.shift.device:
            raise ValueError(f"signals are on {x.device}, the shift on {self.shift.device}: use shift.to(...)")
        if self.count and x.shape[-1] != self.mean.shape[1]:
            raise ValueError(f"signals have {x.shape[-1]} features, those before had {self.mean.shape[1]}")
        self._eps = max(self._eps, torch.finfo(x.dtype).eps)
        size = max(1, CHUNK // max(1, x.shape[1] * x.shape[2] * (self.order + 2)))
        for part in x.split(size):
            if len(part):
                self._absorb(len(part), *self._moments(part.double()))
        return self

    def merge(self, other: NodeMoments) -> NodeMoments:
        """Return the moments of the signals of both, which must be of the same order, activation and shift."""
        if other.order != self.order or other.shift.num_nodes != self.shift.num_nodes:
            raise ValueError(
                f"moments of order {self.order} on {self.shift.num_nodes} nodes cannot be merged with "
                f"order {other.order} on {other.shift.num_nodes} nodes"
            )
        if other.activation != self.activation:
            raise ValueError(f"moments of {self.activation!r} cannot be merged with moments of {other.activation!r}")
        gap = _difference(self.shift, other.shift)
        if gap > SAME:
            raise ValueError(
                f"moments of different shifts cannot be merged: they differ by {gap:.2g} of the largest entry"
            )
        result = NodeMoments(self.shift, self.order, self.activation)
        for part in (self, other):
            if part.count:
                if result.count and part.mean.shape != result.mean.shape:
                    raise ValueError(
                        f"moments of {result.mean.shape[1]} features cannot be merged with those of "
                        f"{part.mean.shape[1]}"
                    )
                result._absorb(part.count, part.mean, part.scatter)
                result._eps = max(result._eps, part._eps)
        return result

    def design(self, *, ridge: float = 0.0, rtol: float | None = None) -> Design:
        """Return the optimal NVGF-based estimator of the activation on the signals so far.

        Args:
            ridge: penalty on the squared taps, beside the mean squared error.
            rtol: a direction of a node's system whose share of the largest eigenvalue (after scaling to a
                unit diagonal) is below this counts as absent; by default from the precision of the signals.
        """
        if self.count == 0:
            raise ValueError("signals: none were given, the moments are empty")
        covariance = self.scatter / self.count
        gram, cross = covariance[..., :-1, :-1], covariance[..., :-1, -1]
        variance = covariance[..., -1, -1].clamp_min(0)
        if rtol is None:
            rtol = max(RTOL, (64 * self._eps) ** 2)
        size = (gram[..., 0, 0] + self.mean[..., 0] ** 2).clamp_min(0).sqrt()
        noise = rounding(self.shift, self.order, size, self._eps)
        taps, rank = solve_systems(gram, cross, noise=noise, ridge=ridge, rtol=rtol)
        error = torch.einsum("...k,...kl,...l->...", taps, gram, taps) - 2 * (taps * cross).sum(-1) + variance
        offset = self.mean[..., -1] - (taps * self.mean[..., :-1]).sum(-1)
        return Design(taps.permute(2, 0, 1).contiguous(), offset, error.clamp_min(0), variance, rank)

    def _moments(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        samples, nodes, features = x.shape
        columns = x.permute(1, 2, 0).reshape(nodes, features * samples)
        target = apply_pointwise(self._function, columns)
        heard = [columns]
        for _ in range(self.order):
            heard.append(self.shift.multiply_columns(heard[-1]))
        values = torch.stack([part.view(nodes, features, samples) for part in (*heard, target)], dim=2)
        mean = values.mean(dim=-1)
        values -= mean[..., None]
        return mean, values @ values.transpose(-1, -2)

    def _absorb(self, count: int, mean: torch.Tensor, scatter: torch.Tensor) -> None:
        if self.count == 0:
            self.count, self.mean, self.scatter = count, mean, scatter
            return
        total = self.count + count
        gap = mean - self.mean
        weight = self.count * count / total
        self.scatter = self.scatter + scatter + weight * gap[..., :, None] * gap[..., None, :]
        self.mean = self.mean + gap * (count / total)
        self.count = total


def _difference(one: GraphShift, other: GraphShift) -> float:
    """Return the largest difference of two shifts as a share of the largest entry; zero for the same object."""
    if one is other:
        return 0.0
    here, there = one.to_scipy(), other.to_scipy()
    gap = abs(here - there).max()
    return float(gap / max(abs(here).max(), abs(there).max())) if gap > 0 else 0.0


def rounding(shift: GraphShift, order: int, size: torch.Tensor, eps: float) -> torch.Tensor:
    """Return the variance that rounding alone can leave at each node, ``(nodes, features, order + 1)``.

    A node may hear a constant up to rounding (a Laplacian on constant signals): what is left after centring
    is noise of size ``eps |S|^k |x|``, and a tap fitted to it would be huge. ``size`` is the root mean square
    of the signals.
    """
    absolute = GraphShift(abs(shift.to_scipy()), layout="csr", dtype=torch.float64, device=shift.device)
    sizes = [size]
    for _ in range(order):
        sizes.append(absolute.multiply_columns(sizes[-1].contiguous()))
    return (64 * eps * torch.stack(sizes, dim=-1)) ** 2
