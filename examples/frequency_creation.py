"""Which filters create frequencies, and how much: ``python examples/frequency_creation.py [--nodes N] [--out DIR]``.

On a random geometric graph, prints the share of output energy at frequencies absent from the input for an LSI filter, a
ReLU, NVGFs designed in place of that ReLU, and an NVGF with random taps, and writes figures.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch

mpl.use("Agg")
from matplotlib import pyplot as plt

from nvgf import plotting
from nvgf.design import optimal_taps
from nvgf.filters import node_variant
from nvgf.graph import GraphShift
from nvgf.spectral import Spectrum, creation, probe
from nvgf.stability import stability_study

ORDER = 3


def geometric_graph(nodes: int, seed: int) -> GraphShift:
    """Link random points of the unit square that are near, the nearer the stronger, until all are linked."""
    points = np.random.default_rng(seed).random((nodes, 2))
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    radius = 1.5 / nodes**0.5
    while True:
        weights = np.exp(-((distance / radius) ** 2)) * (distance < radius) * (distance > 0)
        shift = GraphShift(weights, dtype=torch.float64)
        if len(shift.connected_components()) == 1:
            return shift.normalized()
        radius *= 1.1


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("figures"))
    options = parser.parse_args()

    shift = geometric_graph(options.nodes, options.seed)
    spectrum = Spectrum.of(shift)
    generator = torch.Generator().manual_seed(options.seed)

    # Signals with most of their energy at high frequencies: once symmetric about zero, once with a level and a skew.
    white = torch.randn(2000, options.nodes, 1, generator=generator, dtype=torch.float64)
    symmetric = spectrum.igft(torch.exp(-2 * spectrum.eigenvalues)[:, None] * spectrum.gft(white))
    level = torch.linspace(-1, 1, options.nodes, dtype=torch.float64)[:, None]
    skewed = symmetric.abs() * symmetric + level

    lsi_taps = torch.tensor([1.0, -0.5, 0.3, 0.2], dtype=torch.float64)
    random_taps = torch.randn(ORDER + 1, options.nodes, generator=generator, dtype=torch.float64)
    designed = optimal_taps(skewed, shift, ORDER)
    relu = probe(torch.relu, shift)
    shares = {
        "LSI filter": creation(lsi_taps, shift).share,
        "ReLU": relu.creation.share,
        "NVGF designed on symmetric signals": creation(optimal_taps(symmetric, shift, ORDER), shift).share,
        "NVGF designed on skewed signals": creation(designed, shift).share,
        "random NVGF": creation(random_taps, shift).share,
    }
    print(f"{shift.num_nodes} nodes, {shift.num_edges // 2} edges, order {ORDER}")
    print("share of output energy at frequencies that the input does not have:")
    for name, share in shares.items():
        print(f"  {name:36}{share:.4f}")
    error = float(designed.mse.sum() / designed.variance.sum())
    print(f"\nerror of the NVGF designed on skewed signals, beside the variance of the ReLU: {error:.4f}")

    study = stability_study(random_taps, shift, [1e-4, 1e-3, 1e-2, 1e-1], trials=5)
    print(f"\nchange of the random NVGF when the graph changes, and what bounds it:\n{study}")

    draw(options.out, shift, skewed, lsi_taps, random_taps, designed, relu, study)
    print(f"\nfigures written to {options.out}")


def draw(out, shift, x, lsi_taps, random_taps, designed, relu, study) -> None:
    """Write every figure of the analysis into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    filters = {"lsi": lsi_taps, "random": random_taps, "designed": designed}

    def save(name: str, *panels) -> None:
        figure, axes = plt.subplots(1, len(panels), figsize=(5 * len(panels), 4), squeeze=False, layout="constrained")
        for panel, ax in zip(panels, axes[0], strict=True):
            panel(ax)
        figure.savefig(out / f"{name}.png", dpi=120)
        plt.close(figure)

    save("responses", *(lambda ax, f=f: plotting.plot_node_responses(f, shift, ax) for f in filters.values()))
    maps = {"LSI filter": lsi_taps, "random NVGF": random_taps, "designed NVGF": designed, "ReLU": relu}
    save("transfer", *(lambda ax, n=n, f=f: plotting.plot_transfer(f, shift, ax).set_title(n) for n, f in maps.items()))
    y = node_variant(x, shift, random_taps[..., None, None])

    def spectra(ax):
        plotting.plot_spectrum(x, shift, ax, label="input")
        plotting.plot_spectrum(y, shift, ax, label="output of the random NVGF")

    def answer(name, module):
        # The eigenvector that changes sign most often: with non-negative weights that of the largest eigenvalue has one
        # sign, and a ReLU leaves it alone.
        return lambda ax: plotting.plot_response_to_frequency(module, shift, ax, frequency=0).set_title(name)

    def nvgf(taps):
        return lambda x, shift: node_variant(x, shift, taps.expand(-1, shift.num_nodes)[..., None, None])

    save("spectra", spectra)
    modules = {"LSI filter": nvgf(lsi_taps[:, None]), "ReLU": torch.relu, "random NVGF": nvgf(random_taps)}
    save("one-frequency", *(answer(name, module) for name, module in modules.items()))
    save("stability", lambda ax: plotting.plot_stability(study, ax))
    middle = shift.num_nodes // 2
    save("activation", lambda ax: plotting.plot_activation(designed, x, shift, ax, node=middle, activation="relu"))


if __name__ == "__main__":
    main()
