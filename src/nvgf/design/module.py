"""``DesignedActivation``: a module to put where a ReLU stood."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature
from typing import Any

import torch
from torch import nn

from nvgf.design.activations import Pointwise, pointwise
from nvgf.design.optimal import optimal_taps
from nvgf.design.result import Design, gains
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number

OPTIONS = frozenset(
    name for name, value in signature(optimal_taps).parameters.items() if value.kind == value.KEYWORD_ONLY
)
"""What :func:`nvgf.design.optimal_taps` takes by name."""


class DesignedActivation(nn.Module):
    r"""The optimal NVGF in place of an activation function: :math:`\hat y = H^\star(S) x + c`, feature by
    feature.

    The taps are buffers, not parameters: they are designed from signals (:meth:`design_`) and not learned.

    Args:
        order: the paper's K.
        num_nodes: of the graph.
        features: of the signals.
        activation: what it stands for.
        options: of :func:`optimal_taps` (``ridge``, ``shrinkage``, ``rtol``).

    Attributes:
        activation: what it stands for, as it was given: a name or a function.

    Shapes:
        - x: ``(..., nodes, features)``, returns the same.

    Example:
        >>> S = GraphShift([[0.0, 1.0], [1.0, 0.0]])
        >>> x = torch.randn(100, 2, 3, generator=torch.Generator().manual_seed(0))
        >>> act = DesignedActivation(order=1, num_nodes=2, features=3).design_(x, S)
        >>> act(x, S).shape
        torch.Size([100, 2, 3])
        >>> bool(((act(x, S) - x.relu()) ** 2).mean() < ((x / 2 - x.relu()) ** 2).mean())
        True
    """

    taps: torch.Tensor
    offset: torch.Tensor
    designed: torch.Tensor

    def __init__(
        self,
        order: int,
        num_nodes: int,
        features: int,
        activation: str | Pointwise = "relu",
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        pointwise(activation)
        unknown = sorted(options.keys() - OPTIONS)
        if unknown:
            raise TypeError(f"options must be among {', '.join(sorted(OPTIONS))}, got {', '.join(unknown)}")
        order, num_nodes = whole_number("order", order, 0), whole_number("num_nodes", num_nodes, 1)
        features = whole_number("features", features, 1)
        self.order, self.num_nodes, self.features = order, num_nodes, features
        self.activation = activation
        self.options = options
        self._ready = False
        self.register_buffer("taps", torch.zeros(order + 1, num_nodes, features, device=device, dtype=dtype))
        self.register_buffer("offset", torch.zeros(num_nodes, features, device=device, dtype=dtype))
        self.register_buffer("designed", torch.tensor(False, device=device))

    @classmethod
    def from_design(
        cls,
        design: Design,
        activation: str | Pointwise = "relu",
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> DesignedActivation:
        """Make the module of a design, in torch's default dtype unless ``dtype`` is given.

        A design does not know which function it stands for: ``activation`` says so.
        """
        nodes, features = design.offset.shape
        module = cls(design.order, nodes, features, activation, device=device, dtype=dtype)
        module._take(design)
        return module

    def design_(
        self, signals: torch.Tensor | Iterable[torch.Tensor], shift: GraphShift | torch.Tensor
    ) -> DesignedActivation:
        """Design the taps anew from signals ``(..., nodes, features)`` that reach the activation; returns
        itself."""
        self._take(optimal_taps(signals, shift, self.order, self.activation, **self.options))
        return self

    def forward(self, x: torch.Tensor, shift: GraphShift | torch.Tensor) -> torch.Tensor:
        """Return the estimate of ``activation(x)``."""
        # The flag is read once: on a GPU every reading waits for the device.
        self._ready = self._ready or bool(self.designed)
        if not self._ready:
            raise RuntimeError("the taps have not been designed: call design_(signals, shift) first")
        return gains(x, shift, self.taps) + self.offset

    def bank(self) -> torch.Tensor:
        """Return the taps as a filter bank ``(order + 1, nodes, features, features)``."""
        return torch.diag_embed(self.taps)

    def extra_repr(self) -> str:
        """Describe the module."""
        name = self.activation if isinstance(self.activation, str) else getattr(self.activation, "__name__", "function")
        return f"order={self.order}, num_nodes={self.num_nodes}, features={self.features}, activation={name}"

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self._ready = False  # what is loaded may be a module that has not been designed
        super()._load_from_state_dict(*args, **kwargs)

    def _take(self, design: Design) -> None:
        if design.taps.shape != self.taps.shape:
            raise ValueError(
                f"signals gave taps {tuple(design.taps.shape)}, the module has {tuple(self.taps.shape)} "
                "(order + 1, nodes, features)"
            )
        self.taps.copy_(design.taps)
        self.offset.copy_(design.offset)
        self.designed.fill_(True)
