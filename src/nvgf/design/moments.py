r"""``Moments``: the mean, the covariance and the activation cross-moments of signals, in one streaming
pass."""

from __future__ import annotations

from typing import Literal

import torch

from nvgf.design.activations import Pointwise, apply_pointwise, pointwise
from nvgf.spectral.inputs import check_signals

Shrinkage = Literal["ledoit-wolf"] | float | None


class Moments:
    r"""The moments that Proposition 5 (``prop:NVGFoptimal``) is written in, of each feature by itself.

    Batches are taken in one pass (:meth:`update`); parts seen by different machines are put together by
    :meth:`merge`. Unlike :class:`nvgf.design.NodeMoments` they hold for any shift and order, at the price of
    matrices of nodes by nodes.

    Args:
        activation: the pointwise function :math:`\rho`, a name of :data:`nvgf.design.ACTIVATIONS` or a
            function.

    Attributes:
        count: the number of signals.
        mean: ``(nodes, features)``, :math:`\mu_x`.
        target_mean: ``(nodes, features)``, :math:`\mu_\rho`.

    Example:
        >>> x = torch.randn(50, 4, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        >>> here, there = Moments("tanh").update(x[:20]), Moments("tanh").update(x[20:])
        >>> both = here.merge(there)
        >>> both.count, torch.allclose(both.covariance[0], torch.cov(x[..., 0].T, correction=0))
        (50, True)
    """

    def __init__(self, activation: str | Pointwise = "relu") -> None:
        self.activation = activation
        self._function = pointwise(activation)
        self.count = 0
        self.mean = torch.empty(0)
        self.target_mean = torch.empty(0)
        self._scatter = torch.empty(0)
        self._cross = torch.empty(0)
        self._target_scatter = torch.empty(0)
        # Third and fourth moments of the length of a signal: what the Ledoit-Wolf intensity needs beside the
        # scatter.
        self._cubes = torch.empty(0)
        self._fourths = torch.empty(0)
        self.eps = torch.finfo(torch.float64).eps

    @property
    def covariance(self) -> torch.Tensor:
        """The covariance C_x, ``(features, nodes, nodes)``, normalised by the number of signals."""
        return self._scatter / self._checked_count()

    @property
    def cross(self) -> torch.Tensor:
        r"""The cross-moments :math:`E[(\rho(x_i) - \mu_{\rho i})(x_j - \mu_j)]`, ``(features, nodes i, nodes
        j)``."""
        return self._cross / self._checked_count()

    @property
    def target_variance(self) -> torch.Tensor:
        r"""The variance of :math:`\rho(x_i)`, ``(nodes, features)``."""
        return self._target_scatter / self._checked_count()

    def update(self, signals: torch.Tensor) -> Moments:
        """Take in signals ``(..., nodes, features)``; returns itself."""
        if not isinstance(signals, torch.Tensor) or signals.ndim < 2:
            raise ValueError("signals must be a tensor (samples, nodes, features)")
        if self.count and signals.shape[-1] != self.mean.shape[1]:
            raise ValueError(f"signals have {signals.shape[-1]} features, those before had {self.mean.shape[1]}")
        x = check_signals(signals, self.mean.shape[0] if self.count else signals.shape[-2])
        if len(x) == 0:
            return self
        part = Moments(self.activation)
        part.count = len(x)
        part.eps = torch.finfo(x.dtype).eps
        x = x.double()
        y = apply_pointwise(self._function, x)
        part.mean, part.target_mean = x.mean(0), y.mean(0)
        centred = (x - part.mean).permute(2, 0, 1)
        target = (y - part.target_mean).permute(2, 0, 1)
        part._scatter = centred.transpose(1, 2) @ centred
        part._cross = target.transpose(1, 2) @ centred
        part._target_scatter = (target**2).sum(1).T
        squares = (centred**2).sum(-1)
        part._cubes = torch.einsum("fb,fbi->fi", squares, centred)
        part._fourths = (squares**2).sum(-1)
        self._absorb(part)
        return self

    def merge(self, other: Moments) -> Moments:
        """Return the moments of the signals of both."""
        if other.activation != self.activation:
            raise ValueError(f"moments of {self.activation!r} cannot be merged with moments of {other.activation!r}")
        result = Moments(self.activation)
        for part in (self, other):
            if part.count:
                if result.count and part.mean.shape != result.mean.shape:
                    raise ValueError(
                        f"moments of signals {tuple(result.mean.shape)} cannot be merged with those of "
                        f"{tuple(part.mean.shape)}"
                    )
                result._absorb(part)
        return result

    def shrunk_covariance(self, shrinkage: Shrinkage = "ledoit-wolf") -> torch.Tensor:
        r"""Return :math:`(1 - s) C_x + s \, \mathrm{tr}(C_x) I / N`, ``(features, nodes, nodes)``.

        ``s`` is a number in [0, 1] or Ledoit and Wolf's (2004) estimate of the best one, here from streamed
        moments.
        """
        covariance = self.covariance
        if shrinkage is None:
            return covariance
        if shrinkage == "ledoit-wolf":
            share = self.ledoit_wolf()
        elif isinstance(shrinkage, (int, float)) and 0 <= shrinkage <= 1:
            share = torch.full_like(covariance[:, 0, 0], float(shrinkage))
        else:
            raise ValueError(f"shrinkage must be 'ledoit-wolf' or a number from 0 to 1, got {shrinkage!r}")
        level = covariance.diagonal(dim1=1, dim2=2).mean(-1)
        identity = torch.eye(covariance.shape[-1], dtype=covariance.dtype, device=covariance.device)
        return (1 - share)[:, None, None] * covariance + (share * level)[:, None, None] * identity

    def ledoit_wolf(self) -> torch.Tensor:
        """Return the shrinkage intensity of Ledoit and Wolf, ``(features,)``."""
        covariance = self.covariance
        nodes = covariance.shape[-1]
        square = (covariance**2).sum((1, 2))
        level = covariance.diagonal(dim1=1, dim2=2).mean(-1)
        spread = (square / nodes - level**2).clamp_min(0)
        noise = (self._fourths / self.count - square) / (nodes * self.count)
        share = torch.minimum(noise.clamp_min(0), spread) / torch.where(spread > 0, spread, 1.0)
        return torch.where(spread > 0, share, 0.0)

    def _checked_count(self) -> int:
        if self.count == 0:
            raise ValueError("signals: none were given, the moments are empty")
        return self.count

    def _absorb(self, part: Moments) -> None:
        self.eps = max(self.eps, part.eps)
        if self.count == 0:
            for name in (
                "count",
                "mean",
                "target_mean",
                "_scatter",
                "_cross",
                "_target_scatter",
                "_cubes",
                "_fourths",
            ):
                setattr(self, name, getattr(part, name))
            return
        total = self.count + part.count
        weight = self.count * part.count / total
        gap, target_gap = part.mean - self.mean, part.target_mean - self.target_mean
        ours, theirs = self._about(gap.T * (-part.count / total)), part._about(gap.T * (self.count / total))
        self._cubes, self._fourths = ours[0] + theirs[0], ours[1] + theirs[1]
        g, t = gap.T, target_gap.T
        self._scatter = self._scatter + part._scatter + weight * g[:, :, None] * g[:, None, :]
        self._cross = self._cross + part._cross + weight * t[:, :, None] * g[:, None, :]
        self._target_scatter = self._target_scatter + part._target_scatter + weight * target_gap**2
        self.mean = self.mean + gap * (part.count / total)
        self.target_mean = self.target_mean + target_gap * (part.count / total)
        self.count = total

    def _about(self, step: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Third and fourth moments of the length about a mean moved by ``-step``: every signal grows by
        ``step``."""
        trace = self._scatter.diagonal(dim1=1, dim2=2).sum(-1)
        pushed = torch.einsum("fij,fj->fi", self._scatter, step)
        length = (step**2).sum(-1)
        third = self._cubes + (trace + self.count * length)[:, None] * step + 2 * pushed
        fourth = (
            self._fourths
            + 4 * (step * pushed).sum(-1)
            + 4 * (step * self._cubes).sum(-1)
            + 2 * length * trace
            + self.count * length**2
        )
        return third, fourth
