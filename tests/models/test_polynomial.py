"""LSIGF, GCNN and LearnNVGF against their formulas, prepared and plain."""

from __future__ import annotations

import itertools
import re

import pytest
import torch
from tests.models import naive

from nvgf import GraphShift
from nvgf.models import GCNN, LSIGF, GraphModel, LearnNVGF, build
from nvgf.models.basis import basis_shifts, product_coefficients

EXACT = {"dtype": torch.float64}


def expected_hidden(model: GraphModel, x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    out = []
    for signal in x:
        y = signal
        for layer, bank in enumerate(model.filters):
            y = naive.lsi(y, matrix, bank.taps.detach(), model.basis)
            y = y + (0 if bank.bias is None else bank.bias.detach())
            if isinstance(model, GCNN):
                y = y.relu()
            if isinstance(model, LearnNVGF):
                nodes = model.node_filters[layer]
                y = naive.node_variant(y, matrix, nodes.taps.detach(), model.basis)
                y = y + (0 if nodes.bias is None else nodes.bias.detach())
        out.append(y)
    return torch.stack(out)


CASES = list(
    itertools.product((LSIGF, GCNN, LearnNVGF), (3, [3, 2]), ("power", "chebyshev"), (False, True), ("all", "shared"))
)


@pytest.mark.parametrize(("cls", "features", "basis", "bias", "readout"), CASES)
@pytest.mark.parametrize("inputs", [1, 3])
def test_equals_formula(cls, features, basis, bias, readout, inputs, shift, x, x3):
    torch.manual_seed(0)
    signals = (x if inputs == 1 else x3)[:2]
    model = cls(7, inputs, features, 2, basis=basis, bias=bias, readout=readout, outputs=3, **EXACT).eval()
    hidden = expected_hidden(model, signals, shift.to_dense())
    torch.testing.assert_close(model.hidden(signals, shift), hidden)
    weight, offset = model.readout.weight, model.readout.bias
    read = hidden.reshape(2, -1) if readout == "all" else hidden
    torch.testing.assert_close(model(signals, shift), read @ weight.T + offset)


@pytest.mark.parametrize(("cls", "features", "basis", "bias", "readout"), CASES)
@pytest.mark.parametrize("inputs", [1, 3])
def test_prepared_gives_same_outputs_and_gradients(cls, features, basis, bias, readout, inputs, shift, x, x3):
    torch.manual_seed(0)
    signals = x if inputs == 1 else x3
    model = cls(7, inputs, features, 2, basis=basis, bias=bias, readout=readout, **EXACT).eval()
    assert len(model.prepare(signals, shift)) == 9
    naive.assert_prepared_is_the_same(model, signals, shift)


def test_parameter_counts_are_the_papers():
    assert LSIGF(189, features=32, order=3).num_parameters == 4 * 32 + 189 * 32 * 2 + 2
    assert GCNN(189, features=32, order=3).num_parameters == 4 * 32 + 189 * 32 * 2 + 2
    learned = LearnNVGF(189, features=32, order=3).num_parameters
    assert learned == 4 * 32 + 4 * 189 * 32 * 32 + 189 * 32 * 2 + 2
    assert LearnNVGF(250, features=64, order=3, readout="shared", outputs=1).num_parameters == (
        4 * 64 + 4 * 250 * 64 * 64 + 64 + 1
    )


def test_composed_taps_are_one_filter(shift, x):
    model = LearnNVGF(7, features=4, order=3, **EXACT)
    taps = model.composed_taps()
    assert taps.shape == (7, 7, 4)
    folded = naive.node_variant(x[0], shift.to_dense(), taps.detach().unsqueeze(2))
    torch.testing.assert_close(folded, model.hidden(x, shift)[0])


@pytest.mark.parametrize("basis", ["power", "chebyshev"])
@pytest.mark.parametrize("order", [0, 1, 4])
def test_bases(basis, order, shift, x):
    terms = basis_shifts(x, shift, order, basis)
    assert len(terms) == order + 1
    for k, term in enumerate(terms):
        torch.testing.assert_close(term, naive.polynomial(shift.to_dense(), k, basis) @ x)
    twice = torch.stack([basis_shifts(term, shift, order, basis) for term in terms])
    product = product_coefficients(basis, order)
    longer = basis_shifts(x, shift, 2 * order, basis)
    torch.testing.assert_close(torch.einsum("mkl,m...->kl...", product, longer), twice)


@pytest.mark.parametrize("cls", [LSIGF, LearnNVGF])
def test_chebyshev_filters_of_large_order_keep_their_precision(cls, shift, x):
    torch.manual_seed(0)
    exact = cls(7, features=4, order=24, basis="chebyshev", **EXACT).eval()
    model = cls(7, features=4, order=24, basis="chebyshev").eval()
    model.load_state_dict(exact.state_dict())
    rounded = {name: tensor.double() for name, tensor in model.state_dict().items()}
    exact.load_state_dict(rounded)
    signals, single = x.float(), shift.to(dtype=torch.float32)
    expected = exact(signals.double(), GraphShift(single.to_dense().double()))
    for outputs in (model(signals, single), model.forward_prepared(model.prepare(signals, single))):
        assert (outputs - expected).abs().max() < 1e-5 * expected.abs().max()


def test_initial_weights_are_within_bounds_and_fill_them():
    model = LearnNVGF(50, features=16, order=3)
    model.reset_parameters(torch.Generator().manual_seed(0))
    again = LearnNVGF(50, features=16, order=3)
    again.reset_parameters(torch.Generator().manual_seed(0))
    bounds = model.bounds()
    assert bounds["node_filters.0.taps"] == pytest.approx((16 * 4) ** -0.5)
    for (name, p), q in zip(model.named_parameters(), again.parameters(), strict=True):
        assert torch.equal(p, q)
        assert p.abs().max() <= bounds[name]
        assert p.numel() < 100 or p.abs().max() > 0.9 * bounds[name]


def test_dropout_only_in_training(shift, x):
    model = LSIGF(7, features=4, order=1, **EXACT)
    assert not torch.equal(model(x, shift), model(x, shift))
    model.eval()
    assert torch.equal(model(x, shift), model(x, shift))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": 0}, "features must be a whole number of at least 1, got 0"),
        ({"features": []}, "features is empty"),
        ({"order": -1}, "order must be a whole number of at least 0, got -1"),
        ({"readout": "one"}, "readout must be 'all' or 'shared', got 'one'"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"basis": "fourier"}, "basis must be one of power, chebyshev, got 'fourier'"),
        ({"outputs": True}, "outputs must be a whole number of at least 1, got True"),
        ({"heads": 2}, "architecture 'gcnn' has no option 'heads'"),
        ({"activation": "sin"}, "activation must be one of relu"),
        ({"features": "32"}, "features must be a whole number of at least 1, got '32'"),
        ({"features": [2.5]}, "features must be a whole number of at least 1, got 2.5"),
        ({"features": 4.0}, "features must be a whole number of at least 1, got 4.0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        build("gcnn", 7, **options)


def test_bad_input(shift, x):
    model = LSIGF(7, features=2, order=1, **EXACT)
    with pytest.raises(ValueError, match=re.escape("architecture must be one of lsigf, gcnn")):
        build("gnn", 7)
    with pytest.raises(ValueError, match="the model has 7 nodes, the shift has 3"):
        model(x, GraphShift.from_edges([(0, 1), (1, 2)], dtype=torch.float64))
    with pytest.raises(ValueError, match=re.escape("x must have shape (..., 7, 1), got (9, 7, 2)")):
        model(x.expand(-1, -1, 2), shift)
    with pytest.raises(ValueError, match="float32"):
        model(x.float(), shift)
    with pytest.raises(ValueError, match="convert it with model"):
        model(x.float(), shift.to(dtype=torch.float32))
    with pytest.raises(ValueError, match=re.escape("x must have shape (samples, nodes, features) to be prepared")):
        model.prepare(x[0], shift)
    with pytest.raises(TypeError, match="activation must be one of relu"):
        GCNN(7, activation=torch.tanh)


def test_repr_is_exact():
    model = LSIGF(7, features=2, order=1)
    assert repr(eval(repr(model))) == repr(model)
