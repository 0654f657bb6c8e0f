from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from nvgf.design import (
    DesignedActivation,
    Moments,
    approximate_operator,
    gains,
    iid_design,
    optimal_taps,
    stationary_design,
)
from nvgf.filters import LSIFilter


def signals(samples: int = 100, nodes: int = 6, features: int = 3) -> torch.Tensor:
    return torch.randn(samples, nodes, features, generator=torch.Generator().manual_seed(0)) + 0.4


def test_stands_where_a_relu_stood(random_graph):
    S = random_graph(6).to(dtype=torch.float32)
    first, x = LSIFilter(1, 3, order=2), torch.randn(50, 6, 1)
    hidden = first(x, S).detach()
    module = DesignedActivation(1, 6, 3).design_(hidden, S)
    design = optimal_taps(hidden, S, 1)
    assert torch.allclose(module(hidden, S), design(hidden, S), atol=1e-6)
    module(first(x, S), S).sum().backward()
    assert first.taps.grad is not None
    assert list(module.parameters()) == []


def test_from_design_and_options(random_graph):
    S, x = random_graph(6), signals().double()
    module = DesignedActivation(1, 6, 3, "tanh", dtype=torch.float64, ridge=0.1).design_(x.split(30), S)
    other = DesignedActivation.from_design(optimal_taps(x, S, 1, "tanh", ridge=0.1), "tanh", dtype=torch.float64)
    assert torch.allclose(module.taps, other.taps, atol=1e-12)
    assert torch.allclose(module.bank()[..., 1, 1], module.taps[..., 1])
    assert repr(module) == "DesignedActivation(order=1, num_nodes=6, features=3, activation=tanh)"
    assert "activation=relu" in repr(DesignedActivation(0, 1, 1, nn.functional.relu))


def test_state_travels(random_graph):
    S, x = random_graph(6), signals().double()
    module = DesignedActivation(2, 6, 3, dtype=torch.float64).design_(x, S)
    copy = DesignedActivation(2, 6, 3, dtype=torch.float64)
    copy.load_state_dict(module.state_dict())
    assert torch.equal(copy(x, S), module(x, S))


def test_must_be_designed_first(random_graph):
    with pytest.raises(RuntimeError, match=r"call design_\(signals, shift\) first"):
        DesignedActivation(1, 6, 3)(signals(), random_graph(6).to(dtype=torch.float32))


def test_gains_are_differentiable(random_graph):
    S = random_graph(4).to_dense().requires_grad_()
    x = torch.randn(2, 4, 2, dtype=torch.float64, requires_grad=True)
    taps = torch.randn(3, 4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(gains, (x, S, taps))


def test_the_state_of_an_undesigned_module_undoes_the_design(random_graph):
    S, x = random_graph(6), signals().double()
    module = DesignedActivation(1, 6, 3, dtype=torch.float64).design_(x, S)
    module(x, S)
    designed = {name: value.clone() for name, value in module.state_dict().items()}
    whole = nn.ModuleList([module])
    whole.load_state_dict(nn.ModuleList([DesignedActivation(1, 6, 3, dtype=torch.float64)]).state_dict())
    with pytest.raises(RuntimeError, match=r"call design_\(signals, shift\) first"):
        module(x, S)
    module.load_state_dict(designed)
    assert torch.equal(module(x, S), optimal_taps(x, S, 1)(x, S))


def test_keeps_what_it_stands_for():
    assert DesignedActivation(1, 2, 1, "tanh").activation == "tanh"
    assert DesignedActivation(1, 2, 1, torch.sin).activation is torch.sin


def test_options_are_those_of_the_design():
    with pytest.raises(TypeError, match="options must be among best_linear, ridge, rtol, shrinkage, got bogus"):
        DesignedActivation(1, 2, 1, bogus=3)
    assert DesignedActivation(1, 2, 1, ridge=0.1, shrinkage=0.5).options == {"ridge": 0.1, "shrinkage": 0.5}


def test_integers_of_any_kind(random_graph):
    S, x, two = random_graph(6), signals().double(), np.int64(2)
    assert DesignedActivation(two, np.int32(6), np.int64(3)).taps.shape == (3, 6, 3)
    expected = optimal_taps(x, S, 2).taps
    assert torch.equal(optimal_taps(x, S, two).taps, expected)
    assert torch.allclose(optimal_taps(Moments().update(x), S, two).taps, expected, atol=1e-9)
    assert approximate_operator(torch.eye(6), S, two).taps.shape == (3, 6)
    assert iid_design(np.int64(6), two).order == stationary_design(S, torch.exp, two).order == 2
    for order in (1.5, "2", np.float64(2), -1):
        with pytest.raises(ValueError, match="order must be a whole number of at least 0, got"):
            iid_design(6, order)


def test_designs_are_compared_as_objects(random_graph):
    S, x = random_graph(6), signals().double()
    one, other = optimal_taps(x, S, 1), optimal_taps(x, S, 1)
    assert one == one
    assert one != other
    assert len({one, other}) == 2


def test_bad_input(random_graph):
    with pytest.raises(ValueError, match="order must be a whole number of at least 0, got -1"):
        DesignedActivation(-1, 6, 3)
    with pytest.raises(ValueError, match="num_nodes must be a whole number of at least 1"):
        DesignedActivation(1, 0, 3)
    with pytest.raises(ValueError, match="activation must be one of"):
        DesignedActivation(1, 6, 3, "reul")
    with pytest.raises(ValueError, match=r"signals gave taps \(2, 6, 3\), the module has \(2, 6, 2\)"):
        DesignedActivation(1, 6, 2).design_(signals(), random_graph(6))
