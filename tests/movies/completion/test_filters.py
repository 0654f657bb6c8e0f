import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nvgf.movies.completion import CayleyFilter, ChebyshevFilter, normalised_laplacian
from nvgf.movies.completion.filters import StackedOperator

NODES, IN, OUT = 9, 3, 4


def graph(seed, nodes=NODES, isolated=False):
    rng = np.random.default_rng(seed)
    weights = rng.random((nodes, nodes)) * (rng.random((nodes, nodes)) < 0.5)
    weights = np.triu(weights, 1)
    if isolated:
        weights[:, 2] = weights[2] = 0
    return weights + weights.T


LAPLACIANS = [normalised_laplacian(graph(0)), normalised_laplacian(graph(1, isolated=True))]


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def make(kind, layout="csr", seeds=(0, 1), laplacians=LAPLACIANS, **options):
    made = kind(laplacians, IN, OUT, layout=layout, generators=generators(*seeds), dtype=torch.float64, **options)
    with torch.no_grad():
        made.bias.uniform_(-1, 1, generator=torch.Generator().manual_seed(9))
    return made


def signal(problems=2):
    return torch.randn(
        problems, NODES, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(5)
    ).requires_grad_()


def test_laplacian_is_the_formula():
    weights = graph(3)
    degrees = weights.sum(1)
    wanted = np.eye(NODES) - weights / np.sqrt(np.outer(degrees, degrees))
    np.testing.assert_allclose(normalised_laplacian(weights).toarray(), wanted, atol=1e-12)
    np.testing.assert_allclose(normalised_laplacian(sp.csr_array(weights)).toarray(), wanted, atol=1e-12)
    assert not normalised_laplacian(graph(3, isolated=True)).toarray()[2].any()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"adjacency must be a square matrix, got shape \(2, 3\)"),
        (np.array([[0, -1.0], [-1, 0]]), "finite, non-negative"),
        (np.array([[0, np.inf], [np.inf, 0]]), "finite, non-negative"),
        (np.array([[0, 1.0], [2, 0]]), "must be symmetric"),
    ],
)
def test_bad_adjacencies_are_named(matrix, message):
    with pytest.raises(ValueError, match=message):
        normalised_laplacian(matrix)


@pytest.mark.parametrize("terms", [1, 2, 5])
@pytest.mark.parametrize("layout", ["csr", "dense"])
def test_chebyshev_is_its_spectral_formula(terms, layout):
    made, x = make(ChebyshevFilter, layout, terms=terms), signal()
    y = made(x).detach()
    for place, laplacian in enumerate(LAPLACIANS):
        values, vectors = np.linalg.eigh(laplacian.toarray() - np.eye(NODES))
        wanted = np.broadcast_to(made.bias[place].detach().numpy(), (NODES, OUT)).copy()
        for k in range(terms):
            # T_k(cos t) = cos k t
            response = np.cos(k * np.arccos(np.clip(values, -1, 1)))
            weight = made.weight[place, k * IN : (k + 1) * IN].detach().numpy()
            wanted += (vectors * response) @ vectors.T @ x[place].detach().numpy() @ weight
        np.testing.assert_allclose(y[place].numpy(), wanted, atol=1e-10)


def cayley_naive(made, laplacian, x, place):
    """The formula with an explicit complex solve."""
    h = made.zoom[place].item()
    matrix = laplacian.toarray()
    transform = (h * matrix - 1j * np.eye(NODES)) @ np.linalg.inv(h * matrix + 1j * np.eye(NODES))
    weight = made.weight[place].detach().numpy()
    y = x @ weight[:IN] + made.bias[place].detach().numpy()
    power = np.eye(NODES)
    for j in range(1, made.order + 1):
        power = power @ transform
        start = IN * (2 * j - 1)
        c = weight[start : start + IN] + 1j * weight[start + IN : start + 2 * IN]
        y = y + 2 * ((power @ x) @ c).real
    return y


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize(
    ("options", "tolerance"),
    [
        ({}, 1e-9),
        ({"inverse": "jacobi", "jacobi_iterations": 200}, 1e-8),
        ({"inverse": "jacobi", "jacobi_iterations": 200, "layout": "dense"}, 1e-8),
    ],
    ids=["exact", "jacobi csr", "jacobi dense"],
)
def test_cayley_is_its_formula_with_a_solve(order, options, tolerance):
    made, x = make(CayleyFilter, order=order, **options), signal()
    y = made(x).detach().numpy()
    for place, laplacian in enumerate(LAPLACIANS):
        wanted = cayley_naive(made, laplacian, x[place].detach().numpy(), place)
        np.testing.assert_allclose(y[place], wanted, atol=tolerance)


def test_jacobi_comes_closer_with_every_few_iterations_as_fast_as_said():
    made = {n: make(CayleyFilter, inverse="jacobi", jacobi_iterations=n, order=1) for n in (5, 10, 20)}
    exact = make(CayleyFilter, order=1)
    x = signal()
    for each in (*made.values(), exact):
        with torch.no_grad():
            each.zoom.fill_(0.8)
    errors = {n: (each(x) - exact(x)).abs().max().item() for n, each in made.items()}
    rate = 0.8 / np.sqrt(1 + 0.8**2)
    assert errors[20] < errors[10] < errors[5]
    assert errors[20] < 5 * errors[5] * rate**15


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (ChebyshevFilter, {"layout": "csr"}),
        (ChebyshevFilter, {"layout": "dense"}),
        (CayleyFilter, {}),
        (CayleyFilter, {"inverse": "jacobi", "layout": "csr"}),
        (CayleyFilter, {"inverse": "jacobi", "layout": "dense"}),
    ],
)
def test_gradients(kind, options):
    made, x = make(kind, **options), signal()
    weights = list(made.parameters())

    def call(x, *values):
        return torch.func.functional_call(made, dict(zip(dict(made.named_parameters()), values, strict=True)), (x,))

    assert torch.autograd.gradcheck(call, (x, *weights), fast_mode=True)


@pytest.mark.parametrize("kind", [ChebyshevFilter, CayleyFilter])
def test_a_problem_is_the_same_alone_and_in_a_stack(kind):
    stacked = make(kind)
    alone = make(kind, seeds=(1,), laplacians=LAPLACIANS[1:])
    with torch.no_grad():
        alone.bias.copy_(stacked.bias[1:])
    x = signal()
    torch.testing.assert_close(alone(x[1:]), stacked(x)[1:])


def test_layouts_agree():
    x = signal()
    dense, csr = (StackedOperator(LAPLACIANS, layout=k, dtype=torch.float64) for k in ("dense", "csr"))
    torch.testing.assert_close(dense(x), csr(x))
    torch.testing.assert_close(dense(x)[0], torch.as_tensor(LAPLACIANS[0].toarray()) @ x[0])


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (ChebyshevFilter, {"terms": 0}, "terms must be at least 1, got 0"),
        (CayleyFilter, {"order": 0}, "order must be at least 1, got 0"),
        (CayleyFilter, {"inverse": "lu"}, "inverse must be 'exact' or 'jacobi', got 'lu'"),
        (CayleyFilter, {"jacobi_iterations": -1}, "jacobi_iterations must not be negative, got -1"),
    ],
)
def test_bad_options_are_named(kind, options, message):
    with pytest.raises(ValueError, match=message):
        make(kind, **options)


def test_stacked_graphs_need_one_size():
    with pytest.raises(ValueError, match=r"one size, got \[\(4, 4\), \(9, 9\)\]"):
        StackedOperator([LAPLACIANS[0], normalised_laplacian(graph(0, 4))], dtype=torch.float32)
