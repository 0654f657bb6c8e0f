"""The product of a CSR matrix with many columns: one operator, two kernels, a backward that needs no transposing.

The transposed matrix travels with the matrix, so that the backward pass is the same fast product. As a
``torch.library`` operator it is opaque to ``torch.compile`` and differentiable any number of times.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import torch

from nvgf.graph import native


class CSR(NamedTuple):
    """The three arrays of a compressed sparse row matrix."""

    crow: torch.Tensor
    col: torch.Tensor
    values: torch.Tensor


with warnings.catch_warnings():
    # torch says once a process that its CSR layout is in beta; say it here, where nobody has to read it.
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1), size=(1, 1))


@torch.library.custom_op("nvgf::csr_product", mutates_args=())
def csr_product(
    crow: torch.Tensor,
    col: torch.Tensor,
    values: torch.Tensor,
    crow_t: torch.Tensor,
    col_t: torch.Tensor,
    values_t: torch.Tensor,
    x: torch.Tensor,
) -> torch.Tensor:
    """Return ``A @ x`` for a square CSR matrix A, given with its transpose, and ``x`` of shape ``(nodes, columns)``."""
    if native.available() and x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64):
        return native.csr_product(crow, col, values, x)
    matrix = torch.sparse_csr_tensor(crow, col, values, size=(len(crow) - 1, len(crow) - 1))
    return matrix @ x


@csr_product.register_fake
def _(crow, col, values, crow_t, col_t, values_t, x):  # type: ignore[no-untyped-def]
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _setup_context(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
    ctx.save_for_backward(*inputs[:6])


def _backward(ctx, gradient):  # type: ignore[no-untyped-def]
    crow, col, values, crow_t, col_t, values_t = ctx.saved_tensors
    return (
        None, None, None, None, None, None,
        csr_product(crow_t, col_t, values_t, crow, col, values, gradient.contiguous()),
    )  # fmt: skip


csr_product.register_autograd(_backward, setup_context=_setup_context)
