from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from nvgf.design import gaussian_moments, iid_design, optimal_taps, stationary_design
from nvgf.spectral import Spectrum, creates_frequencies, creation, vandermonde


@pytest.mark.parametrize("activation", ["relu", "tanh", "abs", "sigmoid"])
@pytest.mark.parametrize("law", ["normal", "laplace", "uniform", "skewed"])
def test_corollary_iid_against_simulation(random_graph, activation, law):
    distribution = {
        "normal": stats.norm(scale=1.7),
        "laplace": stats.laplace(scale=0.6),
        "uniform": stats.uniform(-2, 4),
        "skewed": stats.expon(loc=-1),
    }[law]
    closed = iid_design(12, 2, activation, distribution)
    sample = distribution.rvs((150_000, 12), random_state=np.random.default_rng(0))
    simulated = optimal_taps(torch.from_numpy(sample)[..., None], random_graph(12), 2, activation)
    assert torch.allclose(simulated.taps, closed.taps, atol=0.03)
    assert torch.allclose(simulated.offset, closed.offset, atol=0.03)
    assert torch.allclose(simulated.mse, closed.mse, atol=0.03 * float(closed.variance[0]) + 1e-3)


@pytest.mark.parametrize(
    ("distribution", "mean_absolute"),
    [(stats.norm(), math.sqrt(2 / math.pi)), (stats.laplace(), 1.0), (stats.uniform(-1, 2), 0.5)],
)
def test_relu_of_symmetric_entries_is_half_and_half_the_mean_absolute_value(distribution, mean_absolute):
    design = iid_design(3, 1, "relu", distribution)
    assert design.taps[:, 0, 0].tolist() == pytest.approx([0.5, 0.0], abs=1e-9)
    assert float(design.offset[0, 0]) == pytest.approx(mean_absolute / 2, abs=1e-9)


def test_default_is_the_standard_normal():
    one, other = iid_design(2, 0, "tanh"), iid_design(2, 0, "tanh", stats.norm())
    assert torch.allclose(one.taps, other.taps, atol=1e-9)
    assert torch.allclose(one.mse, other.mse, atol=1e-9)


def test_iid_designs_create_no_frequencies(random_graph):
    assert not creates_frequencies(iid_design(8, 2, "tanh"), random_graph(8))


@pytest.mark.parametrize("activation", ["relu", "tanh", "abs"])
def test_corollary_stationary_gaussian_against_simulation(random_graph, activation):
    S = random_graph(8)
    spectrum = Spectrum.of(S)
    q = torch.exp(1.5 * spectrum.eigenvalues)
    closed = stationary_design(S, q, 2, activation)
    z = torch.randn(200_000, 8, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = spectrum.igft(q.sqrt()[:, None] * z)
    simulated = optimal_taps(x, S, 2, activation)
    assert torch.allclose(simulated.taps, closed.taps, atol=0.06)
    assert torch.allclose(simulated.mse, closed.mse, rtol=0.03, atol=1e-3)
    assert torch.allclose(simulated.offset, closed.offset, atol=0.02)


def test_corollary_stationary_with_given_cross_moments(random_graph):
    # A stationary process that is not Gaussian, its moments by sums over equally likely signals: an exact
    # comparison.
    S = random_graph(6)
    spectrum = Spectrum.of(S)
    q = torch.linspace(0.2, 2.0, 6, dtype=torch.float64)
    # The columns of sqrt(q) V^T turned by a Hadamard-like frame have exactly the covariance V diag(q) V^T.
    frame = torch.linalg.qr(torch.randn(40, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)).Q
    frame = frame - frame.mean(0)
    frame = torch.linalg.qr(frame).Q * 40**0.5
    x = spectrum.igft((q.sqrt() * frame)[..., None])
    y = x.relu()
    cross = (y[..., 0] - y[..., 0].mean(0)).T @ x[..., 0] / 40
    closed = stationary_design(
        S, q, 3, cross=cross, target_mean=y[..., 0].mean(0), target_variance=y[..., 0].var(0, correction=0)
    )
    direct = optimal_taps(x, S, 3)
    assert torch.allclose(closed.taps, direct.taps, atol=1e-7)
    assert torch.allclose(closed.offset, direct.offset, atol=1e-9)
    assert torch.allclose(closed.mse, direct.mse, atol=1e-9)


def test_where_the_printed_equations_have_a_solution_it_is_the_design(random_graph):
    S = random_graph(7)
    spectrum = Spectrum.of(S)
    q = torch.exp(spectrum.eigenvalues)
    V, powers = spectrum.eigenvectors, vandermonde(spectrum.eigenvalues, 2)
    design = stationary_design(S, q, 2, "tanh")
    _, own, _ = gaussian_moments(torch.tanh, (V**2 @ q).sqrt())
    covariance = V @ torch.diag(q) @ V.T
    for node in range(7):
        right = V.T @ (own[node] / covariance[node, node] * covariance[node])
        assert torch.allclose(torch.diag(V[node] * q) @ powers @ design.taps[:, node, 0], right, atol=1e-9)


def test_relu_of_a_gaussian_stationary_process_is_an_lsi_filter(random_graph):
    # The paper says that the optimum of a stationary process differs between nodes and creates frequencies.
    S = random_graph(10)
    design = stationary_design(S, lambda e: torch.exp(2 * e), 3)
    assert torch.allclose(design.taps[0], torch.full((10, 1), 0.5).double(), atol=1e-9)
    assert design.taps[1:].abs().max() < 1e-8
    assert creation(design, S).share < 1e-12


def test_density_with_silent_frequencies(random_graph):
    S = random_graph(6)
    q = torch.tensor([0, 0, 0, 0, 1.0, 2.0], dtype=torch.float64)
    design = stationary_design(S, q, 4)
    assert torch.isfinite(design.taps).all()
    assert (design.rank <= 2).all()


def test_gaussian_moments_by_hand():
    deviation = torch.tensor([0.3, 1.0, 4.0], dtype=torch.float64)
    mean, cross, square = gaussian_moments(torch.relu, deviation)
    assert torch.allclose(mean, deviation / math.sqrt(2 * math.pi), atol=1e-12)
    assert torch.allclose(cross, deviation**2 / 2, atol=1e-12)
    assert torch.allclose(square, deviation**2 / 2, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6])
def test_entries_of_any_size(scale):
    # A ReLU scales with its argument; for the sigmoid and small entries Stein's lemma gives the mean slope.
    for law in (stats.norm(), stats.laplace(), stats.t(5)):
        one = iid_design(2, 1, "relu", law)
        other = iid_design(2, 1, "relu", type(law)(law.dist, *law.args, scale=scale))
        assert torch.allclose(other.taps, one.taps, rtol=1e-8)
        assert torch.allclose(other.offset, scale * one.offset, rtol=1e-8, atol=0)
        assert torch.allclose(other.mse, scale**2 * one.mse, rtol=1e-7, atol=0)
    if scale < 1:
        assert float(iid_design(1, 0, "sigmoid", stats.norm(scale=scale)).taps) == pytest.approx(0.25, rel=1e-6)


def test_activations_with_a_kink_or_a_step_anywhere():
    sigma = [0.3, 1.0, 5.0]
    beyond = [float(stats.norm.sf(1 / s)) for s in sigma]
    deviation = torch.tensor(sigma, dtype=torch.float64)
    clipped = gaussian_moments(torch.nn.Hardtanh(), deviation)
    assert clipped[1].tolist() == pytest.approx(
        [s**2 * (1 - 2 * q) for s, q in zip(sigma, beyond, strict=True)], rel=1e-11
    )
    step = gaussian_moments(lambda x: (x > 1).double(), deviation)
    assert step[0].tolist() == pytest.approx(beyond, rel=1e-10)
    assert step[1].tolist() == pytest.approx([s * stats.norm.pdf(1 / s) for s in sigma], rel=1e-10)
    assert step[2].tolist() == pytest.approx(beyond, rel=1e-10)
    fast = gaussian_moments(lambda x: torch.sin(20 * x), deviation[:1])
    assert float(fast[1]) == pytest.approx(20 * 0.3**2 * math.exp(-200 * 0.3**2), abs=1e-12)
    thresholded = iid_design(1, 0, lambda x: (x > 1).double(), stats.expon(loc=-1))
    assert float(thresholded.taps) == pytest.approx(2 * math.exp(-2), rel=1e-9)


def test_an_activation_of_lower_precision_ends():
    single = gaussian_moments(lambda x: x.float().tanh().double(), torch.ones(50))
    for part, expected in zip(single, gaussian_moments(torch.tanh, torch.ones(50)), strict=True):
        assert torch.allclose(part, expected, atol=1e-6)


def test_an_integral_that_does_not_settle_is_told():
    with pytest.warns(UserWarning, match="distribution: the expected values are exact to"):
        iid_design(1, 0, lambda x: torch.sin(1e7 * x.square()), stats.norm())


@pytest.mark.parametrize("law", [stats.poisson(3), stats.rv_discrete(values=([-1, 1], [0.5, 0.5])), 2.0])
def test_only_distributions_with_a_density(law):
    with pytest.raises(TypeError, match=r"distribution must be a continuous frozen distribution.* without .*pdf"):
        iid_design(2, 1, "relu", law)
    with pytest.raises(ValueError, match="activation must have a finite mean and variance"):
        iid_design(2, 1, torch.log, stats.norm())


def test_bad_input(random_graph):
    with pytest.raises(ValueError, match="distribution must have mean zero, got 1"):
        iid_design(3, 1, "relu", stats.norm(loc=1))
    with pytest.raises(ValueError, match="positive, finite variance"):
        iid_design(3, 1, "relu", stats.cauchy())
    with pytest.raises(ValueError, match="num_nodes must be a whole number of at least 1, got 0"):
        iid_design(0, 1)
    S = random_graph(4)
    with pytest.raises(ValueError, match="density must hold 4 finite non-negative numbers"):
        stationary_design(S, torch.tensor([1.0, 1.0, -1.0, 1.0]), 1)
    with pytest.raises(ValueError, match="cross needs target_mean and target_variance"):
        stationary_design(S, torch.ones(4), 1, cross=torch.eye(4))
    with pytest.raises(ValueError, match=r"cross must have shape \(4, 4\)"):
        stationary_design(
            S, torch.ones(4), 1, cross=torch.eye(3), target_mean=torch.ones(4), target_variance=torch.ones(4)
        )
    with pytest.raises(ValueError, match="complete spectrum"):
        stationary_design(Spectrum.extreme(S, 2), torch.ones(2), 1)
