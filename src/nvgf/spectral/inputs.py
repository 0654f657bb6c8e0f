"""What the analysis rooms accept as a graph and as a filter, and the one form they work on: float64."""

from __future__ import annotations

from typing import Any

import torch

from nvgf.graph import GraphShift


def analysis_shift(shift: GraphShift | torch.Tensor) -> GraphShift:
    """Return the shift in float64, apart from any gradient; a dense tensor ``(nodes, nodes)`` is wrapped.

    Example:
        >>> analysis_shift(torch.eye(2)).dtype
        torch.float64
    """
    if isinstance(shift, GraphShift):
        return shift.to(dtype=torch.float64)
    if isinstance(shift, torch.Tensor):
        return GraphShift(shift.detach().double())
    raise TypeError(f"shift must be a GraphShift or a tensor (nodes, nodes), got {type(shift).__name__}")


def filter_bank(filter: Any, num_nodes: int) -> torch.Tensor:
    """Return the taps of any filter as a node-variant bank in float64.

    Args:
        filter: taps, ``(order + 1,)`` or ``(order + 1, in, out)`` of an LSI filter, ``(order + 1, nodes)`` or
            ``(order + 1, nodes, in, out)`` of an NVGF; or an object with a method ``node_taps()``
            (group-shared taps arrive there expanded), a method ``bank()`` (a design), or an attribute
            ``taps``.
        num_nodes: of the graph.

    Returns:
        ``(order + 1, nodes, in, out)``

    Example:
        >>> filter_bank(torch.tensor([1.0, 2.0]), 5).shape
        torch.Size([2, 5, 1, 1])
    """
    taps = filter
    if not isinstance(taps, torch.Tensor):
        for method in ("node_taps", "bank"):
            if callable(getattr(filter, method, None)):
                taps = getattr(filter, method)()
                break
        else:
            taps = getattr(filter, "taps", None)
    if not isinstance(taps, torch.Tensor):
        raise TypeError(f"filter must be a tensor of taps or a filter that has some, got {type(filter).__name__}")
    taps = taps.detach().double()
    if taps.ndim not in (1, 2, 3, 4) or taps.numel() == 0:
        raise ValueError(
            "taps must have shape (order + 1,), (order + 1, in, out), (order + 1, nodes) or "
            f"(order + 1, nodes, in, out), got {tuple(taps.shape)}"
        )
    if not bool(torch.isfinite(taps).all()):
        raise ValueError("taps must be finite, got NaN or infinity")
    if taps.ndim in (2, 4) and taps.shape[1] != num_nodes:
        raise ValueError(f"taps have {taps.shape[1]} nodes, the shift has {num_nodes}")
    if taps.ndim == 1:
        taps = taps[:, None, None]
    if taps.ndim == 2:
        return taps[:, :, None, None]
    if taps.ndim == 3:
        return taps[:, None].expand(-1, num_nodes, -1, -1)
    return taps


def check_signals(x: torch.Tensor, num_nodes: int, what: str = "signals") -> torch.Tensor:
    """Return signals ``(..., nodes, features)`` as ``(samples, nodes, features)``, or raise and say what is
    wrong."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{what} must be a tensor (samples, nodes, features), got {type(x).__name__}")
    if x.ndim < 2 or x.shape[-2] != num_nodes:
        raise ValueError(
            f"{what} must have shape (samples, {num_nodes}, features): the shift has {num_nodes} nodes, "
            f"got {tuple(x.shape)}"
        )
    if not x.dtype.is_floating_point:
        raise TypeError(f"{what} must be floating, got {x.dtype}")
    x = x.detach().reshape(-1, *x.shape[-2:])
    if not bool(torch.isfinite(x).all()):
        raise ValueError(f"{what} must be finite, got NaN or infinity")
    return x
