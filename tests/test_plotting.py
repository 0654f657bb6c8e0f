from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
import torch

mpl.use("Agg")
from matplotlib import pyplot as plt

from nvgf import plotting
from nvgf.design import DesignedActivation, optimal_taps
from nvgf.filters import LSIFilter, lsi
from nvgf.graph import GraphShift
from nvgf.spectral import Spectrum, node_responses, probe, transfer_matrix
from nvgf.stability import stability_study


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


@pytest.fixture
def ring() -> GraphShift:
    weights = np.linspace(0.5, 1.5, 10)
    return GraphShift.from_edges([(i, (i + 1) % 10) for i in range(10)], weights, dtype=torch.float64)


def test_importing_the_library_does_not_import_matplotlib():
    code = "import sys, nvgf, nvgf.plotting; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_node_responses(ring, ax):
    taps = torch.randn(3, 10, dtype=torch.float64)
    assert plotting.plot_node_responses(taps, ring, ax, nodes=[2, 7], points=50) is ax
    low, high = Spectrum.of(ring).interval
    grid = torch.linspace(low, high, 50, dtype=torch.float64)
    assert np.allclose(ax.lines[1].get_ydata(), node_responses(taps, grid)[7, :, 0, 0])
    assert len(ax.lines) == 3  # and the eigenvalues
    assert len(plotting.plot_node_responses(taps, ring, ax).lines) == 14


def test_transfer(ring, ax):
    taps = torch.randn(3, 10, dtype=torch.float64)
    assert plotting.plot_transfer(taps, ring, ax) is ax
    shown = np.asarray(ax.images[0].get_array())
    expected = transfer_matrix(taps, ring).abs()
    assert np.allclose(shown, expected.clamp_min(1e-6 * expected.max()))
    plotting.plot_transfer(transfer_matrix(taps, ring), ring, ax, matrix=True)
    assert np.allclose(np.asarray(ax.images[1].get_array()), shown)
    plotting.plot_transfer(probe(torch.relu, ring), ring, ax)
    plotting.plot_transfer(torch.zeros(1, 10), ring, ax)


def test_taps_as_many_as_nodes_are_no_transfer_matrix(ring, ax):
    taps = torch.randn(10, 10, dtype=torch.float64)
    with pytest.raises(
        ValueError, match=r"transfer of shape \(10, 10\) may be taps or .* say matrix=False or matrix=True"
    ):
        plotting.plot_transfer(taps, ring, ax)
    for matrix, expected in ((False, transfer_matrix(taps, ring)), (True, taps)):
        plotting.plot_transfer(taps, ring, ax, matrix=matrix, floor=1e-12)
        assert np.allclose(np.asarray(ax.images[-1].get_array()), expected.abs(), rtol=1e-8)
    with pytest.raises(ValueError, match=r"transfer must have shape \(10, 10\) or \(in, out, 10, 10\), got \(3, 10\)"):
        plotting.plot_transfer(taps[:3], ring, ax, matrix=True)
    with pytest.raises(ValueError, match=r"got LSIFilter"):
        plotting.plot_transfer(LSIFilter(1, 1, order=1), ring, ax, matrix=True)


def test_transfer_between_features_and_within_a_part(ring, ax):
    bank = torch.randn(3, 10, 2, 2, dtype=torch.float64)
    whole = transfer_matrix(bank, ring)
    plotting.plot_transfer(whole, ring, ax)  # (in, out, n, n): not taps, which have a second dimension of nodes
    plotting.plot_transfer(bank, ring, ax)
    one, other = (np.asarray(image.get_array()) for image in ax.images)
    assert np.allclose(one, whole.square().sum((0, 1)).sqrt())
    assert np.allclose(one, other)
    part = Spectrum.extreme(ring, 3)
    plotting.plot_transfer(transfer_matrix(bank[..., 0, 0], part), part, ax)


def test_spectrum(ring, ax):
    x = torch.randn(5, 10, 2, dtype=torch.float64)
    assert plotting.plot_spectrum(x, ring, ax, label="input") is ax
    expected = Spectrum.of(ring).gft(x).square().mean((0, 2)).sqrt()
    assert np.allclose(ax.lines[0].get_ydata(), expected)
    plotting.plot_spectrum(lsi(x, ring, torch.ones(1, 2, 1).double()), ring, ax, label="output")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["input", "output"]


def test_spectrum_of_repeated_eigenvalues(ax):
    complete = GraphShift(np.ones((5, 5)) - np.eye(5), dtype=torch.float64)
    plotting.plot_spectrum(torch.eye(5)[:, :1], complete, ax)
    assert np.allclose(ax.lines[0].get_ydata(), [np.sqrt(0.8 / 4), np.sqrt(0.2)])


def test_response_to_the_highest_frequency(ring, ax):
    module = LSIFilter(1, 4, order=2, dtype=torch.float64)
    assert plotting.plot_response_to_frequency(module, ring, ax) is ax
    lines = np.array([line.get_ydata() for line in ax.lines[:4]])
    assert lines[:, :-1].max() < 1e-12
    assert np.allclose(lines[:, -1], transfer_matrix(module, ring)[0, :, -1, -1].abs())


def test_response_of_a_relu_and_two_features(ring, ax):
    plotting.plot_response_to_frequency(torch.relu, ring, ax, frequency=0, features=2, amplitude=3.0)
    drawn = np.array([line.get_ydata() for line in ax.lines[:4]])
    expected = probe(torch.relu, ring).transfer[0, 0, :, 0].abs()
    assert np.allclose(drawn[0], expected)
    assert np.allclose(drawn[1], 0)  # what the first feature sends to the second
    with pytest.raises(ValueError, match="frequency must be from -10 to 9, got 10"):
        plotting.plot_response_to_frequency(torch.relu, ring, ax, frequency=10)


def test_stability(ring, ax):
    study = stability_study(torch.tensor([1.0, 0.5]), ring, [0.01, 0.1], trials=2)
    assert plotting.plot_stability(study, ax) is ax
    assert len(ax.lines) == 5
    assert np.allclose(ax.lines[0].get_ydata(), study.column("max"))


@pytest.mark.parametrize("as_module", [False, True])
def test_activation(ring, ax, as_module):
    x = torch.randn(30, 10, 2, dtype=torch.float64)
    design = optimal_taps(x, ring, 1)
    shown = DesignedActivation.from_design(design, dtype=torch.float64) if as_module else design
    assert plotting.plot_activation(shown, x, ring, ax, node=3, feature=1, activation="relu") is ax
    values, order = x[:, 3, 1].sort()
    assert np.allclose(ax.lines[0].get_xdata(), values)
    assert np.allclose(ax.lines[0].get_ydata(), design(x, ring)[order, 3, 1])
    assert np.allclose(ax.lines[1].get_ydata(), values.relu())


def test_activation_is_that_of_the_module(ring, ax):
    x = torch.randn(30, 10, 1, dtype=torch.float64)
    module = DesignedActivation(1, 10, 1, "tanh", dtype=torch.float64).design_(x, ring)
    plotting.plot_activation(module, x, ring, ax, node=2)
    values = x[:, 2, 0].sort().values
    assert np.allclose(ax.lines[1].get_ydata(), values.tanh())
    plotting.plot_activation(module, x, ring, ax, node=2, activation=torch.sigmoid)
    assert np.allclose(ax.lines[3].get_ydata(), values.sigmoid())
    with pytest.raises(ValueError, match="activation is needed: a design does not know"):
        plotting.plot_activation(optimal_taps(x, ring, 1, "tanh"), x, ring, ax)
