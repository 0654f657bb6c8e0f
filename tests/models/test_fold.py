"""A folded model is the model."""

from __future__ import annotations

import re

import pytest
import torch

from nvgf import GraphShift
from nvgf.models import GAT, GCN, GCNN, LSIGF, SGC, DesignNVGF, LearnNVGF, fold


def linear_models(**options):
    yield LSIGF(7, features=[4, 3], order=2, basis="chebyshev", bias=True, **options).eval()
    yield LearnNVGF(7, features=4, order=2, **options).eval()
    yield LearnNVGF(7, features=[4, 3], order=1, bias=True, **options).eval()


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("readout", ["all", "shared"])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_folded_equals_model(number, readout, layout, shift):
    torch.manual_seed(number)
    model = list(linear_models(readout=readout, outputs=3))[number]
    shift = GraphShift(shift.to_dense(), layout=layout).to(dtype=torch.float32)
    x = torch.randn(20, 7, 1)
    folded = fold(model, shift)
    assert folded.matrix.dtype == torch.float64
    torch.testing.assert_close(folded(x), model(x, shift), rtol=1e-5, atol=1e-5)
    if readout == "shared":
        torch.testing.assert_close(fold(model, shift, node=2)(x), model(x, shift)[:, 2], rtol=1e-5, atol=1e-5)


def test_folded_design(shift):
    x = torch.randn(50, 7, 1)
    single = shift.to(dtype=torch.float32)
    model = DesignNVGF.from_gcnn(GCNN(7, features=3, order=2).eval(), x, single)
    torch.testing.assert_close(fold(model, single)(x), model(x, single), rtol=1e-4, atol=1e-5)


def test_folds_where_gradients_are_off(shift):
    model = LSIGF(7, features=2, order=1, dtype=torch.float64).eval()
    with torch.no_grad():
        folded = fold(model, shift)
    torch.testing.assert_close(folded.matrix, fold(model, shift).matrix)
    assert not folded.matrix.requires_grad


def test_many_outputs_are_cut_in_chunks():
    ring = GraphShift.from_edges([(i, (i + 1) % 300) for i in range(300)]).normalized()
    model = LSIGF(300, features=2, order=1, readout="shared", outputs=1).eval()
    x = torch.randn(2, 300, 1)
    torch.testing.assert_close(fold(model, ring)(x), model(x, ring), rtol=1e-5, atol=1e-5)


def test_by_frequency_reads_eigenvectors(shift):
    dense = shift.to_dense() + shift.to_dense().T
    shift = GraphShift(dense)
    _, vectors = torch.linalg.eigh(dense)
    model = LearnNVGF(7, features=3, order=2, dtype=torch.float64).eval()
    folded = fold(model, shift)
    by_frequency = folded.by_frequency(vectors)
    assert by_frequency.shape == (2, 7, 1)
    for t in range(7):
        torch.testing.assert_close(by_frequency[:, t, 0], folded(vectors[:, [t]]) - folded.offset)


def test_refusals(shift):
    for model in (GCNN(7), GCN(7), SGC(7), GAT(7)):
        with pytest.raises(ValueError, match=f"{type(model).__name__} has activation functions, only linear"):
            fold(model, shift)
    with pytest.raises(TypeError, match=r"model must be an architecture of nvgf\.models, got Linear"):
        fold(torch.nn.Linear(2, 2), shift)
    with pytest.raises(ValueError, match="node must be from 0 to 6"):
        fold(LSIGF(7, readout="shared"), shift, node=7)
    with pytest.raises(ValueError, match="node must be from 0 to 6"):
        fold(LSIGF(7, readout="shared"), shift, node=1.5)
    with pytest.raises(ValueError, match=re.escape("x must have shape (..., 7, 1), got (3, 2)")):
        fold(LSIGF(7), shift)(torch.zeros(3, 2))
