from __future__ import annotations

import gc
import weakref

import numpy as np
import pygsp
import pytest
import torch
from scipy.stats import ortho_group

from nvgf.graph import GraphShift
from nvgf.spectral import Spectrum
from nvgf.spectral.spectrum import _CACHE


def sparse_ring(nodes: int) -> GraphShift:
    weights = np.linspace(0.5, 1.5, nodes)
    return GraphShift.from_edges(
        [(i, (i + 1) % nodes) for i in range(nodes)], weights, layout="csr", dtype=torch.float64
    )


def test_diagonalises(random_graph):
    S = random_graph(30)
    spectrum = Spectrum.of(S)
    V = spectrum.eigenvectors
    assert torch.allclose(V.T @ V, torch.eye(30).double(), atol=1e-12)
    assert torch.allclose(V @ torch.diag(spectrum.eigenvalues) @ V.T, S.to_dense(), atol=1e-12)
    assert (spectrum.eigenvalues.diff() > 0).all()


def test_degenerate_graphs_diagonalise(degenerate):
    spectrum = Spectrum.of(degenerate)
    V, n = spectrum.eigenvectors, degenerate.num_nodes
    assert torch.allclose(V.T @ V, torch.eye(n).double(), atol=1e-12)
    assert torch.allclose(V @ torch.diag(spectrum.eigenvalues) @ V.T, degenerate.to_dense(), atol=1e-12)
    assert int(spectrum.multiplicities.sum()) == n


def test_groups_repeated_eigenvalues():
    spectrum = Spectrum.of(GraphShift(np.ones((6, 6)) - np.eye(6), dtype=torch.float64))
    assert spectrum.multiplicities.tolist() == [5, 1]
    assert torch.allclose(spectrum.frequencies, torch.tensor([-1.0, 5.0]).double())


def test_float32_shift_still_groups():
    # 1/7 is not a float32 number: a float32 matrix of them has eigenvalues that differ by rounding alone.
    random = np.random.default_rng(0)
    basis = ortho_group.rvs(8, random_state=random)
    matrix = basis @ np.diag([1 / 7] * 4 + [1 / 3] * 4) @ basis.T
    spectrum = Spectrum.of(GraphShift((matrix + matrix.T) / 2, dtype=torch.float32))
    assert spectrum.eigenvalues.dtype == torch.float64
    assert spectrum.multiplicities.tolist() == [4, 4]


def test_the_basis_is_a_function_of_the_matrix_alone():
    # The same complete graph with its nodes numbered otherwise: eigh finds other bases, of() the same one.
    S = GraphShift(np.ones((5, 5)) - np.eye(5), dtype=torch.float64)
    V = Spectrum.of(S).eigenvectors
    assert torch.allclose(V, Spectrum.of(S.permuted([3, 1, 4, 0, 2])).eigenvectors, atol=1e-12)


def test_as_pygsp_has_it(random_graph):
    S = random_graph(40)
    graph = pygsp.graphs.Graph(S.to_dense().numpy(), lap_type="combinatorial")
    graph.compute_fourier_basis()
    laplacian = Spectrum.of(GraphShift(graph.L.toarray(), dtype=torch.float64))
    assert np.allclose(laplacian.eigenvalues, graph.e, atol=1e-10)
    x = torch.randn(5, 40, 2, dtype=torch.float64)
    ours = laplacian.gft(x).abs()
    theirs = np.abs(graph.gft(x.permute(1, 0, 2).reshape(40, -1).numpy()).reshape(40, 5, 2))
    assert np.allclose(ours, theirs.transpose(1, 0, 2), atol=1e-9)


def test_gft_inverts_and_keeps_energy(random_graph):
    spectrum = Spectrum.of(random_graph(20))
    x = torch.randn(3, 4, 20, 2, dtype=torch.float64)
    assert torch.allclose(spectrum.igft(spectrum.gft(x)), x, atol=1e-12)
    assert torch.allclose(spectrum.gft(x).square().sum(), x.square().sum())
    assert torch.allclose(spectrum.energy(x).sum(-2), x.square().sum(-2))


def test_energy_does_not_depend_on_the_basis(degenerate):
    spectrum = Spectrum.of(degenerate)
    x = torch.randn(3, degenerate.num_nodes, 2, dtype=torch.float64)
    assert torch.allclose(spectrum.energy(x), rotated(spectrum).energy(x), atol=1e-12)


def rotated(spectrum: Spectrum, seed: int = 0) -> Spectrum:
    """The same spectrum with another basis of every eigenspace."""
    vectors, start = spectrum.eigenvectors.clone(), 0
    for size in spectrum.multiplicities.tolist():
        turn = ortho_group.rvs(size, random_state=seed) if size > 1 else -np.ones((1, 1))
        vectors[:, start : start + size] @= torch.from_numpy(np.atleast_2d(turn))
        start += size
    return Spectrum(spectrum.eigenvalues, vectors, spectrum.tolerance)


def test_is_computed_once_and_forgotten_with_the_shift(random_graph):
    S = random_graph(12, seed=99)
    assert Spectrum.of(S) is Spectrum.of(S)
    assert Spectrum.of(S, tolerance=1e-3) is not Spectrum.of(S)
    reference, before = weakref.ref(S), len(_CACHE)
    del S
    gc.collect()
    assert reference() is None
    assert len(_CACHE) == before - 1


def test_a_changed_matrix_is_decomposed_anew():
    matrix = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    S = GraphShift(matrix)
    assert Spectrum.of(S).interval == pytest.approx((-1, 1))
    matrix.mul_(2)
    assert Spectrum.of(S).interval == pytest.approx((-2, 2))


@pytest.mark.parametrize("which", ["smallest", "largest", "both"])
def test_extreme_part(which):
    S = sparse_ring(200)
    whole = Spectrum.of(S)
    part = Spectrum.extreme(S, 6, which)
    index = {"smallest": slice(0, 6), "largest": slice(194, 200), "both": [0, 1, 2, 197, 198, 199]}[which]
    assert torch.allclose(part.eigenvalues, whole.eigenvalues[index], atol=1e-9)
    assert torch.allclose(part.eigenvectors.abs(), whole.eigenvectors[:, index].abs(), atol=1e-6)
    assert not part.is_complete


@pytest.mark.parametrize(("low", "high"), [(-0.3, 0.4), (1.5, 3.0), (-9.0, 9.0), (0.5, 0.6)])
def test_band(low, high):
    S = sparse_ring(150)
    whole = Spectrum.of(S).eigenvalues
    part = Spectrum.band(S, low, high)
    assert torch.allclose(part.eigenvalues, whole[(whole >= low) & (whole <= high)], atol=1e-8)
    V = part.eigenvectors
    assert torch.allclose(S @ V, V * part.eigenvalues, atol=1e-7)


def test_band_of_a_singular_middle():
    S = GraphShift.from_edges([(i, i + 1) for i in range(60)], layout="csr", dtype=torch.float64)  # has eigenvalue 0
    part = Spectrum.band(S, -0.2, 0.2)
    whole = Spectrum.of(S).eigenvalues
    assert len(part.eigenvalues) == int((whole.abs() <= 0.2).sum())


def test_extreme_part_without_edges():
    S = GraphShift.from_edges([], num_nodes=500, layout="csr", dtype=torch.float64)
    part = Spectrum.extreme(S, np.int64(3), "smallest")
    assert torch.equal(part.eigenvalues, torch.zeros(3).double())
    V = part.eigenvectors
    assert torch.allclose(V.T @ V, torch.eye(3).double())


@pytest.mark.parametrize("nodes", [1, 2, 16, 17, 18])
def test_band_of_few_nodes(nodes):
    S = GraphShift(np.diag(np.arange(2.0, nodes + 2)), layout="csr", dtype=torch.float64)
    assert torch.allclose(Spectrum.band(S, 1.5, 3.5).eigenvalues, torch.tensor([2.0, 3.0]).double()[:nodes])
    with pytest.raises(ValueError, match="no eigenvalue from 0 to 1"):
        Spectrum.band(S, 0, 1)


def test_shift_of_inference_mode():
    with torch.inference_mode():
        S = GraphShift(torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64))
        inside = Spectrum.of(S)
    outside = Spectrum.of(S)
    for spectrum in (inside, outside):
        assert spectrum.interval == pytest.approx((-1, 1))
    with torch.inference_mode():
        S.matrix.mul_(2)
        assert Spectrum.of(S).interval == pytest.approx((-2, 2))


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_spectrum_found_in_inference_mode_carries_gradients_later(layout, random_graph):
    S = GraphShift(random_graph(6).to_scipy(), layout=layout, dtype=torch.float64)
    with torch.inference_mode():
        assert len(Spectrum.of(S).frequencies) == 6
    x = torch.randn(6, 1, dtype=torch.float64, requires_grad=True)
    Spectrum.of(S).energy(x).sum().backward()
    assert torch.allclose(x.grad, 2 * x.detach())


def test_bad_input(random_graph):
    S = random_graph(5)
    with pytest.raises(ValueError, match=r"A spectrum needs a symmetric matrix.*S\[0, 1\]"):
        Spectrum.of(GraphShift(np.triu(np.ones((3, 3)))))
    with pytest.raises(ValueError, match=r"x must have shape \(\.\.\., 5, features\)"):
        Spectrum.of(S).gft(torch.zeros(4, 1))
    with pytest.raises(ValueError, match=r"x must have shape \(\.\.\., 5, features\)"):
        Spectrum.of(S).igft(torch.zeros(5))
    with pytest.raises(ValueError, match="which must be"):
        Spectrum.extreme(S, 2, "lowest")
    with pytest.raises(ValueError, match=r"count must be from 1 to 4"):
        Spectrum.extreme(S, 5)
    with pytest.raises(ValueError, match="low must be below high"):
        Spectrum.band(S, 1.0, 0.0)
    with pytest.raises(ValueError, match="no eigenvalue from 100 to 101"):
        Spectrum.band(S, 100, 101)
    with pytest.raises(ValueError, match="tolerance must be"):
        Spectrum.of(S, tolerance=-1)
    with pytest.raises(ValueError, match="eigenvalues must ascend"):
        Spectrum(torch.tensor([1.0, 0.0]), torch.eye(2))
    with pytest.raises(ValueError, match="eigenvalues must have shape"):
        Spectrum(torch.zeros(3), torch.eye(2))
    with pytest.raises(TypeError, match="shift must be"):
        Spectrum.extreme("graph", 1)
