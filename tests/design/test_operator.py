from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

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


def test_a_function_will_do_and_columns_come_in_pieces(monkeypatch):
    monkeypatch.setattr("nvgf.design.operator.CHUNK", 600 * 4 * 250)
    S = GraphShift.from_edges([(i, (i + 1) % 600) for i in range(600)], dtype=torch.float64)
    weights = torch.linspace(0, 1, 600, dtype=torch.float64)[:, None]
    asked = []
    result = approximate_operator(lambda x: asked.append(x.shape[1]) or weights * (S @ x), S, 2)
    assert asked == [250, 250, 100] * 2
    assert result.relative_error < 1e-14
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


def rows_of(S: GraphShift, order: int) -> np.ndarray:
    """Row i of every power of S, ``(nodes, nodes, order + 1)``, as numpy makes them."""
    powers = [np.eye(S.num_nodes)]
    for _ in range(order):
        powers.append(S.to_dense().numpy() @ powers[-1])
    return np.stack(powers, axis=-1)


def low_pass(nodes: int) -> tuple[GraphShift, torch.Tensor]:
    """A geometric graph, and the projection on its smoothest third."""
    places = torch.rand(nodes, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    distance = torch.cdist(places, places)
    weights = torch.exp(-((distance / 0.2) ** 2)) * (distance < 0.3)
    S = GraphShift(weights.fill_diagonal_(0)).normalized()
    V = torch.linalg.eigh(S.to_dense()).eigenvectors[:, -nodes // 3 :]
    return S, V @ V.T


@pytest.mark.parametrize(("nodes", "limit"), [(5, 1e-10), (10, 1e-5)])
def test_full_order_is_exact_up_to_rounding(nodes, limit):
    generator = torch.Generator().manual_seed(nodes)
    weights = torch.rand(nodes, nodes, generator=generator, dtype=torch.float64)
    S = GraphShift(weights + weights.T).normalized()
    B = torch.randn(nodes, nodes, generator=generator, dtype=torch.float64)
    result = approximate_operator(B, S, nodes - 1)
    assert result.relative_error < limit
    recomputed = float((as_matrix(result.taps, S) - B).norm() / B.norm())
    assert recomputed == pytest.approx(result.relative_error, rel=0.5, abs=1e-12)


@pytest.mark.parametrize("order", [8, 15, 20])
def test_high_orders_are_as_good_as_least_squares_on_the_rows(order):
    S, B = low_pass(60)
    result = approximate_operator(B, S, order)
    fits = [
        rows @ np.linalg.lstsq(rows, b, rcond=None)[0] - b for rows, b in zip(rows_of(S, order), B.numpy(), strict=True)
    ]
    assert result.relative_error <= 1.01 * np.linalg.norm(fits) / float(B.norm())
    assert result.relative_error == pytest.approx(float((as_matrix(result.taps, S) - B).norm() / B.norm()), rel=1e-6)


def test_any_size_of_the_shift_will_do():
    S, B = low_pass(60)
    loud = GraphShift(10 * S.to_dense())
    for order in (12, 22):
        expected = approximate_operator(B, S, order).relative_error
        assert approximate_operator(B, loud, order).relative_error == pytest.approx(expected, rel=0.02)


def test_ridge_against_scikit_learn():
    S, B = low_pass(20)
    result = approximate_operator(B, S, 3, ridge=0.1)
    for node, rows in enumerate(rows_of(S, 3)):
        fit = Ridge(alpha=0.1, fit_intercept=False).fit(rows, B[node])
        assert np.allclose(result.taps[:, node], fit.coef_, atol=1e-9)
        error = np.square(rows @ fit.coef_ - B[node].numpy()).sum()
        assert float(result.squared_error[node]) == pytest.approx(error, abs=1e-12)


def test_bad_input(random_graph):
    S = random_graph(5)
    with pytest.raises(ValueError, match=r"operator must have shape \(5, 5\), got \(4, 4\)"):
        approximate_operator(torch.eye(4), S, 1)
    with pytest.raises(ValueError, match=r"operator must map \(nodes, columns\)"):
        approximate_operator(lambda x: x[:2], S, 1)
    with pytest.raises(TypeError, match="operator must be a tensor or a function, got str"):
        approximate_operator("B", S, 1)
    with pytest.raises(ValueError, match="order must be a whole number"):
        approximate_operator(torch.eye(5), S, -1)
