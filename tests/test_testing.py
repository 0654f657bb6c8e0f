"""The public helpers find what they are there to find."""

from __future__ import annotations

import pytest
import torch

from nvgf import GraphShift, testing

PATH = GraphShift.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])


def test_linear():
    testing.assert_linear(lambda x, shift: 2 * x, PATH)
    with pytest.raises(AssertionError, match="the filter is not linear"):
        testing.assert_linear(lambda x, shift: x + 1, PATH)


def test_local():
    testing.assert_local(lambda x, shift: shift @ x, PATH, hops=1)
    with pytest.raises(AssertionError, match="node 1 hears node 0, which is more than 0 hops away"):
        testing.assert_local(lambda x, shift: shift @ x, PATH, hops=0)


def test_local_moves_features_apart():
    def differences_everywhere(x, shift):
        return (x[..., :1] - x[..., 1:]).mean(-2, keepdim=True).expand(-1, 5, -1)

    with pytest.raises(AssertionError, match="the filter is not local"):
        testing.assert_local(differences_everywhere, PATH, hops=2, features=2)


def test_permutation_equivariant():
    position = torch.arange(5.0).unsqueeze(1)
    with pytest.raises(AssertionError, match="not permutation equivariant"):
        testing.assert_permutation_equivariant(lambda x, shift: x * position, PATH)
    pair = GraphShift.from_edges([(0, 1)])
    for seed in range(4):
        with pytest.raises(AssertionError, match="not permutation equivariant"):
            testing.assert_permutation_equivariant(lambda x, shift: x * position[1:3], pair, seed=seed)


def test_dense_equals_sparse():
    def differs(x, shift):
        return x * (2 if shift.layout == "csr" else 1)

    with pytest.raises(AssertionError, match="dense and sparse differ: the outputs on CSR"):
        testing.assert_dense_equals_sparse(differs, PATH)


def test_shapes_are_compared():
    with pytest.raises(AssertionError, match="has shape"):
        testing.assert_dense_equals_sparse(lambda x, s: x.sum(-2) if s.layout == "csr" else x, PATH)


def test_what_is_not_finite_passes_no_check():
    checks = (
        testing.assert_linear,
        lambda module, shift: testing.assert_local(module, shift, hops=1),
        testing.assert_permutation_equivariant,
        testing.assert_dense_equals_sparse,
    )
    for check in checks:
        with pytest.raises(AssertionError, match="makes NaN or infinity of finite signals"):
            check(lambda x, shift: x / 0, PATH)
