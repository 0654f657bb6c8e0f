"""``stability_study``: perturb a graph many times, and set what happens beside what was promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import torch

from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.graph.perturb import Perturbation
from nvgf.spectral.inputs import analysis_shift, filter_bank
from nvgf.stability.bounds import (
    lipschitz_bound,
    operator_change,
    signal_change,
    telescoping_bound,
    theorem_bound,
)


@dataclass(frozen=True)
class StabilityRow:
    """One size of perturbation.

    Attributes:
        epsilon: the spectral norm of the perturbations.
        mean: change of the output, relative to the energy of the input, over all perturbations (and signals).
        max: the largest of them.
        telescoping: the bound of :func:`telescoping_bound`.
        lipschitz: the largest of :func:`lipschitz_bound` over the perturbations.
        theorem: the leading term of Theorem 3.
    """

    epsilon: float
    mean: float
    max: float
    telescoping: float
    lipschitz: float
    theorem: float


@dataclass(frozen=True)
class StabilityStudy:
    """The table of a stability study; ``str(study)`` prints it."""

    kind: str
    trials: int
    rows: tuple[StabilityRow, ...]

    def column(self, name: str) -> np.ndarray:
        """Return one column of the table, by the name of an attribute of :class:`StabilityRow`."""
        if name not in StabilityRow.__dataclass_fields__:
            raise ValueError(f"name must be one of {', '.join(StabilityRow.__dataclass_fields__)}, got {name!r}")
        return np.array([getattr(row, name) for row in self.rows])

    def __str__(self) -> str:
        names = tuple(StabilityRow.__dataclass_fields__)
        lines = ["".join(f"{name:>12}" for name in names)]
        lines += ["".join(f"{value:12.4g}" for value in astuple(row)) for row in self.rows]
        return "\n".join(lines)


def stability_study(
    filter: Any,
    shift: GraphShift | torch.Tensor,
    epsilons: Sequence[float] = (1e-3, 1e-2, 1e-1),
    *,
    kind: Perturbation = "absolute",
    trials: int = 10,
    signals: torch.Tensor | None = None,
    generator: np.random.Generator | int = 0,
) -> StabilityStudy:
    r"""Measure how a filter changes on perturbed graphs, and compare with the bounds.

    Args:
        filter: taps or a filter, see :func:`nvgf.spectral.filter_bank`.
        shift: the graph, symmetric.
        epsilons: the sizes :math:`\|\hat S - S\|_2` of the perturbations.
        kind: ``"absolute"``, ``"relative"``, ``"drop-edges"`` or ``"add-edges"``, see
            :mod:`nvgf.graph.perturb`.
        trials: perturbations for each size.
        signals: ``(samples, nodes, in)``; by default the worst signal of each perturbation is taken (the
            operator norm).
        generator: of the perturbations, or a seed.

    Example:
        >>> ring = GraphShift.from_edges([(i, (i + 1) % 8) for i in range(8)]).normalized()
        >>> study = stability_study(torch.tensor([1.0, 0.5, 0.2]), ring, [0.01, 0.1], trials=3)
        >>> bool((study.column("max") <= study.column("telescoping")).all())
        True
    """
    shift = analysis_shift(shift)
    shift.require_symmetric("A stability study")
    trials = whole_number("trials", trials, 1)
    bank = filter_bank(filter, shift.num_nodes)
    random = np.random.default_rng(generator)
    rows = []
    for epsilon in epsilons:
        changes, tight = [], 0.0
        for _ in range(trials):
            perturbed = shift.perturbed(epsilon, kind, generator=random)
            changes += _changes(bank, shift, perturbed, signals)
            tight = max(tight, lipschitz_bound(bank, shift, perturbed))
        rows.append(
            StabilityRow(
                float(epsilon),
                float(np.mean(changes)),
                float(np.max(changes)),
                telescoping_bound(bank, shift, epsilon),
                tight,
                theorem_bound(bank, shift, epsilon).leading,
            )
        )
    return StabilityStudy(kind, trials, tuple(rows))


def _changes(bank: torch.Tensor, shift: GraphShift, perturbed: GraphShift, signals: torch.Tensor | None) -> list[float]:
    if signals is None:
        return [operator_change(bank, shift, perturbed)]
    size = signals.double().reshape(-1, *signals.shape[-2:]).flatten(1).norm(dim=1)
    if bool((size == 0).any()):
        raise ValueError("signals must not be zero: the change is relative to their energy")
    change = signal_change(bank, shift, perturbed, signals).reshape(len(size), -1).norm(dim=1)
    return (change / size).tolist()
