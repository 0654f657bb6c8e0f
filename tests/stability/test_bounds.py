from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from nvgf.filters import NodeVariantFilter, node_variant
from nvgf.graph import GraphShift
from nvgf.spectral import lsi_response
from nvgf.stability import (
    bounds,
    lipschitz_bound,
    lipschitz_constants,
    operator_change,
    signal_change,
    telescoping_bound,
    theorem_bound,
)

KINDS = ("absolute", "relative", "drop-edges", "add-edges")
ROUNDING = 1 + 1e-7  # the norm of a perturbation is met up to 1e-10


@settings(max_examples=1000, deadline=None)
@given(
    nodes=st.integers(3, 9),
    order=st.integers(0, 5),
    seed=st.integers(0, 10**6),
    log=st.floats(-4, 0),
    kind=st.sampled_from(KINDS),
    features=st.sampled_from([(1, 1), (2, 3)]),
)
def test_no_bound_is_ever_below_the_change(random_graph, nodes, order, seed, log, kind, features):
    S = random_graph(nodes, seed=seed, density=0.3)
    epsilon = 0.4 * 10**log
    try:
        perturbed = S.perturbed(epsilon, kind, generator=seed)
    except ValueError:  # not that much to drop, or nowhere to add
        return
    taps = torch.randn(order + 1, nodes, *features, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    change = operator_change(taps, S, perturbed)
    tight, theorem = lipschitz_bound(taps, S, perturbed), theorem_bound(taps, S, epsilon)
    assert change <= telescoping_bound(taps, S, epsilon) * ROUNDING + 1e-12
    assert change <= tight * ROUNDING + 1e-12
    assert change <= theorem.leading * ROUNDING + 1e-12
    assert tight <= theorem.leading * ROUNDING + 1e-12
    assert theorem.leading <= theorem.total


@settings(max_examples=300, deadline=None)
@given(order=st.integers(0, 8), seed=st.integers(0, 10**6), low=st.floats(-3, 1), width=st.floats(0.01, 4))
def test_lipschitz_constant_is_a_constant_and_a_tight_one(order, seed, low, width):
    taps = torch.randn(order + 1, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    constants = lipschitz_constants(taps, (low, low + width), 3)[:, 0, 0]
    derivative = torch.arange(1, order + 1, dtype=torch.float64)[:, None] * taps[1:]
    grid = torch.linspace(low, low + width, 5000, dtype=torch.float64)
    steepest = lsi_response(derivative, grid).abs().amax(0) if order else torch.zeros(3).double()
    assert (constants >= steepest * (1 - 1e-12)).all()
    assert (constants <= steepest * 1.001 + 1e-12).all()


def test_change_is_the_difference_of_the_filters(random_graph):
    S = random_graph(8)
    perturbed = S.perturbed(0.3, "absolute", generator=0)
    module = NodeVariantFilter(2, 3, order=3, num_nodes=8, groups=[0, 1] * 4, dtype=torch.float64)
    x = torch.randn(5, 8, 2, dtype=torch.float64)
    expected = node_variant(x, perturbed, module.node_taps()) - node_variant(x, S, module.node_taps())
    assert torch.allclose(signal_change(module, S, perturbed, x), expected.detach(), atol=1e-12)
    norm = operator_change(module, S, perturbed)
    relative = expected.flatten(1).norm(dim=1) / x.flatten(1).norm(dim=1)
    assert (relative <= norm).all()


def test_norm_by_lanczos_is_the_norm_by_singular_values(random_graph, monkeypatch):
    S = random_graph(12)
    perturbed = GraphShift(S.to_dense() + 0.1 * torch.randn(12, 12, dtype=torch.float64))  # not symmetric
    taps = torch.randn(4, 12, 2, 3, dtype=torch.float64)
    direct = operator_change(taps, S, perturbed)
    monkeypatch.setattr(bounds, "DENSE_SIZE", 0)
    assert operator_change(taps, S, perturbed) == pytest.approx(direct, rel=1e-8)


def test_first_order_filter_meets_the_telescoping_bound(random_graph):
    # One tap on S, the same at all nodes: the change is epsilon times the tap, which is what the bound says.
    S = random_graph(10)
    perturbed = S.perturbed(0.2, "absolute", generator=1)
    taps = torch.tensor([5.0, 3.0])
    assert operator_change(taps, S, perturbed) == pytest.approx(0.6, rel=1e-8)
    assert telescoping_bound(taps, S, 0.2) == pytest.approx(0.6, rel=1e-12)


def test_theorem_term_by_term(random_graph):
    S = random_graph(9)
    taps = torch.randn(4, 9, dtype=torch.float64)
    result = theorem_bound(taps, S, 0.01, interval=(-1, 1))
    constant = float(lipschitz_constants(taps, (-1, 1), 9).max())
    assert result.constant == pytest.approx(constant)
    assert result.eigenvalues == pytest.approx(0.01 * constant * 3)
    assert result.eigenvectors == pytest.approx(8 * 0.01 * constant * 27)
    assert result.leading == pytest.approx(0.01 * constant * math.sqrt(9) * (1 + 8 * 9))
    size, largest = 1.0, taps.abs().amax(1)
    second = largest[2] * 0.01**2 + largest[3] * (3 * size * 0.01**2 + 0.01**3)
    assert result.remainder == pytest.approx(float(second), rel=1e-6)


def test_constant_between_eigenvalues_alone_bounds_nothing():
    # An erratum: on two linked nodes h(x) = x^2 is the same at both eigenvalues, so C = 0 satisfies the
    # theorem as it is printed, and yet the filter changes in proportion to epsilon.
    S = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    taps = torch.tensor([0.0, 0.0, 1.0])
    for epsilon in (1e-3, 1e-6):
        change = operator_change(taps, S, (1 + epsilon) * S)
        assert change / epsilon == pytest.approx(2, rel=1e-2)
    assert theorem_bound(taps, S, 1e-3).constant >= 2


def test_order_zero_does_not_change(random_graph):
    S = random_graph(6)
    taps = torch.randn(1, 6)
    assert operator_change(taps, S, S.perturbed(0.5, generator=0)) == 0
    assert telescoping_bound(taps, S, 0.5) == 0
    assert theorem_bound(taps, S, 0.5).total == 0


def path_and_loop(nodes: int, weight: float) -> GraphShift:
    path = sparse.diags_array([np.ones(nodes - 1)] * 2, offsets=[-1, 1])
    return GraphShift(sparse.block_diag([path, [[weight]]], format="csr"), dtype=torch.float64)


@pytest.mark.parametrize("order", [5, 20, 100])
@pytest.mark.parametrize("nodes", [998, 1998])
def test_bounds_hold_where_one_eigenvalue_is_just_above_many(nodes, order):
    epsilon = 2.0**-20
    S, perturbed = path_and_loop(nodes, 2.0), path_and_loop(nodes, 2 + epsilon)
    taps = torch.zeros(order + 1, nodes + 1, dtype=torch.float64)
    taps[order, nodes] = 1
    change = operator_change(taps, S, perturbed)
    assert change == pytest.approx((2 + epsilon) ** order - 2.0**order, rel=1e-8)
    assert change <= lipschitz_bound(taps, S, perturbed)
    assert change <= theorem_bound(taps, S, epsilon).leading
    assert change <= telescoping_bound(taps, S, epsilon) * (1 + 1e-9)


def test_bound_of_a_long_path_is_met_and_not_passed():
    # For a multiple of S the telescoping bound is the change, if it takes the norm of S for no less than it is.
    nodes, order, epsilon = 10_000, 100, 1e-3
    path = sparse.diags_array([np.ones(nodes - 1)] * 2, offsets=[-1, 1], format="csr")
    norm = 2 * math.cos(math.pi / (nodes + 1))
    taps = torch.zeros(order + 1)
    taps[order] = 1
    exact = (norm + epsilon) ** order - norm**order
    bound = telescoping_bound(taps, GraphShift(path, dtype=torch.float64), epsilon)
    assert exact * (1 - 1e-12) <= bound <= 1.001 * exact


@pytest.mark.parametrize(("order", "epsilon"), [(2, 1e-9), (5, 1e-9), (5, 1e-3), (8, 2.0)])
def test_remainder_of_small_changes(order, epsilon):
    S = GraphShift([[0.0, 1.5], [1.5, 0.0]])
    taps = torch.zeros(order + 1)
    taps[order] = 1
    size, small = Fraction(3, 2), Fraction(epsilon)
    exact = (size + small) ** order - size**order - order * small * size ** (order - 1)
    assert theorem_bound(taps, S, epsilon).remainder == pytest.approx(float(exact), rel=1e-12)


def test_large_changes_that_are_none():
    S = path_and_loop(1998, 2.0)
    perturbed = path_and_loop(1998, 3.0)
    taps = torch.randn(3, 1999, dtype=torch.float64)
    assert operator_change(taps, S, S) == 0
    assert operator_change(taps, S, GraphShift(S.to_dense(), layout="dense")) == 0
    assert operator_change(taps[:1], S, perturbed) == 0
    taps[:, -1] = 0  # nobody listens to the node that changes
    assert operator_change(taps, S, perturbed) == 0


def test_shifts_are_transposed_once(random_graph, monkeypatch):
    calls, transposed = [], bounds._transposed
    monkeypatch.setattr(bounds, "DENSE_SIZE", 0)
    monkeypatch.setattr(bounds, "_transposed", lambda S: calls.append(S) or transposed(S))
    S = random_graph(30)
    operator_change(torch.randn(3, 30), S, S.perturbed(0.1, generator=0))
    assert len(calls) == 2


@pytest.mark.parametrize("features", [(1, 1), (3, 1), (1, 3)])
def test_long_path_by_lanczos(features, monkeypatch):
    monkeypatch.setattr(bounds, "DENSE_SIZE", 0)
    nodes = 2000
    path = GraphShift(sparse.diags_array([np.ones(nodes - 1)] * 2, offsets=[-1, 1]), dtype=torch.float64)
    change = operator_change(torch.ones(2, *features), path, GraphShift(1.01 * path.to_scipy(), dtype=torch.float64))
    exact = 0.01 * 2 * math.cos(math.pi / (nodes + 1)) * math.sqrt(features[0] * features[1])
    assert change == pytest.approx(exact, rel=1e-5)


def test_degenerate_graphs(degenerate):
    taps = torch.randn(4, degenerate.num_nodes, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    noise = torch.from_numpy(np.random.default_rng(0).standard_normal((degenerate.num_nodes,) * 2))
    noise = (noise + noise.T) * (0.1 / float(torch.linalg.matrix_norm(noise + noise.T, 2)))
    change = operator_change(taps, degenerate, degenerate.to_dense() + noise)
    assert 0 < change <= telescoping_bound(taps, degenerate, 0.1) * ROUNDING
    assert change <= theorem_bound(taps, degenerate, 0.1).leading * ROUNDING


def test_telescoping_needs_no_symmetry():
    random = np.random.default_rng(3)
    S, E = (torch.from_numpy(random.standard_normal((7, 7))) for _ in range(2))
    E *= 0.2 / float(torch.linalg.matrix_norm(E, 2))
    taps = torch.randn(4, 7, dtype=torch.float64)
    assert operator_change(taps, S, S + E) <= telescoping_bound(taps, S, 0.2) * ROUNDING


def test_bad_input(random_graph):
    S, taps = random_graph(5), torch.ones(2, 5)
    for function in (theorem_bound, telescoping_bound):
        with pytest.raises(ValueError, match="epsilon must be a non-negative number, got -1"):
            function(taps, S, -1)
    with pytest.raises(ValueError, match="perturbed has 6 nodes, the shift has 5"):
        operator_change(taps, S, random_graph(6))
    with pytest.raises(ValueError, match="taps have 4 nodes, the shift has 5"):
        telescoping_bound(torch.ones(2, 4), S, 0.1)
    with pytest.raises(ValueError, match="needs a symmetric matrix"):
        theorem_bound(torch.ones(2, 3), torch.ones(3, 3).triu(), 0.1)
