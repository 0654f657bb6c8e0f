from __future__ import annotations

import time

import pytest
import torch
from scipy.stats import ortho_group

from nvgf.spectral import canonical_basis
from nvgf.spectral.eigenspaces import group_numbers


@pytest.mark.parametrize("seed", range(5))
def test_depends_on_the_space_alone(seed):
    vectors = torch.from_numpy(ortho_group.rvs(7, random_state=seed))
    groups = torch.tensor([0, 0, 0, 1, 2, 2, 3])
    turned = vectors.clone()
    turned[:, :3] @= torch.from_numpy(ortho_group.rvs(3, random_state=seed + 100))
    turned[:, 3] *= -1
    turned[:, 4:6] @= torch.from_numpy(ortho_group.rvs(2, random_state=seed + 100))
    one, other = canonical_basis(vectors, groups), canonical_basis(turned, groups)
    assert torch.allclose(one, other, atol=1e-10)
    assert torch.allclose(one.T @ one, torch.eye(7).double(), atol=1e-12)
    for start, stop in ((0, 3), (3, 4), (4, 6), (6, 7)):
        projector = vectors[:, start:stop] @ vectors[:, start:stop].T
        assert torch.allclose(one[:, start:stop] @ one[:, start:stop].T, projector, atol=1e-12)


def deflated(space: torch.Tensor) -> torch.Tensor:
    """The basis as it is defined: columns of the projector, taken away one after another."""
    rest, basis = space @ space.T, []
    for _ in range(space.shape[1]):
        lengths = rest.square().sum(0)
        node = int((lengths >= lengths.max() * (1 - 1e-6)).to(torch.int8).argmax())
        basis.append(rest[:, node] / lengths[node].sqrt())
        rest = rest - basis[-1][:, None] * (basis[-1] @ rest)
    return torch.stack(basis, dim=1)


@pytest.mark.parametrize("size", [2, 64, 65, 200])
def test_large_spaces_have_the_basis_of_the_definition(size):
    random = torch.from_numpy(ortho_group.rvs(220, random_state=size))[:, :size]
    assert torch.allclose(canonical_basis(random, torch.zeros(size).long()), deflated(random), atol=1e-11)


@pytest.mark.parametrize("leaves", [30, 150])
def test_columns_of_equal_length_are_taken_in_order(leaves):
    # The null space of a star: signals on the leaves that add up to zero, each leaf like every other.
    star = torch.zeros(leaves + 1, leaves + 1, dtype=torch.float64)
    star[0, 1:] = star[1:, 0] = 1
    values, vectors = torch.linalg.eigh(star)
    space = vectors[:, values.abs() < 1e-9]
    basis = canonical_basis(space, torch.zeros(leaves - 1).long())
    # Column t is the first leaf that is left, less the mean of the leaves from there on.
    expected = torch.zeros(leaves + 1, leaves - 1, dtype=torch.float64)
    for t in range(leaves - 1):
        expected[t + 1 :, t] = -1 / (leaves - t)
        expected[t + 1, t] += 1
    assert torch.allclose(basis, expected / expected.norm(dim=0), atol=1e-11)


def test_takes_no_longer_than_a_few_decompositions():
    star = torch.zeros(1200, 1200, dtype=torch.float64)
    star[0, 1:] = star[1:, 0] = 1
    start = time.perf_counter()
    values, vectors = torch.linalg.eigh(star)
    middle = time.perf_counter()
    canonical_basis(vectors, group_numbers(values, 1e-9))
    assert time.perf_counter() - middle < 10 * (middle - start) + 0.3


def test_largest_entry_is_positive():
    vectors = torch.from_numpy(ortho_group.rvs(6, random_state=3))
    basis = canonical_basis(vectors, torch.arange(6))
    assert (basis.gather(0, basis.abs().argmax(0)[None]) > 0).all()


def test_a_chain_of_near_values_is_one_group():
    values = torch.tensor([0.0, 0.9e-3, 1.8e-3, 1.0])
    assert group_numbers(values, 1e-3).tolist() == [0, 0, 0, 1]
    assert group_numbers(values, 0.0).tolist() == [0, 1, 2, 3]
