"""The filters beside other ways of computing them: ``python benchmarks/filters.py [--alegnn PATH] [--full]``.

Forward and backward together, medians of interleaved repeats in one process. ``--full`` adds a graph of a million nodes
(some 20 GiB of memory). ``--alegnn`` names a checkout of the authors' library, for the real one beside its formulation.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from scipy import sparse

import measure
import nvgf
from nvgf.graph import native


def random_graph(nodes: int, degree: int, seed: int = 0) -> sparse.csr_array:
    """Return a symmetric graph with about ``degree`` neighbours a node and unit spectral norm, roughly."""
    rng = np.random.default_rng(seed)
    half = nodes * degree // 2
    ends = rng.integers(nodes, size=(2, half))
    half_graph = sparse.csr_array((np.ones(half), ends), shape=(nodes, nodes))
    return (half_graph + half_graph.T) / (2 * degree)


def broadcast_formulation(x: torch.Tensor, S: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    """Compute the NVGF as alegnn does: all products (batch, out, order, in, nodes) at once, then two sums.

    ``x`` is ``(batch, in, nodes)``, ``taps`` ``(out, order + 1, in, nodes)``.
    """
    heard = [x]
    for _ in range(taps.shape[1] - 1):
        heard.append(heard[-1] @ S)
    return (torch.stack(heard, dim=1).unsqueeze(1) * taps).sum((2, 3))


def forward_backward(apply: Callable[[], torch.Tensor], inputs: list[torch.Tensor]) -> Callable[[], None]:
    def run() -> None:
        for value in inputs:
            value.grad = None
        apply().sum().backward()

    return run


def dense(alegnn: Path | None, peak: float) -> None:
    """The paper's size: 189 nodes, 9,800 edges, batches of 20."""
    measure.table(
        "Dense: 189 nodes, 9,800 edges, batch 20, forward and backward",
        ["features", "way", "ms", "times faster than alegnn's NVGF", "share of the torch.mm rate"],
        [row for features, order in ((32, 3), (64, 4)) for row in dense_rows(features, order, alegnn, peak)],
    )


def dense_rows(features: int, order: int, alegnn: Path | None, peak: float) -> list[list[str]]:
    nodes, batch = 189, 20
    graph = nvgf.GraphShift(random_graph(nodes, 52), layout="dense")
    S = graph.to_dense()
    x = torch.randn(batch, nodes, features, requires_grad=True)
    taps = torch.randn(order + 1, nodes, features, features, requires_grad=True)
    lsi_taps = torch.randn(order + 1, features, features, requires_grad=True)
    x_last = x.detach().transpose(1, 2).contiguous().requires_grad_()
    taps_last = taps.detach().permute(3, 0, 2, 1).contiguous().requires_grad_()
    rivals = {"alegnn's formulation (NVGF)": (lambda: broadcast_formulation(x_last, S, taps_last), [x_last, taps_last])}
    reference = "alegnn's formulation (NVGF)"
    if alegnn is not None:
        sys.path.insert(0, str(alegnn))
        from alegnn.utils import graphML

        taps_real = taps.detach().permute(3, 0, 2, 1).unsqueeze(1).contiguous().requires_grad_()
        lsi_real = lsi_taps.detach().permute(2, 0, 1).unsqueeze(1).contiguous().requires_grad_()
        reference = "alegnn.NVGF"
        rivals[reference] = (lambda: graphML.NVGF(taps_real, S.unsqueeze(0), x_last), [x_last, taps_real])
        rivals["alegnn.LSIGF"] = (lambda: graphML.LSIGF(lsi_real, S.unsqueeze(0), x_last), [x_last, lsi_real])
    expected = nvgf.node_variant(x, graph, taps).mT
    for name, (apply, _) in rivals.items():
        if not name.endswith("LSIGF") and not torch.allclose(apply(), expected, atol=1e-3):
            raise SystemExit(f"{name} and nvgf.node_variant differ")
    ours = {
        "nvgf.node_variant": (lambda: nvgf.node_variant(x, graph, taps), [x, taps]),
        "nvgf.lsi": (lambda: nvgf.lsi(x, graph, lsi_taps), [x, lsi_taps]),
    }
    candidates = {name: forward_backward(*parts) for name, parts in (ours | rivals).items()}
    median = measure.interleaved(candidates, repeats=11)
    exchanges = 2 * 2 * nodes**2 * batch * features * order
    operations = 3 * 2 * nodes * batch * features**2 * (order + 1) + exchanges
    return [
        [f"{features} to {features}, order {order}", name, f"{seconds * 1e3:.2f}",
         f"{median[reference] / seconds:.1f}", f"{operations / seconds / 1e9 / peak:.2f}"]
        for name, seconds in median.items()
    ]  # fmt: skip


def scattered(nodes: int, features: int, order: int, repeats: int, rivals: bool = True) -> None:
    """A sparse graph of degree 10, one signal of some features."""
    weights = random_graph(nodes, 10)
    start = time.perf_counter()
    graph = nvgf.GraphShift(weights, layout="csr")
    build = time.perf_counter() - start
    x = torch.randn(nodes, features, requires_grad=True)
    lsi_taps = torch.randn(order + 1, features, features, requires_grad=True)
    taps = torch.randn(order + 1, nodes, features, features, requires_grad=True)
    kernels = ["native", "torch"] if native.available() else ["torch"]
    was_available = native.available
    candidates: dict[str, Callable[[], object]] = {}

    def with_kernel(kernel: str, run: Callable[[], None]) -> Callable[[], None]:
        def go() -> None:
            native.available = (lambda: kernel == "native") if kernel == "torch" else was_available
            run()

        return go

    for kernel in kernels:
        candidates[f"nvgf.lsi, {kernel}"] = with_kernel(
            kernel, forward_backward(lambda: nvgf.lsi(x, graph, lsi_taps), [x, lsi_taps])
        )
        candidates[f"nvgf.node_variant, {kernel}"] = with_kernel(
            kernel, forward_backward(lambda: nvgf.node_variant(x, graph, taps), [x, taps])
        )
    matrix = graph.matrix
    reference = f"nvgf.lsi, {kernels[0]}"
    if rivals:
        from torch_geometric.nn import ChebConv, TAGConv

        coo = weights.tocoo()
        index = torch.from_numpy(np.stack(coo.coords).astype(np.int64))
        weight = torch.from_numpy(coo.data).float()
        tag = TAGConv(features, features, K=order, normalize=False, bias=False)
        cheb = ChebConv(features, features, K=order + 1, bias=False)
        index_loops = torch.tensor(2.0)
        reference = "PyG TAGConv"
        candidates |= {
            "PyG TAGConv": forward_backward(lambda: tag(x, index, weight), [x, *tag.parameters()]),
            "PyG TAGConv, CSR adjacency": forward_backward(lambda: tag(x, matrix), [x, *tag.parameters()]),
            "PyG ChebConv": forward_backward(
                lambda: cheb(x, index, weight, lambda_max=index_loops), [x, *cheb.parameters()]
            ),
        }
    median = measure.interleaved(candidates, repeats=repeats, warmup=1)
    native.available = was_available
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    measure.table(
        f"Sparse: {nodes:,} nodes of degree 10, {features} to {features} features, order {order}, forward and backward "
        f"(shift built in {build:.1f} s, peak memory of the process {peak:.1f} GiB)",
        ["way", "ms", f"times faster than {reference}"],
        [[name, f"{s * 1e3:.0f}", f"{median[reference] / s:.1f}"] for name, s in median.items()],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alegnn", type=Path, help="a checkout of the authors' library")
    parser.add_argument("--full", action="store_true", help="also a graph of a million nodes")
    options = parser.parse_args()
    torch.manual_seed(0)
    peak, bandwidth = measure.machine()
    allocator = "tuned allocator" if measure.allocator_is_tuned() else "default allocator"
    print(f"## Filters, {allocator}")
    print(f"\ntorch {torch.__version__}, {torch.get_num_threads()} threads; torch.mm {peak:.0f} GFLOP/s, "
          f"copy {bandwidth:.1f} GB/s")  # fmt: skip
    dense(options.alegnn, peak)
    scattered(100_000, 16, 3, repeats=5)
    if options.full:
        scattered(1_000_000, 16, 3, repeats=2, rivals=False)
    if not measure.allocator_is_tuned():
        print()
        measure.rerun_with_tuned_allocator([a for a in sys.argv[1:] if a != "--full"])


if __name__ == "__main__":
    main()
