"""The linear shift-invariant filter, against its formula, PyTorch Geometric, and what only it can do."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.filters.case import D, FilterCase, random_shift

from nvgf import GraphShift, LSIFilter, lsi, shifts


def naive(x: torch.Tensor, S: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    """The formula with matrix powers, one scalar at a time."""
    y = torch.zeros(*x.shape[:-1], taps.shape[-1], dtype=x.dtype)
    for k in range(taps.shape[0]):
        for f in range(taps.shape[1]):
            for g in range(taps.shape[2]):
                y[..., g] += taps[k, f, g] * (x[..., f] @ torch.linalg.matrix_power(S, k).T)
    return y


class TestLSIFilter(FilterCase):
    def make(self, in_features=1, out_features=1, order=1, **options):
        return LSIFilter(in_features, out_features, order, **options)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 12), st.integers(1, 10), st.integers(1, 10), st.integers(0, 4), st.booleans(), st.integers(0, 999)
)
def test_equals_the_formula(nodes, features, outputs, order, symmetric, seed):
    torch.manual_seed(seed)
    shift = random_shift(nodes, seed, symmetric=symmetric)
    x, taps = torch.randn(2, nodes, features, dtype=D), torch.randn(order + 1, features, outputs, dtype=D)
    expected = naive(x, shift.to_dense(), taps)
    assert torch.allclose(lsi(x, shift, taps), expected, atol=1e-11)
    sparse = GraphShift(shift.to_scipy(), layout="csr", dtype=D)
    assert torch.allclose(lsi(x, sparse, taps), expected, atol=1e-11)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 20), st.integers(0, 5), st.integers(0, 999))
def test_commutes_with_the_shift(nodes, order, seed):
    torch.manual_seed(seed)
    shift = random_shift(nodes, seed, symmetric=False)
    x, taps = torch.randn(nodes, 2, dtype=D), torch.randn(order + 1, 2, 3, dtype=D)
    assert torch.allclose(lsi(shift @ x, shift, taps), shift @ lsi(x, shift, taps), atol=1e-11)


def test_equals_tagconv():
    nn = pytest.importorskip("torch_geometric.nn")
    weights = random_shift(20, 3, symmetric=False).to_dense()
    index = torch.nonzero(weights.T).T
    conv = nn.TAGConv(4, 6, K=3, bias=False, normalize=False).double()
    taps = torch.stack([lin.weight.T for lin in conv.lins])
    x = torch.randn(20, 4, dtype=D)
    weight = weights.T[*index]
    expected = conv(x, index, weight)
    assert torch.allclose(lsi(x, GraphShift.from_edge_index(index, weight), taps), expected, atol=1e-12)


def test_shifts():
    shift = random_shift(9, symmetric=False)
    x = torch.randn(2, 3, 9, 2, dtype=D)
    y = shifts(x, shift, 3)
    assert y.shape == (4, 2, 3, 9, 2)
    for k in range(4):
        assert torch.allclose(y[k], torch.linalg.matrix_power(shift.to_dense(), k) @ x)
    with pytest.raises(ValueError, match="order must be a whole number"):
        shifts(x, shift, -1)


@pytest.mark.parametrize(
    ("taps", "message"),
    [
        (torch.ones(3, dtype=D), r"taps must have shape \(order \+ 1, in, out\), got \(3,\)"),
        (torch.ones(0, 1, 1, dtype=D), "taps are empty: a filter has order"),
        (torch.ones(2, 4, 1, dtype=D), "taps take 4 features, x has 1"),
    ],
)
def test_bad_taps(taps, message):
    with pytest.raises(ValueError, match=message):
        lsi(torch.ones(9, 1, dtype=D), random_shift(), taps)
