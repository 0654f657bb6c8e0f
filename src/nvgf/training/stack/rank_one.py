r"""Stacks of GCN, SGC and GAT with one input feature: every hidden layer is the ReLU of a product.

The hidden features are :math:`\mathrm{ReLU}(s_{bn} w_f)` with one aggregated number s a node, and
:math:`\mathrm{ReLU}(s w) = s^+ w^+ + s^- w^-` with the positive and negative parts: bilinear, with two terms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

import numpy as np
import torch

from nvgf.graph import GraphShift
from nvgf.models import GAT, GCN, SGC, GraphModel, gcn_shift
from nvgf.models.gat import SLOPE
from nvgf.models.support import neighbourhoods
from nvgf.training.job import Job
from nvgf.training.stack.bilinear import BilinearNet
from nvgf.training.stack.data import Part, StackData, TaskCache
from nvgf.training.stack.net import READOUT
from nvgf.training.stack.slots import Slot, Slots

FAINT = 1e-30
"""A sum of attention below this has lost its neighbours to underflow, being all far below the largest of all nodes."""
_CHUNK = 1 << 25
"""The most attention coefficients that are held at once when a part of the data is evaluated."""


class RankOneNet(BilinearNet):
    """What the three have in common: the coefficients are the two parts of one weight a hidden feature."""

    @property
    def terms(self) -> int:
        """The positive and the negative part."""
        return 2

    @abstractmethod
    def feature_weights(self) -> torch.Tensor:
        """Return the weights w, ``(jobs, width)``."""

    @abstractmethod
    def feature_weights_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradient of the weights w, ``(jobs, width)``."""

    def coefficients(self) -> torch.Tensor:
        """Return the two parts of the weights."""
        weights = self.feature_weights()
        return torch.stack([weights.clamp(min=0), weights.clamp(max=0).neg_()], dim=1).unsqueeze(1)

    def coefficients_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradient of the weights."""
        weights = self.feature_weights()
        total = gradient.sum(dim=1)
        positive, negative = total[:, 0] * (weights > 0), total[:, 1] * (weights < 0)
        self.feature_weights_backward(positive - negative)


class GCNNet(RankOneNet):
    """A stack of GCN or SGC with one layer, ReLU, one input feature and no bias; S_GCN^K x is prepared."""

    def __init__(self, jobs: Sequence[Job], cache: TaskCache) -> None:
        super().__init__(jobs, cache)
        model = cast(GCN, jobs[0].build(device="meta"))
        hops = model.hops

        def prepare(x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
            support = gcn_shift(shift)
            for _ in range(hops):
                x = support @ x
            return torch.cat([x.clamp(min=0), x.clamp(max=0).neg_()], dim=-1)

        self.data = StackData(jobs, cache, f"gcn-{hops}", 2, prepare)
        sizes = {"f": model.widths[0], "i": 1, "c": self.data.outputs, "n": self.data.most_nodes}
        self.slots = Slots((Slot("linears.0.weight", "fi", "fi"), *READOUT), jobs, sizes, self.data.nodes, self.device)

    @classmethod
    def takes(cls, model: GraphModel) -> bool:
        """Return whether the formulas cover the model."""
        return type(model) in (GCN, SGC) and _is_plain(model)

    def feature_weights(self) -> torch.Tensor:
        """Return the weights."""
        return self.weights["linears.0.weight"].squeeze(-1)

    def feature_weights_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradient."""
        self.gradients["linears.0.weight"].copy_(gradient.unsqueeze(-1))

    def features(self, rows: torch.Tensor) -> torch.Tensor:
        """Return both parts of S_GCN^K x."""
        return self.node_batches(rows)


class GATNet(RankOneNet):
    r"""A stack of GAT with one layer, one head, ReLU, one input feature and no bias.

    The score of an edge is :math:`\mathrm{LeakyReLU}(\alpha x_i + \beta x_j)` with two numbers
    :math:`\alpha = a_{dst}^T w, \beta = a_{src}^T w`. On both sides of its corner its exponential is a product of a
    factor of i and a factor of j, so one matrix says all of an example, which pairs are above the corner, and sums over
    neighbours are products with it. The same products give the gradients of both numbers.
    """

    learns_features = True
    native = False
    """Whether attention is computed by compiled code; see :mod:`nvgf.training.native.attention`."""

    def __init__(self, jobs: Sequence[Job], cache: TaskCache) -> None:
        super().__init__(jobs, cache)
        model = cast(GAT, jobs[0].build(device="meta"))
        self.data = StackData(jobs, cache, "plain", 1, lambda x, shift: x, at_node=False)
        width = model.widths[0]
        sizes = {"f": width, "i": 1, "h": 1, "c": self.data.outputs, "n": self.data.most_nodes}
        own = (
            Slot("layers.0.weight", "ihf", "ihf"),
            Slot("layers.0.source", "hf", "hf"),
            Slot("layers.0.target", "hf", "hf"),
        )
        self.slots = Slots((*own, *READOUT), jobs, sizes, self.data.nodes, self.device)
        self._neighbours = self._padded_neighbours()
        nodes = {job.task.node for job in jobs}
        self._at = None
        if nodes != {None}:
            self._at = torch.tensor([job.task.node for job in jobs], device=self.device)

    @classmethod
    def takes(cls, model: GraphModel) -> bool:
        """Return whether the formulas cover the model."""
        return type(model) is GAT and _is_plain(model) and model.config["heads"] == 1

    def feature_weights(self) -> torch.Tensor:
        """Return the weights."""
        return self.weights["layers.0.weight"].flatten(1)

    def feature_weights_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradient; that through the attention is added by :meth:`features_backward`."""
        self.gradients["layers.0.weight"].copy_(gradient.view(len(self.jobs), 1, 1, -1))

    def features(self, rows: torch.Tensor) -> torch.Tensor:
        """Return both parts of what each node gathers by attention."""
        stored = self.data.train.features
        x = stored.view(-1, stored.shape[2]).index_select(0, rows.reshape(-1))
        self._gathered, self._by_alpha, self._by_beta = self._attend(x.view(*rows.shape, -1), "train")
        return _parts(self._gathered.transpose(1, 2))

    def features_backward(self, gradient: torch.Tensor) -> None:
        """Write the gradients behind the attention."""
        s = self._gathered.transpose(1, 2)
        ds = gradient[..., 0] * (s > 0) - gradient[..., 1] * (s < 0)
        ds = ds.transpose(1, 2)
        alpha = (ds * self._by_alpha).sum(dim=(1, 2)).unsqueeze(1)
        beta = (ds * self._by_beta).sum(dim=(1, 2)).unsqueeze(1)
        source, target = self.weights["layers.0.source"].flatten(1), self.weights["layers.0.target"].flatten(1)
        weight = self.feature_weights()
        self.gradients["layers.0.source"].copy_((beta * weight).unsqueeze(1))
        self.gradients["layers.0.target"].copy_((alpha * weight).unsqueeze(1))
        through = (alpha * target + beta * source).view(len(self.jobs), 1, 1, -1)
        self.gradients["layers.0.weight"].add_(through)

    def evaluation_features(self, part: Part) -> torch.Tensor:
        """Return both parts of what each node gathers, for a part of the data."""
        x = self.data.per_job(part, "features").squeeze(-1)
        size = max(1, _CHUNK // (x.shape[0] * x.shape[2] * self._neighbours.shape[1]))
        gathered = [self._attend(chunk, "part")[0] for chunk in x.split(size, dim=1)]
        return _parts(torch.cat(gathered, dim=1))

    def _padded_neighbours(self) -> torch.Tensor:
        most = self.data.train.features.shape[2]
        rows = []
        for task in self.data.tasks:
            own = neighbourhoods(self.data.cache.shift(task)).float()
            # Nodes that are not there attend to themselves alone: no sum is empty.
            padded = torch.eye(most, dtype=torch.float32, device=self.device)
            padded[: len(own), : len(own)] = own
            rows.append(padded if task.node is None else padded[[task.node]])
        return self.data.spread(torch.stack(rows))

    def _attend(self, x: torch.Tensor, use: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return s and its derivatives by alpha and beta, ``(jobs, batch, rows)``, for x ``(jobs, batch, nodes)``."""
        jobs, batch, nodes = x.shape
        weight = self.feature_weights()
        alpha = (self.weights["layers.0.target"].flatten(1) * weight).sum(1).view(-1, 1, 1)
        beta = (self.weights["layers.0.source"].flatten(1) * weight).sum(1).view(-1, 1, 1)
        own = x
        if self._at is not None:
            own = x.gather(2, self._at.view(-1, 1, 1).expand(-1, batch, 1))
        if self.native:
            return self._attend_native(x, own, alpha, beta)
        u, v = alpha * own, beta * x
        top = v.amax(dim=2, keepdim=True)
        # Both factors are at most 1, whatever the weights: exp(LeakyReLU(u + v)) over that at the largest v.
        peak = u + top
        above = (peak.clamp(max=0) * (1 - SLOPE)).exp()
        below = (peak.clamp(min=0) * (SLOPE - 1)).exp()
        steep, flat = (v - top).exp(), (SLOPE * (v - top)).exp()
        powers = torch.stack([torch.ones_like(x), x, x * x], dim=-1)
        factors = torch.cat([steep.unsqueeze(-1) * powers, flat.unsqueeze(-1) * powers], dim=-1)

        rows = own.shape[2]
        pairs = self.buffer(f"pairs {use}", jobs, batch, rows, nodes)
        torch.mul(v.unsqueeze(2) > -u.unsqueeze(3), self._neighbours.unsqueeze(1), out=pairs)
        sums = self.buffer(f"sums {use}", jobs * batch, rows, 6)
        torch.bmm(pairs.view(jobs * batch, rows, nodes), factors.view(jobs * batch, nodes, 6), out=sums)
        side_by_side = factors[..., 3:].transpose(1, 2).reshape(jobs, nodes, batch * 3)
        all_flat = torch.bmm(self._neighbours, side_by_side).view(jobs, rows, batch, 3).transpose(1, 2)
        sums = sums.view(jobs, batch, rows, 6)
        upper = above.unsqueeze(-1) * sums[..., :3]
        lower = below.unsqueeze(-1) * (all_flat - sums[..., 3:])
        total = upper + lower
        if x.device.type == "cpu" and not bool((total[..., 0] >= FAINT).all()):
            return self._attend_exactly(x, own, alpha, beta)
        s = total[..., 1] / total[..., 0]
        slopes = (upper + SLOPE * lower) / total[..., :1]
        by_alpha = own * (slopes[..., 1] - s * slopes[..., 0])
        by_beta = slopes[..., 2] - s * slopes[..., 1]
        return s, by_alpha, by_beta

    def _attend_exactly(
        self, x: torch.Tensor, own: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The same by a softmax over the neighbours of each node, where the factors of all nodes are too far apart."""
        score = (alpha * own).unsqueeze(3) + (beta * x).unsqueeze(2)
        slopes = torch.where(score > 0, 1.0, SLOPE).to(x)
        there = self._neighbours.unsqueeze(1) != 0
        attention = (score * slopes).masked_fill(~there, -torch.inf).softmax(-1)
        sloped = attention * slopes
        s, sloped_s = ((weights @ x.unsqueeze(3)).squeeze(3) for weights in (attention, sloped))
        by_alpha = own * (sloped_s - s * sloped.sum(-1))
        by_beta = (sloped @ x.square().unsqueeze(3)).squeeze(3) - s * sloped_s
        return s, by_alpha, by_beta

    def _attend_native(
        self, x: torch.Tensor, own: torch.Tensor, alpha: torch.Tensor, beta: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        from nvgf.training.native.attention import attend

        results = [torch.empty_like(own, memory_format=torch.contiguous_format) for _ in range(3)]
        signals, at, around = (t.contiguous().numpy() for t in (x, own, self._neighbours))
        numbers = alpha.view(-1).numpy(), beta.view(-1).numpy(), np.float32(SLOPE)
        for j in range(len(self.jobs)):
            written = (result[j].numpy() for result in results)
            smallest = attend(signals[j], at[j], around[j], numbers[0][j], numbers[1][j], numbers[2], *written)
            if not smallest >= FAINT:
                return self._attend_exactly(x, own, alpha, beta)
        return results[0], results[1], results[2]


def _parts(values: torch.Tensor) -> torch.Tensor:
    return torch.stack([values.clamp(min=0), values.clamp(max=0).neg_()], dim=-1)


def _is_plain(model: GraphModel) -> bool:
    config = model.config
    plain = len(model.widths) == 1 and model.in_features == 1 and not config["bias"]
    return plain and config["activation"] == "relu"
