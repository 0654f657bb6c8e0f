from __future__ import annotations

import pytest
import torch
from torch import nn

from nvgf.design import DesignedActivation, gains, optimal_taps
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


def test_bad_input(random_graph):
    with pytest.raises(ValueError, match="order must be an integer of at least 0, got -1"):
        DesignedActivation(-1, 6, 3)
    with pytest.raises(ValueError, match="num_nodes must be an integer of at least 1"):
        DesignedActivation(1, 0, 3)
    with pytest.raises(ValueError, match="activation must be one of"):
        DesignedActivation(1, 6, 3, "reul")
    with pytest.raises(ValueError, match=r"signals gave taps \(2, 6, 3\), the module has \(2, 6, 2\)"):
        DesignedActivation(1, 6, 2).design_(signals(), random_graph(6))
