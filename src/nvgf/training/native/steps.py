"""The compiled steps for a stack, in place of the PyTorch formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nvgf.training.adam import StackedAdam
from nvgf.training.native import kernels
from nvgf.training.randomness import DROPOUT, stream_key
from nvgf.training.stack.gcnn import GCNNNet
from nvgf.training.stack.net import StackedNet
from nvgf.training.stack.rank_one import GCNNet
from nvgf.training.stack.taps import LSI_TAPS, NODE_TAPS, LearnNVGFNet, LSIGFNet

_KINDS = {
    LSIGFNet: kernels.LINEAR,
    GCNNNet: kernels.RECTIFIED,
    GCNNet: kernels.RECTIFIED,
    LearnNVGFNet: kernels.COMPOSED,
}


class NativeSteps:
    """Runs the steps of a stack on a CPU, job after job.

    It works on the same weights and moments as the PyTorch formulas, and draws the same dropout, so that either can
    take the next step; sums are added in another order, so that they agree to rounding.

    Args:
        net: the stack.
        parts: weights, means and squares by name, ``(jobs, ...)``.
        adam: whose count of steps is kept.
    """

    def __init__(self, net: StackedNet, parts: list[dict[str, torch.Tensor]], adam: StackedAdam) -> None:
        self._net, self._adam = net, adam
        data, schedule = net.data, net.jobs[0].schedule
        stored = data.train.features
        features = stored.reshape(-1, *stored.shape[2:])
        if isinstance(net, GCNNet):
            features = features[..., :1] - features[..., 1:]
        self._features = features.contiguous().numpy()
        self._targets = data.train.targets.reshape(-1, data.outputs).contiguous().numpy()
        self._kind = _KINDS[type(net)]
        self._loss = kernels.CROSS_ENTROPY if data.loss == "cross-entropy" else kernels.SMOOTH_L1
        self._table = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float32) * 2
        self._drop = schedule.dropout > 0
        self._betas = np.array([*schedule.betas, schedule.eps])
        self._parts = [{name: tensor.numpy() for name, tensor in part.items()} for part in parts]
        self._keys = [np.uint64(stream_key(job.seed, DROPOUT)) for job in net.jobs]

    @staticmethod
    def takes(net: StackedNet) -> bool:
        """Return whether there are compiled steps for a stack."""
        if net.device.type != "cpu" or net.jobs[0].schedule.dropout not in (0.0, 0.5):
            return False
        if isinstance(net, LearnNVGFNet) and not (net.in_power_basis and net.slots.sizes["k"] <= kernels.ORDERS):
            return False
        return type(net) in _KINDS

    def run(self, rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Take the steps of ``rows`` ``(steps, jobs, batch)`` and return each job's sum of losses."""
        first = int(self._adam.steps_taken)
        row_array, weight_array = rows.numpy(), weights.numpy()
        losses = [
            kernels.train(
                self._kind,
                self._loss,
                self._features,
                self._targets,
                np.ascontiguousarray(row_array[:, j]),
                np.ascontiguousarray(weight_array[:, j]),
                self._net.data.nodes[j].numpy(),
                self._keys[j],
                self._table,
                self._drop,
                *self._parameters(j),
                job.learning_rate,
                self._betas,
                first,
            )
            for j, job in enumerate(self._net.jobs)
        ]
        self._adam.steps_taken += len(rows)
        return torch.tensor(losses, dtype=torch.float32)

    def _parameters(self, j: int) -> list[tuple[Any, ...]]:
        count = len(self._net.data.nodes[j])
        empty = np.zeros((0, 1, 1), np.float32)
        lsi = "linears.0.weight" if isinstance(self._net, GCNNet) else LSI_TAPS.name
        taps = tuple(part[lsi][j] for part in self._parts)
        if isinstance(self._net, GCNNet):
            taps = tuple(part.reshape(1, -1) for part in taps)
        node_taps: tuple[Any, ...] = (empty,) * 3
        if isinstance(self._net, LearnNVGFNet):
            width = self._net.width
            node_taps = tuple(part[NODE_TAPS.name][j, :count].reshape(count, width, -1) for part in self._parts)
        readout = tuple(part["readout.weight"][j, :count] for part in self._parts)
        bias = tuple(part["readout.bias"][j].reshape(1, -1) for part in self._parts)
        return [taps, node_taps, readout, bias]
