"""The spectrum beside PyGSP's Fourier basis, and bands of large graphs: ``python benchmarks/spectral.py [--full]``.

``--full`` adds the bands of a graph of a million nodes.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pygsp
import torch
from scipy import sparse

import measure
from nvgf.graph import GraphShift
from nvgf.spectral import Spectrum, band_energy, creation, spectral_density, spectral_interval, transfer_matrix


def weights(nodes: int, degree: int, seed: int = 0) -> sparse.csr_array:
    """A ring with random chords: about ``degree`` neighbours a node."""
    rng = np.random.default_rng(seed)
    ring = np.arange(nodes)
    rows = np.tile(ring, degree // 2)
    columns = np.concatenate([(ring + 1) % nodes, rng.integers(nodes, size=nodes * (degree // 2 - 1))])
    half = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(nodes, nodes))
    both = sparse.csr_array(half + half.T)
    both.setdiag(0)
    both.eliminate_zeros()
    return both


def basis(nodes: int, repeats: int) -> list[str]:
    graph = pygsp.graphs.Graph(weights(nodes, 10))
    shift = GraphShift(graph.L.toarray(), dtype=torch.float64)

    def theirs() -> None:
        graph._e = graph._U = None
        graph.compute_fourier_basis()

    def ours() -> None:
        Spectrum.of(shift, tolerance=1e-10)  # a tolerance of one's own passes by what is kept

    seconds = measure.interleaved({"pygsp": theirs, "nvgf": ours}, repeats, warmup=1)
    taps = torch.randn(4, nodes, dtype=torch.float64)
    spectrum = Spectrum.of(shift)
    maps = measure.interleaved(
        {"transfer": lambda: transfer_matrix(taps, spectrum), "creation": lambda: creation(taps, spectrum)}, repeats
    )
    return [
        f"{nodes}",
        f"{1e3 * seconds['nvgf']:.0f}",
        f"{1e3 * seconds['pygsp']:.0f}",
        f"{seconds['pygsp'] / seconds['nvgf']:.2f}x",
        f"{1e3 * maps['transfer']:.1f}",
        f"{1e3 * maps['creation']:.1f}",
    ]


def bands(nodes: int, order: int, probes: int) -> list[str]:
    shift = GraphShift(weights(nodes, 10), layout="csr", dtype=torch.float64)
    x = torch.randn(nodes, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    start = time.perf_counter()
    interval = spectral_interval(shift)
    first = time.perf_counter()
    energy = band_energy(x, shift, 10, order=order, interval=interval)
    second = time.perf_counter()
    density = spectral_density(shift, 10, order=order, probes=probes, interval=interval)
    third = time.perf_counter()
    # White signals have as much energy in a band as there are eigenvalues.
    gap = (energy.values[:, 0] / x.square().sum() - density.values).abs().max()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    times = [f"{b - a:.1f}" for a, b in ((start, first), (first, second), (second, third))]
    return [f"{nodes}", f"{shift.num_edges}", f"{order}", *times, f"{float(gap):.4f}", f"{memory:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, float64")
    header = ["nodes", "Spectrum, ms", "PyGSP, ms", "PyGSP / Spectrum", "transfer, ms", "creation, ms"]
    measure.table("Fourier basis", header, [basis(300, 7), basis(1000, 5)])
    rows = [bands(100_000, 400, 4)] + ([bands(1_000_000, 400, 4)] if options.full else [])
    header = ["nodes", "edges", "order", "interval, s", "energy, s", "density (4 probes), s", "gap", "peak memory, GB"]
    measure.table("Ten bands by Chebyshev-Jackson polynomials", header, rows)


if __name__ == "__main__":
    main()
