from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse

from nvgf.graph import GraphShift
from nvgf.spectral import Spectrum, band_energy, chebyshev_moments, spectral_density, spectral_interval
from nvgf.spectral.bands import jackson


@pytest.fixture(scope="module")
def large() -> GraphShift:
    graph = nx.random_geometric_graph(2000, 0.05, seed=0)
    return GraphShift.from_networkx(graph, kind="normalized-laplacian", dtype=torch.float64)


@pytest.fixture(scope="module")
def exact(large) -> Spectrum:
    return Spectrum.of(large)


def in_bands(values: torch.Tensor, spectrum: Spectrum, edges: torch.Tensor) -> torch.Tensor:
    """Sums of values, (..., eigenvalues, features), over the bands: the exact figures."""
    band = torch.bucketize(spectrum.eigenvalues, edges) - 1
    result = torch.zeros(*values.shape[:-2], len(edges) - 1, values.shape[-1], dtype=torch.float64)
    return result.index_add_(-2, band, values)


def test_interval_holds_the_spectrum_and_little_more(large, exact):
    low, high = spectral_interval(large)
    least, most = exact.interval
    assert low <= least <= most <= high
    assert high - low < 1.03 * (most - least)


def test_energy_within_two_percent(large, exact):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 2000, 2, generator=generator, dtype=torch.float64)
    result = band_energy(x, large, 6, order=4000)
    expected = in_bands(exact.gft(x).square(), exact, result.edges)
    assert result.values.shape == (3, 6, 2)
    assert ((result.values - expected).abs() / expected).max() < 0.02
    total = x.square().sum(-2, keepdim=True)
    ten = band_energy(x, large, 10, order=400)
    assert ((ten.values - in_bands(exact.gft(x).square(), exact, ten.edges)).abs() / total).max() < 0.02
    assert torch.allclose(ten.values.sum(-2, keepdim=True), total, rtol=1e-3)


def test_density_within_two_percent(large, exact):
    edges = torch.tensor([-0.1, 0.4, 0.8, 1.0, 1.2, 2.1], dtype=torch.float64)
    result = spectral_density(large, edges, probes=48, seed=1, order=300)
    expected = in_bands(torch.ones(2000, 1).double() / 2000, exact, edges)[:, 0]
    assert (result.values - expected).abs().max() < 0.02 * expected.max()
    assert float(result.values.sum()) == pytest.approx(1, abs=1e-3)


def test_density_repeats_with_its_seed(random_graph):
    S = random_graph(30)
    one, same, other = (spectral_density(S, 4, probes=3, seed=seed, order=50).values for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_moments_are_those_of_the_definition(random_graph):
    S = random_graph(15)
    x = torch.randn(15, 3, dtype=torch.float64)
    eigenvalues, V = torch.linalg.eigh(S.to_dense())
    low, high = -1.5, 1.2
    angle = torch.arccos((2 * eigenvalues - (low + high)) / (high - low))
    for order in (0, 1, 2, 7, 12):
        expected = torch.stack([((V.T @ x) ** 2 * torch.cos(k * angle)[:, None]).sum(0) for k in range(order + 1)])
        assert torch.allclose(chebyshev_moments(x, S, order, (low, high)), expected, atol=1e-11)


def test_jackson_starts_at_one_and_falls():
    factors = jackson(50)
    assert factors[0] == 1
    assert (factors.diff() < 0).all()
    assert (factors > 0).all()


def test_small_and_degenerate_graphs(degenerate):
    x = torch.randn(degenerate.num_nodes, 2, dtype=torch.float64)
    spectrum = Spectrum.of(degenerate)
    low, high = spectrum.interval
    result = band_energy(x, degenerate, torch.tensor([low - 1, high + 1]), interval=(low - 2, high + 2))
    assert torch.allclose(result.values[0], x.square().sum(0), rtol=1e-3)
    assert result.centers.shape == (1,)


@pytest.mark.parametrize("point", [0.0, 3.0, -1e6, 1e-6])
@pytest.mark.parametrize("nodes", [1, 6, 500])
def test_a_spectrum_of_one_point(point, nodes):
    S = GraphShift(point * sparse.eye_array(nodes), dtype=torch.float64)
    x = torch.randn(nodes, 2, dtype=torch.float64)
    energy, density = band_energy(x, S, 3), spectral_density(S, 3)
    assert torch.allclose(energy.values[1], x.square().sum(0), rtol=1e-6)  # the point is in the middle
    assert torch.allclose(density.values, torch.tensor([0.0, 1.0, 0.0]).double(), atol=1e-6)
    assert float(density.centers[1]) == pytest.approx(point, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("interval", [(-1.99, 1.99), (-1, 1), (-1.99, 3), (-3, 1.99)])
def test_an_interval_without_a_part_of_the_spectrum_is_refused(interval):
    path = GraphShift.from_edges([(i, i + 1) for i in range(999)], dtype=torch.float64)
    for function in (lambda **o: band_energy(torch.randn(1000, 2), path, **o), lambda **o: spectral_density(path, **o)):
        with pytest.raises(ValueError, match="interval does not hold the spectrum of the shift, got"):
            function(order=200, interval=interval)
        assert torch.isfinite(function(order=200, interval=(-2, 2)).values).all()


def test_integers_of_numpy(random_graph):
    S, x = random_graph(12), torch.randn(12, 1, dtype=torch.float64)
    one = band_energy(x, S, np.int64(3), order=np.int64(40)).values
    assert torch.equal(one, band_energy(x, S, 3, order=40).values)
    one = spectral_density(S, np.int32(3), order=np.int64(40), probes=np.int64(5), seed=np.int64(2)).values
    assert torch.equal(one, spectral_density(S, 3, order=40, probes=5, seed=2).values)


def test_bad_input(random_graph):
    S = random_graph(5)
    x = torch.zeros(5, 1)
    with pytest.raises(ValueError, match=r"x must have shape \(\.\.\., 5, features\)"):
        band_energy(torch.zeros(4, 1), S)
    for bands in (0, 2.5):
        with pytest.raises(ValueError, match=f"bands must be a whole number of at least 1, got {bands}"):
            band_energy(x, S, bands)
    with pytest.raises(ValueError, match="ascending edges"):
        band_energy(x, S, torch.tensor([1.0, 0.0]))
    with pytest.raises(ValueError, match="order must be a whole number of at least 1, got 0"):
        band_energy(x, S, order=0)
    with pytest.raises(ValueError, match="probes must be a whole number of at least 1, got 0"):
        spectral_density(S, probes=0)
    with pytest.raises(ValueError, match="x must be finite"):
        band_energy(torch.full((5, 1), torch.nan), S)
