from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse

from nvgf.graph import GraphShift
from nvgf.spectral import interval, spectral_interval
from nvgf.spectral.interval import norm_bound


def shift(graph: nx.Graph, kind: str = "as-is") -> GraphShift:
    return GraphShift.from_networkx(graph, kind=kind, layout="csr", dtype=torch.float64)


def path_and_loop(nodes: int, weight: float) -> GraphShift:
    """A path, and beside it one node with a loop: a single eigenvalue next to many."""
    path = sparse.diags_array([np.ones(nodes - 1)] * 2, offsets=[-1, 1])
    return GraphShift(sparse.block_diag([path, [[weight]]], format="csr"), dtype=torch.float64)


GRAPHS = {
    "random": lambda: shift(nx.gnp_random_graph(300, 0.05, seed=0)),
    "hubs": lambda: shift(nx.barabasi_albert_graph(300, 3, seed=0)),
    "Laplacian": lambda: shift(nx.random_geometric_graph(300, 0.1, seed=0), "laplacian"),
    "normalised": lambda: shift(nx.barabasi_albert_graph(300, 3, seed=0), "normalized-laplacian"),
    "star": lambda: shift(nx.star_graph(200)),
    "ring": lambda: shift(nx.cycle_graph(300)),
    "path and loop": lambda: path_and_loop(600, 2 + 1e-6),
    "negative": lambda: GraphShift(-path_and_loop(600, 2 + 1e-6).to_scipy(), dtype=torch.float64),
    "identity": lambda: GraphShift(3 * np.eye(30), dtype=torch.float64),
    "no edges": lambda: GraphShift(np.zeros((30, 30)), dtype=torch.float64),
    "one node": lambda: GraphShift([[-2.0]], dtype=torch.float64),
}


@pytest.mark.parametrize("margin", [0.0, 1e-9, 0.003, 0.01, 0.4])
@pytest.mark.parametrize("name", GRAPHS)
def test_what_lanczos_finds_is_widened_enough_and_no_more(name, margin, monkeypatch):
    monkeypatch.setattr(interval, "DENSE_NODES", 0)
    S = GRAPHS[name]()
    values = np.linalg.eigvalsh(S.to_dense().numpy())
    rounding = 1e-12 * abs(values).max()
    width = values[-1] - values[0]
    low, high = spectral_interval(S, margin=margin)
    assert low <= values[0] - 0.99 * margin * width + rounding
    assert high >= values[-1] + 0.99 * margin * width - rounding
    assert high - low <= width * (1 + 2.05 * max(margin, 1e-3)) + rounding


def test_a_large_graph_with_one_eigenvalue_just_above_many():
    low, high = spectral_interval(path_and_loop(1998, 2 + 1e-6), margin=0)
    assert high >= 2 + 1e-6
    assert low <= -2 * np.cos(np.pi / 1999)
    assert high - low < 4.001


def test_small_graphs_have_their_eigenvalues(random_graph):
    S = random_graph(30)
    values = np.linalg.eigvalsh(S.to_dense().numpy())
    assert spectral_interval(S, margin=0) == pytest.approx((values[0], values[-1]), rel=1e-12)


@pytest.mark.parametrize("nodes", [1, 2, 5, 150])
@pytest.mark.parametrize("limit", [0, 1_500])
def test_norm_of_any_matrix(nodes, limit, monkeypatch):
    monkeypatch.setattr(interval, "DENSE_NODES", limit)
    random = np.random.default_rng(nodes)
    for matrix in (
        random.standard_normal((nodes, nodes)),
        np.triu(np.ones((nodes, nodes)), 1),
        np.zeros((nodes, nodes)),
    ):
        norm = np.linalg.norm(matrix, 2)
        bound = norm_bound(GraphShift(matrix, dtype=torch.float64))
        assert norm * (1 - 1e-12) <= bound <= norm * 1.001


def test_bad_input(random_graph):
    with pytest.raises(ValueError, match="A spectral interval needs a symmetric matrix"):
        spectral_interval(GraphShift(torch.ones(3, 3).triu()))
    for margin in (-0.1, float("nan")):
        with pytest.raises(ValueError, match="margin must be a non-negative number"):
            spectral_interval(random_graph(5), margin=margin)
