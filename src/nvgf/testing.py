"""Checks for filters and graph layers, one's own or this library's.

Each takes any callable ``module(x, shift)`` from signals ``(batch, nodes, features)`` to ``(batch, nodes, outputs)``,
draws random signals from ``seed``, and raises an ``AssertionError`` that says by how much the property fails.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from nvgf.graph import GraphShift

Filter = Callable[[torch.Tensor, GraphShift], torch.Tensor]


def assert_linear(
    module: Filter, shift: GraphShift, features: int = 1, *, tolerance: float | None = None, seed: int = 0
) -> None:
    r"""Check :math:`f(ax + by) = a f(x) + b f(y)`.

    Example:
        >>> from nvgf import LSIFilter
        >>> path = GraphShift.from_edges([(0, 1), (1, 2)])
        >>> assert_linear(LSIFilter(1, 4, order=2), path)
        >>> assert_linear(lambda x, shift: x.relu(), path)
        Traceback (most recent call last):
        AssertionError: the filter is not linear: f(2x - 3y) is off by a relative error 4.16
    """
    x, y = (_signals(shift, features, seed + n) for n in (0, 1))
    mixed = _answer(module, 2 * x - 3 * y, shift)
    parts = 2 * _answer(module, x, shift) - 3 * _answer(module, y, shift)
    _assert_close(mixed, parts, tolerance, "the filter is not linear: f(2x - 3y)")


def assert_local(module: Filter, shift: GraphShift, hops: int, features: int = 1, *, seed: int = 0) -> None:
    """Check that a node's output depends on no signal further than ``hops`` edges away.

    Example:
        >>> from nvgf import LSIFilter
        >>> path = GraphShift.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> assert_local(LSIFilter(1, 1, order=2), path, hops=2)
        >>> assert_local(LSIFilter(1, 1, order=2), path, hops=1)
        Traceback (most recent call last):
        AssertionError: the filter is not local: node 2 hears node 0, which is more than 1 hops away
    """
    x = _signals(shift, features, seed, batch=1)
    reach = torch.eye(shift.num_nodes, dtype=torch.bool, device=shift.device)
    links = shift.to_dense() != 0
    for _ in range(hops):
        reach = reach | ((links.double() @ reach.double()) > 0)
    before = _answer(module, x, shift)
    moved = x.repeat(shift.num_nodes, 1, 1)
    index = torch.arange(shift.num_nodes, device=shift.device)
    # Each feature moves by an amount of its own, so that no difference of features stays as it was.
    moved[index, index] += 1 + _signals(shift, features, seed + 1, batch=1)[0].abs()
    # Changing the signal at node j (batch entry j) must leave the outputs out of j's reach as they were, to the bit
    # up to the order of sums in a batch.
    heard = (_answer(module, moved, shift) - before).abs().amax(dim=-1) > _tolerance(before) * before.abs().max()
    wrong = torch.nonzero(heard & ~reach.T)
    if len(wrong):
        source, node = wrong[0].tolist()
        raise AssertionError(
            f"the filter is not local: node {node} hears node {source}, which is more than {hops} hops away"
        )


def assert_permutation_equivariant(
    module: Filter,
    shift: GraphShift,
    features: int = 1,
    *,
    permuted: Callable[[torch.Tensor], Filter] | None = None,
    tolerance: float | None = None,
    seed: int = 0,
) -> None:
    r"""Check :math:`f(Px; P S P^T) = P f(x; S)`.

    A filter with weights of its own at each node is equivariant only if these are permuted too: ``permuted(order)``
    returns the filter for the graph whose node ``i`` was ``order[i]``.

    Example:
        >>> from nvgf import LSIFilter, node_variant
        >>> path = GraphShift.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> assert_permutation_equivariant(LSIFilter(1, 2, order=2), path)
        >>> taps = torch.randn(3, 4, 1, 1)
        >>> assert_permutation_equivariant(
        ...     lambda x, shift: node_variant(x, shift, taps), path,
        ...     permuted=lambda order: lambda x, shift: node_variant(x, shift, taps[:, order]))
    """
    x = _signals(shift, features, seed)
    # A random cycle through all nodes: none stays where it was.
    cycle = torch.randperm(shift.num_nodes, generator=torch.Generator().manual_seed(seed))
    order = torch.empty_like(cycle)
    order[cycle] = cycle.roll(1)
    other = module if permuted is None else permuted(order)
    _assert_close(
        _answer(other, x[:, order], shift.permuted(order)),
        _answer(module, x, shift)[:, order],
        tolerance,
        "the filter is not permutation equivariant: f(Px; PSP')",
    )


def assert_dense_equals_sparse(
    module: Filter, shift: GraphShift, features: int = 1, *, tolerance: float | None = None, seed: int = 0
) -> None:
    """Check that outputs and gradients are the same on the dense and on the CSR form of the shift.

    Example:
        >>> from nvgf import LSIFilter
        >>> assert_dense_equals_sparse(LSIFilter(1, 2, order=2), GraphShift.from_edges([(0, 1), (1, 2)]))
    """
    found = []
    for layout in ("dense", "csr"):
        x = _signals(shift, features, seed).requires_grad_()
        form = GraphShift(shift.to_scipy(), names=shift.names, layout=layout, dtype=shift.dtype, device=shift.device)
        y = _answer(module, x, form)
        found.append((y, torch.autograd.grad((y * y).sum(), x)[0]))
    for (dense, csr), what in zip(zip(*found, strict=True), ("outputs", "gradients"), strict=True):
        _assert_close(csr, dense, tolerance, f"dense and sparse differ: the {what} on CSR")


def _answer(module: Filter, x: torch.Tensor, shift: GraphShift) -> torch.Tensor:
    y = module(x, shift)
    if not bool(torch.isfinite(y).all()):
        raise AssertionError("the filter makes NaN or infinity of finite signals")
    return y


def _signals(shift: GraphShift, features: int, seed: int, batch: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, shift.num_nodes, features, generator=generator, dtype=torch.float64)
    return x.to(dtype=shift.dtype, device=shift.device)


def _tolerance(y: torch.Tensor) -> float:
    return 1e3 * torch.finfo(y.dtype).eps


def _assert_close(found: torch.Tensor, expected: torch.Tensor, tolerance: float | None, what: str) -> None:
    if found.shape != expected.shape:
        raise AssertionError(f"{what} has shape {tuple(found.shape)}, expected {tuple(expected.shape)}")
    scale = float(expected.detach().abs().max()) or 1.0
    error = float((found - expected).detach().abs().max()) / scale
    if not error <= (tolerance if tolerance is not None else _tolerance(expected)):
        raise AssertionError(f"{what} is off by a relative error {error:.3g}")
