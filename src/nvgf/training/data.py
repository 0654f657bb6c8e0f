"""What a model is trained on: labelled signals on one graph, in three parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch

from nvgf.graph import GraphShift

Loss = Literal["cross-entropy", "smooth-l1"]


@dataclass(frozen=True)
class Signals:
    """Labelled graph signals.

    Shapes:
        - ``x``: ``(samples, nodes, features)``
        - ``y``: ``(samples,)``; class numbers (int64) or real targets
    """

    x: torch.Tensor
    y: torch.Tensor

    def __post_init__(self) -> None:
        """Check the shapes."""
        if self.x.ndim != 3:
            raise ValueError(f"x must have shape (samples, nodes, features), got {tuple(self.x.shape)}")
        if self.y.shape != self.x.shape[:1]:
            raise ValueError(
                f"y must have one label for each of the {len(self.x)} signals, got shape {tuple(self.y.shape)}"
            )

    def __len__(self) -> int:
        """Return the number of signals."""
        return len(self.x)


@dataclass(frozen=True)
class Task:
    """One supervised problem: a graph, and signals to train, validate and test on.

    ``node`` is the node whose output is the prediction (movies); ``None`` means a linear readout over all
    nodes (authorship).
    """

    shift: GraphShift
    train: Signals
    valid: Signals
    test: Signals
    loss: Loss = "cross-entropy"
    node: int | None = None

    def __post_init__(self) -> None:
        """Check that the parts fit the graph, the loss and one another."""
        nodes = self.shift.num_nodes
        if self.loss not in get_args(Loss):
            raise ValueError(f"loss must be one of {', '.join(get_args(Loss))}, got {self.loss!r}")
        if self.node is not None and not 0 <= self.node < nodes:
            raise ValueError(f"node must be from 0 to {nodes - 1}, got {self.node}")
        for part, signals in (("train", self.train), ("valid", self.valid), ("test", self.test)):
            if len(signals) == 0:
                raise ValueError(f"{part} has no signals")
            if signals.x.shape[1] != nodes:
                raise ValueError(f"{part} signals have {signals.x.shape[1]} nodes, the shift has {nodes}")
            if signals.x.shape[2] != self.train.x.shape[2]:
                raise ValueError(
                    f"{part} signals have {signals.x.shape[2]} features, train signals {self.train.x.shape[2]}"
                )
            if not bool(torch.isfinite(signals.x).all() & torch.isfinite(signals.y).all()):
                raise ValueError(f"{part} has NaN or infinite values")
            if self.loss == "cross-entropy" and (signals.y.is_floating_point() or int(signals.y.min()) < 0):
                raise ValueError(f"{part}.y must hold class numbers from 0 (integers) for cross-entropy")

    @property
    def outputs(self) -> int:
        """The number of outputs a model needs: the classes for cross-entropy (at least two), one for smooth L1."""
        if self.loss == "smooth-l1":
            return 1
        return max(2, *(int(part.y.max()) + 1 for part in (self.train, self.valid, self.test)))
