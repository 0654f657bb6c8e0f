"""RMGCNN and RMCayley on the u1 split of MovieLens 100k, beside their published errors and plain anchors.

The neighbour graphs of users and movies are those that the authors of RMGCNN released (a MATLAB 7.3 file,
read with h5py). Where h5py is missing, convert them first; the result holds the two graphs and no rating::

    python benchmarks/completion.py --graphs split_1.mat --convert graphs.npz

    PYTHONPATH=src python benchmarks/completion.py --device cuda --iterations 10000 \\
        --data ml-100k --graphs graphs.npz --out completion.json

    # the five target movies of the paper, 10 splits each, all rivals
    PYTHONPATH=src python benchmarks/completion.py --device cuda --data ml-100k --splits 10

The full 10,000 iterations take a minute or two a method on a GPU; on two cores RMGCNN takes 8 minutes and RMCayley some
40, and 300 iterations are the default there.
Without ``--data`` and ``--graphs`` both are looked for under the folder that NVGF_DATA names (ml-100k/ and
oracles/).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

from nvgf.movies import MovieDataset, read_ratings, score_completion, score_simple
from nvgf.movies.anchors import baselines, biased_factorisation, item_knn, mean_of_means
from nvgf.movies.completion import CompletionConfig, CompletionProblem, fit_completion
from nvgf.movies.score import SIMPLE

USERS, MOVIES = 943, 1682
PUBLISHED = {"rmgcnn": 0.929, "rmcayley": 0.922}
TARGETS = ("Star Wars", "Contact", "Fargo", "Return of the Jedi", "Liar Liar")
CURVE_POINTS = 500


def main() -> None:
    options = parse()
    if options.splits:
        run_targets(options)
        return
    graphs = read_graphs(options.graphs)
    if options.convert:
        save_graphs(graphs, options.convert)
        return
    known, test = read_split(options.data)
    rows = run_anchors(known, test)
    runs = []
    for method in options.methods:
        runs += run_method(method, known, test, graphs, options)
        write_json(options.out, runs, rows, options)
    rows += [(run["label"], run["rmse"], PUBLISHED[run["method"]], run["seconds"]) for run in runs]
    print_table(rows, options)


def parse() -> argparse.Namespace:
    beside = Path(os.environ.get("NVGF_DATA", "."))
    parser = argparse.ArgumentParser(description="RMGCNN and RMCayley on the u1 split of MovieLens 100k")
    parser.add_argument("--data", type=Path, default=beside / "ml-100k", help="folder of u1.base and u1.test")
    parser.add_argument("--graphs", type=Path, default=beside / "oracles" / "monti-movielens-split1.mat")
    parser.add_argument("--convert", type=Path, help="write the graphs to this .npz and stop")
    parser.add_argument("--methods", nargs="+", default=["rmgcnn", "rmcayley"], choices=list(PUBLISHED))
    parser.add_argument("--iterations", type=int, default=None, help="10000 on a GPU, 300 on a processor by default")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="one training each, all at once")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--layout", default="auto", choices=["auto", "dense", "csr"])
    parser.add_argument("--no-cuda-graph", action="store_true", help="launch the kernels of a step one by one")
    parser.add_argument("--order", type=int, default=CompletionConfig.order, help="order of the Cayley filters")
    parser.add_argument("--inverse", default="exact", choices=["exact", "jacobi"])
    parser.add_argument("--candidate", default="sigmoid", choices=["sigmoid", "tanh"])
    parser.add_argument("--splits", type=int, default=0, help="instead of u1: the paper's targets, so many splits")
    parser.add_argument("--out", type=Path, help="write results and curves to this JSON file")
    options = parser.parse_args()
    if options.iterations is None:
        fast = torch.device(options.device).type == "cuda"
        options.iterations = (2_000 if options.splits else 10_000) if fast else 300
    if not options.convert and not options.splits and not (options.data / "u1.base").is_file():
        parser.error(f"{options.data} has no u1.base: name the MovieLens 100k folder with --data")
    if not options.splits and not options.graphs.is_file():
        parser.error(f"{options.graphs} is no file: name the released graphs with --graphs")
    return options


def read_graphs(path: Path) -> tuple[sp.csr_array, sp.csr_array]:
    """The users' and the movies' graph, from the released .mat or a converted .npz."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return tuple(from_edges(file[name], size) for name, size in (("users", USERS), ("movies", MOVIES)))
    import h5py

    graphs = []
    with h5py.File(path) as file:
        for name, size in (("W_users", USERS), ("W_movies", MOVIES)):
            parts = [np.array(file[name][part]) for part in ("data", "ir", "jc")]
            matrix = sp.csc_array((parts[0], parts[1].astype(np.int64), parts[2].astype(np.int64)), (size, size))
            graphs.append(sp.csr_array(matrix))
    return graphs[0], graphs[1]


def from_edges(edges: np.ndarray, size: int) -> sp.csr_array:
    return sp.csr_array(sp.coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), (size, size)))


def save_graphs(graphs: tuple[sp.csr_array, sp.csr_array], path: Path) -> None:
    for graph in graphs:
        if not (graph.data == 1).all():
            raise ValueError("the released graphs are unweighted; these are not")
    users, movies = (np.stack(graph.nonzero()).astype(np.int16) for graph in graphs)
    np.savez_compressed(path, users=users, movies=movies)
    print(f"wrote {path}: {users.shape[1]} and {movies.shape[1]} entries")


def read_split(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    matrices = []
    for name in ("u1.base", "u1.test"):
        triples = np.loadtxt(folder / name, dtype=np.int64)
        matrix = np.zeros((USERS, MOVIES))
        matrix[triples[:, 0] - 1, triples[:, 1] - 1] = triples[:, 2]
        matrices.append(matrix)
    return matrices[0], matrices[1]


def run_anchors(known: np.ndarray, test: np.ndarray) -> list[tuple[str, float, float | None, float]]:
    users, items = np.nonzero(test)
    anchors: dict[str, Callable[[], np.ndarray]] = {
        "(user mean + item mean) / 2": lambda: mean_of_means(known, users, items),
        "biases of users and items": lambda: baselines(known)[users, items],
        "item kNN, 40 neighbours": lambda: item_knn(known, users, items),
        "biased factorisation, rank 10 (ALS)": lambda: biased_factorisation(known, users, items),
    }
    rows: list[tuple[str, float, float | None, float]] = []
    for label, predict in anchors.items():
        start = time.perf_counter()
        predicted = np.clip(predict(), 1, 5)
        rmse = float(np.sqrt(np.mean((predicted - test[users, items]) ** 2)))
        rows.append((label, rmse, None, time.perf_counter() - start))
    return rows


def run_method(
    method: str,
    known: np.ndarray,
    test: np.ndarray,
    graphs: tuple[sp.csr_array, sp.csr_array],
    options: argparse.Namespace,
) -> list[dict]:
    problem = CompletionProblem(known + test, known > 0, *graphs, test=test > 0)
    config = CompletionConfig(method=method, order=options.order, inverse=options.inverse, candidate=options.candidate)
    start = time.perf_counter()

    def tell(done: int, latest: np.ndarray) -> None:
        spent = time.perf_counter() - start
        losses, errors = (" ".join(f"{v:.4f}" for v in latest[row]) for row in (0, 2))
        print(
            f"{method} {done:6d}  loss {losses}  test RMSE {errors}  {spent:6.1f} s",
            file=sys.stderr,
            flush=True,
        )

    fit = fit_completion(
        [problem] * len(options.seeds),
        config,
        iterations=options.iterations,
        seeds=options.seeds,
        device=options.device,
        layout=options.layout,
        cuda_graph=not options.no_cuda_graph,
        progress=tell,
        progress_every=max(1, options.iterations // 20),
    )
    seconds = time.perf_counter() - start
    shown = np.unique(np.linspace(0, options.iterations - 1, min(CURVE_POINTS, options.iterations)).astype(int))
    label = method if method == "rmgcnn" else f"{method}, order {options.order}, {options.inverse} inverse"
    return [
        {
            "method": method,
            "label": f"{label}, seed {seed}",
            "seed": seed,
            "rmse": float(fit.curves[fit.best_iteration[place], 2, place]),
            "lowest_test_rmse": float(fit.curves[:, 2, place].min()),
            "best_iteration": int(fit.best_iteration[place]),
            "seconds": seconds / len(options.seeds),
            "iterations": shown.tolist(),
            "loss": np.round(fit.curves[shown, 0, place], 5).tolist(),
            "test_rmse": np.round(fit.curves[shown, 2, place], 5).tolist(),
        }
        for place, seed in enumerate(options.seeds)
    ]


def run_targets(options: argparse.Namespace) -> None:
    """RMSE of every rival on the paper's five target movies: mean and standard deviation over the splits."""
    ratings = read_ratings(options.data)
    datasets = [MovieDataset(ratings, title, split=s) for title in TARGETS for s in range(options.splits)]
    rows: list[tuple[str, list[float], float]] = []
    for method in SIMPLE:
        start = time.perf_counter()
        errors = [score_simple(data, method).rmse for data in datasets]
        rows.append((method, errors, time.perf_counter() - start))
    for method in options.methods:
        config = CompletionConfig(order=options.order, inverse=options.inverse, candidate=options.candidate)
        start = time.perf_counter()
        scores = score_completion(datasets, method, iterations=options.iterations, config=config, device=options.device)
        rows.append((method, [score.rmse for score in scores], time.perf_counter() - start))
        best = np.quantile([score.best_iteration for score in scores], [0.1, 0.5, 0.9]).astype(int)
        print(f"{method}: kept iterations (10 %, median, 90 %) {best.tolist()}", file=sys.stderr, flush=True)
    print(f"RMSE on {options.splits} splits, {options.iterations} iterations on {options.device}")
    print(f"{'':18s}" + "".join(f"{title[:16]:>18s}" for title in TARGETS) + f"{'seconds':>10s}")
    for method, errors, seconds in rows:
        table = np.reshape(errors, (len(TARGETS), options.splits))
        cells = "".join(f"{row.mean():10.4f} ± {row.std():5.3f}" for row in table)
        print(f"{method:18s}{cells}{seconds:10.1f}")
    content = {method: np.reshape(errors, (len(TARGETS), -1)).tolist() for method, errors, _ in rows}
    write(options.out, {"targets": TARGETS, "iterations": options.iterations, "rmse": content})


def write_json(path: Path | None, runs: list[dict], anchors: list, options: argparse.Namespace) -> None:
    device = torch.cuda.get_device_name() if torch.device(options.device).type == "cuda" else "processor"
    content = {
        "split": "u1",
        "iterations": options.iterations,
        "device": device,
        "torch": torch.__version__,
        "anchors": {label: rmse for label, rmse, _, _ in anchors},
        "published": PUBLISHED,
        "runs": runs,
    }
    write(path, content)


def write(path: Path | None, content: dict) -> None:
    if path is None:
        return
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content))
    partial.replace(path)


def print_table(rows: list[tuple[str, float, float | None, float]], options: argparse.Namespace) -> None:
    print(
        f"MovieLens 100k, u1 split, {options.iterations} iterations on {options.device}; "
        "RMSE of the 20,000 test ratings"
    )
    print("(iteration of the lowest training loss, as released)")
    print(f"{'':44s} {'RMSE':>7s} {'published':>10s} {'seconds':>8s}")
    for label, rmse, published, seconds in rows:
        print(f"{label:44s} {rmse:7.4f} {published or '':>10} {seconds:8.1f}")


if __name__ == "__main__":
    main()
