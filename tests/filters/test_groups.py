"""Groups of nodes that share taps."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from nvgf import GraphShift, NodeVariantFilter
from nvgf.filters.groups import degree_groups, nearest_owner_groups, spectral_groups

MAKERS = [degree_groups, spectral_groups, nearest_owner_groups]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("count", [1, 4, 34])
def test_labels_are_ready_for_the_filter(make, count):
    shift = GraphShift.from_networkx(nx.karate_club_graph())
    labels = make(shift, count)
    assert labels.shape == (34,)
    assert int(labels.max()) + 1 <= count
    NodeVariantFilter(1, 1, 1, 34, groups=labels)(torch.randn(34, 1), shift)
    assert torch.equal(labels, make(shift, count))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("count", [0, 35])
def test_bad_counts(make, count):
    with pytest.raises(ValueError, match=f"must lie between 1 and the 34 nodes of the shift, got {count}"):
        make(GraphShift.from_networkx(nx.karate_club_graph()), count)


def test_degree_groups_are_ordered_by_degree():
    graph = nx.barabasi_albert_graph(80, 3, seed=0)
    labels = degree_groups(GraphShift.from_networkx(graph), 4).numpy()
    degrees = np.array([d for _, d in graph.degree])
    for low in range(labels.max()):
        assert degrees[labels == low].max() < degrees[labels == low + 1].min()


def test_spectral_groups_find_planted_parts():
    graph = nx.planted_partition_graph(3, 30, 0.6, 0.02, seed=1)
    labels = spectral_groups(GraphShift.from_networkx(graph), 3).reshape(3, 30)
    assert torch.equal(labels, torch.arange(3)[:, None].expand(3, 30))


def test_spectral_groups_need_symmetry():
    with pytest.raises(ValueError, match="spectral_groups needs a symmetric matrix"):
        spectral_groups(GraphShift.from_edges([(0, 1), (1, 2)], directed=True), 2)


def test_nearest_owner_equals_breadth_first_search():
    graph = nx.connected_watts_strogatz_graph(60, 4, 0.2, seed=2)
    shift = GraphShift.from_networkx(graph)
    labels = nearest_owner_groups(shift, 5)
    owners = sorted(graph, key=lambda node: -graph.degree[node])[:5]
    assert [int(labels[owner]) for owner in owners] == list(range(5))
    for node in graph:
        hops = [nx.shortest_path_length(graph, owner, node) for owner in owners]
        assert hops[labels[node]] == min(hops)
