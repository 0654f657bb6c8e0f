"""The PyTorch Geometric layers equal the filters, and live where such layers live."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("torch_geometric")

from torch_geometric.nn import Sequential

from nvgf import GraphShift, lsi, node_variant
from nvgf.pyg import LSIConv, NodeVariantConv

EDGES = torch.tensor([[0, 1, 2, 3, 3, 0], [1, 2, 3, 0, 1, 2]])
WEIGHTS = torch.tensor([1.0, 0.5, -2.0, 1.5, 0.1, 3.0])


@pytest.fixture(params=[LSIConv(2, 3, 2, bias=True), NodeVariantConv(2, 3, 2, 4, bias=True),
                        NodeVariantConv(2, 3, 2, 4, groups=[0, 1, 0, 1])], ids=repr)  # fmt: skip
def conv(request):
    return request.param


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("shape", [(4, 2), (5, 4, 2)], ids=["one signal", "batch"])
def test_equals_the_filter(conv, weights, shape):
    x = torch.randn(shape)
    shift = GraphShift.from_edge_index(EDGES, weights)
    assert torch.allclose(conv(x, EDGES, weights), conv.filter(x, shift), atol=1e-5)


def test_inside_sequential_and_training():
    model = Sequential(
        "x, edge_index, edge_weight",
        [
            (LSIConv(1, 4, 2), "x, edge_index, edge_weight -> x"),
            torch.nn.ReLU(),
            (NodeVariantConv(4, 2, 1, 4), "x, edge_index, edge_weight -> x"),
        ],
    )
    x = torch.randn(4, 1)
    y = model(x, EDGES, WEIGHTS)
    shift = GraphShift.from_edge_index(EDGES, WEIGHTS)
    first, last = model[0].filter, model[2].filter
    assert torch.allclose(y, node_variant(lsi(x, shift, first.taps).relu(), shift, last.taps), atol=1e-5)
    y.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_repr_and_reset(conv):
    assert repr(conv) == repr(conv.filter).replace("Filter", "Conv")
    before = conv.filter.taps.detach().clone()
    conv.reset_parameters()
    assert not torch.equal(conv.filter.taps, before)


def test_mistakes():
    with pytest.raises(ValueError, match=r"x must have shape \(..., nodes, 2\), got \(4, 3\)"):
        LSIConv(2, 3, 1)(torch.ones(4, 3), EDGES)
    with pytest.raises(ValueError, match="edge_weight must hold one weight for each of the 6 edges"):
        LSIConv(2, 3, 1)(torch.ones(4, 2), EDGES, torch.ones(3))
    with pytest.raises(ValueError, match=r"x must have shape \(..., 5, features\)"):
        NodeVariantConv(2, 3, 1, 5)(torch.ones(4, 2), EDGES)
