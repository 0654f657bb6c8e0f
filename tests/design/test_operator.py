from __future__ import annotations

import pytest
import torch

from nvgf.design import approximate_operator, optimal_taps
from nvgf.filters import node_variant
from nvgf.graph import GraphShift


def as_matrix(taps: torch.Tensor, S: GraphShift) -> torch.Tensor:
    identity = torch.eye(S.num_nodes, dtype=torch.float64)[..., None]
    return node_variant(identity, S, taps[..., None, None])[..., 0].T


def test_least_squares_row_by_row(random_graph):
    S = random_graph(12)
    B = torch.randn(12, 12, dtype=torch.float64)
    result = approximate_operator(B, S, 3)
    powers = [torch.linalg.matrix_power(S.to_dense(), k) for k in range(4)]
    for node in range(12):
        rows = torch.stack([p[node] for p in powers], dim=1)
        assert torch.allclose(result.taps[:, node], torch.linalg.lstsq(rows, B[node]).solution, atol=1e-9)
    difference = as_matrix(result.taps, S) - B
    assert torch.allclose(result.squared_error, difference.square().sum(1), atol=1e-9)
    assert result.relative_error == pytest.approx(float(difference.norm() / B.norm()), abs=1e-9)


def test_an_nvgf_is_met_exactly(random_graph):
    S = random_graph(15)
    taps = torch.randn(3, 15, dtype=torch.float64)
    result = approximate_operator(as_matrix(taps, S), S, 2)
    assert torch.allclose(result.taps, taps, atol=1e-9)
    assert result.relative_error < 1e-6


def test_full_order_meets_any_operator(random_graph):
    # A short path, whose eigenvalues are far apart.
    S = GraphShift.from_edges([(0, 1), (1, 2), (2, 3)], [1.0, 2.0, 3.0], dtype=torch.float64)
    B = torch.randn(4, 4, dtype=torch.float64)
    result = approximate_operator(B, S, 3)
    assert torch.allclose(as_matrix(result.taps, S), B, atol=1e-7)


def test_a_function_will_do_and_columns_come_in_pieces():
    S = GraphShift.from_edges([(i, (i + 1) % 600) for i in range(600)], dtype=torch.float64)
    weights = torch.linspace(0, 1, 600, dtype=torch.float64)[:, None]
    result = approximate_operator(lambda x: weights * (S @ x), S, 2)
    assert torch.allclose(result.taps[1], weights[:, 0], atol=1e-9)
    assert result.taps[[0, 2]].abs().max() < 1e-9


def test_is_the_design_for_white_signals(random_graph):
    # An activation design sees only signals; with signals that are exactly white, a linear target is an
    # operator.
    S = random_graph(10)
    white = torch.linalg.qr(torch.randn(80, 10, dtype=torch.float64)).Q
    white = torch.linalg.qr(white - white.mean(0)).Q[..., None]
    design = optimal_taps(white, S, 2, lambda x: 3 * x)
    assert torch.allclose(design.taps[..., 0], approximate_operator(3 * torch.eye(10), S, 2).taps, atol=1e-9)


def test_least_norm_where_powers_coincide():
    # On two nodes S^2 = I: a gain may be split between taps 0 and 2, and the least norm halves it.
    S = GraphShift([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    result = approximate_operator(torch.eye(2), S, 2)
    assert torch.allclose(result.taps, torch.tensor([[0.5, 0.5], [0.0, 0.0], [0.5, 0.5]]).double(), atol=1e-12)


def test_zero_operator(random_graph):
    result = approximate_operator(torch.zeros(5, 5), random_graph(5), 1)
    assert (result.taps == 0).all()
    assert result.relative_error == 0


def test_bad_input(random_graph):
    S = random_graph(5)
    with pytest.raises(ValueError, match=r"operator must have shape \(5, 5\), got \(4, 4\)"):
        approximate_operator(torch.eye(4), S, 1)
    with pytest.raises(ValueError, match=r"operator must map \(nodes, columns\)"):
        approximate_operator(lambda x: x[:2], S, 1)
    with pytest.raises(TypeError, match="operator must be a tensor or a function, got str"):
        approximate_operator("B", S, 1)
    with pytest.raises(ValueError, match="order must be an integer"):
        approximate_operator(torch.eye(5), S, -1)
