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


def test_permutation_equivariant():
    position = torch.arange(5.0).unsqueeze(1)
    with pytest.raises(AssertionError, match="not permutation equivariant"):
        testing.assert_permutation_equivariant(lambda x, shift: x * position, PATH)


def test_dense_equals_sparse():
    def differs(x, shift):
        return x * (2 if shift.layout == "csr" else 1)

    with pytest.raises(AssertionError, match="dense and sparse differ: the outputs on CSR"):
        testing.assert_dense_equals_sparse(differs, PATH)


def test_shapes_are_compared():
    with pytest.raises(AssertionError, match="has shape"):
        testing.assert_dense_equals_sparse(lambda x, s: x.sum(-2) if s.layout == "csr" else x, PATH)
    with pytest.raises(AssertionError, match="relative error nan"):
        testing.assert_linear(lambda x, shift: x / 0, PATH)
