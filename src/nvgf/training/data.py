"""What a model is trained on: labelled signals on one graph, in three parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
        if self.x.ndim != 3:
            raise ValueError(f"x must have shape (samples, nodes, features), got {tuple(self.x.shape)}")
        if self.y.shape != self.x.shape[:1]:
            raise ValueError(f"y must have one label for each of the {len(self.x)} signals, got shape {tuple(self.y.shape)}")

    def __len__(self) -> int:
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
