"""The node-variant filter of one signal in one pass over its taps, compiled by numba when the extra ``fast`` is there.

On a large graph the taps are by far the most memory, and for one signal a batch of tiny matrix products reads them at
a fraction of the speed of memory. The products of :mod:`nvgf.filters.bank` are the oracle.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from nvgf.graph import native


def applies(x: torch.Tensor, taps: torch.Tensor) -> bool:
    """Whether the kernels take signals ``(nodes, batch, in)`` with these taps: one signal, node-variant, on a CPU."""
    return taps.ndim == 4 and x.shape[1] == 1 and native.available() and native.takes(x) and taps.is_contiguous()


def weigh(heard: torch.Tensor, taps: torch.Tensor, out: torch.Tensor) -> None:
    r"""Write :math:`\sum_k z_k h_k` at each node into ``out``; ``heard`` is z, ``(order + 1, nodes, 1, in)``."""
    _kernels()[0](heard[:, :, 0].numpy(), taps.detach().numpy(), out[:, 0].numpy())


def gradients(
    heard: torch.Tensor, taps: torch.Tensor, gradient: torch.Tensor, d_heard: torch.Tensor, d_taps: torch.Tensor
) -> None:
    """Write the gradients of what was heard and of the taps, in one pass over the taps."""
    arrays = heard[:, :, 0], taps.detach(), gradient[:, 0], d_heard[:, :, 0], d_taps
    _kernels()[1](*(array.numpy() for array in arrays))


@cache
def _kernels() -> tuple[Any, Any]:
    import numba

    fastmath = {"contract", "reassoc", "nsz"}
    options: dict[str, Any] = {"parallel": True, "fastmath": fastmath, "cache": True, "nogil": True}

    @numba.njit(**options)
    def weigh_kernel(heard, taps, out):  # type: ignore[no-untyped-def]
        terms, nodes, features, outputs = taps.shape
        for node in numba.prange(nodes):
            for g in range(outputs):
                out[node, g] = 0
            for k in range(terms):
                for f in range(features):
                    value = heard[k, node, f]
                    for g in range(outputs):
                        out[node, g] += value * taps[k, node, f, g]

    @numba.njit(**options)
    def gradients_kernel(heard, taps, gradient, d_heard, d_taps):  # type: ignore[no-untyped-def]
        terms, nodes, features, outputs = taps.shape
        for node in numba.prange(nodes):
            for k in range(terms):
                for f in range(features):
                    value, total = heard[k, node, f], taps.dtype.type(0)
                    for g in range(outputs):
                        total += gradient[node, g] * taps[k, node, f, g]
                        d_taps[k, node, f, g] = value * gradient[node, g]
                    d_heard[k, node, f] = total

    native.use_torch_threads()
    return weigh_kernel, gradients_kernel
