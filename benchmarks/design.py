"""The optimal design by shifts beside the paper's formula: ``python benchmarks/design.py [--full]``.

The formula is taken as printed: for every node the matrix R_i = Lambda^T diag(u_i) V^T C_x V diag(u_i) Lambda, after an
eigen-decomposition. ``--full`` adds a graph of 100,000 nodes, which the formula cannot reach.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import torch
from scipy import sparse

import measure
from nvgf.design import NodeMoments, optimal_taps
from nvgf.graph import GraphShift


def graph(nodes: int, degree: int, seed: int = 0) -> GraphShift:
    rng = np.random.default_rng(seed)
    ends = rng.integers(nodes, size=(2, nodes * degree // 2))
    half = sparse.csr_array((rng.uniform(0.5, 1.5, ends.shape[1]), ends), shape=(nodes, nodes))
    return GraphShift((half + half.T) / (2 * degree), dtype=torch.float64)


def signals(samples: int, nodes: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(samples, nodes, 1, generator=generator, dtype=torch.float64)
    return x + 0.3 * x**2 + 0.2


def literal(x: torch.Tensor, shift: GraphShift, order: int) -> torch.Tensor:
    """Proposition 5 as printed, ``(order + 1, nodes)``."""
    matrix = shift.to_dense()
    eigenvalues, V = torch.linalg.eigh(matrix)
    powers = eigenvalues[:, None] ** torch.arange(order + 1)
    y = x.relu()
    centred, target = x - x.mean(0), y - y.mean(0)
    covariance = centred.T @ centred / len(x)
    cross = target.T @ centred / len(x)
    taps = []
    for node in range(len(matrix)):
        left = powers.T @ torch.diag(V[node]) @ V.T
        taps.append(torch.linalg.solve(left @ covariance @ left.T, left @ cross[node]))
    return torch.stack(taps, dim=1)


def batched(x: torch.Tensor, shift: GraphShift, order: int) -> torch.Tensor:
    """The same formula without the loop over nodes, and with diag(u_i) as a scaling: the best form of it."""
    eigenvalues, V = torch.linalg.eigh(shift.to_dense())
    powers = eigenvalues[:, None] ** torch.arange(order + 1)
    y = x.relu()
    centred, target = x - x.mean(0), y - y.mean(0)
    spectral = V.T @ (centred.T @ centred / len(x)) @ V
    cross = target.T @ centred / len(x) @ V
    scaled = V[:, :, None] * powers  # (nodes, eigenvalues, order + 1)
    gram = torch.einsum("nak,ab,nbl->nkl", scaled, spectral, scaled)
    return torch.linalg.solve(gram, torch.einsum("nak,na->nk", scaled, cross)).T


def compare(nodes: int, degree: int, samples: int, order: int, repeats: int) -> list[str]:
    shift, x = graph(nodes, degree), signals(samples, nodes)
    seconds = measure.interleaved(
        {
            "shifts": lambda: optimal_taps(x, shift, order),
            "printed": lambda: literal(x[..., 0], shift, order),
            "batched": lambda: batched(x[..., 0], shift, order),
        },
        repeats,
        warmup=1,
    )
    ours, theirs = optimal_taps(x, shift, order).taps[..., 0], literal(x[..., 0], shift, order)
    gap = float((ours - theirs).abs().max() / theirs.abs().max())
    return [
        f"{nodes}",
        f"{1e3 * seconds['shifts']:.1f}",
        f"{1e3 * seconds['printed']:.0f}",
        f"{1e3 * seconds['batched']:.0f}",
        f"{seconds['printed'] / seconds['shifts']:.0f}x",
        f"{seconds['batched'] / seconds['shifts']:.1f}x",
        f"{gap:.0e}",
    ]


def large(nodes: int, degree: int, samples: int, order: int) -> list[str]:
    shift = graph(nodes, degree)
    moments = NodeMoments(shift, order)
    start = time.perf_counter()
    drawing = 0.0
    for batch in range(samples // 50):
        before = time.perf_counter()
        x = signals(50, nodes, seed=batch)
        drawing += time.perf_counter() - before
        moments.update(x)
    design = moments.design()
    seconds = time.perf_counter() - start - drawing
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return [f"{nodes}", f"{shift.num_edges}", f"{samples}", f"{seconds:.1f}", f"{memory:.1f}", repr(design)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, float64, order 3")
    rows = [compare(189, 50, 1000, 3, repeats=5), compare(1000, 20, 1000, 3, repeats=1)]
    header = ["nodes", "by shifts, ms", "as printed, ms", "batched, ms", "printed / shifts", "batched / shifts", "gap"]
    measure.table("Optimal design from 1,000 signals", header, rows)
    if options.full:
        header = ["nodes", "edges", "signals", "seconds", "peak memory, GB", "design"]
        measure.table("A large sparse graph, streamed", header, [large(100_000, 10, 1000, 3)])


if __name__ == "__main__":
    main()
