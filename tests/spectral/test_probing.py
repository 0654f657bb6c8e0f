from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from nvgf.design import DesignedActivation
from nvgf.filters import LSIFilter, NodeVariantFilter
from nvgf.graph import GraphShift
from nvgf.spectral import Spectrum, creation, probe, transfer_matrix


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 30.0])
def test_linear_modules_give_the_exact_map(random_graph, amplitude):
    S = random_graph(10)
    for module in (
        NodeVariantFilter(2, 3, order=2, num_nodes=10, dtype=torch.float64),
        LSIFilter(2, 3, order=2, dtype=torch.float64),
    ):
        result = probe(module, S, amplitude=amplitude, features=2, batch_size=3)
        assert torch.allclose(result.transfer, transfer_matrix(module, S), atol=1e-12)
        assert result.creation.share == pytest.approx(creation(module, S).share, abs=1e-12)


def test_float32_modules(random_graph):
    S = random_graph(10)
    module = LSIFilter(1, 2, order=3)
    assert probe(module, S.to(dtype=torch.float32)).creation.share < 1e-6
    assert torch.allclose(probe(module, S).transfer, transfer_matrix(module, S), atol=1e-5)


def test_bias_is_rest(random_graph):
    S = random_graph(6)
    module = NodeVariantFilter(1, 2, order=1, num_nodes=6, bias=True, dtype=torch.float64)
    assert not torch.allclose(probe(module, S).transfer, transfer_matrix(module, S), atol=1e-3)
    assert torch.allclose(probe(module, S, remove_rest=True).transfer, transfer_matrix(module, S), atol=1e-12)


def test_relu_creates_and_knows_no_amplitude(random_graph):
    S = random_graph(20)
    soft, loud = probe(nn.ReLU(), S, amplitude=0.01), probe(torch.relu, S, amplitude=100.0)
    assert soft.creation.share > 0.3
    assert soft.creation.share == pytest.approx(loud.creation.share, abs=1e-12)


def test_tanh_creates_when_loud(random_graph):
    S = random_graph(20)
    soft, loud = (probe(torch.tanh, S, amplitude=a).creation.share for a in (1e-4, 10.0))
    assert soft < 1e-12
    assert loud > 0.01


def test_relu_by_hand():
    # Two nodes: v = (1, -1)/sqrt(2) and (1, 1)/sqrt(2). ReLU keeps one half of the first, in both frequencies
    # equally, and all of the second or nothing of its negative.
    result = probe(torch.relu, GraphShift([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64))
    assert torch.allclose(result.energy, torch.tensor([[0.25, 0.0], [0.25, 0.5]]).double(), atol=1e-12)
    assert torch.allclose(result.creation.per_frequency, torch.tensor([0.5, 0.0]).double(), atol=1e-12)


def test_sign_of_the_basis_does_not_matter(random_graph):
    S = random_graph(12)
    spectrum = Spectrum.of(S)
    flipped = Spectrum(spectrum.eigenvalues, -spectrum.eigenvectors, spectrum.tolerance)
    assert probe(torch.relu, S).creation.share == pytest.approx(
        probe(torch.relu, S, spectrum=flipped).creation.share, abs=1e-12
    )


def test_network_is_probed_in_evaluation_mode(random_graph):
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = LSIFilter(1, 4, order=2), LSIFilter(4, 2, order=2)
            self.drop = nn.Dropout(0.5)

        def forward(self, x, shift):
            return self.second(self.drop(torch.relu(self.first(x, shift))), shift)

    S, network = random_graph(15), Network()
    network.first.eval()
    one, two = probe(network, S), probe(network, S)
    assert torch.equal(one.energy, two.energy)
    assert one.transfer.shape == (1, 2, 15, 15)
    assert one.creation.share > 0.01
    assert network.training
    assert network.drop.training
    assert not network.first.training


def test_designed_activation(random_graph):
    S = random_graph(10)
    x = torch.randn(300, 10, 1, dtype=torch.float64) + 0.5
    module = DesignedActivation(2, 10, 1, dtype=torch.float64).design_(x, S)
    result = probe(module, S, remove_rest=True)
    assert torch.allclose(result.transfer, transfer_matrix(module, S), atol=1e-12)
    assert result.creation.share > 1e-4


def test_a_part_of_the_spectrum(random_graph):
    S = random_graph(40)
    part = Spectrum.extreme(S, 3, "largest")
    whole = probe(torch.relu, S)
    measured = probe(torch.relu, S, spectrum=part)
    assert torch.allclose(measured.creation.per_frequency, whole.creation.per_frequency[-3:], atol=1e-6)


def test_a_compiled_module_is_given_the_shift(random_graph):
    S, module = random_graph(10), LSIFilter(1, 1, 1, dtype=torch.float64)
    compiled = torch.compile(module, backend="eager")
    assert torch.allclose(probe(compiled, S).transfer, transfer_matrix(module, S), atol=1e-12)


def test_results_can_be_compared(random_graph):
    S = random_graph(5)
    one, other = probe(torch.relu, S), probe(torch.relu, S)
    assert one == one
    assert one != other
    assert one.creation != other.creation


def test_integers_of_numpy(random_graph):
    S = random_graph(5)
    result = probe(torch.relu, S, features=np.int64(2), batch_size=np.int64(3))
    assert torch.equal(result.energy, probe(torch.relu, S, features=2, batch_size=3).energy)


def test_bad_input(random_graph):
    S = random_graph(5)
    with pytest.raises(ValueError, match="amplitude must be positive, got 0"):
        probe(torch.relu, S, amplitude=0)
    with pytest.raises(ValueError, match="features must be a whole number of at least 1, got 0"):
        probe(torch.relu, S, features=0)
    with pytest.raises(ValueError, match=r"batch_size must be a whole number of at least 1, got 0\.5"):
        probe(torch.relu, S, batch_size=0.5)
    with pytest.raises(ValueError, match=r"module must return graph signals \(batch, nodes, out\).*got \(5,\)"):
        probe(lambda x: x.sum((1, 2)), S)
    with pytest.raises(ValueError, match="got list"):
        probe(lambda x: [x], S)
    with pytest.raises(ValueError, match="NaN or infinity"):
        probe(lambda x: x / 0, S)
