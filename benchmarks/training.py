"""How fast training is: beside the earlier formulation on a CPU, beside PyTorch Geometric, and against memory on a GPU.

python benchmarks/training.py                        the three parts for a CPU
python benchmarks/training.py --part step            one Learn NVGF step beside the dense formulation of 2021
python benchmarks/training.py --part rivals          GCN, SGC and GAT beside PyTorch Geometric on copies of the graph
python benchmarks/training.py --part austen          the seven architectures of the paper x 10 splits
python benchmarks/training.py --part grid --device cuda    27 hyper-parameter triples x 10 splits of Learn NVGF

``--alegnn PATH`` takes the reference from a checkout of alegnn instead of the formulation written here.
All times of one table come from one process, its candidates interleaved; medians.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import torch
from torch import nn

from nvgf.authorship import AuthorshipDataset, load_corpus
from nvgf.training import PAPER_AUTHORSHIP, Job, Task, fit_many
from nvgf.training.plan import plan
from nvgf.training.run import Run
from nvgf.training.stack.data import TaskCache

STEPS = 5
"""Steps at a time, those between two validations: each candidate finds its own data in the cache, as in training."""

SEVEN = {
    "lsigf": ({"features": 32, "order": 3}, 0.001),
    "gcnn": ({"features": 32, "order": 3}, 0.001),
    "design-nvgf": ({"features": 32, "order": 3}, 0.001),
    "learn-nvgf": ({"features": 32, "order": 3}, 0.001),
    "gcn": ({"features": 64}, 0.01),
    "sgc": ({"features": 64, "order": 2}, 0.005),
    "gat": ({"features": 64}, 0.01),
}
"""The architectures of the paper with its hyper-parameters for Austen."""


def interleaved(candidates: dict[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each candidate, run in turns."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for call in candidates.values():
        call()
    for _ in range(repeats):
        for name, call in candidates.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each) for name, each in times.items()}


class DenseNVGF(nn.Module):
    """The formulation of the paper's time: every product of tap and shifted signal is formed, then summed.

    Signals are ``(batch, features, nodes)``; LSI taps ``(out, 1, order + 1, in)``, node-variant taps
    ``(out, 1, order + 1, in, nodes)``.
    """

    def __init__(self, shift: torch.Tensor, features: int, order: int) -> None:
        super().__init__()
        nodes = len(shift)
        self.shift, self.order = shift, order
        bound = (order + 1) ** -0.5
        self.lsi = nn.Parameter(torch.empty(features, 1, order + 1, 1).uniform_(-bound, bound))
        bound = (features * (order + 1)) ** -0.5
        self.nv = nn.Parameter(torch.empty(features, 1, order + 1, features, nodes).uniform_(-bound, bound))
        self.dropout = nn.Dropout(0.5)
        self.readout = nn.Linear(features * nodes, 2)

    def _shifted(self, x: torch.Tensor) -> torch.Tensor:
        x = x.unsqueeze(1)
        stack = x.unsqueeze(2)
        for _ in range(self.order):
            x = x @ self.shift
            stack = torch.cat([stack, x.unsqueeze(2)], dim=2)
        return stack  # (batch, 1, order + 1, in, nodes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heard = self._shifted(x)
        batch, nodes = len(x), x.shape[-1]
        flat = heard.permute(0, 4, 1, 2, 3).reshape(batch, nodes, -1)
        y = (flat @ self.lsi.reshape(len(self.lsi), -1).T).permute(0, 2, 1)
        heard = self._shifted(y)
        y = (heard.unsqueeze(1) * self.nv.unsqueeze(0)).sum(dim=(2, 3, 4))
        return self.readout(self.dropout(y).flatten(1))


def alegnn_model(path: str, shift: torch.Tensor, features: int, order: int) -> nn.Module:
    """Return Learn NVGF from the layers of a checkout of alegnn."""
    sys.path.insert(0, path)
    from alegnn.utils import graphML

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lsi = graphML.GraphFilter(1, features, order + 1, 1, True)
            nodes = len(shift)
            self.nv = graphML.NodeVariantGF(features, features, order + 1, nodes, 1, True)
            for layer in (self.lsi, self.nv):
                layer.addGSO(shift.unsqueeze(0))
            self.dropout = nn.Dropout(0.5)
            self.readout = nn.Linear(features * nodes, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.readout(self.dropout(self.nv(self.lsi(x))).flatten(1))

    return Model()


def stepper(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    """Return a function that takes training steps of a module: batches of 20, cross-entropy, Adam."""
    adam = torch.optim.Adam(model.parameters(), lr=0.001)

    def step() -> None:
        for _ in range(STEPS):
            rows = torch.randint(len(x), (20,))
            adam.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            adam.step()

    return step


def our_steps(job: Job) -> dict[str, Callable[[], None]]:
    """Return functions that take steps of a job in the engine, without validation: in torch, and compiled."""
    (piece,) = plan([job], torch.device("cpu"))
    run = Run(piece.net([job], TaskCache(torch.device("cpu"))))
    run.run_block()

    def step() -> None:
        with torch.no_grad():
            for offset in range(STEPS):
                run.one_step(offset)

    steps: dict[str, Callable[[], None]] = {"nvgf torch": step}
    compiled = Run(piece.net([job], TaskCache(torch.device("cpu"))), native=True)
    compiled.run_block()
    native = compiled.native
    if native is not None:
        rows, weights = compiled.block_rows
        steps["nvgf native"] = lambda: native.run(rows, weights)
    elif getattr(compiled.net, "native", False):

        def attended() -> None:
            with torch.no_grad():
                for offset in range(STEPS):
                    compiled.one_step(offset)

        steps["nvgf native"] = attended
    return steps


def part_step(args: argparse.Namespace, tasks: list[Task]) -> None:
    """One Learn NVGF step at F = 32, K = 3 beside the reference."""
    task = tasks[0]
    shift = task.shift.to_dense()
    reference = alegnn_model(args.alegnn, shift, 32, 3) if args.alegnn else DenseNVGF(shift, 32, 3)
    job = Job("learn-nvgf", task, {"features": 32, "order": 3})
    theirs = stepper(reference, task.train.x.transpose(1, 2), task.train.y)
    times = interleaved({"reference": theirs, **our_steps(job)}, args.repeats)
    print(f"\nLearn NVGF, F = 32, K = 3, {len(shift)} nodes, batch 20, Adam included")
    _table(times, "reference")


class CopiesModel(nn.Module):
    """A PyTorch Geometric layer on a batch of graph copies, ReLU, dropout and the readout."""

    def __init__(self, layer: nn.Module, edges: tuple[object, ...], nodes: int, width: int) -> None:
        super().__init__()
        self.layer, self.edges, self.nodes = layer, edges, nodes
        self.dropout = nn.Dropout(0.5)
        self.readout = nn.Linear(nodes * width, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.layer(x.reshape(-1, 1), *self.edges).relu()
        return self.readout(self.dropout(hidden).view(len(x), -1))


def part_rivals(args: argparse.Namespace, tasks: list[Task]) -> None:
    """GCN, SGC and GAT at 64 features beside PyTorch Geometric."""
    from torch_geometric.nn import GATConv, GCNConv, SGConv

    task = tasks[0]
    nodes = task.shift.num_nodes
    source, target = task.shift.to_dense().T.nonzero(as_tuple=True)
    weight = task.shift.to_dense()[target, source]
    index = torch.cat([torch.stack([source, target]) + copy * nodes for copy in range(20)], dim=1)
    weighed = index, weight.repeat(20)
    csr = torch.sparse_coo_tensor(index.flip(0), weighed[1]).coalesce().to_sparse_csr()
    rivals = {
        "gcn": ({"gather": (GCNConv(1, 64), weighed), "csr": (GCNConv(1, 64), (csr,))}, {"features": 64}),
        "sgc": ({"gather": (SGConv(1, 64, K=2), weighed)}, {"features": 64, "order": 2}),
        "gat": ({"gather": (GATConv(1, 64), (index,))}, {"features": 64}),
    }
    for name, (layers, options) in rivals.items():
        ours = our_steps(Job(name, task, options))
        candidates = {
            f"PyG {form}": stepper(CopiesModel(layer, edges, nodes, 64), task.train.x, task.train.y)
            for form, (layer, edges) in layers.items()
        }
        print(f"\n{name}, 64 features, {nodes} nodes, batch 20, Adam included")
        _table(interleaved({**candidates, **ours}, max(5, args.repeats // 4)), "PyG gather")


def _austen_split(split: int) -> list[tuple[str, float, float]]:
    torch.set_num_threads(1)
    task = AuthorshipDataset(load_corpus(), "austen", split=split).task
    jobs = [Job(name, task, options, rate, seed=split) for name, (options, rate) in SEVEN.items()]
    results = fit_many(jobs, keep_weights=False)
    return [(r.job.architecture, r.test_error, r.seconds) for r in results]


def part_austen(args: argparse.Namespace, tasks: list[Task]) -> None:
    """The seven architectures x 10 splits, one process with one thread a core."""
    start = time.perf_counter()
    with ProcessPoolExecutor(args.workers) as pool:
        rows = list(itertools.chain.from_iterable(pool.map(_austen_split, range(args.splits))))
    seconds = time.perf_counter() - start
    print(f"\nAusten, seven architectures x {args.splits} splits on {args.workers} processes: {seconds:.1f} s")
    print(f"{'architecture':14s} {'test error':>10s} {'s a model':>10s}")
    for name in SEVEN:
        own = [row for row in rows if row[0] == name]
        mean_error, mean_seconds = statistics.mean(row[1] for row in own), statistics.mean(row[2] for row in own)
        print(f"{name:14s} {mean_error:10.4f} {mean_seconds:10.2f}")


def part_grid(args: argparse.Namespace, tasks: list[Task]) -> None:
    """The Learn NVGF grid of one author: time, share of the limit that memory sets, peak memory."""
    device = torch.device(args.device)
    bandwidth = copy_bandwidth(device)
    jobs = [
        Job(args.model, task, {"features": f, "order": k}, rate, seed=split)
        for f, k in itertools.product((16, 32, 64), (2, 3, 4))
        for rate in (0.001, 0.005, 0.01)
        for split, task in enumerate(tasks)
    ]
    if device.type == "cuda":
        fit_many(jobs[:2], device=device, keep_weights=False)  # libraries are loaded, kernels chosen
        torch.cuda.reset_peak_memory_stats(device)
    shapes: dict[tuple[int, int], float] = {}
    last = time.perf_counter()
    start = last

    def note(place: int, result: object) -> None:
        nonlocal last
        options = jobs[place].options
        now = time.perf_counter()
        shapes[options["features"], options["order"]] = (
            shapes.get((options["features"], options["order"]), 0) + now - last
        )
        last = now

    results = fit_many(jobs, device=device, keep_weights=False, on_result=note)
    seconds = time.perf_counter() - start
    traffic = sum(
        6 * 4 * job.build(device="meta").num_parameters * job.schedule.steps(len(job.task.train)) for job in jobs
    )
    limit = traffic / bandwidth
    print(f"\n{args.model} grid, {len(jobs)} models x {PAPER_AUTHORSHIP.epochs} epochs on {device}: {seconds:.2f} s")
    print(f"copy bandwidth {bandwidth / 1e12:.2f} TB/s; Adam's state read and written once a step: {limit:.2f} s")
    print(f"share of that limit: {limit / seconds:.0%}")
    if device.type == "cuda":
        print(f"peak memory {torch.cuda.max_memory_allocated(device) / 2**30:.2f} GiB")
    for (features, order), spent in shapes.items():
        print(f"  F = {features:2d}, K = {order}: {spent:6.2f} s")
    tested = statistics.mean(result.test_error for result in results)
    print(f"mean test error {tested:.4f}, {sum(result.diverged for result in results)} diverged")


def copy_bandwidth(device: torch.device) -> float:
    """Return bytes read and written a second by a large copy."""
    size = 1 << (28 if device.type == "cuda" else 24)
    source, target = torch.ones(size, device=device), torch.empty(size, device=device)

    def copy() -> None:
        target.copy_(source)
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    return 8 * size / interleaved({"copy": copy}, 20)["copy"]


def _table(times: dict[str, float], reference: str) -> None:
    for name, seconds in times.items():
        print(f"  {name:12s} {seconds / STEPS * 1e3:9.3f} ms   {times[reference] / seconds:7.1f} x")


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("step", "rivals", "austen", "grid"), action="append")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--author", default="austen")
    parser.add_argument("--model", default="learn-nvgf")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--alegnn", metavar="PATH")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    print(f"torch {torch.__version__}, {args.threads} thread(s), device {args.device}")
    parts = args.part or (["grid"] if args.device != "cpu" else ["step", "rivals", "austen"])
    corpus = load_corpus()
    count = args.splits if "grid" in parts else 1
    tasks = [AuthorshipDataset(corpus, args.author, split=split).task for split in range(count)]
    for part in parts:
        globals()[f"part_{part}"](args, tasks)


if __name__ == "__main__":
    main()
