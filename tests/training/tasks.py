"""Small learnable problems, and what it means that two trainings are the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nvgf import GraphShift
from nvgf.training import Job, Result, Schedule, Signals, Task

SHORT = Schedule(epochs=6, batch_size=20)
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "lsigf": {"features": 8, "order": 2},
    "gcnn": {"features": 8, "order": 2},
    "learn-nvgf": {"features": 6, "order": 2},
    "design-nvgf": {"features": 6, "order": 1},
    "gcn": {"features": 9},
    "sgc": {"features": 8, "order": 2},
    "gat": {"features": 8},
}

TRAINED = [name for name in ARCHITECTURES if name != "design-nvgf"]
VARIANTS = [
    *((name, {}) for name in TRAINED),
    ("lsigf", {"basis": "chebyshev"}),
    ("gcnn", {"basis": "chebyshev", "order": 3}),
    ("learn-nvgf", {"basis": "chebyshev"}),
    ("learn-nvgf", {"schedule": Schedule(epochs=6, batch_size=20, dropout=0.3)}),
    ("gcnn", {"schedule": Schedule(epochs=6, batch_size=20, dropout=0.0)}),
]


def toy(nodes: int = 10, samples: int = 70, seed: int = 0, node: int | None = None, features: int = 1) -> Task:
    """Which side of a plane a non-negative signal lies on; with ``node``, a number to guess at the node."""
    g = torch.Generator().manual_seed(seed)
    matrix = torch.rand(nodes, nodes, generator=g)
    shift = GraphShift((matrix + matrix.T) * (matrix + matrix.T > 0.8)).normalized()
    direction = torch.randn(nodes, generator=g)

    def part(count: int) -> Signals:
        x = torch.rand(count, nodes, features, generator=g)
        side = (x[..., 0] - 0.5) @ direction
        return Signals(x, 3 + side if node is not None else (side > 0).long())

    loss = "cross-entropy" if node is None else "smooth-l1"
    return Task(shift, part(samples), part(30), part(40), loss=loss, node=node)


def mixed_jobs(architecture: str, node: int | None = None, **options: Any) -> list[Job]:
    """Four jobs of one shape with graphs, sizes, rates and seeds of their own; two share a task."""
    tasks = [toy(10, 70, 0, node), toy(8, 66, 1, node), toy(9, 75, 2, node)]
    dropout = 0.0 if node is not None else 0.5
    schedule = options.pop("schedule", Schedule(epochs=6, batch_size=20, dropout=dropout))
    options = {**ARCHITECTURES[architecture], **options}
    rates = (0.02, 0.005, 0.02, 0.01)
    return [
        Job(architecture, tasks[number % 3], options, rate, seed=number, schedule=schedule)
        for number, rate in enumerate(rates)
    ]


def assert_same(one: Result, other: Result, tolerance: float) -> None:
    torch.testing.assert_close(torch.tensor(one.losses), torch.tensor(other.losses), rtol=0, atol=tolerance)
    torch.testing.assert_close(torch.tensor(one.curve), torch.tensor(other.curve), rtol=0, atol=tolerance)
    assert one.kept_step == other.kept_step
    assert one.test_error == pytest.approx(other.test_error, abs=tolerance)
    assert one.state.keys() == other.state.keys()
    for name, tensor in one.state.items():
        torch.testing.assert_close(tensor, other.state[name], rtol=0, atol=10 * tolerance)
