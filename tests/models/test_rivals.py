"""GCN, SGC and GAT against their formulas and against PyTorch Geometric."""

from __future__ import annotations

import re

import pytest
import torch
from tests.models import naive

from nvgf import GraphShift
from nvgf.models import GAT, GCN, GCNN, SGC, DesignNVGF, build, gcn_shift

EXACT = {"dtype": torch.float64}


@pytest.mark.parametrize(("cls", "hops", "options"), [(GCN, 1, {}), (SGC, 3, {"order": 3}), (SGC, 0, {"order": 0})])
@pytest.mark.parametrize("features", [4, [4, 3]])
def test_gcn_and_sgc_equal_formula(cls, hops, options, features, shift, x):
    model = cls(7, features=features, bias=True, **options, **EXACT).eval()
    support = naive.gcn_support(shift.to_dense())
    expected = x
    for linear in model.linears:
        expected = (torch.linalg.matrix_power(support, hops) @ expected @ linear.weight.T + linear.bias).relu()
    torch.testing.assert_close(model.hidden(x, shift), expected)
    torch.testing.assert_close(model(x, shift), model.readout(expected.flatten(1)))
    torch.testing.assert_close(model.forward_prepared(model.prepare(x, shift)), model(x, shift))


@pytest.mark.parametrize("heads", [1, 3])
def test_gat_equals_formula(heads, shift, x3):
    model = GAT(7, 3, features=4, heads=heads, **EXACT).eval()
    layer = model.layers[0]
    for number, signal in enumerate(x3[:3]):
        parts = [
            naive.attention(signal, shift.to_dense(), layer.weight[:, h], layer.source[h], layer.target[h])
            for h in range(heads)
        ]
        torch.testing.assert_close(model.hidden(x3, shift)[number], torch.cat(parts, dim=1).relu())


def test_support_counts_the_diagonal_once_more(shift):
    dense = shift.to_dense()
    assert (dense.diagonal() > 0).any()
    torch.testing.assert_close(gcn_shift(shift).to_dense(), naive.gcn_support(dense))
    sparse = GraphShift(dense, layout="csr")
    assert gcn_shift(sparse).layout == "csr"
    torch.testing.assert_close(gcn_shift(sparse).to_dense(), naive.gcn_support(dense))


def test_support_needs_positive_degrees():
    with pytest.raises(ValueError, match="shift: node 0 has degree -1 in I"):
        gcn_shift(GraphShift([[0.0, -2.0], [-2.0, 4.0]]))


def test_gradients_reach_the_graph(shift, x):
    model = GCN(7, features=[4, 3], **EXACT).eval()

    def total(matrix: torch.Tensor) -> torch.Tensor:
        return model(x, GraphShift(matrix, layout="dense")).square().sum()

    matrix = shift.to_dense().requires_grad_()
    (gradient,) = torch.autograd.grad(total(matrix), matrix)
    direction = torch.rand(7, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with torch.no_grad():
        slope = (total(matrix + 1e-6 * direction) - total(matrix - 1e-6 * direction)) / 2e-6
    torch.testing.assert_close((gradient * direction).sum(), slope, rtol=1e-6, atol=1e-8)


def test_support_is_made_once(shift):
    assert gcn_shift(shift) is gcn_shift(shift)
    assert gcn_shift(shift) is not gcn_shift(GraphShift(shift.to_dense()))


@pytest.mark.parametrize("features", [4, [4, 3]])
@pytest.mark.parametrize("name", ["gcn", "sgc", "gat", "design-nvgf"])
def test_prepared_gives_same_outputs_and_gradients(name, features, shift, x):
    torch.manual_seed(0)
    if name == "design-nvgf":
        model = DesignNVGF.from_gcnn(GCNN(7, features=features, order=2, **EXACT).eval(), x.repeat(5, 1, 1), shift)
    else:
        model = build(name, 7, features=features, **EXACT).eval()
    naive.assert_prepared_is_the_same(model, x, shift)


@pytest.fixture
def loopless(shift) -> GraphShift:
    """Symmetric, without a diagonal: where PyTorch Geometric's definitions agree with the paper's."""
    dense = shift.to_dense()
    dense = dense + dense.T
    return GraphShift(dense - torch.diag(dense.diagonal()))


def edges(shift: GraphShift) -> tuple[torch.Tensor, torch.Tensor]:
    target, source = shift.to_dense().nonzero(as_tuple=True)
    return torch.stack([source, target]), shift.to_dense()[target, source]


def test_gcn_equals_pyg(loopless, x):
    conv = pytest.importorskip("torch_geometric.nn").GCNConv(1, 4, bias=False).double()
    model = GCN(7, features=4, **EXACT).eval()
    model.linears[0].weight.data = conv.lin.weight.data
    torch.testing.assert_close(model.hidden(x, loopless), conv(x, *edges(loopless)).relu())


def test_sgc_equals_pyg(loopless, x):
    conv = pytest.importorskip("torch_geometric.nn").SGConv(1, 4, K=2, bias=False).double()
    conv.node_dim = -2
    model = SGC(7, features=4, order=2, **EXACT).eval()
    model.linears[0].weight.data = conv.lin.weight.data
    torch.testing.assert_close(model.hidden(x, loopless), conv(x, *edges(loopless)).relu())


@pytest.mark.parametrize("heads", [1, 2])
def test_gat_equals_pyg(heads, loopless, x):
    conv = pytest.importorskip("torch_geometric.nn").GATConv(1, 4, heads=heads, bias=False).double()
    model = GAT(7, features=4, heads=heads, **EXACT).eval()
    layer = model.layers[0]
    layer.weight.data = conv.lin.weight.data.T.reshape(1, heads, 4)
    layer.source.data, layer.target.data = conv.att_src.data[0], conv.att_dst.data[0]
    index, _ = edges(loopless)
    for number, signal in enumerate(x):
        torch.testing.assert_close(model.hidden(x, loopless)[number], conv(signal, index).relu())


def test_parameter_counts():
    assert GCN(189, features=64).num_parameters == 64 + 189 * 64 * 2 + 2
    assert SGC(189, features=64, order=2).num_parameters == 64 + 189 * 64 * 2 + 2
    assert GAT(189, features=64).num_parameters == 3 * 64 + 189 * 64 * 2 + 2
    assert GAT(189, features=64, heads=4).num_parameters == 3 * 4 * 64 + 189 * 4 * 64 * 2 + 2


def test_bad_heads():
    with pytest.raises(ValueError, match=re.escape("heads must be a whole number of at least 1, got 0")):
        GAT(7, heads=0)
