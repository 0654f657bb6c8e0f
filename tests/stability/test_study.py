from __future__ import annotations

import numpy as np
import pytest
import torch

from nvgf.graph import GraphShift
from nvgf.stability import operator_change, signal_change, stability_study


@pytest.mark.parametrize("kind", ["absolute", "relative", "drop-edges", "add-edges"])
def test_table(random_graph, kind):
    S = random_graph(25, density=0.2)
    taps = torch.randn(3, 25, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    study = stability_study(taps, S, [1e-3, 1e-2, 1e-1], kind=kind, trials=4)
    assert (study.column("mean") <= study.column("max")).all()
    for bound in ("telescoping", "lipschitz", "theorem"):
        assert (study.column("max") <= study.column(bound) * (1 + 1e-7)).all()
    assert (study.column("lipschitz") <= study.column("theorem") * (1 + 1e-7)).all()
    assert np.all(np.diff(study.column("max")) > 0)
    assert study.column("epsilon").tolist() == [1e-3, 1e-2, 1e-1]


def test_is_what_a_loop_measures(random_graph):
    S = random_graph(10)
    taps = torch.randn(3, 10, dtype=torch.float64)
    study = stability_study(taps, S, [0.05], trials=3, generator=7)
    random = np.random.default_rng(7)
    changes = [operator_change(taps, S, S.perturbed(0.05, "absolute", generator=random)) for _ in range(3)]
    assert study.rows[0].mean == pytest.approx(np.mean(changes))
    assert study.rows[0].max == pytest.approx(max(changes))


def test_signals(random_graph):
    S = random_graph(10)
    taps = torch.randn(3, 10, 2, 1, dtype=torch.float64)
    x = torch.randn(6, 10, 2)
    study = stability_study(taps, S, [0.05], trials=1, signals=x, generator=3)
    perturbed = S.perturbed(0.05, "absolute", generator=np.random.default_rng(3))
    change = signal_change(taps, S, perturbed, x).flatten(1).norm(dim=1) / x.double().flatten(1).norm(dim=1)
    assert study.rows[0].mean == pytest.approx(float(change.mean()))
    assert study.rows[0].max < stability_study(taps, S, [0.05], trials=1, generator=3).rows[0].max


def test_float32_shift_is_perturbed_in_float64(random_graph):
    S = random_graph(10).to(dtype=torch.float32)
    study = stability_study(torch.tensor([0.0, 1.0]), S, [1e-6], trials=2)
    assert study.rows[0].max == pytest.approx(1e-6, rel=1e-6)


def test_large_graph_and_a_filter_without_a_neighbour():
    path = GraphShift.from_edges([(i, i + 1) for i in range(1999)], dtype=torch.float64)
    study = stability_study(torch.ones(1), path, [0.1], kind="relative", trials=np.int64(2))
    for name in ("mean", "max", "telescoping", "lipschitz", "theorem"):
        assert study.column(name).tolist() == [0]


def test_prints_as_a_table(random_graph):
    text = str(stability_study(torch.tensor([1.0, 1.0]), random_graph(5), [0.1, 0.2], trials=1))
    lines = text.splitlines()
    assert lines[0].split() == ["epsilon", "mean", "max", "telescoping", "lipschitz", "theorem"]
    assert len(lines) == 3
    assert lines[1].split()[0] == "0.1"


def test_bad_input(random_graph):
    S, taps = random_graph(5), torch.ones(2, 5)
    with pytest.raises(ValueError, match="trials must be a whole number of at least 1, got 0"):
        stability_study(taps, S, trials=0)
    with pytest.raises(ValueError, match="signals must not be zero"):
        stability_study(taps, S, signals=torch.zeros(2, 5, 1))
    with pytest.raises(ValueError, match="kind must be one of"):
        stability_study(taps, S, kind="noise")
    with pytest.raises(ValueError, match="A stability study needs a symmetric matrix"):
        stability_study(torch.ones(2, 3), GraphShift(torch.ones(3, 3).triu()))
    with pytest.raises(ValueError, match="name must be one of epsilon, mean"):
        stability_study(taps, S, [0.1], trials=1).column("median")
