"""Groups of nodes that share taps: the labels for ``NodeVariantFilter(..., groups=labels)``.

With M groups a node-variant filter has M rows of taps instead of one a node, so that its size does not grow with the
graph and the same taps can serve another graph with the same groups.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.cluster import SpectralClustering

from nvgf.graph import GraphShift


def degree_groups(shift: GraphShift, num_groups: int) -> torch.Tensor:
    """Group nodes of similar degree (the sum of absolute weights): ``num_groups`` quantiles, the lowest first.

    Example:
        >>> star = GraphShift.from_edges([(0, 1), (0, 2), (0, 3)])
        >>> degree_groups(star, 2)
        tensor([1, 0, 0, 0])
    """
    _check_count("num_groups", num_groups, shift)
    degrees = _degrees(shift)
    edges = np.quantile(degrees, np.arange(1, num_groups) / num_groups)
    return _numbered(np.searchsorted(edges, degrees, side="left"))


def spectral_groups(shift: GraphShift, num_groups: int, seed: int = 0) -> torch.Tensor:
    """Group nodes by spectral clustering of the absolute weights; the parts are numbered by their first node.

    Example:
        >>> two = GraphShift.from_edges([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)])
        >>> spectral_groups(two, 2)
        tensor([0, 0, 0, 1, 1, 1])
    """
    _check_count("num_groups", num_groups, shift)
    shift.require_symmetric("spectral_groups")
    if num_groups == shift.num_nodes:
        return torch.arange(num_groups)
    affinity = abs(shift.to_scipy())
    affinity = sparse.csr_array(affinity - sparse.diags_array(affinity.diagonal()))
    clustering = SpectralClustering(num_groups, affinity="precomputed", random_state=seed, assign_labels="cluster_qr")
    matrix = affinity.toarray() if shift.num_nodes <= 2_000 else sparse.csr_matrix(affinity)
    labels = clustering.fit_predict(matrix)
    first_nodes = [int(np.argmax(labels == label)) for label in np.unique(labels)]
    return _numbered(np.asarray(first_nodes)[_numbered(labels)])


def nearest_owner_groups(shift: GraphShift, num_owners: int) -> torch.Tensor:
    """Let the ``num_owners`` nodes of largest degree own taps; the others copy the owner nearest in hops.

    Of equally near owners the one with the larger degree is copied; nodes that no owner reaches copy the first.

    Example:
        >>> path = GraphShift.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (1, 7)])
        >>> nearest_owner_groups(path, 2)
        tensor([0, 0, 0, 1, 1, 1, 1, 0])
    """
    _check_count("num_owners", num_owners, shift)
    owners = np.argsort(-_degrees(shift), kind="stable")[:num_owners]
    hops = csgraph.dijkstra(shift.to_scipy(), directed=False, unweighted=True, indices=owners)
    return _numbered(np.argmin(hops, axis=0))


def _degrees(shift: GraphShift) -> np.ndarray:
    return np.asarray(abs(shift.to_scipy()).sum(axis=1)).ravel()


def _check_count(name: str, count: int, shift: GraphShift) -> None:
    if not 1 <= count <= shift.num_nodes:
        raise ValueError(f"{name} must lie between 1 and the {shift.num_nodes} nodes of the shift, got {count}")


def _numbered(labels: np.ndarray) -> torch.Tensor:
    """Number the labels that occur 0, 1, 2, ... in their order, so that no group is empty."""
    return torch.from_numpy(np.unique(labels, return_inverse=True)[1].astype(np.int64))
