r"""A bank of filters on columns: what ``lsi`` and ``node_variant`` share, and where the time goes.

Signals are ``(nodes, batch, features)`` here: S multiplies one matrix ``(nodes, batch * features)``, and taps multiply
one matrix per node. Two ways compute the same:

- :func:`composed` writes the filter with differentiable operations: for few features, for ``torch.compile`` and
  ``torch.func``, and for derivatives of derivatives;
- :class:`_Bank` has its backward written by hand, with every product into a buffer that exists already, which is what
  makes it fast on a CPU, where fresh large tensors cost as much as the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from nvgf.filters import native
from nvgf.graph import GraphShift
from nvgf.graph.product import transformed

Shift = GraphShift | torch.Tensor
"""A graph shift, or a dense ``(nodes, nodes)`` tensor, in which the filters are differentiable."""

FEW_FEATURES = 8
"""Below this many input features, one product with all taps side by side beats one product per tap."""

LARGE = 8 << 20
"""From this many bytes on, a buffer is worth asking for huge pages."""
_NUMPY = {torch.float32: np.float32, torch.float64: np.float64}


def bank(x: torch.Tensor, shift: Shift, taps: torch.Tensor) -> torch.Tensor:
    """Filter ``x`` of shape ``(nodes, batch, in)`` with ``taps``, ``(order + 1, [nodes,] in, out)``."""
    if x.shape[-1] < FEW_FEATURES or torch.compiler.is_compiling() or transformed(x):
        return composed(x, shift, taps)
    matrix = shift if isinstance(shift, torch.Tensor) else shift.matrix if shift.layout == "dense" else None
    result: torch.Tensor = _Bank.apply(x, matrix, taps, shift)
    return result


def empty(like: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Return an empty tensor; a large one on a CPU comes from numpy.

    numpy asks the system for huge pages and torch does not, and a gradient of hundreds of megabytes takes longer to map
    in small pages than to compute.
    """
    if like.device.type == "cpu" and like.dtype in _NUMPY and math.prod(shape) * like.itemsize >= LARGE:
        return torch.from_numpy(np.empty(tuple(shape), _NUMPY[like.dtype]))
    return like.new_empty(shape)


def steps(x: torch.Tensor, shift: Shift, order: int) -> list[torch.Tensor]:
    """Return ``x, S x, ..., S^K x`` for ``x`` of shape ``(nodes, batch, features)``, differentiable in all."""
    result = [x]
    for _ in range(order):
        columns = result[-1].reshape(len(x), -1)
        shifted = shift @ columns if isinstance(shift, torch.Tensor) else shift.multiply_columns(columns)
        result.append(shifted.view(x.shape))
    return result


def composed(x: torch.Tensor, shift: Shift, taps: torch.Tensor) -> torch.Tensor:
    """Compute the bank as one product of all shifted signals, side by side, with all taps."""
    heard = torch.stack(steps(x, shift, len(taps) - 1), dim=2).flatten(2)
    if taps.ndim == 3:
        return heard @ taps.flatten(0, 1)
    return torch.bmm(heard, taps.transpose(0, 1).flatten(1, 2))


class _Bank(torch.autograd.Function):
    """The bank with its backward written by hand; ``matrix`` is S where S is differentiable, else None."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, matrix: torch.Tensor | None, taps: torch.Tensor, shift: Shift
    ) -> torch.Tensor:
        heard = empty(x, (len(taps), *x.shape))
        heard[0] = x
        for k in range(1, len(taps)):
            _multiply(shift, heard[k - 1], out=heard[k])
        ctx.save_for_backward(x, matrix, taps, heard)
        ctx.shift = shift
        if native.applies(x, taps):
            y = x.new_empty(*x.shape[:2], taps.shape[-1])
            native.weigh(heard, taps, y)
            return y
        y = _product(heard[0], taps[0])
        for k in range(1, len(taps)):
            _add_product(y, heard[k], taps[k])
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        if torch.is_grad_enabled() or transformed(gradients[0]):
            return _differentiable_backward(ctx, *gradients)
        _, matrix, taps, heard = ctx.saved_tensors
        gradient, shift, wanted = gradients[0].contiguous(), ctx.shift, ctx.needs_input_grad
        d_taps: torch.Tensor | None
        d_heard: torch.Tensor | None
        if native.applies(gradient, taps):
            d_taps, d_heard = empty(taps, taps.shape), empty(heard, heard.shape)
            native.gradients(heard, taps, gradient, d_heard, d_taps)
        else:
            d_taps, d_heard = _taps_gradient(heard, gradient, taps) if wanted[2] else None, None
        if not (wanted[0] or wanted[1]):
            return None, None, d_taps, None
        # Backwards through y = sum_k S^k x h_k by Horner's rule: g h_0' + S' (g h_1' + S' (g h_2' + ...)).
        d_matrix = torch.zeros_like(matrix) if wanted[1] else None
        d_x = _product(gradient, taps[-1].mT) if d_heard is None else d_heard[-1]
        spare = torch.empty_like(d_x)
        for k in range(len(taps) - 2, -1, -1):
            if d_matrix is not None:
                d_matrix.addmm_(d_x.flatten(1), heard[k].flatten(1).mT)
            _multiply(shift, d_x, out=spare, transposed=True)
            d_x, spare = spare, d_x
            if d_heard is None:
                _add_product(d_x, gradient, taps[k].mT)
            else:
                d_x += d_heard[k]
        return d_x if wanted[0] else None, d_matrix, d_taps, None


def _differentiable_backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """Let autograd write the backward of the composed bank, so that it can be differentiated again, or mapped over."""
    x, matrix, taps, _ = ctx.saved_tensors
    inputs = [value for value, wanted in zip((x, matrix, taps), ctx.needs_input_grad, strict=False) if wanted]
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        y = composed(x, ctx.shift if matrix is None else matrix, taps)
    found = iter(torch.autograd.grad(y, inputs, gradient, create_graph=again))
    return (*(next(found) if wanted else None for wanted in ctx.needs_input_grad[:3]), None)


def _multiply(shift: Shift, x: torch.Tensor, out: torch.Tensor, transposed: bool = False) -> None:
    if isinstance(shift, torch.Tensor):
        torch.mm(shift.mT if transposed else shift, x.flatten(1), out=out.view(len(x), -1))
    else:
        shift.multiply_into(x.flatten(1), out.view(len(x), -1), transposed)


def _product(x: torch.Tensor, tap: torch.Tensor) -> torch.Tensor:
    return x @ tap if tap.ndim == 2 else torch.bmm(x, tap)


def _add_product(y: torch.Tensor, x: torch.Tensor, tap: torch.Tensor) -> None:
    if tap.ndim == 2:
        y.view(-1, y.shape[-1]).addmm_(x.flatten(0, 1), tap)
    else:
        y.baddbmm_(x, tap)


def _taps_gradient(heard: torch.Tensor, gradient: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    d_taps = empty(taps, taps.shape)
    for k in range(len(taps)):
        if taps.ndim == 3:
            torch.mm(heard[k].flatten(0, 1).mT, gradient.flatten(0, 1), out=d_taps[k])
        elif gradient.shape[1] == 1:
            # For one signal these are outer products, for which a batch of matrix products takes ten times as long.
            torch.mul(heard[k].mT, gradient, out=d_taps[k])
        else:
            torch.bmm(heard[k].mT, gradient, out=d_taps[k])
    return d_taps
