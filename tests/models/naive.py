"""The formulas of the architectures, written out node by node, and what the models must share with one another."""

from __future__ import annotations

import torch

from nvgf import GraphShift
from nvgf.models import GraphModel


def polynomial(matrix: torch.Tensor, k: int, basis: str) -> torch.Tensor:
    """Return the k-th basis polynomial of a matrix."""
    if basis == "power":
        return torch.linalg.matrix_power(matrix, k)
    if k == 0:
        return torch.eye(len(matrix), dtype=matrix.dtype)
    if k == 1:
        return matrix
    return 2 * matrix @ polynomial(matrix, k - 1, basis) - polynomial(matrix, k - 2, basis)


def lsi(x: torch.Tensor, matrix: torch.Tensor, taps: torch.Tensor, basis: str = "power") -> torch.Tensor:
    """Return the LSI bank's output for one signal ``(nodes, in)``."""
    y = torch.zeros(x.shape[0], taps.shape[2], dtype=x.dtype)
    for k in range(len(taps)):
        heard = polynomial(matrix, k, basis) @ x
        for f in range(taps.shape[1]):
            for g in range(taps.shape[2]):
                y[:, g] += taps[k, f, g] * heard[:, f]
    return y


def node_variant(x: torch.Tensor, matrix: torch.Tensor, taps: torch.Tensor, basis: str = "power") -> torch.Tensor:
    """Return the node-variant bank's output for one signal ``(nodes, in)``."""
    y = torch.zeros(x.shape[0], taps.shape[3], dtype=x.dtype)
    for k in range(len(taps)):
        heard = polynomial(matrix, k, basis) @ x
        for n in range(x.shape[0]):
            for f in range(taps.shape[2]):
                for g in range(taps.shape[3]):
                    y[n, g] += taps[k, n, f, g] * heard[n, f]
    return y


def gcn_support(matrix: torch.Tensor) -> torch.Tensor:
    """Return D^-1/2 (I + S) D^-1/2 entry by entry."""
    nodes = len(matrix)
    looped = matrix.clone()
    for i in range(nodes):
        looped[i, i] += 1
    degrees = [sum(looped[i, j] for j in range(nodes)) for i in range(nodes)]
    support = torch.zeros_like(matrix)
    for i in range(nodes):
        for j in range(nodes):
            support[i, j] = looped[i, j] / (degrees[i] * degrees[j]) ** 0.5
    return support


def attention(
    x: torch.Tensor, matrix: torch.Tensor, weight: torch.Tensor, source: torch.Tensor, target: torch.Tensor
) -> torch.Tensor:
    """Return one head of GAT for one signal ``(nodes, in)``."""
    mapped = x @ weight
    y = torch.zeros_like(mapped)
    for i in range(len(x)):
        around = [j for j in range(len(x)) if matrix[i, j] != 0 or j == i]
        scores = [mapped[i] @ target + mapped[j] @ source for j in around]
        scores = [s if s > 0 else 0.2 * s for s in scores]
        total = sum(torch.exp(s) for s in scores)
        for j, s in zip(around, scores, strict=True):
            y[i] += torch.exp(s) / total * mapped[j]
    return y


def assert_prepared_is_the_same(model: GraphModel, x: torch.Tensor, shift: GraphShift) -> None:
    """Compare outputs and gradients from prepared input with those from the signals."""
    plain, short = model(x, shift), model.forward_prepared(model.prepare(x, shift))
    torch.testing.assert_close(short, plain)
    direction = torch.randn_like(plain)
    parameters = list(model.parameters())
    expected = torch.autograd.grad(plain, parameters, direction)
    for gradient, other in zip(torch.autograd.grad(short, parameters, direction), expected, strict=True):
        torch.testing.assert_close(gradient, other)
