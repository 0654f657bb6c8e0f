from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import LedoitWolf
from sklearn.linear_model import LinearRegression, Ridge

from nvgf.design import ACTIVATIONS, Design, Moments, design_from_moments, optimal_taps
from nvgf.filters import node_variant
from nvgf.graph import GraphShift


def coloured(nodes: int, samples: int, features: int = 1, seed: int = 0) -> torch.Tensor:
    """Signals with a mean, correlated over the nodes, and skewed: so that the best design is not half the
    signal."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(samples, nodes, features, generator=generator, dtype=torch.float64)
    mix = torch.randn(nodes, nodes, generator=generator, dtype=torch.float64) / nodes**0.5
    return mix @ x + 0.3 * x**2 + 0.2


def literal_taps(x: torch.Tensor, S: torch.Tensor, order: int, rho) -> torch.Tensor:
    """R_i h_i = p_i with R_i and p_i as printed in Proposition 5, in V and Lambda."""
    eigenvalues, V = torch.linalg.eigh(S)
    powers = eigenvalues[:, None] ** torch.arange(order + 1)
    centred, target = x - x.mean(0), rho(x) - rho(x).mean(0)
    covariance = centred.T @ centred / len(x)
    taps = []
    for i in range(len(S)):
        left = powers.T @ torch.diag(V[i]) @ V.T
        taps.append(torch.linalg.solve(left @ covariance @ left.T, left @ (target[:, i] @ centred / len(x))))
    return torch.stack(taps, dim=1)


@pytest.mark.parametrize("activation", ["relu", "tanh", "abs", lambda x: x**2])
def test_against_the_formula_as_printed(random_graph, activation):
    S, x = random_graph(15), coloured(15, 400)
    design = optimal_taps(x, S, 3, activation)
    rho = ACTIVATIONS.get(activation, activation) if isinstance(activation, str) else activation
    assert torch.allclose(design.taps[..., 0], literal_taps(x[..., 0], S.to_dense(), 3, rho), atol=1e-8)


def test_against_scikit_learn_node_by_node(random_graph):
    S, x = random_graph(12), coloured(12, 200, features=3)
    design = optimal_taps(x, S, 2)
    y = x.relu()
    for node in range(12):
        for feature in range(3):
            heard = [x[..., feature].numpy()]
            for _ in range(2):
                heard.append(heard[-1] @ S.to_dense().numpy())
            columns = np.stack([h[:, node] for h in heard], axis=1)
            fit = LinearRegression().fit(columns, y[:, node, feature])
            assert np.allclose(design.taps[:, node, feature], fit.coef_, atol=1e-8)
            assert float(design.offset[node, feature]) == pytest.approx(fit.intercept_, abs=1e-9)
            error = np.mean((fit.predict(columns) - y[:, node, feature].numpy()) ** 2)
            assert float(design.mse[node, feature]) == pytest.approx(error, abs=1e-12)


def test_ridge_against_scikit_learn(random_graph):
    S, x = random_graph(8), coloured(8, 100)
    design = optimal_taps(x, S, 2, ridge=0.05)
    shifted = [x[..., 0], x[..., 0] @ S.to_dense(), x[..., 0] @ S.to_dense() @ S.to_dense()]
    for node in range(8):
        columns = torch.stack([s[:, node] for s in shifted], 1).numpy()
        fit = Ridge(alpha=0.05 * 100).fit(columns, x[:, node, 0].relu())
        assert np.allclose(design.taps[:, node, 0], fit.coef_, atol=1e-9)


def test_beats_every_other_design_on_its_own_samples(random_graph):
    S, x = random_graph(10), coloured(10, 300)
    design = optimal_taps(x, S, 2)
    best = ((design(x, S) - x.relu()) ** 2).mean(0)
    assert torch.allclose(best, design.mse, atol=1e-12)
    generator = torch.Generator().manual_seed(1)
    for _ in range(20):
        other = Design(
            design.taps + 0.01 * torch.randn(design.taps.shape, generator=generator, dtype=torch.float64),
            design.offset + 0.01 * torch.randn(design.offset.shape, generator=generator, dtype=torch.float64),
            design.mse,
            design.variance,
        )
        assert (((other(x, S) - x.relu()) ** 2).mean(0) > best).all()


def test_approaches_the_monte_carlo_optimum(random_graph):
    # On fresh signals of the same kind, a design from many samples is as good as it says, and gradient
    # descent on other samples finds nothing better.
    S = random_graph(6)
    x, fresh = coloured(6, 60_000)[:40_000], coloured(6, 60_000)[40_000:]
    design = optimal_taps(x, S, 1)
    assert torch.allclose(((design(fresh, S) - fresh.relu()) ** 2).mean(0), design.mse, rtol=0.1)
    taps = torch.zeros(2, 6, 1, dtype=torch.float64, requires_grad=True)
    offset = torch.zeros(6, 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([taps, offset], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = ((taps[0] * fresh + taps[1] * (S @ fresh) + offset - fresh.relu()) ** 2).mean(0).sum()
        value.backward()
        return value

    optimiser.step(loss)
    assert torch.allclose(taps.detach(), design.taps, atol=0.05)


def test_offset_is_that_of_lemma_4(random_graph):
    S, x = random_graph(9), coloured(9, 50, features=2)
    design = optimal_taps(x, S, 2)
    filtered_mean = node_variant(x.mean(0), S, design.bank())
    assert torch.allclose(design.offset, x.relu().mean(0) - filtered_mean, atol=1e-12)
    assert (design(x, S) - x.relu()).mean(0).abs().max() < 1e-12  # unbiased


def test_bank_filters_as_the_design(random_graph):
    S, x = random_graph(7), coloured(7, 20, features=3)
    design = optimal_taps(x, S, 2)
    assert design.bank().shape == (3, 7, 3, 3)
    assert torch.allclose(node_variant(x, S, design.bank()) + design.offset, design(x, S), atol=1e-12)


def test_relu_of_non_negative_signals_is_the_identity(random_graph):
    # Histogram-like signals, as in authorship: small, of sum one, and badly conditioned.
    S = random_graph(30)
    counts = torch.distributions.Multinomial(1000, torch.softmax(torch.linspace(0, 3, 30), 0)).sample((200,))
    x = (counts / 1000)[..., None]
    design = optimal_taps(x.double(), S, 3)
    expected = torch.zeros(4, 30, 1, dtype=torch.float64)
    expected[0] = 1
    assert torch.allclose(design.taps, expected, atol=1e-6)
    assert design.mse.max() < 1e-15
    assert torch.allclose(optimal_taps(x.float(), S.to(dtype=torch.float32), 3).taps, expected, atol=1e-3)


def test_is_the_same_in_batches_from_moments_dense_or_sparse(random_graph):
    S, x = random_graph(20), coloured(20, 300, features=2)
    sparse = GraphShift(S.to_scipy(), layout="csr", dtype=torch.float64)
    whole = optimal_taps(x, S, 3)
    others = (
        optimal_taps(iter(x.split(37)), S, 3),
        optimal_taps(x, sparse, 3),
        optimal_taps(x, S.to_dense(), 3),
        optimal_taps(Moments("relu").update(x), S, 3),
        optimal_taps(x.reshape(10, 30, 20, 2), S, 3),
    )
    for other in others:
        assert torch.allclose(other.taps, whole.taps, atol=1e-9)
        assert torch.allclose(other.offset, whole.offset, atol=1e-10)
        assert torch.allclose(other.mse, whole.mse, atol=1e-12)


def test_features_are_designed_apart(random_graph):
    S, x = random_graph(8), coloured(8, 100, features=3)
    together = optimal_taps(x, S, 2)
    for feature in range(3):
        alone = optimal_taps(x[..., feature : feature + 1], S, 2)
        assert torch.allclose(alone.taps[..., 0], together.taps[..., feature], atol=1e-10)


def test_a_directed_graph_will_do():
    S = GraphShift(np.roll(np.eye(6), 1, axis=0) + np.diag([0.1] * 5, 1), dtype=torch.float64)
    x = coloured(6, 200)
    one, other = optimal_taps(x, S, 2), optimal_taps(Moments("relu").update(x), S, 2)
    assert torch.allclose(one.taps, other.taps, atol=1e-9)
    assert torch.allclose(((one(x, S) - x.relu()) ** 2).mean(0), one.mse, atol=1e-12)


def test_a_shift_without_unit_norm(random_graph):
    # Powers of the shift that differ by factors of a thousand each.
    S, x = random_graph(12), coloured(12, 200)
    loud = GraphShift(1000 * S.to_dense())
    scale = 1000.0 ** torch.arange(4)[:, None, None]
    expected = optimal_taps(x, S, 3)
    assert torch.allclose(optimal_taps(x, loud, 3).taps * scale, expected.taps, atol=1e-7)


def test_best_linear_mse(random_graph):
    S, x = random_graph(10), coloured(10, 150)
    design = optimal_taps(x, S, 2, best_linear=True)
    fit = LinearRegression().fit(x[..., 0], x[..., 0].relu())
    errors = ((fit.predict(x[..., 0]) - x[..., 0].relu().numpy()) ** 2).mean(0)
    assert np.allclose(design.best_linear_mse[:, 0], errors, atol=1e-12)
    assert (design.mse >= design.best_linear_mse - 1e-12).all()
    assert (design.mse <= design.variance + 1e-12).all()
    assert optimal_taps(x, S, 2).best_linear_mse is None
    # With as many taps as nodes, on a graph without symmetries, the design is the best linear function.
    path = GraphShift.from_edges([(0, 1), (1, 2), (2, 3)], [1.0, 2.0, 3.0], dtype=torch.float64)
    full = optimal_taps(x[:, :4], path, 3, best_linear=True)
    assert torch.allclose(full.mse, full.best_linear_mse, atol=1e-9)


def test_shrinkage(random_graph):
    S, x = random_graph(10), coloured(10, 15)
    design = optimal_taps(x, S, 2, shrinkage="ledoit-wolf")
    centred = x[..., 0] - x[..., 0].mean(0)
    covariance = torch.from_numpy(LedoitWolf().fit(x[..., 0].numpy()).covariance_)
    powers = [torch.linalg.matrix_power(S.to_dense(), k) for k in range(3)]
    target = x[..., 0].relu() - x[..., 0].relu().mean(0)
    for node in range(10):
        rows = torch.stack([p[node] for p in powers])
        taps = torch.linalg.solve(rows @ covariance @ rows.T, rows @ (target[:, node] @ centred / 15))
        assert torch.allclose(design.taps[:, node, 0], taps, atol=1e-9)
    assert torch.allclose(((design(x, S) - x.relu()) ** 2).mean(0), design.mse, atol=1e-12)
    assert torch.allclose(optimal_taps(x, S, 2, shrinkage=0.0).taps, optimal_taps(x, S, 2).taps, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    nodes=st.integers(2, 8),
    order=st.integers(0, 5),
    samples=st.integers(1, 12),
    seed=st.integers(0, 10**6),
)
def test_singular_or_not_it_is_the_least_norm_least_squares(random_graph, nodes, order, samples, seed):
    S, x = random_graph(nodes, seed=seed), coloured(nodes, samples, seed=seed)
    design = optimal_taps(x, S, order)
    shifted = [x[..., 0]]
    for _ in range(order):
        shifted.append(shifted[-1] @ S.to_dense())
    y = x[..., 0].relu()
    for node in range(nodes):
        columns = torch.stack([s[:, node] - s[:, node].mean() for s in shifted], 1)
        values = torch.linalg.svdvals(columns / columns.norm(dim=0).clamp_min(1e-300))
        if ((values > 1e-10 * values[0]) & (values < 1e-4 * values[0])).any():
            continue  # neither clearly singular nor clearly regular
        fit = torch.linalg.pinv(columns, rtol=1e-9) @ (y[:, node] - y[:, node].mean())
        assert torch.allclose(design.taps[:, node, 0], fit, atol=1e-5 * max(1.0, float(fit.abs().max())))


def test_degenerate_graphs(degenerate):
    x = coloured(degenerate.num_nodes, 100, features=2)
    design = optimal_taps(x, degenerate, 3)
    assert torch.isfinite(design.taps).all()
    assert torch.allclose(((design(x, degenerate) - x.relu()) ** 2).mean(0), design.mse, atol=1e-10)
    if degenerate.num_edges == 0:
        assert (design.rank == 1).all()
        assert (design.taps[1:] == 0).all()


def test_constant_signals_on_a_laplacian(random_graph):
    # What a Laplacian makes of constant signals is zero up to rounding: no tap may be fitted to the rounding.
    W = random_graph(20).to_dense()
    L = GraphShift(torch.diag(W.sum(1)) - W)
    x = torch.linspace(-1, 2, 50, dtype=torch.float64)[:, None, None].expand(50, 20, 1)
    design = optimal_taps(x, L, 3)
    assert (design.rank == 1).all()
    assert (design.taps[1:] == 0).all()
    assert torch.allclose(design.taps[0], design.taps[0, :1].expand(20, 1))
    assert 0.5 < float(design.taps[0, 0, 0]) < 1


def test_nodes_without_variance(random_graph):
    S, x = random_graph(6), coloured(6, 80)
    x[:, 2] = 5.0
    x[:, 4] = 0.0
    design = optimal_taps(x, S, 0)
    assert design.rank[:, 0].tolist() == [1, 1, 0, 1, 0, 1]
    assert design.taps[0, [2, 4], 0].tolist() == [0, 0]
    assert design.offset[2, 0] == pytest.approx(5)
    assert design.mse[[2, 4], 0].tolist() == pytest.approx([0, 0], abs=1e-12)


def test_one_signal_is_answered_by_the_offset(random_graph):
    S, x = random_graph(5), coloured(5, 1)
    design = optimal_taps(x, S, 3)
    assert (design.taps == 0).all()
    assert torch.allclose(design.offset, x[0].relu())


@pytest.mark.parametrize("order", [12, 16])
def test_a_loud_shift_of_high_order_costs_no_accuracy(order):
    # Directions that count as absent, not quite silent, were scaled up by the size of the powers.
    places = torch.rand(40, 2, dtype=torch.float64)
    distance = torch.cdist(places, places)
    weights = torch.exp(-((distance / 0.3) ** 2)) * (distance < 0.4)
    S = GraphShift(weights.fill_diagonal_(0)).normalized()
    x = torch.randn(1000, 40, 1, dtype=torch.float64) + 0.2
    x = x + 0.3 * x**2
    quiet = optimal_taps(x, S, order)
    for factor in (10.0, 1000.0):
        loud = GraphShift(factor * S.to_dense())
        design = optimal_taps(x, loud, order)
        assert torch.allclose(design.mse, quiet.mse, rtol=1e-2)
        assert torch.allclose(((design(x, loud) - x.relu()) ** 2).mean(0), design.mse, rtol=1e-4)


def test_bad_input(random_graph):
    S, x = random_graph(5), coloured(5, 10)
    with pytest.raises(ValueError, match=r"the shift has 5 nodes, got \(10, 4, 1\)"):
        optimal_taps(x[:, :4], S, 1)
    with pytest.raises(ValueError, match="signals must be finite"):
        optimal_taps(x / 0, S, 1)
    with pytest.raises(TypeError, match="signals must be floating"):
        optimal_taps(torch.ones(3, 5, 1, dtype=torch.int64), S, 1)
    with pytest.raises(TypeError, match="signals must be a tensor"):
        optimal_taps([np.ones((3, 5, 1))], S, 1)
    with pytest.raises(ValueError, match="signals: none were given"):
        optimal_taps([], S, 1)
    with pytest.raises(ValueError, match="signals: none were given"):
        optimal_taps(x[:0], S, 1)
    with pytest.raises(ValueError, match="order must be a whole number of at least 0, got -1"):
        optimal_taps(x, S, -1)
    with pytest.raises(ValueError, match="activation must be one of relu, tanh"):
        optimal_taps(x, S, 1, "rleu")
    with pytest.raises(TypeError, match="activation must be a name or a pointwise function, got int"):
        optimal_taps(x, S, 1, 3)
    with pytest.raises(ValueError, match="activation must be pointwise"):
        optimal_taps(x, S, 1, lambda x: x.sum())
    with pytest.raises(ValueError, match="activation must give finite values"):
        optimal_taps(x - 100, S, 1, torch.log)
    with pytest.raises(ValueError, match=r"ridge must not be negative, got -1"):
        optimal_taps(x, S, 1, ridge=-1)
    with pytest.raises(ValueError, match="shrinkage must be 'ledoit-wolf' or a number from 0 to 1, got 2"):
        optimal_taps(x, S, 1, shrinkage=2)
    with pytest.raises(ValueError, match="activation is 'tanh', the moments are those of 'relu'"):
        optimal_taps(Moments("relu").update(x), S, 1, "tanh")
    with pytest.raises(ValueError, match="moments have 5 nodes, the shift has 6"):
        optimal_taps(Moments("relu").update(x), random_graph(6), 1)
    with pytest.raises(ValueError, match="order must be a whole number"):
        design_from_moments(Moments("relu").update(x), S, 1.5)
    with pytest.raises(ValueError, match=r"x must have shape.*ending in \(5, 1\)"):
        optimal_taps(x, S, 1)(x[..., [0, 0]], S)


def test_repr_says_what_is_left(random_graph):
    design = optimal_taps(coloured(5, 50), random_graph(5), 1)
    share = float(design.mse.sum() / design.variance.sum())
    assert repr(design) == f"Design(order=1, nodes=5, features=1, unexplained={share:.4f})"
