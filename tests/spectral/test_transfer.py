from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nvgf.design import optimal_taps
from nvgf.filters import LSIFilter, NodeVariantFilter, lsi, node_variant
from nvgf.graph import GraphShift
from nvgf.spectral import Spectrum, creates_frequencies, creation, to_chebyshev, transfer_matrix


def literal_transfer(taps: torch.Tensor, S: torch.Tensor) -> torch.Tensor:
    """V^T (V o (H Lambda^T)) as printed, one entry at a time from sums."""
    eigenvalues, V = torch.linalg.eigh(S)
    order, nodes = taps.shape
    result = torch.zeros(nodes, nodes, dtype=torch.float64)
    for i in range(nodes):
        for j in range(nodes):
            for node in range(nodes):
                response = sum(taps[k, node] * eigenvalues[j] ** k for k in range(order))
                result[i, j] += V[node, i] * response * V[node, j]
    return result


@settings(max_examples=40, deadline=None)
@given(nodes=st.integers(2, 12), order=st.integers(0, 6), seed=st.integers(0, 10**6))
def test_proposition_1_against_the_gft_of_the_output(random_graph, nodes, order, seed):
    S = random_graph(nodes, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    taps = torch.randn(order + 1, nodes, 2, 3, generator=generator, dtype=torch.float64)
    x = torch.randn(5, nodes, 2, generator=generator, dtype=torch.float64)
    spectrum = Spectrum.of(S)
    predicted = torch.einsum("ioab,sbi->sao", transfer_matrix(taps, S), spectrum.gft(x))
    actual = spectrum.gft(node_variant(x, S, taps))
    assert (predicted - actual).abs().max() < 1e-12 * max(1.0, float(actual.abs().max()))


def test_against_the_literal_sums(random_graph):
    S = random_graph(7)
    taps = torch.randn(4, 7, dtype=torch.float64)
    assert torch.allclose(transfer_matrix(taps, S).abs(), literal_transfer(taps, S.to_dense()).abs(), atol=1e-12)


def test_all_kinds_of_filters(random_graph):
    S = random_graph(9)
    spectrum = Spectrum.of(S)
    x = torch.randn(4, 9, 2, dtype=torch.float64)
    for module in (
        NodeVariantFilter(2, 3, order=2, num_nodes=9, dtype=torch.float64),
        NodeVariantFilter(2, 3, order=2, num_nodes=9, groups=[0, 1, 2] * 3, dtype=torch.float64),
        LSIFilter(2, 3, order=2, dtype=torch.float64),
    ):
        predicted = torch.einsum("ioab,sbi->sao", transfer_matrix(module, S), spectrum.gft(x))
        assert torch.allclose(predicted, spectrum.gft(module(x, S).detach()), atol=1e-12)
    design = optimal_taps(x, S, 1)
    assert transfer_matrix(design, S).shape == (2, 2, 9, 9)
    assert float(transfer_matrix(design, S)[0, 1].abs().max()) == 0.0


def test_chebyshev_taps(random_graph):
    S = random_graph(9)
    taps = torch.randn(5, 9, dtype=torch.float64)
    converted = to_chebyshev(taps, (-1, 1))
    assert torch.allclose(
        transfer_matrix(converted, S, basis="chebyshev", interval=(-1, 1)), transfer_matrix(taps, S), atol=1e-12
    )


def test_a_part_of_the_spectrum_gives_the_block(random_graph):
    S = random_graph(40)
    taps = torch.randn(3, 40, dtype=torch.float64)
    whole, part = transfer_matrix(taps, S), transfer_matrix(taps, Spectrum.extreme(S, 4, "largest"))
    assert torch.allclose(part.abs(), whole[-4:, -4:].abs(), atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(nodes=st.integers(1, 15), order=st.integers(0, 8), seed=st.integers(0, 10**6), log=st.floats(-6, 6))
def test_lsi_filters_never_create(random_graph, nodes, order, seed, log):
    S = random_graph(nodes, seed=seed) if nodes > 1 else GraphShift([[0.5]], dtype=torch.float64)
    taps = torch.randn(order + 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 10**log
    assert creation(taps, S).share < 1e-12
    assert not creates_frequencies(taps, S)


def test_lsi_filters_never_create_on_degenerate_graphs(degenerate):
    taps = torch.tensor([0.5, -1.0, 2.0])
    assert creation(taps, degenerate).share < 1e-12
    assert not creates_frequencies(taps, degenerate)


def test_a_generic_nvgf_creates(random_graph):
    S = random_graph(20)
    taps = torch.randn(3, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert creation(taps, S).share > 0.5
    assert creates_frequencies(taps, S)


def test_creation_is_what_the_outputs_show(random_graph):
    S = random_graph(11)
    taps = torch.randn(3, 11, 2, 3, dtype=torch.float64)
    spectrum = Spectrum.of(S)
    shares = torch.zeros(11, 11, dtype=torch.float64)
    for j in range(11):
        outputs = []
        for feature in range(2):
            x = torch.zeros(11, 2, dtype=torch.float64)
            x[:, feature] = spectrum.eigenvectors[:, j]
            outputs.append(spectrum.gft(node_variant(x, S, taps)))
        energy = torch.stack(outputs).square().sum((0, 2))
        shares[:, j] = energy / energy.sum()
    result = creation(taps, S)
    assert torch.allclose(result.pairs, shares, atol=1e-12)
    assert torch.allclose(result.per_frequency, 1 - shares.diagonal(), atol=1e-12)
    assert result.share == pytest.approx(float((1 - shares.diagonal()).mean()), abs=1e-12)
    assert float(result) == result.share


def test_does_not_depend_on_the_basis(degenerate):
    from scipy.stats import ortho_group

    spectrum = Spectrum.of(degenerate)
    vectors, start = spectrum.eigenvectors.clone(), 0
    for size in spectrum.multiplicities.tolist():
        if size > 1:
            turn = torch.from_numpy(ortho_group.rvs(size, random_state=1))
            vectors[:, start : start + size] = vectors[:, start : start + size] @ turn
        start += size
    turned = Spectrum(spectrum.eigenvalues, vectors, spectrum.tolerance)
    taps = torch.randn(3, degenerate.num_nodes, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    one, other = creation(taps, spectrum), creation(taps, turned)
    assert one.share == pytest.approx(other.share, abs=1e-12)
    assert torch.allclose(one.pairs, other.pairs, atol=1e-12)
    assert creates_frequencies(taps, spectrum) == creates_frequencies(taps, turned)


def test_moving_inside_an_eigenspace_creates_nothing():
    # On a complete graph minus its mean every signal has eigenvalue -1: a filter that keeps the mean apart
    # and scales nodes differently does create; one that scales all alike does not, though it is written node
    # by node.
    S = GraphShift(torch.ones(4, 4).double() - torch.eye(4).double())
    assert not creates_frequencies(torch.ones(1, 4), S)
    assert creates_frequencies(torch.tensor([[1.0, 1.0, 1.0, 2.0]]), S)


def test_without_edges_there_is_one_frequency():
    S = GraphShift(torch.zeros(4, 4).double())
    taps = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    assert creation(taps, S).share == 0.0
    assert not creates_frequencies(taps, S)


def test_a_silent_filter_creates_nothing(random_graph):
    assert creation(torch.zeros(2, 6), random_graph(6)).share == 0.0
    assert not creates_frequencies(torch.zeros(2, 6), random_graph(6))


def test_a_partial_spectrum_counts_what_leaves_it(random_graph):
    S = random_graph(40)
    taps = torch.randn(3, 40, dtype=torch.float64)
    whole, part = creation(taps, S), creation(taps, Spectrum.extreme(S, 5, "largest"))
    assert torch.allclose(part.per_frequency, whole.per_frequency[-5:], atol=1e-7)
    assert creates_frequencies(taps, Spectrum.extreme(S, 5, "largest"))
    assert not creates_frequencies(torch.tensor([1.0, 2.0]), Spectrum.extreme(S, 5, "largest"))


def test_least_squares_floor_is_the_created_energy(random_graph):
    """A linear target that moves energy between frequencies: what an LSI filter cannot fit is what is
    created.

    With white inputs the mean squared error of the best response is the energy off the diagonal of the
    target's transfer matrix, in closed form; enough taps reach it, and an NVGF fits the target exactly.
    """
    S = random_graph(12)
    spectrum = Spectrum.of(S)
    generator = torch.Generator().manual_seed(0)
    truth = torch.randn(3, 12, generator=generator, dtype=torch.float64)
    transfer = transfer_matrix(truth, S)
    floor = float(transfer.square().sum() - transfer.diagonal().square().sum())

    x = torch.linalg.qr(torch.randn(4000, 12, generator=generator, dtype=torch.float64)).Q * 4000**0.5  # white exactly
    x = x[..., None]
    y = node_variant(x, S, truth[..., None, None])[..., 0]
    # The best LSI filter of order N - 1, by least squares on data.
    shifted = [x[..., 0]]
    for _ in range(11):
        shifted.append((S @ shifted[-1][..., None])[..., 0])
    basis = torch.linalg.qr(torch.stack([s.flatten() for s in shifted], 1)).Q
    residual = y.flatten() - basis @ (basis.T @ y.flatten())
    assert float(residual.square().sum()) / 4000 == pytest.approx(floor, rel=1e-6)
    assert floor > 0.5 * float(transfer.square().sum())

    nvgf = torch.zeros_like(truth)
    for node in range(12):
        heard = torch.stack([s[:, node] for s in shifted[:3]], 1)
        nvgf[:, node] = torch.linalg.lstsq(heard, y[:, node]).solution
    assert torch.allclose(nvgf, truth, atol=1e-9)
    assert torch.allclose(lsi(x, S, torch.ones(1, 1, 1).double()), x)
    assert spectrum.is_complete
