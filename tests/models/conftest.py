"""A graph, signals, and the architectures' formulas written out in loops."""

from __future__ import annotations

import pytest
import torch

from nvgf import GraphShift


@pytest.fixture
def shift() -> GraphShift:
    """A random weighted directed graph of 7 nodes, with some entries on the diagonal, of unit norm."""
    g = torch.Generator().manual_seed(1)
    matrix = torch.rand(7, 7, generator=g, dtype=torch.float64)
    matrix[torch.rand(7, 7, generator=g) < 0.4] = 0
    return GraphShift(matrix).normalized()


@pytest.fixture
def x() -> torch.Tensor:
    """Nine signals with one feature, of both signs."""
    return torch.randn(9, 7, 1, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


@pytest.fixture
def x3() -> torch.Tensor:
    """Nine signals with three features."""
    return torch.randn(9, 7, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
