"""The CSR product as a threaded loop over rows, compiled by numba when the extra ``fast`` is installed.

The torch path is its oracle: both give the same numbers up to the order of a row's sum.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from typing import Any

import torch


@cache
def available() -> bool:
    """Whether the native kernel can be used; ``NVGF_NATIVE=0`` turns it off."""
    return os.environ.get("NVGF_NATIVE", "1") != "0" and importlib.util.find_spec("numba") is not None


def takes(x: torch.Tensor) -> bool:
    """Whether the native kernels work on tensors like ``x``."""
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)


def use_torch_threads() -> None:
    """Give numba as many threads as torch has. They share OpenMP, and starting numba's would undo torch's number."""
    import numba

    threads = torch.get_num_threads()
    numba.set_num_threads(min(threads, numba.get_num_threads()))
    torch.set_num_threads(threads)


def csr_product(
    crow: torch.Tensor, col: torch.Tensor, values: torch.Tensor, x: torch.Tensor, out: torch.Tensor
) -> None:
    """Write ``A @ x`` into ``out``, for tensors on the CPU."""
    _kernel()(crow.numpy(), col.numpy(), values.detach().numpy(), x.detach().contiguous().numpy(), out.numpy())


@cache
def _kernel() -> Any:
    import numba

    @numba.njit(parallel=True, fastmath={"contract", "reassoc", "nsz"}, cache=True, nogil=True)
    def product(crow, col, values, x, out):  # type: ignore[no-untyped-def]
        # Entries by index, not rows as slices: a third faster, since the compiler sees the strides.
        for row in numba.prange(out.shape[0]):
            for c in range(x.shape[1]):
                out[row, c] = 0
            for position in range(crow[row], crow[row + 1]):
                weight, source = values[position], col[position]
                for c in range(x.shape[1]):
                    out[row, c] += weight * x[source, c]

    use_torch_threads()
    return product
