"""The node-variant filter, against its formula, and its two limits: one group, and a group a node."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.filters.case import D, FilterCase, random_shift

from nvgf import GraphShift, NodeVariantFilter, lsi, node_variant


def naive(x: torch.Tensor, S: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    """The formula with matrix powers and diagonal matrices, one pair of features at a time."""
    y = torch.zeros(*x.shape[:-1], taps.shape[-1], dtype=x.dtype)
    for f in range(taps.shape[2]):
        for g in range(taps.shape[3]):
            operator = sum(torch.diag(taps[k, :, f, g]) @ torch.linalg.matrix_power(S, k) for k in range(len(taps)))
            y[..., g] += x[..., f] @ operator.T
    return y


class TestNodeVariantFilter(FilterCase):
    def make(self, in_features=1, out_features=1, order=1, **options):
        return NodeVariantFilter(in_features, out_features, order, self.nodes, **options)

    def permuted(self, module):
        def move(order):
            moved = copy.deepcopy(module)
            moved.taps.data = module.taps.data[:, order]
            return moved

        return move


class TestHybridFilter(FilterCase):
    groups = (0, 1, 2, 0, 1, 0, 2, 2, 1)

    def make(self, in_features=1, out_features=1, order=1, **options):
        return NodeVariantFilter(in_features, out_features, order, self.nodes, groups=self.groups, **options)

    def permuted(self, module):
        def move(order):
            moved = copy.deepcopy(module)
            moved.groups = module.groups[order]
            return moved

        return move

    def test_repr_makes_the_module_again(self, sizes):
        module = self.make(*sizes, bias=True)
        size = f"{sizes[0]}, {sizes[1]}, order={sizes[2]}"
        assert repr(module) == f"NodeVariantFilter({size}, num_nodes=9, groups=3, bias=True)"

    def test_parameters_do_not_grow_with_the_graph(self):
        small = NodeVariantFilter(2, 3, 4, 10, groups=np.arange(10) % 5)
        large = NodeVariantFilter(2, 3, 4, 1000, groups=np.arange(1000) % 5)
        assert small.taps.shape == large.taps.shape == (5, 5, 2, 3)

    def test_groups_travel_in_the_state_dict(self):
        module, other = self.make(), NodeVariantFilter(1, 1, 1, 9, groups=[2, 1, 0] * 3)
        other.load_state_dict(module.state_dict())
        assert torch.equal(other.node_taps(), module.node_taps())


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 12), st.integers(1, 10), st.integers(1, 10), st.integers(0, 4), st.booleans(), st.integers(0, 999)
)
def test_equals_the_formula(nodes, features, outputs, order, symmetric, seed):
    torch.manual_seed(seed)
    shift = random_shift(nodes, seed, symmetric=symmetric)
    x, taps = torch.randn(2, nodes, features, dtype=D), torch.randn(order + 1, nodes, features, outputs, dtype=D)
    expected = naive(x, shift.to_dense(), taps)
    assert torch.allclose(node_variant(x, shift, taps), expected, atol=1e-11)
    sparse = GraphShift(shift.to_scipy(), layout="csr", dtype=D)
    assert torch.allclose(node_variant(x, sparse, taps), expected, atol=1e-11)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 20), st.integers(1, 9), st.integers(0, 4), st.integers(0, 999))
def test_equal_rows_of_taps_make_it_shift_invariant(nodes, features, order, seed):
    torch.manual_seed(seed)
    shift = random_shift(nodes, seed)
    x, taps = torch.randn(nodes, features, dtype=D), torch.randn(order + 1, features, 3, dtype=D)
    same = taps.unsqueeze(1).expand(-1, nodes, -1, -1)
    assert torch.allclose(node_variant(x, shift, same), lsi(x, shift, taps), atol=1e-11)


def test_a_group_a_node_is_the_full_filter():
    shift, x = random_shift(), torch.randn(3, 9, 2, dtype=D)
    full = NodeVariantFilter(2, 3, 2, 9, dtype=D)
    hybrid = NodeVariantFilter(2, 3, 2, 9, groups=torch.arange(9), dtype=D)
    hybrid.taps.data = full.taps.data
    assert torch.equal(hybrid(x, shift), full(x, shift))


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([0, 1], ValueError, r"groups must hold one group for each of the 9 nodes, got \(2,\)"),
        ([0, 2] * 4 + [0], ValueError, "groups must be numbered 0, 1, 2"),
        ([-1] * 9, ValueError, "groups must be numbered"),
        ([0.0] * 9, TypeError, "groups must be whole numbers, got torch.float32"),
    ],
)
def test_bad_groups(groups, error, message):
    with pytest.raises(error, match=message):
        NodeVariantFilter(1, 1, 1, 9, groups=groups)


@pytest.mark.parametrize(
    ("taps", "message"),
    [
        (torch.ones(3, 1, 1, dtype=D), r"taps must have shape \(order \+ 1, nodes, in, out\), got \(3, 1, 1\)"),
        (torch.ones(3, 8, 1, 1, dtype=D), "taps have 8 nodes, the shift has 9"),
        (torch.ones(0, 9, 1, 1, dtype=D), "taps are empty"),
        (torch.ones(3, 9, 4, 1, dtype=D), "taps take 4 features, x has 1"),
    ],
)
def test_bad_taps(taps, message):
    with pytest.raises(ValueError, match=message):
        node_variant(torch.ones(9, 1, dtype=D), random_shift(), taps)


def test_no_nodes():
    with pytest.raises(ValueError, match="num_nodes must be at least 1, got 0"):
        NodeVariantFilter(1, 1, 1, 0)


@pytest.mark.parametrize("dtype", [torch.float32, D])
def test_compiled_kernels_equal_torch(monkeypatch, dtype):
    """One signal takes the compiled kernels where numba is there, and torch's products where it is not."""
    pytest.importorskip("numba")
    shift = random_shift(40, layout="csr", symmetric=False).to(dtype=dtype)
    x, taps = torch.randn(40, 9, dtype=dtype), torch.randn(4, 40, 9, 5, dtype=dtype)
    found = []
    for compiled in (True, False):
        monkeypatch.setattr("nvgf.graph.native.available", lambda compiled=compiled: compiled)
        leaves = [x.clone().requires_grad_(), taps.clone().requires_grad_()]
        y = node_variant(leaves[0], shift, leaves[1])
        found.append([y, *torch.autograd.grad(y.square().sum(), leaves)])
    for ours, oracle in zip(*found, strict=True):
        assert torch.allclose(ours, oracle, rtol=1e-4 if dtype == torch.float32 else 1e-12, atol=1e-4)
