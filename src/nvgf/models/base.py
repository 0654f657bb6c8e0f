"""What all architectures share: the readout, dropout, initial weights, and the input that is prepared once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import nn

from nvgf.design.activations import ACTIVATIONS, pointwise
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number

ReadoutKind = Literal["all", "shared"]


@dataclass(frozen=True)
class Prepared:
    """What an architecture computes from input signals and graph once, before training.

    Shapes:
        - ``features``: ``(samples, nodes, terms)``; what the terms are is the architecture's own business
    """

    features: torch.Tensor
    shift: GraphShift

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, samples: torch.Tensor | slice) -> Prepared:
        """Return the same for some of the samples."""
        return Prepared(self.features[samples], self.shift)


def named_activation(activation: str) -> str:
    """Return the name of an activation function; functions without one could be neither saved nor trained in stacks."""
    if not isinstance(activation, str):
        raise TypeError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
    pointwise(activation)
    return activation


class GraphModel(nn.Module, ABC):
    """Base of the architectures: ``model(x, shift)``, hidden features at each node and a linear readout.

    Args:
        num_nodes: nodes of the graph.
        in_features: features of the input signals.
        features: features of each hidden layer; one number means one layer.
        readout: ``"all"``, a linear map of the features of all nodes (authorship), or ``"shared"``, one linear map
            that every node applies to its own features (movies).
        outputs: outputs of the readout.
        dropout: probability with which a hidden feature of a node is dropped before the readout, in training.

    Shapes:
        - input ``(..., nodes, in_features)``
        - output ``(..., outputs)`` with readout ``"all"``, ``(..., nodes, outputs)`` with ``"shared"``
    """

    name: ClassVar[str]
    linear: ClassVar[bool] = False
    """Whether the output is an affine function of the input, so that :func:`nvgf.models.fold` applies."""

    def __init__(
        self,
        num_nodes: int,
        in_features: int,
        features: int | Sequence[int],
        *,
        readout: ReadoutKind,
        outputs: int,
        dropout: float,
        options: dict[str, Any],
        width: int = 1,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        layers = list(features) if isinstance(features, Sequence) and not isinstance(features, str) else [features]
        if not layers:
            raise ValueError("features is empty: an architecture has at least one layer")
        widths = tuple(whole_number("features", width, 1) for width in layers)
        sizes = {"num_nodes": num_nodes, "in_features": in_features, "outputs": outputs}
        sizes = {argument: whole_number(argument, value, 1) for argument, value in sizes.items()}
        if readout not in ("all", "shared"):
            raise ValueError(f"readout must be 'all' or 'shared', got {readout!r}")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {dropout}")
        self.num_nodes = num_nodes = sizes["num_nodes"]
        self.in_features = sizes["in_features"]
        self.widths = widths
        self.readout_kind: ReadoutKind = readout
        self.config: dict[str, Any] = {
            **sizes,
            "features": widths[0] if len(widths) == 1 else list(widths),
            "readout": readout,
            "dropout": dropout,
            **options,
        }
        self.dropout = nn.Dropout(dropout)
        hidden = widths[-1] * width
        inputs = hidden * num_nodes if readout == "all" else hidden
        self.readout = nn.Linear(inputs, sizes["outputs"], device=device, dtype=dtype)

    @abstractmethod
    def hidden(self, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Return the features that the readout reads, ``(..., nodes, features)``, by the architecture's formula."""

    @abstractmethod
    def bounds(self) -> dict[str, float]:
        """Return for each parameter by name the bound b of its uniform initial distribution on [-b, b]."""

    def prepare(self, x: torch.Tensor, shift: GraphShift) -> Prepared:
        """Compute from signals ``(samples, nodes, in_features)`` all that does not change during training."""
        self._check_samples(x, shift)
        return Prepared(x, shift)

    def hidden_prepared(self, prepared: Prepared) -> torch.Tensor:
        """Return the same as :meth:`hidden`, from what :meth:`prepare` computed."""
        return self.hidden(prepared.features, prepared.shift)

    def forward_prepared(self, prepared: Prepared) -> torch.Tensor:
        """Return the same as ``model(x, shift)``, from what :meth:`prepare` computed."""
        return self.read(self.dropout(self.hidden_prepared(prepared)))

    def forward(self, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
        """Return the output for signals ``(..., nodes, in_features)`` on the graph of ``shift``."""
        self._check(x, shift)
        return self.read(self.dropout(self.hidden(x, shift)))

    def read(self, hidden: torch.Tensor) -> torch.Tensor:
        """Apply the readout to hidden features ``(..., nodes, features)``."""
        return self.readout(hidden.flatten(-2) if self.readout_kind == "all" else hidden)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all parameters anew, each uniformly within its bound (see :meth:`bounds`)."""
        bounds = self.bounds()
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.uniform_(-bounds[name], bounds[name], generator=generator)

    def readout_bounds(self) -> dict[str, float]:
        """Return the bounds of the readout: those of ``nn.Linear``."""
        bound = self.readout.in_features**-0.5
        return {"readout.weight": bound, "readout.bias": bound}

    @property
    def num_parameters(self) -> int:
        """The number of learnable numbers."""
        return sum(p.numel() for p in self.parameters())

    def _check(self, x: torch.Tensor, shift: GraphShift) -> None:
        if shift.num_nodes != self.num_nodes:
            raise ValueError(f"the model has {self.num_nodes} nodes, the shift has {shift.num_nodes}")
        if x.ndim < 2 or x.shape[-2:] != (self.num_nodes, self.in_features):
            raise ValueError(f"x must have shape (..., {self.num_nodes}, {self.in_features}), got {tuple(x.shape)}")
        shift.check_signals(x)
        own = self.readout.weight.dtype
        if x.dtype != own:
            raise ValueError(f"x and shift are {x.dtype}, the model is {own}: convert it with model.to({x.dtype})")

    def _check_samples(self, x: torch.Tensor, shift: GraphShift) -> None:
        self._check(x, shift)
        if x.ndim != 3:
            raise ValueError(f"x must have shape (samples, nodes, features) to be prepared, got {tuple(x.shape)}")

    def __repr__(self) -> str:
        arguments = ", ".join(f"{key}={value!r}" for key, value in self.config.items())
        return f"{type(self).__name__}({arguments})"
