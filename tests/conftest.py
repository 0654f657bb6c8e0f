"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from nvgf import GraphShift


@pytest.fixture(scope="session")
def nvgf_data() -> Path:
    """The folder of data that lies beside the repository, named by ``NVGF_DATA``."""
    value = os.environ.get("NVGF_DATA")
    if not value:
        pytest.skip("NVGF_DATA is not set: this test needs the books and ratings beside the repository")
    folder = Path(value)
    if not folder.is_dir():
        pytest.fail(f"NVGF_DATA names {value}, which is not a folder")
    return folder


def _random_graph(nodes: int, seed: int = 0, density: float = 0.4) -> GraphShift:
    random = np.random.default_rng(seed)
    weights = np.triu(random.uniform(0.5, 1.5, (nodes, nodes)) * (random.random((nodes, nodes)) < density), 1)
    weights[np.arange(nodes - 1), np.arange(1, nodes)] += 0.5  # a path, so that the graph is connected
    return GraphShift(weights + weights.T, dtype=torch.float64).normalized()


def _named_graph(name: str) -> GraphShift:
    matrix = {
        "complete": np.ones((6, 6)) - np.eye(6),
        "star": np.pad(np.ones((1, 6)), ((0, 6), (1, 0))),
        "disconnected": np.kron(np.diag([1.0, 1.0]), np.ones((3, 3)) - np.eye(3)),
        "two nodes": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "ring": np.roll(np.eye(8), 1, axis=0),
        "one node": np.array([[2.0]]),
        "no edges": np.zeros((4, 4)),
    }[name]
    return GraphShift(np.maximum(matrix, matrix.T), dtype=torch.float64)


@pytest.fixture(scope="session")
def random_graph() -> Callable[..., GraphShift]:
    """A connected weighted graph with unit norm, in float64."""
    return _random_graph


@pytest.fixture(params=["complete", "star", "disconnected", "two nodes", "ring", "one node", "no edges"])
def degenerate(request: pytest.FixtureRequest) -> GraphShift:
    """A graph with repeated eigenvalues, or hardly any."""
    return _named_graph(request.param)


@pytest.fixture(autouse=True)
def _seed() -> None:
    """What a test draws without a generator of its own is the same at every run."""
    torch.manual_seed(0)
