import pytest
import torch
from tests.training.tasks import toy

from nvgf import GraphShift
from nvgf.models import GCNN, DesignNVGF
from nvgf.training import Job, Schedule, fit_many
from nvgf.training.design_at_node import NodeDesign, readable_at_node

SHORT = Schedule(epochs=6, batch_size=20, dropout=0.0)


def gcnn(**options):
    torch.manual_seed(0)
    defaults = {"features": 5, "order": 2, "readout": "shared", "outputs": 1, "dropout": 0.0}
    return GCNN(10, **{**defaults, **options}).eval()


@pytest.mark.parametrize(
    "options",
    [{}, {"bias": True}, {"basis": "chebyshev"}, {"in_features": 2}, {"activation": "tanh"}, {"order": 0}],
    ids=lambda options: next(iter(options), "plain"),
)
@pytest.mark.parametrize("directed", [False, True])
def test_the_outputs_are_those_of_the_whole_design(options, directed):
    model = gcnn(**options)
    task = toy(10, 200, node=4, features=model.in_features)
    shift = task.shift
    if directed:
        shift = GraphShift(torch.rand(10, 10, generator=torch.Generator().manual_seed(1))).normalized()
    x = task.train.x - 0.5
    whole = DesignNVGF.from_gcnn(model, x, shift)
    design = NodeDesign(model, x, shift, 4)
    torch.testing.assert_close(design.taps.float(), whole.activation(0).taps[:, 4], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(design(task.test.x), whole(task.test.x, shift)[:, 4].detach(), atol=1e-5, rtol=1e-5)


def test_an_isolated_node_hears_itself_alone():
    matrix = torch.rand(10, 10, generator=torch.Generator().manual_seed(1))
    matrix[4] = matrix[:, 4] = 0
    x = torch.randn(100, 10, 1, generator=torch.Generator().manual_seed(2))
    design = NodeDesign(gcnn(), x, GraphShift(matrix), 4)
    assert (design.taps[1:] == 0).all()
    assert (design.taps[0] != 0).all()


def test_models_that_need_other_nodes_are_told():
    assert readable_at_node(gcnn())
    assert not readable_at_node(gcnn(features=[5, 4]))
    assert not readable_at_node(gcnn(readout="all"))


@pytest.mark.parametrize("features", [5, [5, 4]])
def test_errors_do_not_depend_on_keeping_weights(features):
    task = toy(10, 200, node=4)
    job = Job("design-nvgf", task, {"features": features, "order": 2}, 0.01, schedule=SHORT)
    (kept,), (dropped,) = fit_many([job]), fit_many([job], keep_weights=False)
    assert (kept.valid_error, kept.test_error) == (dropped.valid_error, dropped.test_error)
    assert dropped.state == {}
    outputs = kept.model()(task.test.x, task.shift)[:, 4, 0].detach()
    assert kept.test_error == pytest.approx(float((outputs - task.test.y).square().mean().sqrt()), rel=1e-4)


def test_the_whole_graph_is_designed_only_for_weights(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("the filters of all nodes were designed")

    monkeypatch.setattr(DesignNVGF, "from_gcnn", refuse)
    job = Job("design-nvgf", toy(10, 200, node=4), {"features": 5, "order": 2}, 0.01, schedule=SHORT)
    fit_many([job], keep_weights=False)
    with pytest.raises(AssertionError):
        fit_many([job])
