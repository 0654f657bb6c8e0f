from __future__ import annotations

import numpy as np
import pygsp
import pytest
import torch

from nvgf.filters import LSIFilter, NodeVariantFilter, lsi, node_variant
from nvgf.graph import GraphShift
from nvgf.spectral import (
    Spectrum,
    chebyshev_filter,
    fit_taps,
    lsi_response,
    node_responses,
    output_spectrum,
    to_chebyshev,
    vandermonde,
)


def test_vandermonde_is_numpys():
    points = torch.linspace(-2, 3, 7, dtype=torch.float64)
    assert np.allclose(vandermonde(points, 5), np.vander(points.numpy(), 6, increasing=True))
    scaled = (2 * points.numpy() - 1) / 5
    assert np.allclose(
        vandermonde(points, 5, basis="chebyshev"), np.polynomial.chebyshev.chebvander(scaled, 5), atol=1e-12
    )


def test_convolution_theorem(random_graph):
    S = random_graph(25)
    taps = torch.randn(4, 2, 3, dtype=torch.float64)
    x = torch.randn(6, 25, 2, dtype=torch.float64)
    spectrum = Spectrum.of(S)
    expected = spectrum.gft(lsi(x, S, taps))
    assert torch.allclose(output_spectrum(taps, S, spectrum.gft(x)), expected, atol=1e-12)
    single = output_spectrum(taps[:, 0, 0], S, spectrum.gft(x[..., :1]))
    assert torch.allclose(single, spectrum.gft(lsi(x[..., :1], S, taps[:, :1, :1])), atol=1e-12)


def test_as_pygsp_filters(random_graph):
    S = random_graph(30)
    graph = pygsp.graphs.Graph(S.to_dense().numpy())
    graph.compute_fourier_basis()
    taps = torch.tensor([0.3, -0.2, 0.5], dtype=torch.float64)
    theirs = pygsp.filters.Filter(graph, lambda e: lsi_response(taps, torch.from_numpy(e)).numpy())
    L = GraphShift(graph.L.toarray(), dtype=torch.float64)
    assert np.allclose(theirs.evaluate(graph.e)[0], lsi_response(taps, Spectrum.of(L).eigenvalues), atol=1e-10)
    x = torch.randn(30, 1, dtype=torch.float64)
    ours = lsi(x, L, taps[:, None, None])[:, 0]
    assert np.allclose(theirs.filter(x[:, 0].numpy(), method="exact"), ours, atol=1e-10)


def test_node_responses_of_every_kind_of_filter():
    points = torch.linspace(-1, 1, 9, dtype=torch.float64)
    grouped = NodeVariantFilter(2, 3, order=2, num_nodes=4, groups=[0, 1, 0, 1], dtype=torch.float64)
    responses = node_responses(grouped, points)
    assert responses.shape == (4, 9, 2, 3)
    for node, group in enumerate([0, 1, 0, 1]):
        expected = lsi_response(grouped.taps[:, group], points)
        assert torch.allclose(responses[node], expected)
    same = node_responses(LSIFilter(2, 3, order=1, dtype=torch.float64), points, num_nodes=4)
    assert torch.allclose(same, same[:1].expand_as(same))
    assert torch.allclose(node_responses(torch.ones(2, 4), points)[0, :, 0, 0], 1 + points)


def test_chebyshev_taps_are_the_same_filter(random_graph):
    S = random_graph(20)
    taps = torch.randn(6, 20, 2, 3, dtype=torch.float64)
    x = torch.randn(4, 20, 2, dtype=torch.float64)
    converted = to_chebyshev(taps, (-1.2, 1.1))
    assert torch.allclose(chebyshev_filter(x, S, converted, (-1.2, 1.1)), node_variant(x, S, taps), atol=1e-12)
    points = torch.linspace(-1.2, 1.1, 50, dtype=torch.float64)
    assert torch.allclose(
        node_responses(converted, points, basis="chebyshev", interval=(-1.2, 1.1)),
        node_responses(taps, points),
        atol=1e-12,
    )


def test_order_30_needs_the_chebyshev_basis():
    # A sharp low-pass response on [0, 2], the interval of a normalised Laplacian.
    points = torch.linspace(0, 2, 400, dtype=torch.float64)
    wanted = torch.sigmoid(8 * (0.7 - points))
    conditions, errors = {}, {}
    for basis in ("monomial", "chebyshev"):
        conditions[basis] = float(torch.linalg.cond(vandermonde(points, 30, basis=basis)))
        taps = fit_taps(wanted, points, 30, basis=basis).float().double()  # as a float32 module would hold them
        errors[basis] = float((lsi_response(taps, points, basis=basis) - wanted).abs().max())
    assert conditions["chebyshev"] < 100
    assert conditions["monomial"] > 1e12
    assert errors["chebyshev"] < 1e-3
    assert errors["monomial"] > 100 * errors["chebyshev"]


def test_chebyshev_filter_at_order_30_equals_its_response(random_graph):
    S = random_graph(30)
    spectrum = Spectrum.of(S)
    coefficients = torch.randn(31, dtype=torch.float64)
    x = torch.randn(30, 1, dtype=torch.float64)
    interval = spectrum.interval
    response = lsi_response(coefficients, spectrum.eigenvalues, basis="chebyshev", interval=interval)
    expected = spectrum.igft(response[:, None] * spectrum.gft(x))
    assert torch.allclose(chebyshev_filter(x, S, coefficients, interval), expected, atol=1e-11)


def test_fit_recovers_taps_and_takes_the_least_where_there_are_many():
    points = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)
    taps = torch.randn(3, 2, 2, dtype=torch.float64)
    assert torch.allclose(fit_taps(lsi_response(taps, points), points, 2), taps, atol=1e-12)
    many = fit_taps(points, points, 3)  # 1 and x^3 agree there: the least norm halves x
    assert torch.allclose(many, torch.tensor([0.0, 0.5, 0.0, 0.5]).double(), atol=1e-12)


def test_bad_input(random_graph):
    points = torch.zeros(3)
    with pytest.raises(ValueError, match="order must be a whole number of at least 0, got -1"):
        vandermonde(points, -1)
    with pytest.raises(ValueError, match=r"order must be a whole number of at least 0, got 1\.5"):
        vandermonde(points, 1.5)
    with pytest.raises(ValueError, match="points must have shape"):
        vandermonde(torch.zeros(2, 2), 1)
    with pytest.raises(ValueError, match="basis must be 'monomial' or 'chebyshev', got 'legendre'"):
        vandermonde(points, 1, basis="legendre")
    with pytest.raises(ValueError, match="interval must be"):
        vandermonde(points, 1, basis="chebyshev", interval=(1, -1))
    with pytest.raises(ValueError, match="response must have one row for each of 3 points"):
        fit_taps(torch.zeros(4), points, 1)
    with pytest.raises(ValueError, match="taps must have shape"):
        output_spectrum(torch.zeros(2, 5), random_graph(5), torch.zeros(5, 1))
    with pytest.raises(ValueError, match="num_nodes is needed"):
        node_responses(LSIFilter(1, 1, order=1), points)
    with pytest.raises(ValueError, match="taps have 4 nodes, the shift has 5"):
        node_responses(torch.zeros(2, 4), points, num_nodes=5)
    with pytest.raises(TypeError, match="filter must be a tensor of taps"):
        node_responses("lowpass", points, num_nodes=5)
    with pytest.raises(ValueError, match="taps must be finite"):
        node_responses(torch.full((2, 4), torch.nan), points)
    with pytest.raises(ValueError, match="taps must have shape"):
        node_responses(torch.zeros(2, 4, 1, 1, 1), points, num_nodes=4)
