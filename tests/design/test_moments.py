from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import ledoit_wolf

from nvgf.design import Moments, NodeMoments
from nvgf.graph import GraphShift


def signals(samples: int, nodes: int = 5, features: int = 2, seed: int = 0, shift: float = 0.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(samples, nodes, features, generator=generator, dtype=torch.float64)
    return x + 0.5 * x.flip(1) ** 2 + shift


def assert_same(one: Moments, other: Moments) -> None:
    assert one.count == other.count
    for name in ("mean", "target_mean", "covariance", "cross", "target_variance"):
        assert torch.allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-12), name
    assert torch.allclose(one.ledoit_wolf(), other.ledoit_wolf(), rtol=1e-7)


def test_are_those_of_numpy():
    x = signals(200)
    moments = Moments("tanh").update(x)
    for feature in range(2):
        values, target = x[..., feature].numpy(), np.tanh(x[..., feature].numpy())
        joint = np.cov(np.hstack([target, values]).T, bias=True)
        assert np.allclose(moments.covariance[feature], joint[5:, 5:])
        assert np.allclose(moments.cross[feature], joint[:5, 5:])
        assert np.allclose(moments.target_variance[:, feature], np.diag(joint)[:5])


@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(0, 60), max_size=5), seed=st.integers(0, 1000), shift=st.floats(-100, 100))
def test_any_split_gives_the_same(cuts, seed, shift):
    x = signals(60, seed=seed, shift=shift)
    edges = [0, *sorted(cuts), 60]
    parts = [x[a:b] for a, b in itertools.pairwise(edges)]
    streamed, merged = Moments("abs"), Moments("abs")
    for part in parts:
        streamed.update(part)
        merged = merged.merge(Moments("abs").update(part))
    whole = Moments("abs").update(x)
    assert_same(streamed, whole)
    assert_same(merged, whole)


def test_merging_leaves_the_parts_alone():
    one, other = Moments().update(signals(10)), Moments().update(signals(20, seed=1))
    before = one.covariance.clone()
    one.merge(other)
    assert one.count == 10
    assert torch.equal(one.covariance, before)


@pytest.mark.parametrize(("samples", "nodes"), [(12, 5), (30, 50), (400, 5), (2, 3)])
def test_ledoit_wolf_is_scikit_learns_also_from_a_stream(samples, nodes):
    x = signals(samples, nodes=nodes, shift=20.0)
    moments = Moments()
    for part in x.split(7):
        moments.update(part)
    for feature in range(2):
        covariance, share = ledoit_wolf(x[..., feature].numpy())
        assert float(moments.ledoit_wolf()[feature]) == pytest.approx(share, rel=1e-6, abs=1e-9)
        assert np.allclose(moments.shrunk_covariance()[feature], covariance, atol=1e-9)


def test_shrinkage_by_hand():
    moments = Moments().update(signals(50))
    target = torch.diag_embed(moments.covariance.diagonal(dim1=1, dim2=2).mean(-1, keepdim=True).expand(2, 5))
    assert torch.allclose(moments.shrunk_covariance(0.25), 0.75 * moments.covariance + 0.25 * target)
    assert torch.equal(moments.shrunk_covariance(None), moments.covariance)


def test_signals_without_variance_need_no_shrinkage():
    moments = Moments().update(torch.ones(10, 4, 1))
    assert moments.ledoit_wolf().tolist() == [0.0]
    assert (moments.shrunk_covariance() == 0).all()


def test_node_moments_merge_as_they_stream(random_graph):
    S, x = random_graph(5), signals(40)
    whole = NodeMoments(S, 2).update(x)
    parts = [NodeMoments(S, 2).update(part) for part in x.split(13)]
    merged = NodeMoments(S, 2)
    for part in parts:
        merged = merged.merge(part)
    assert merged.count == 40
    assert torch.allclose(merged.scatter, whole.scatter, rtol=1e-10, atol=1e-11)
    assert torch.allclose(merged.design().taps, whole.design().taps, atol=1e-9)


def test_large_means_cost_no_accuracy(random_graph):
    # Sums of squares would lose everything here: the mean is a million times the spread.
    S, x = random_graph(6), signals(300, nodes=6, features=1)
    far = NodeMoments(S, 1, lambda v: (v - 1e6).relu())
    for part in (x + 1e6).split(50):
        far.update(part)
    near = NodeMoments(S, 1).update(x)
    assert torch.allclose(far.design().taps, near.design().taps, atol=1e-4)


def test_node_moments_of_different_shifts_stay_apart(random_graph):
    x, S = signals(30), random_graph(5)
    one = NodeMoments(S, 2).update(x)
    with pytest.raises(ValueError, match="moments of different shifts cannot be merged: they differ by"):
        one.merge(NodeMoments(random_graph(5, seed=1), 2).update(x))
    with pytest.raises(ValueError, match=r"moments of different shifts cannot be merged: they differ by 0\.5 "):
        one.merge(NodeMoments(GraphShift(2 * S.to_dense()), 2))
    # The same graph in another layout, or rounded to float32, is the same.
    for same in (GraphShift(S.to_scipy(), layout="csr", dtype=torch.float64), S.to(dtype=torch.float32)):
        assert one.merge(NodeMoments(same, 2).update(x)).count == 60
    empty = GraphShift(torch.zeros(5, 5))
    assert NodeMoments(empty, 1).update(x).merge(NodeMoments(GraphShift(torch.zeros(5, 5)), 1).update(x)).count == 60


def test_bad_input(random_graph):
    x = signals(10)
    with pytest.raises(ValueError, match="signals: none were given, the moments are empty"):
        _ = Moments().covariance
    with pytest.raises(ValueError, match="signals have 1 features, those before had 2"):
        Moments().update(x).update(x[..., :1])
    with pytest.raises(ValueError, match="the shift has 5 nodes"):
        Moments().update(x).update(x[:, :4])
    with pytest.raises(ValueError, match="signals must be a tensor"):
        Moments().update(x[0, 0])
    with pytest.raises(ValueError, match="moments of 'relu' cannot be merged with moments of 'tanh'"):
        Moments("relu").merge(Moments("tanh"))
    with pytest.raises(ValueError, match=r"moments of signals \(5, 2\) cannot be merged with those of \(4, 2\)"):
        Moments().update(x).merge(Moments().update(x[:, :4]))
    S = random_graph(5)
    with pytest.raises(ValueError, match="moments of order 1 on 5 nodes cannot be merged with order 2 on 5 nodes"):
        NodeMoments(S, 1).merge(NodeMoments(S, 2))
    with pytest.raises(ValueError, match="moments of 'relu' cannot be merged"):
        NodeMoments(S, 1).merge(NodeMoments(S, 1, "abs"))
    with pytest.raises(ValueError, match="moments of 2 features cannot be merged with those of 1"):
        NodeMoments(S, 1).update(x).merge(NodeMoments(S, 1).update(x[..., :1]))
    with pytest.raises(ValueError, match="signals have 1 features, those before had 2"):
        NodeMoments(S, 1).update(x).update(x[..., :1])
