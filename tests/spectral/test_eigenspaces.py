from __future__ import annotations

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


def test_largest_entry_is_positive():
    vectors = torch.from_numpy(ortho_group.rvs(6, random_state=3))
    basis = canonical_basis(vectors, torch.arange(6))
    assert (basis.gather(0, basis.abs().argmax(0)[None]) > 0).all()


def test_a_chain_of_near_values_is_one_group():
    values = torch.tensor([0.0, 0.9e-3, 1.8e-3, 1.0])
    assert group_numbers(values, 1e-3).tolist() == [0, 0, 0, 1]
    assert group_numbers(values, 0.0).tolist() == [0, 1, 2, 3]
