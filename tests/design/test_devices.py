"""The analysis on a GPU gives the numbers of the CPU."""

from __future__ import annotations

import pytest
import torch

from nvgf.design import Moments, approximate_operator, optimal_taps, stationary_design
from nvgf.spectral import Spectrum, band_energy, creation, probe, spectral_density, transfer_matrix
from nvgf.stability import stability_study, theorem_bound

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.fixture(params=["dense", "csr"])
def pair(request, random_graph):
    S = random_graph(30)
    S = type(S)(S.to_scipy(), layout=request.param, dtype=torch.float64)
    return S, S.to(device="cuda")


def test_designs(pair):
    here, there = pair
    x = torch.randn(200, 30, 4, dtype=torch.float64) + 0.3
    x[:, 3] = 1.0
    one, other = optimal_taps(x, here, 3, best_linear=True), optimal_taps(x.cuda(), there, 3, best_linear=True)
    for name in ("taps", "offset", "mse", "best_linear_mse"):
        assert torch.allclose(getattr(one, name), getattr(other, name).cpu(), atol=1e-8), name
    assert torch.equal(one.rank, other.rank.cpu())
    moments = optimal_taps(Moments().update(x.cuda()), there, 3)
    assert torch.allclose(moments.taps.cpu(), one.taps, atol=1e-8)
    assert torch.allclose(other(x.cuda().float(), there.to(dtype=torch.float32)).cpu(), one(x, here).float(), atol=1e-4)
    B = torch.randn(30, 30, dtype=torch.float64)
    assert torch.allclose(
        approximate_operator(B, here, 2).taps, approximate_operator(B.cuda(), there, 2).taps.cpu(), atol=1e-8
    )


def test_analysis(pair):
    here, there = pair
    taps = torch.randn(3, 30, dtype=torch.float64)
    assert torch.allclose(transfer_matrix(taps, here), transfer_matrix(taps.cuda(), there).cpu(), atol=1e-9)
    assert creation(taps.cuda(), there).share == pytest.approx(creation(taps, here).share, abs=1e-9)
    assert probe(torch.relu, there).creation.share == pytest.approx(probe(torch.relu, here).creation.share, abs=1e-9)
    x = torch.randn(5, 30, 2, dtype=torch.float64)
    assert torch.allclose(band_energy(x, here).values, band_energy(x.cuda(), there).values.cpu(), atol=1e-9)
    assert torch.allclose(spectral_density(here, 5).values, spectral_density(there, 5).values.cpu(), atol=1e-9)
    assert torch.allclose(
        stationary_design(here, torch.exp, 2, "tanh").taps,
        stationary_design(there, torch.exp, 2, "tanh").taps.cpu(),
        atol=1e-8,
    )
    assert Spectrum.extreme(there, 3).eigenvalues.device.type == "cuda"


def test_stability(pair):
    here, there = pair
    taps = torch.randn(3, 30, dtype=torch.float64)
    one = stability_study(taps, here, [0.01], trials=2)
    other = stability_study(taps.cuda(), there, [0.01], trials=2)
    for name in ("mean", "max", "telescoping", "lipschitz", "theorem"):
        assert other.column(name) == pytest.approx(one.column(name), rel=1e-8)
    assert theorem_bound(taps.cuda(), there, 0.1).total == pytest.approx(theorem_bound(taps, here, 0.1).total)
