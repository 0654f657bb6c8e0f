"""GraphShift: constructors, kinds, operations, and the message of every mistake."""

from __future__ import annotations

import copy

import networkx as nx
import numpy as np
import pygsp
import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nvgf import GraphShift
from nvgf.graph import KINDS

D = torch.float64


def random_weights(nodes: int, density: float = 0.3, seed: int = 0, symmetric: bool = True) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = rng.random((nodes, nodes)) * (rng.random((nodes, nodes)) < density)
    np.fill_diagonal(weights, 0)
    return np.triu(weights) + np.triu(weights).T if symmetric else weights


WEIGHTS = random_weights(12, 0.5)


class TestSources:
    @pytest.mark.parametrize("layout", ["dense", "csr"])
    @pytest.mark.parametrize(
        "make",
        [
            lambda w: w,
            lambda w: w.tolist(),
            scipy.sparse.csr_array,
            scipy.sparse.coo_matrix,
            scipy.sparse.csc_matrix,
            torch.from_numpy,
            lambda w: torch.from_numpy(w).to_sparse_coo(),
            lambda w: torch.from_numpy(w).to_sparse_csr(),
        ],
    )
    def test_every_matrix_gives_the_same_shift(self, make, layout):
        shift = GraphShift(make(WEIGHTS), layout=layout, dtype=D)
        assert shift.layout == layout
        assert np.array_equal(shift.to_dense().numpy(), WEIGHTS)
        assert np.array_equal(shift.to_scipy().toarray(), WEIGHTS)
        assert shift.num_edges == np.count_nonzero(WEIGHTS)

    def test_networkx_undirected_and_directed(self):
        graph = nx.les_miserables_graph()
        shift = GraphShift.from_networkx(graph, dtype=D)
        assert np.array_equal(shift.to_dense().numpy(), nx.to_numpy_array(graph))
        assert shift.names == tuple(graph.nodes)
        directed = nx.DiGraph([("a", "b", {"weight": 2.0}), ("b", "c", {"weight": 3.0})])
        shift = GraphShift.from_networkx(directed)
        # networkx writes A[source, target]; a shift says what the target hears.
        assert np.array_equal(shift.to_dense().numpy(), nx.to_numpy_array(directed).T)

    def test_pyg(self):
        data_module = pytest.importorskip("torch_geometric.data")
        edge_index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 1]])
        data = data_module.Data(edge_index=edge_index, edge_attr=torch.tensor([[1.0], [2], [3], [4]]), num_nodes=4)
        expected = torch.zeros(4, 4)
        expected[edge_index[1], edge_index[0]] = torch.tensor([1.0, 2, 3, 4])
        assert torch.equal(GraphShift.from_pyg(data).to_dense(), expected)
        weight = torch.tensor([1.0, 2, 3, 4], dtype=D)
        assert torch.equal(GraphShift.from_edge_index(edge_index, weight, num_nodes=4).to_dense(), expected.to(D))

    def test_edge_list_file(self, tmp_path):
        path = tmp_path / "graph.csv"
        path.write_text("source,target,weight\nthe,of,2\nof,and,0.5\n")
        shift = GraphShift.from_csv(path)
        assert shift.names == ("the", "of", "and")
        assert torch.equal(shift.to_dense(), torch.tensor([[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]))
        path.write_text("\ufeffsource,target\n10,9\n9,2\n")
        shift = GraphShift.from_csv(path, directed=True)
        assert shift.names == ("2", "9", "10")
        assert torch.equal(shift.to_dense(), torch.tensor([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]]))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "the header must be source,target"),
            ("a,b\n1,2\n", "the header must be source,target"),
            ("source,target\n", "no edges after the header"),
            ("source,target,weight\n1,2\n", "line 2: expected 3 cells, got 2"),
            ("source,target,weight\n1,2,heavy\n", "line 2: weight 'heavy' is not a number"),
        ],
    )
    def test_bad_edge_list_file(self, tmp_path, text, message):
        path = tmp_path / "graph.csv"
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            GraphShift.from_csv(path)

    def test_duplicate_edges_are_summed(self):
        edges = [(0, 1), (0, 1), (1, 0)]
        assert GraphShift.from_edges(edges, [1, 2, 4], directed=True).to_dense().tolist() == [[0, 4], [3, 0]]
        assert GraphShift.from_edges(edges, [1, 2, 4]).to_dense().tolist() == [[0, 7], [7, 0]]
        coo = torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2))
        assert GraphShift(coo).to_dense().tolist() == [[0, 3], [0, 0]]

    def test_a_loop_counts_once(self):
        assert GraphShift.from_edges([(0, 0), (0, 1)]).to_dense().tolist() == [[1, 1], [1, 0]]

    def test_layout_follows_density(self):
        assert GraphShift(np.eye(20)).layout == "dense"
        assert GraphShift(scipy.sparse.eye_array(1000)).layout == "csr"
        assert GraphShift(np.ones((300, 300))).layout == "dense"

    def test_dtype_follows_tensors_and_the_default(self):
        assert GraphShift(WEIGHTS).dtype == torch.float32
        assert GraphShift(torch.from_numpy(WEIGHTS)).dtype == D
        assert GraphShift(torch.eye(3, dtype=torch.int64)).dtype == torch.float32


class TestMistakes:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: GraphShift(np.ones((2, 3))), r"matrix must be square, got shape \(2, 3\)"),
            (lambda: GraphShift(torch.ones(2, 3)), r"matrix must be square, got shape \(2, 3\)"),
            (lambda: GraphShift(np.ones(3)), r"matrix must be square, got shape \(3,\)"),
            (lambda: GraphShift(np.ones((0, 0))), "matrix is empty: a graph needs at least one node"),
            (
                lambda: GraphShift([[0, np.nan], [1, 0]]),
                r"matrix must be finite, got nan at S\[0, 1\] \(1 such",
            ),
            (lambda: GraphShift([[0, 1], [np.inf, 0]], names=["a", "b"]), r"got inf at S\[b, a\]"),
            (lambda: GraphShift(np.eye(2), names=["a"]), "names has 1 entries, the shift has 2 nodes"),
            (lambda: GraphShift(np.eye(2), names=["a", "a"]), "names must differ, got 'a' more than once"),
            (
                lambda: GraphShift(np.eye(2), kind="magic"),
                "kind must be one of as-is, adjacency, .*got 'magic'",
            ),
            (lambda: GraphShift(np.eye(2), layout="coo"), "layout must be 'dense' or|layout must be 'auto'"),
            (lambda: GraphShift.from_edges([]), "edges is empty"),
            (
                lambda: GraphShift.from_edges([(0, 1, 2)]),
                r"edges must be pairs .* got \(0, 1, 2\) at position 0",
            ),
            (lambda: GraphShift.from_edges(["ab"]), "edges must be pairs"),
            (
                lambda: GraphShift.from_edges([(0, 5)], num_nodes=3),
                "between nodes 0 and 2, got target 5 in edge 0",
            ),
            (lambda: GraphShift.from_edges([(-1, 0)]), "got source -1 in edge 0"),
            (lambda: GraphShift.from_edges([(0.5, 1)]), "got a fraction"),
            (lambda: GraphShift.from_edges([(0, 1)], [1, 2]), "weights has 2 entries, there are 1 edges"),
            (lambda: GraphShift.from_edges([(0, 1)], [np.nan]), "weights must be finite"),
            (lambda: GraphShift.from_edges([("a", "z")], names=["a", "b"]), "edges name unknown nodes: 'z'"),
            (
                lambda: GraphShift.from_edge_index(torch.zeros(3, 2)),
                r"edge_index must have shape \(2, edges\)",
            ),
            (lambda: GraphShift(np.eye(3)).index(["a"]), "names: the nodes of this shift have none"),
            (
                lambda: GraphShift(np.eye(2), names=["a", "b"]).index(["a", "c"]),
                "names has unknown nodes: 'c'",
            ),
            (lambda: GraphShift(np.zeros((3, 3))).normalized(), "the shift is zero"),
            (lambda: GraphShift(np.eye(3)).without_isolated(), "no edge between two nodes"),
            (lambda: GraphShift(np.eye(3)).permuted([0, 1]), "order has 2 entries, the shift has 3 nodes"),
            (lambda: GraphShift(np.eye(3)).permuted([0, 1, 1]), "different numbers from 0 to 2"),
            (lambda: GraphShift(np.eye(3)).subgraph([]), "nodes is empty"),
            (lambda: GraphShift(np.eye(3)) @ torch.ones(4, 1), r"the shift has 3 nodes, got \(4, 1\)"),
            (
                lambda: GraphShift(np.eye(3)) @ torch.ones(3, 1, dtype=D),
                "x is torch.float64 on cpu, the shift torch",
            ),
        ],
    )
    def test_message(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: GraphShift(np.array([["a"]])), "matrix must hold real numbers"),
            (lambda: GraphShift(np.eye(2) * 1j), "matrix must hold real numbers"),
            (lambda: GraphShift(np.eye(2), dtype=torch.int32), "dtype must be a floating dtype"),
            (lambda: GraphShift(np.eye(2), names="ab"), "names must be a sequence of node names"),
        ],
    )
    def test_wrong_type(self, make, message):
        with pytest.raises(TypeError, match=message):
            make()

    @pytest.mark.parametrize("kind", ["adjacency", "laplacian", "normalized-laplacian"])
    def test_asymmetry_shows_the_worst_pair(self, kind):
        weights = np.array([[0, 1, 2], [1.1, 0, 1], [5, 1, 0]])
        message = (
            rf"kind '{kind}' needs a symmetric matrix, but S\[the, of\] = 2 and S\[of, the\] = 5 \(the worst pair\)"
        )
        with pytest.raises(ValueError, match=message):
            GraphShift(weights, kind=kind, names=["the", "and", "of"])
        with pytest.raises(ValueError, match="spectrum needs a symmetric"):
            GraphShift(weights).require_symmetric("spectrum")

    @pytest.mark.parametrize("kind", ["normalized-laplacian", "random-walk-laplacian", "symmetrized-walk"])
    def test_zero_degree(self, kind):
        weights = np.zeros((3, 3))
        weights[0, 1] = weights[1, 0] = 1
        with pytest.raises(ValueError, match=f"kind '{kind}' divides by the degrees, but 1 of 3 nodes .*of"):
            GraphShift(weights, kind=kind, names=["the", "and", "of"])
        assert GraphShift(weights, kind="gcn").to_dense()[2].tolist() == [0, 0, 1]

    @pytest.mark.parametrize(
        "make", [np.asarray, torch.from_numpy, lambda w: torch.from_numpy(w).to_sparse_csr(), scipy.sparse.csr_array]
    )
    def test_complex_matrices(self, make):
        with pytest.raises(TypeError, match=r"matrix must hold real numbers, got .*complex128"):
            GraphShift(make(np.array([[0, 1j], [-1j, 1]])))

    def test_entries_that_overflow(self):
        with pytest.raises(ValueError, match=r"entries that are too large for torch.float32, up to 1e\+39"):
            GraphShift(np.array([[0, 1e39], [0, 0]]), dtype=torch.float32)

    def test_gradients_that_would_be_lost(self):
        matrix = torch.eye(3).requires_grad_()
        for options in ({"layout": "csr"}, {"kind": "laplacian"}):
            with pytest.raises(ValueError, match="matrix asks for gradients, which reach dense shifts"):
                GraphShift(matrix, **options)
        sparse = torch.eye(3).to_sparse_csr().requires_grad_()
        with pytest.raises(ValueError, match="matrix asks for gradients"):
            GraphShift(sparse)

    def test_edges_in_columns(self):
        with pytest.raises(ValueError, match=r"shape \(2, 3\) is for from_edge_index"):
            GraphShift.from_edges(torch.tensor([[0, 1, 2], [1, 2, 0]]))


class TestKinds:
    @pytest.mark.parametrize(
        ("kind", "lap_type"), [("laplacian", "combinatorial"), ("normalized-laplacian", "normalized")]
    )
    def test_laplacians_equal_pygsp(self, kind, lap_type):
        graph = pygsp.graphs.Graph(WEIGHTS, lap_type=lap_type)
        assert np.allclose(GraphShift(WEIGHTS, kind=kind, dtype=D).to_dense(), graph.L.toarray(), atol=1e-14)

    def test_random_walk_laplacian_equals_networkx(self):
        graph = nx.from_numpy_array(WEIGHTS)
        degrees = WEIGHTS.sum(1)
        expected = np.diag(1 / degrees) @ nx.laplacian_matrix(graph).toarray()
        assert np.allclose(GraphShift(WEIGHTS, kind="random-walk-laplacian", dtype=D).to_dense(), expected)

    def test_gcn_equals_pyg(self):
        gcn_norm = pytest.importorskip("torch_geometric.nn.conv.gcn_conv").gcn_norm
        index = torch.nonzero(torch.from_numpy(WEIGHTS)).T
        index, weight = gcn_norm(index, torch.from_numpy(WEIGHTS)[*index], len(WEIGHTS), dtype=D)
        expected = GraphShift.from_edge_index(index, weight).to_dense()
        assert torch.allclose(GraphShift(WEIGHTS, kind="gcn", dtype=D).to_dense(), expected)

    def test_symmetrized_walk_is_the_formula_of_the_appendix(self):
        weights = random_weights(9, 0.6, symmetric=False)
        degree = np.diag(weights.sum(1))
        expected = (np.linalg.inv(degree) @ weights + weights.T @ np.linalg.inv(degree)) / 2
        shift = GraphShift(weights, kind="symmetrized-walk", dtype=D)
        assert np.allclose(shift.to_dense(), expected)
        assert shift.is_symmetric

    @pytest.mark.parametrize("kind", KINDS)
    def test_dense_equals_csr(self, kind):
        dense, csr = (GraphShift(WEIGHTS, kind=kind, layout=layout).to_dense() for layout in ("dense", "csr"))
        assert torch.equal(dense, csr)


class TestOperations:
    @pytest.mark.parametrize("symmetric", [True, False])
    @pytest.mark.parametrize("nodes", [2, 5, 40, 300])
    def test_normalized_has_unit_spectral_norm(self, nodes, symmetric):
        shift = GraphShift(random_weights(nodes, 0.9, 1, symmetric), dtype=D).normalized()
        assert np.linalg.norm(shift.to_dense().numpy(), 2) == pytest.approx(1, abs=1e-9)

    def test_gradients_reach_a_large_sparse_matrix(self):
        path = GraphShift.from_edges(np.c_[:299, 1:300]).to_dense().requires_grad_()
        shift = GraphShift(path)
        assert shift.layout == "dense"
        (gradient,) = torch.autograd.grad((shift @ torch.ones(300, 1)).sum(), path)
        assert torch.equal(gradient, torch.ones(300, 300))

    def test_weights_that_ask_for_gradients_are_taken_as_numbers(self):
        weights = torch.tensor([2.0]).requires_grad_()
        assert GraphShift.from_edges([(0, 1)], weights).to_dense().tolist() == [[0, 2], [2, 0]]

    def test_subgraph_of_a_mask(self):
        shift = GraphShift([[1.0, 2.0, 0.0], [2.0, 3.0, 4.0], [0.0, 4.0, 5.0]], names=["a", "b", "c"])
        for mask in (np.array([True, False, True]), torch.tensor([True, False, True]), [True, False, True]):
            part = shift.subgraph(mask)
            assert (part.to_dense().tolist(), part.names) == ([[1, 0], [0, 5]], ("a", "c"))
        for wrong in ([0.0, 1.0], [True, False]):
            with pytest.raises(TypeError, match="nodes must be node numbers or a mask of all nodes"):
                shift.subgraph(wrong)

    def test_spectral_norm_of_a_laplacian(self):
        # The vector of ones is in the kernel of every Laplacian: a Lanczos method that starts there finds 0.
        cycle = GraphShift.from_networkx(nx.cycle_graph(100), kind="laplacian", layout="csr")
        assert cycle.spectral_norm() == pytest.approx(4)

    def test_spectral_norm_of_a_long_path(self):
        nodes = 20_000
        path = GraphShift.from_edges(np.c_[: nodes - 1, 1:nodes])
        assert path.spectral_norm() == pytest.approx(2 * np.cos(np.pi / (nodes + 1)), rel=1e-6)

    @pytest.mark.parametrize("layout", ["dense", "csr"])
    def test_spectral_norm_equals_networkx(self, layout):
        graph = nx.les_miserables_graph()
        shift = GraphShift.from_networkx(graph, layout=layout, dtype=D)
        assert shift.spectral_norm() == pytest.approx(np.abs(nx.adjacency_spectrum(graph)).max())

    def test_largest_component_equals_networkx(self):
        graph = nx.gnp_random_graph(60, 0.02, seed=3)
        shift = GraphShift.from_networkx(graph)
        expected = sorted(max(nx.connected_components(graph), key=len))
        assert shift.largest_component().names == tuple(map(str, expected))
        sizes = [len(component) for component in shift.connected_components()]
        assert sizes == sorted((len(c) for c in nx.connected_components(graph)), reverse=True)

    def test_components_take_edges_both_ways(self):
        assert GraphShift.from_edges([(0, 1), (2, 1)], directed=True).largest_component().num_nodes == 3

    def test_without_isolated(self):
        shift = GraphShift.from_edges([(0, 1), (2, 2), (4, 1)], num_nodes=6, names=list("abcdef"))
        assert shift.without_isolated().names == ("a", "b", "e")

    def test_subgraph_and_permuted(self):
        shift = GraphShift(WEIGHTS, dtype=D, names=[f"n{i}" for i in range(12)])
        order = np.random.default_rng(0).permutation(12)
        moved = shift.permuted(order)
        assert np.array_equal(moved.to_dense(), WEIGHTS[np.ix_(order, order)])
        assert moved.names == tuple(f"n{i}" for i in order)
        assert shift.index(["n3", "n1"]) == [3, 1]

    @pytest.mark.parametrize("layout", ["dense", "csr"])
    def test_to(self, layout):
        shift = GraphShift(WEIGHTS, layout=layout)
        double = shift.to(dtype=D)
        assert double.dtype == D
        assert shift.dtype == torch.float32
        assert shift.to(dtype=torch.float32) is shift
        assert (double @ torch.ones(12, 1, dtype=D)).dtype == D
        meta = shift.to("meta")
        assert meta.device.type == "meta"

    @pytest.mark.parametrize("layout", ["dense", "csr"])
    def test_deepcopy(self, layout):
        shift = GraphShift(WEIGHTS, layout=layout)
        x = torch.randn(12, 3)
        assert torch.equal(copy.deepcopy(shift) @ x, shift @ x)

    @pytest.mark.parametrize("layout", ["dense", "csr"])
    def test_product(self, layout):
        weights = random_weights(30, 0.2, symmetric=False)
        x = torch.randn(4, 2, 30, 3, dtype=D, requires_grad=True)
        y = GraphShift(weights, layout=layout, dtype=D) @ x
        assert torch.allclose(y, torch.from_numpy(weights) @ x)
        (gradient,) = torch.autograd.grad((y**2).sum(), x)
        assert torch.allclose(gradient, 2 * torch.from_numpy(weights).T @ y)

    def test_repr_is_exact(self):
        assert repr(GraphShift(scipy.sparse.eye_array(1000), dtype=D)) == (
            "GraphShift(num_nodes=1000, num_edges=1000, layout='csr', kind='as-is', dtype=torch.float64, device='cpu')"
        )


class TestPerturbed:
    @settings(max_examples=40, deadline=None)
    @given(
        st.sampled_from(["absolute", "relative", "drop-edges", "add-edges"]),
        st.integers(3, 25),
        st.floats(1e-4, 0.2),
        st.booleans(),
        st.integers(0, 10_000),
    )
    def test_norm_and_symmetry(self, kind, nodes, epsilon, symmetric, seed):
        weights = random_weights(nodes, 0.5, seed, symmetric)
        weights[0, -1] = weights[-1, 0] = 1  # an edge to drop
        weights[1, 2] = weights[2, 1] = 0  # an edge to add
        shift = GraphShift(weights, dtype=D)
        try:
            near = shift.perturbed(epsilon, kind, generator=seed)
        except ValueError as error:
            assert "more than kind" in str(error) or "no two unlinked" in str(error)  # noqa: PT017
            return
        change = near.to_dense().numpy() - weights
        assert np.linalg.norm(change, 2) == pytest.approx(epsilon, rel=1e-6)
        assert near.is_symmetric == shift.is_symmetric
        assert np.array_equal(shift.perturbed(epsilon, kind, generator=seed).to_dense(), near.to_dense())

    def test_what_changes(self):
        weights = random_weights(40, 0.2)
        shift = GraphShift(weights, dtype=D)
        dropped = shift.perturbed(0.5, "drop-edges", generator=0).to_dense().numpy()
        assert np.all(dropped <= weights + 1e-12)
        assert np.count_nonzero(dropped) < np.count_nonzero(weights)
        added = shift.perturbed(0.5, "add-edges", generator=0).to_dense().numpy()
        assert np.array_equal(added[weights > 0], weights[weights > 0])
        assert np.count_nonzero(added) > np.count_nonzero(weights)
        relative = shift.perturbed(0.5, "relative", generator=0).to_dense().numpy()
        assert np.array_equal(relative != 0, weights != 0)

    @pytest.mark.parametrize(
        ("epsilon", "kind", "message"),
        [
            (-1, "absolute", "epsilon must be a non-negative number, got -1"),
            (np.nan, "absolute", "epsilon must be a non-negative number"),
            (1, "magic", "kind must be one of absolute, relative, drop-edges, add-edges, got 'magic'"),
            (1e6, "drop-edges", "is more than kind 'drop-edges' can change"),
        ],
    )
    def test_mistakes(self, epsilon, kind, message):
        with pytest.raises(ValueError, match=message):
            GraphShift(WEIGHTS).perturbed(epsilon, kind)

    def test_nothing_to_drop_or_add(self):
        with pytest.raises(ValueError, match="needs a graph with edges"):
            GraphShift(np.zeros((3, 3))).perturbed(0.1, "drop-edges")
        with pytest.raises(ValueError, match="needs a graph with edges"):
            GraphShift(np.zeros((3, 3))).perturbed(0.1, "relative")
        with pytest.raises(ValueError, match="the graph is complete"):
            GraphShift(1 - np.eye(5)).perturbed(0.1, "add-edges")

    def test_zero_epsilon_changes_nothing(self):
        assert np.array_equal(GraphShift(WEIGHTS, dtype=D).perturbed(0.0).to_dense(), WEIGHTS)
