from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nvgf.design.solve import solve_rows, solve_systems


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 6), rank=st.integers(0, 6), seed=st.integers(0, 10**6), log=st.integers(0, 4))
def test_is_the_pseudo_inverse(size, rank, seed, log):
    generator = torch.Generator().manual_seed(seed)
    factor = torch.randn(4, size, min(rank, size), generator=generator, dtype=torch.float64)
    factor = factor * 10.0 ** (log * torch.arange(size) / size)[:, None]  # columns of very different sizes
    gram = factor @ factor.transpose(1, 2)
    cross = (gram @ torch.randn(4, size, 1, generator=generator, dtype=torch.float64))[..., 0]
    taps, ranks = solve_systems(gram, cross)
    expected = (torch.linalg.pinv(factor.transpose(1, 2)) @ torch.linalg.pinv(factor) @ cross[..., None])[..., 0]
    assert torch.allclose(taps, expected, atol=1e-5 * max(1.0, float(expected.abs().max())))
    assert (ranks == min(rank, size)).all()


def test_zero_systems():
    taps, ranks = solve_systems(torch.zeros(3, 2, 2).double(), torch.zeros(3, 2).double())
    assert (taps == 0).all()
    assert (ranks == 0).all()


def test_regular_and_singular_systems_side_by_side():
    gram = torch.stack([torch.eye(2), torch.ones(2, 2)]).double()
    taps, ranks = solve_systems(gram, torch.tensor([[1.0, 2.0], [4.0, 4.0]]).double())
    assert torch.allclose(taps, torch.tensor([[1.0, 2.0], [2.0, 2.0]]).double())
    assert ranks.tolist() == [2, 1]


def test_ridge():
    gram, cross = torch.ones(1, 2, 2).double(), torch.ones(1, 2).double()
    taps, _ = solve_systems(gram, cross, ridge=0.5)
    assert torch.allclose(taps[0], torch.linalg.solve(gram[0] + 0.5 * torch.eye(2), cross[0]))
    with pytest.raises(ValueError, match="ridge must not be negative"):
        solve_systems(gram, cross, ridge=-0.1)


@settings(max_examples=40, deadline=None)
@given(size=st.integers(1, 5), rank=st.integers(0, 5), seed=st.integers(0, 10**6), log=st.integers(0, 4))
def test_rows_are_solved_by_the_pseudo_inverse(size, rank, seed, log):
    generator = torch.Generator().manual_seed(seed)
    rank = min(rank, size)
    rows = torch.randn(3, 7, rank, generator=generator, dtype=torch.float64)
    rows = rows @ torch.randn(3, rank, size, generator=generator, dtype=torch.float64)
    rows = rows * 10.0 ** (log * torch.arange(size) / size)
    target = torch.randn(3, 7, generator=generator, dtype=torch.float64)
    taps, ranks = solve_rows(rows, target)
    expected = (torch.linalg.pinv(rows) @ target[..., None])[..., 0]
    assert torch.allclose(taps, expected, atol=1e-6 * max(1.0, float(expected.abs().max())))
    assert (ranks == rank).all()


def test_rows_keep_the_digits_that_their_products_lose():
    rows = torch.tensor([[1.0, 1.0], [0.0, 1e-9], [0.0, 0.0]], dtype=torch.float64)
    expected = torch.tensor([2e9, -1e9], dtype=torch.float64)
    taps, rank = solve_rows(rows, rows @ expected)
    assert torch.allclose(taps, expected, rtol=1e-6)
    assert rank == 2
    assert solve_systems(rows.T @ rows, rows.T @ rows @ expected)[1] == 1
    assert solve_rows(rows, rows[:, 1], noise=torch.tensor([2.0, 0.0]))[0].tolist() == pytest.approx([0.0, 1.0])
    with pytest.raises(ValueError, match="ridge must not be negative"):
        solve_rows(rows, rows[:, 0], ridge=-1.0)
