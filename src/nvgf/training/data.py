"""What a model is trained on: labelled signals on one graph, in three parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch

from nvgf.graph import GraphShift

Loss = Literal["cross-entropy", "smooth-l1"]


@dataclass(frozen=True, eq=False)
class Signals:
    """Labelled graph signals, as tensors or what becomes one, such as numpy arrays.

    Shapes:
        - ``x``: ``(samples, nodes, features)``
        - ``y``: ``(samples,)``; class numbers (int64) or real targets
    """

    x: torch.Tensor
    y: torch.Tensor

    def __post_init__(self) -> None:
        """Make tensors of both, and check the shapes."""
        for name in ("x", "y"):
            value = getattr(self, name)
            try:
                tensor = torch.as_tensor(value).detach()
            except (TypeError, ValueError, RuntimeError) as error:
                raise TypeError(f"{name} must be a tensor, got {type(value).__name__}: {error}") from None
            if tensor.is_complex():
                raise TypeError(f"{name} must hold real numbers, got {tensor.dtype}")
            if not tensor.is_floating_point():
                tensor = tensor.float() if name == "x" else tensor.long()
            object.__setattr__(self, name, tensor)
        if self.x.ndim != 3:
            raise ValueError(f"x must have shape (samples, nodes, features), got {tuple(self.x.shape)}")
        if self.y.shape != self.x.shape[:1]:
            raise ValueError(
                f"y must have one label for each of the {len(self.x)} signals, got shape {tuple(self.y.shape)}"
            )

    def __len__(self) -> int:
        """Return the number of signals."""
        return len(self.x)


@dataclass(frozen=True, eq=False)
class Task:
    """One supervised problem: a graph, and signals to train, validate and test on.

    Models are trained in single precision, whatever the dtypes of graph and signals.

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
        if not isinstance(self.shift, GraphShift):
            raise TypeError(f"shift must be a GraphShift, got {type(self.shift).__name__}")
        nodes = self.shift.num_nodes
        if self.loss not in get_args(Loss):
            raise ValueError(f"loss must be one of {', '.join(get_args(Loss))}, got {self.loss!r}")
        node = self.node
        if node is not None and (isinstance(node, bool) or not isinstance(node, int) or not 0 <= node < nodes):
            raise ValueError(f"node must be a whole number from 0 to {nodes - 1}, got {node!r}")
        for part, signals in (("train", self.train), ("valid", self.valid), ("test", self.test)):
            if not isinstance(signals, Signals):
                raise TypeError(f"{part} must be Signals, got {type(signals).__name__}")
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
