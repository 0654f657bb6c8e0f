import numpy as np
import pytest
import torch

from nvgf.movies.completion import (
    CompletionConfig,
    RecurrentCompletion,
    initial_factors,
    normalised_laplacian,
    rescaled,
)
from nvgf.movies.completion.model import dirichlet

USERS, ITEMS, RANK = 7, 5, 2


def laplacian(seed, nodes):
    weights = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < 0.6, 1).astype(float)
    return normalised_laplacian(weights + weights.T)


def model(config, seeds=(0, 1), layout="csr"):
    rng = np.random.default_rng(0)
    start = tuple(torch.as_tensor(rng.normal(size=(len(seeds), n, RANK))) for n in (USERS, ITEMS))
    users, items = ([laplacian(s, n) for s in range(len(seeds))] for n in (USERS, ITEMS))
    made = RecurrentCompletion(users, items, start, config, seeds=seeds, layout=layout, dtype=torch.float64)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3)))
    return made, users, items


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def diffuse_naively(side, factor, filtered, steps, squash):
    """The released recurrence, gate by gate, for one problem."""
    hidden = side.hidden
    gates, bias = side.gates[0].detach().numpy(), side.gate_bias[0].detach().numpy()
    names = ("forget", "input", "output", "candidate")
    W = {name: gates[:hidden, i * hidden : (i + 1) * hidden] for i, name in enumerate(names)}
    U = {name: gates[hidden:, i * hidden : (i + 1) * hidden] for i, name in enumerate(names)}
    b = {name: bias[:, i * hidden : (i + 1) * hidden] for i, name in enumerate(names)}
    state = cell = np.zeros((len(factor), hidden))
    for _ in range(steps):
        x = np.maximum(filtered(factor), 0)
        raw = {name: x @ W[name] + state @ U[name] + b[name] for name in names}
        cell = sigmoid(raw["forget"]) * cell + sigmoid(raw["input"]) * squash(raw["candidate"])
        state = sigmoid(raw["output"]) * squash(cell)
        factor = factor + np.tanh(cell @ side.out[0].detach().numpy() + side.out_bias[0].detach().numpy())
    return factor


@pytest.mark.parametrize("method", ["rmgcnn", "rmcayley"])
@pytest.mark.parametrize(("candidate", "squash"), [("sigmoid", sigmoid), ("tanh", np.tanh)])
def test_diffusion_is_the_released_recurrence(method, candidate, squash):
    config = CompletionConfig(method=method, rank=RANK, hidden=3, steps=4, candidate=candidate)
    made, _, _ = model(config, seeds=(0,))
    left, right = made()
    for got, side, start in ((left, made.users, made.start_users), (right, made.items, made.start_items)):

        def filtered(x, side=side):
            with torch.no_grad():
                return side.filter(torch.as_tensor(x)[None])[0].numpy()

        wanted = diffuse_naively(side, start[0].numpy(), filtered, 4, squash)
        np.testing.assert_allclose(got[0].detach().numpy(), wanted, atol=1e-10)


@pytest.mark.parametrize("method", ["rmgcnn", "rmcayley"])
def test_layouts_agree(method):
    config = CompletionConfig(method=method, rank=RANK, hidden=3, steps=3)
    for one, other in zip(model(config, layout="csr")[0](), model(config, layout="dense")[0](), strict=True):
        torch.testing.assert_close(one, other)


def test_gates_start_as_glorot_matrices_of_their_own():
    config = CompletionConfig(rank=10, hidden=32)
    start = torch.zeros(1, USERS, 10), torch.zeros(1, ITEMS, 10)
    made = RecurrentCompletion([laplacian(0, USERS)], [laplacian(0, ITEMS)], start, config, seeds=[0])
    assert made.users.gates.shape == (1, 64, 128)
    bound = np.sqrt(6 / 64)
    assert 0.98 * bound < made.users.gates.abs().max().item() <= bound
    assert made.users.filter.weight.shape == (1, 50, 32)
    assert made.users.filter.weight.abs().max().item() <= np.sqrt(6 / 82)
    assert not made.users.gate_bias.any()
    assert not made.users.filter.bias.any()


def test_start_is_the_best_approximation_of_its_rank():
    known = np.random.default_rng(4).random((8, 6))
    W, H = initial_factors(known, 3)
    values = np.linalg.svd(known)[1]
    assert np.linalg.norm(known - W @ H.T) == pytest.approx(np.sqrt((values[3:] ** 2).sum()))
    np.testing.assert_allclose(W.T @ W, np.diag(values[:3]), atol=1e-12)
    np.testing.assert_allclose(H.T @ H, np.diag(values[:3]), atol=1e-12)
    assert (W[np.abs(W).argmax(0), range(3)] > 0).all()
    with pytest.raises(ValueError, match="rank must not exceed the smaller side of the ratings, 6, got 7"):
        initial_factors(known, 7)


def test_rescaling_spans_the_scale_in_each_problem():
    x = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0))
    y = rescaled(x, 1, 5)
    torch.testing.assert_close(y.amin((1, 2)), torch.ones(3))
    torch.testing.assert_close(y.amax((1, 2)), 5 * torch.ones(3))
    slope = (y[0, 0, 0] - y[0, 1, 1]) / (x[0, 0, 0] - x[0, 1, 1])
    torch.testing.assert_close(y[0] - y[0, 0, 0], slope * (x[0] - x[0, 0, 0]))


def test_dirichlet_is_the_trace():
    rng = np.random.default_rng(2)
    left, right = torch.as_tensor(rng.normal(size=(2, 6, 3))), torch.as_tensor(rng.normal(size=(2, 5, 3)))
    lap = torch.as_tensor(laplacian(1, 5).toarray())
    energy = dirichlet(left, right, lambda x: lap @ x)
    X = left @ right.transpose(1, 2)
    torch.testing.assert_close(energy, torch.einsum("pui,ij,puj->p", X, lap, X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "gcmc"}, "method must be one of rmgcnn, rmcayley, got 'gcmc'"),
        ({"candidate": "relu"}, "candidate must be 'sigmoid' or 'tanh', got 'relu'"),
        ({"rank": 0}, "rank must be at least 1, got 0"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"input_fraction": 0}, r"input_fraction must lie in \(0, 1\], got 0"),
        ({"gamma": -1}, "gamma must not be negative, got -1"),
        ({"learning_rate": 0}, "learning_rate must be positive, got 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        CompletionConfig(**options)


def test_counts_of_problems_must_agree():
    start = torch.zeros(1, USERS, 10), torch.zeros(1, ITEMS, 10)
    with pytest.raises(ValueError, match=r"one entry per problem, got 1, 1, \(1, 1\) and 2"):
        RecurrentCompletion([laplacian(0, USERS)], [laplacian(0, ITEMS)], start, CompletionConfig(), seeds=[0, 1])
