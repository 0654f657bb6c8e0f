"""The product of a CSR matrix with many columns: one operator, two kernels, a backward that needs no transposing.

The transposed matrix travels with the matrix, so that the backward pass is the same fast product. As a
``torch.library`` operator it is opaque to ``torch.compile`` and differentiable any number of times.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse

from nvgf.graph import native


class CSR(NamedTuple):
    """The three arrays of a compressed sparse row matrix."""

    crow: torch.Tensor
    col: torch.Tensor
    values: torch.Tensor

    @classmethod
    def of(cls, matrix: sparse.csr_array, dtype: torch.dtype, device: torch.device | str | None) -> CSR:
        """Return a matrix of scipy, sorted, with indices as small as they can be."""
        matrix = sparse.csr_array(matrix)
        matrix.sort_indices()
        index = np.int32 if matrix.nnz < 2**31 else np.int64
        pointers, columns = (torch.from_numpy(part.astype(index)) for part in (matrix.indptr, matrix.indices))
        return cls(pointers.to(device), columns.to(device), torch.from_numpy(matrix.data).to(device, dtype))

    def to(self, device: torch.device | str | None, dtype: torch.dtype | None) -> CSR:
        """Return the matrix on another device, its values in another dtype."""
        return CSR(self.crow.to(device), self.col.to(device), self.values.to(device=device, dtype=dtype))


def csr_product_into(matrix: CSR, x: torch.Tensor, out: torch.Tensor) -> None:
    """Write ``A @ x`` into the contiguous ``out``, with the native kernel where there is one."""
    if native.available() and native.takes(x):
        native.csr_product(*matrix, x, out)
    else:
        nodes = len(matrix.crow) - 1
        torch.mm(torch.sparse_csr_tensor(*matrix, size=(nodes, nodes)), x, out=out)


def transformed(x: torch.Tensor) -> bool:
    """Return whether torch differentiates forwards here, or maps over a batch: no hand-written backward serves that."""
    if torch.compiler.is_compiling():
        return False
    return (
        torch._C._are_functorch_transforms_active()
        or torch.autograd.forward_ad._current_level >= 0
        or torch._C._functorch.is_legacy_batchedtensor(x)
    )


def composed_product(matrix: CSR, x: torch.Tensor) -> torch.Tensor:
    """Return ``A @ x`` by differentiable operations, one edge a row: slower, and open to every transformation."""
    rows = torch.repeat_interleave(torch.arange(len(matrix.crow) - 1, device=x.device), matrix.crow.diff())
    return torch.zeros_like(x).index_add(0, rows, matrix.values.unsqueeze(1) * x[matrix.col.long()])


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
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    csr_product_into(CSR(crow, col, values), x, out)
    return out


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
