from __future__ import annotations

import pytest
import torch

from nvgf.design import ACTIVATIONS, Moments, gaussian_moments, optimal_taps
from nvgf.design.activations import apply_pointwise, pointwise


def test_names_and_functions():
    x = torch.linspace(-2, 2, 9)
    for name, function in ACTIVATIONS.items():
        assert pointwise(name) is function
        assert function(x).shape == x.shape
    assert pointwise(torch.sin) is torch.sin


def test_gradients_stay_behind():
    layer = torch.nn.PReLU().double()
    assert not apply_pointwise(layer, torch.ones(3).double()).requires_grad


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x[:1], r"activation must be pointwise: it made \(1,\) of signals \(3,\)"),
        (lambda x: 3.0, "activation must be pointwise: it made float"),
        (lambda x: x / 0, "activation must give finite values"),
    ],
)
def test_what_is_not_pointwise(function, message):
    with pytest.raises(ValueError, match=message):
        apply_pointwise(function, torch.ones(3))


def halve_shared_memory(x: torch.Tensor) -> torch.Tensor:
    values = x.numpy()
    values *= 0.5
    return torch.from_numpy(values)


@pytest.mark.parametrize(
    ("inplace", "same"),
    [(torch.nn.ReLU(inplace=True), "relu"), (torch.tanh_, "tanh"), (halve_shared_memory, lambda x: x / 2)],
)
def test_what_works_in_place_leaves_the_signals_alone(random_graph, inplace, same):
    S, x = random_graph(5), torch.randn(80, 5, 1, dtype=torch.float64)
    before = x.clone()
    for signals in (x, lambda rho: Moments(rho).update(x)):
        one, other = (optimal_taps(signals if signals is x else signals(rho), S, 1, rho) for rho in (inplace, same))
        assert torch.equal(x, before)
        assert torch.equal(one.taps, other.taps)
        assert torch.equal(one.offset, other.offset)
    deviation = torch.ones(3, dtype=torch.float64)
    for part, expected in zip(
        gaussian_moments(inplace, deviation), gaussian_moments(pointwise(same), deviation), strict=True
    ):
        assert torch.equal(part, expected)
