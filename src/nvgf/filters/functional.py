"""The two filters of the paper's section 2 as pure functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from nvgf.filters.bank import Shift, bank, steps
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number

Function = TypeVar("Function", bound=Callable[..., torch.Tensor])


def _in_own_precision(function: Function) -> Function:
    """Let a function of ``(x, shift, ...)`` compute in the precision of the shift under autocast."""

    @functools.wraps(function)
    def call(x: torch.Tensor, shift: Shift, *rest: Any, **options: Any) -> torch.Tensor:
        if not isinstance(x, torch.Tensor) or not torch.is_autocast_enabled(x.device.type):
            return function(x, shift, *rest, **options)
        with torch.autocast(x.device.type, enabled=False):
            return function(x.to(shift.dtype), shift, *rest, **options)

    return call  # type: ignore[return-value]


@_in_own_precision
def shifts(x: torch.Tensor, shift: Shift, order: int) -> torch.Tensor:
    r"""Return :math:`S^0 x, \ldots, S^K x`, by K exchanges with neighbours.

    Args:
        x: signals ``(..., nodes, features)``.
        shift: the graph.
        order: K.

    Returns:
        ``(order + 1, ..., nodes, features)``.

    Example:
        >>> path = GraphShift.from_edges([(0, 1), (1, 2)])
        >>> shifts(torch.tensor([[1.0], [0.0], [0.0]]), path, order=2).squeeze(-1)
        tensor([[1., 0., 0.],
                [0., 1., 0.],
                [1., 0., 1.]])
    """
    order = whole_number("order", order, 0)
    check_signals(x, shift)
    return torch.stack([_nodes_last(step, x.shape) for step in steps(_nodes_first(x), shift, order)])


@_in_own_precision
def lsi(x: torch.Tensor, shift: Shift, taps: torch.Tensor) -> torch.Tensor:
    r"""Apply a bank of linear shift-invariant filters: :math:`y^g = \sum_f \sum_k h_k^{fg} S^k x^f`.

    The taps are the same at all nodes, so that the filter commutes with S and creates no frequencies.

    Args:
        x: signals ``(..., nodes, in)``.
        shift: the graph.
        taps: ``(order + 1, in, out)``.

    Returns:
        ``(..., nodes, out)``.

    Example:
        >>> path = GraphShift.from_edges([(0, 1), (1, 2)])
        >>> taps = torch.tensor([1.0, 0.5]).reshape(2, 1, 1)  # x + S x / 2
        >>> lsi(torch.tensor([[2.0], [0.0], [0.0]]), path, taps).squeeze(-1)
        tensor([2., 1., 0.])
    """
    check_signals(x, shift)
    if taps.ndim != 3:
        raise ValueError(f"taps must have shape (order + 1, in, out), got {tuple(taps.shape)}")
    check_taps(x, taps)
    columns = _nodes_first(x)
    if x.shape[-1] <= taps.shape[-1]:
        return _nodes_last(bank(columns, shift, taps), x.shape)
    # Horner's rule: S commutes with the mixing of features, so that only the fewer outputs are shifted.
    y = columns @ taps[-1]
    for tap in taps[:-1].flip(0):
        y = steps(y, shift, 1)[1] + columns @ tap
    return _nodes_last(y, x.shape)


@_in_own_precision
def node_variant(x: torch.Tensor, shift: Shift, taps: torch.Tensor) -> torch.Tensor:
    r"""Apply a bank of node-variant filters: :math:`y^g = \sum_f \sum_k \mathrm{diag}(h^{(k)fg}) S^k x^f`.

    Every node weighs what it heard after k exchanges with taps of its own: linear and local, and yet the output has
    frequencies that the input does not.

    Args:
        x: signals ``(..., nodes, in)``.
        shift: the graph.
        taps: ``(order + 1, nodes, in, out)``.

    Returns:
        ``(..., nodes, out)``.

    Example:
        >>> path = GraphShift.from_edges([(0, 1), (1, 2)])
        >>> taps = torch.tensor([[1.0, 1.0, 1.0], [0.0, 0.5, 0.0]]).reshape(2, 3, 1, 1)
        >>> node_variant(torch.tensor([[2.0], [0.0], [4.0]]), path, taps).squeeze(-1)
        tensor([2., 3., 4.])
    """
    check_signals(x, shift)
    if taps.ndim != 4:
        raise ValueError(f"taps must have shape (order + 1, nodes, in, out), got {tuple(taps.shape)}")
    if taps.shape[1] != x.shape[-2]:
        raise ValueError(f"taps have {taps.shape[1]} nodes, the shift has {x.shape[-2]}")
    check_taps(x, taps)
    return _nodes_last(bank(_nodes_first(x), shift, taps), x.shape)


def _nodes_first(x: torch.Tensor) -> torch.Tensor:
    """View signals ``(..., nodes, features)`` as ``(nodes, batch, features)``."""
    return x.reshape(-1, *x.shape[-2:]).transpose(0, 1)


def _nodes_last(y: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """Undo :func:`_nodes_first` for signals that had ``shape``, as a view: a next filter finds it in order."""
    return y.transpose(0, 1).reshape(*shape[:-1], y.shape[-1])


def check_signals(x: torch.Tensor, shift: Shift) -> None:
    """Raise unless ``x`` is a batch of signals on the graph of ``shift``."""
    if isinstance(shift, GraphShift):
        shift.check_signals(x)
    elif not isinstance(shift, torch.Tensor) or shift.layout != torch.strided or shift.ndim != 2:
        what = f"a {shift.layout} tensor" if isinstance(shift, torch.Tensor) else type(shift).__name__
        raise TypeError(f"shift must be a GraphShift or a dense (nodes, nodes) tensor, got {what}")
    elif shift.shape[0] != shift.shape[1]:
        raise ValueError(f"shift must be square, got shape {tuple(shift.shape)}")
    elif x.ndim < 2 or x.shape[-2] != len(shift):
        raise ValueError(
            f"x must have shape (..., {len(shift)}, features): the shift has {len(shift)} nodes, got {tuple(x.shape)}"
        )


def check_taps(x: torch.Tensor, taps: torch.Tensor) -> None:
    """Raise unless there is a tap of order 0 and the taps take as many features as ``x`` has."""
    if taps.shape[0] == 0:
        raise ValueError("taps are empty: a filter has order + 1 of them, at least one")
    if taps.shape[-2] != x.shape[-1]:
        raise ValueError(f"taps take {taps.shape[-2]} features, x has {x.shape[-1]}")
    if taps.dtype != x.dtype or taps.device != x.device:
        raise ValueError(f"taps are {taps.dtype} on {taps.device}, x is {x.dtype} on {x.device}")
