"""The pointwise functions that have a name."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import torch
from torch.nn import functional

Pointwise = Callable[[torch.Tensor], torch.Tensor]

ACTIVATIONS = MappingProxyType(
    {
        "relu": torch.relu,
        "tanh": torch.tanh,
        "abs": torch.abs,
        "sigmoid": torch.sigmoid,
        "leaky-relu": functional.leaky_relu,
        "elu": functional.elu,
        "gelu": functional.gelu,
        "softplus": functional.softplus,
    }
)
"""Names that stand for a pointwise function wherever an ``activation`` is asked for."""


def pointwise(activation: str | Pointwise) -> Pointwise:
    """Return the function that a name stands for; a function stands for itself.

    Example:
        >>> pointwise("relu")(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)} or a function, got {activation!r}")
        return ACTIVATIONS[activation]
    if not callable(activation):
        raise TypeError(f"activation must be a name or a pointwise function, got {type(activation).__name__}")
    return activation


def apply_pointwise(activation: Pointwise, x: torch.Tensor) -> torch.Tensor:
    """Return ``activation(x)``, checked: the same shape, finite, apart from any gradient; ``x`` stays as it is.

    A function that is not one of :data:`ACTIVATIONS` is given a copy, since it may work in place.
    """
    harmless = any(activation is function for function in ACTIVATIONS.values())
    with torch.no_grad():
        y = activation(x if harmless else x.clone())
    if not isinstance(y, torch.Tensor) or y.shape != x.shape:
        shape = tuple(y.shape) if isinstance(y, torch.Tensor) else type(y).__name__
        raise ValueError(f"activation must be pointwise: it made {shape} of signals {tuple(x.shape)}")
    if not bool(torch.isfinite(y).all()):
        raise ValueError("activation must give finite values on the signals, got NaN or infinity")
    return y.to(x.dtype)
