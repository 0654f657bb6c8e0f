"""Design NVGF against least squares done by hand, and what it must share with its GCNN."""

from __future__ import annotations

import pytest
import torch

from nvgf import shifts
from nvgf.models import GCNN, LSIGF, DesignNVGF

EXACT = {"dtype": torch.float64}


@pytest.fixture
def signals() -> torch.Tensor:
    return torch.randn(200, 7, 1, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def test_each_activation_becomes_the_least_squares_fit(shift, signals):
    gcnn = GCNN(7, features=[3, 2], order=2, **EXACT).eval()
    model = DesignNVGF.from_gcnn(gcnn, signals, shift)
    x = signals
    for layer in range(2):
        x = gcnn.filtered(layer, x, shift).detach()
        heard = shifts(x, shift, 2)
        fitted = torch.empty_like(x)
        for n in range(7):
            for f in range(x.shape[2]):
                columns = torch.cat([heard[:, :, n, f].T, torch.ones(200, 1, dtype=x.dtype)], dim=1)
                solution = torch.linalg.lstsq(columns, x[:, n, f].relu(), driver="gelsd").solution
                fitted[:, n, f] = columns @ solution
        x = fitted
    torch.testing.assert_close(model.hidden(signals, shift), x, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(model.forward_prepared(model.prepare(signals, shift)), model(signals, shift))


def test_filters_and_readout_are_the_gcnns(shift, signals):
    gcnn = GCNN(7, features=3, order=2, **EXACT).eval()
    model = DesignNVGF.from_gcnn(gcnn, signals, shift)
    for name, parameter in gcnn.named_parameters():
        assert torch.equal(model.get_parameter(name), parameter)
    assert {name for name, _ in model.named_parameters()} == {name for name, _ in gcnn.named_parameters()}


def test_where_relu_is_the_identity_the_design_is_too(shift):
    # ReLU of non-negative signals is the signals: the optimum is [1, 0, ..., 0].
    gcnn = GCNN(7, features=2, order=2, **EXACT).eval()
    gcnn.filters[0].taps.data.abs_()
    x = torch.rand(100, 7, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    model = DesignNVGF.from_gcnn(gcnn, x, shift)
    torch.testing.assert_close(model(x, shift), gcnn(x, shift))


def test_errors(shift, signals):
    with pytest.raises(TypeError, match="gcnn must be a GCNN, got LSIGF"):
        DesignNVGF.from_gcnn(LSIGF(7, **EXACT), signals, shift)
    with pytest.raises(RuntimeError, match="have not been designed"):
        DesignNVGF(7, features=2, order=1, **EXACT)(signals, shift)
