"""The two filters of the paper's section 2 as pure functions.

Internally signals are columns: ``(nodes, batch * features)``, one matrix that S multiplies in one product.
"""

from __future__ import annotations

import torch

from nvgf.graph import GraphShift
from nvgf.graph.shift import from_columns, to_columns

Shift = GraphShift | torch.Tensor
"""A graph shift, or a dense ``(nodes, nodes)`` tensor, in which the filters are differentiable."""


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
    check_order(order)
    check_signals(x, shift)
    return torch.stack([from_columns(step, x.shape) for step in _steps(x, shift, order)])


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
    terms, features, outputs = taps.shape
    if features > outputs:
        # Horner's rule: S commutes with the mixing of features, so that only the fewer outputs are shifted.
        y = x @ taps[-1]
        for tap in taps[:-1].flip(0):
            y = _multiply(shift, y) + x @ tap
        return y
    y = x @ taps[0]
    for step, tap in zip(_steps(x, shift, terms - 1)[1:], taps[1:], strict=True):
        y = y + from_columns(step, x.shape) @ tap
    return y


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
    terms, nodes, features, outputs = taps.shape
    # A batch of matrix products, one a node: its signals (batch, in) after k exchanges times its taps (in, out).
    heard = [step.reshape(nodes, -1, features) for step in _steps(x, shift, terms - 1)]
    y = torch.bmm(heard[0], taps[0])
    for step, tap in zip(heard[1:], taps[1:], strict=True):
        y = torch.baddbmm(y, step, tap)
    return from_columns(y.reshape(nodes, -1), x.shape[:-1] + (outputs,))


def _steps(x: torch.Tensor, shift: Shift, order: int) -> list[torch.Tensor]:
    steps = [to_columns(x)]
    for _ in range(order):
        steps.append(_multiply_columns(shift, steps[-1]))
    return steps


def _multiply(shift: Shift, x: torch.Tensor) -> torch.Tensor:
    return from_columns(_multiply_columns(shift, to_columns(x)), x.shape)


def _multiply_columns(shift: Shift, columns: torch.Tensor) -> torch.Tensor:
    return shift @ columns if isinstance(shift, torch.Tensor) else shift.multiply_columns(columns)


def check_order(order: int) -> None:
    """Raise unless ``order`` is a whole number, at least 0."""
    if not isinstance(order, int) or isinstance(order, bool) or order < 0:
        raise ValueError(f"order must be a whole number of at least 0, got {order!r}")


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
