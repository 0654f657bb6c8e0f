"""The matrices that graph signal processing takes for a shift, made from the weights W of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from nvgf.graph.checks import check_symmetric, node_list

Names = Sequence[str] | None


def _as_is(weights: sparse.csr_array, names: Names) -> sparse.csr_array:
    return weights


def _adjacency(weights: sparse.csr_array, names: Names) -> sparse.csr_array:
    check_symmetric(weights, names, "kind 'adjacency'")
    return weights


def _laplacian(weights: sparse.csr_array, names: Names) -> sparse.csr_array:
    check_symmetric(weights, names, "kind 'laplacian'")
    return sparse.diags_array(weights.sum(axis=1)) - weights


def _normalized_laplacian(weights: sparse.csr_array, names: Names) -> sparse.csr_array:
    check_symmetric(weights, names, "kind 'normalized-laplacian'")
    scale = sparse.diags_array(positive_degrees(weights, names, "normalized-laplacian") ** -0.5)
    return sparse.eye_array(weights.shape[0]) - scale @ weights @ scale


def _random_walk_laplacian(weights: sparse.csr_array, names: Names) -> sparse.csr_array:
    scale = sparse.diags_array(1 / positive_degrees(weights, names, "random-walk-laplacian"))
    return sparse.eye_array(weights.shape[0]) - scale @ weights


def _gcn(weights: sparse.csr_array, names: Names) -> sparse.csr_array:
    looped = sparse.csr_array(weights + sparse.eye_array(weights.shape[0]))
    scale = sparse.diags_array(positive_degrees(looped, names, "gcn") ** -0.5)
    return scale @ looped @ scale


def _symmetrized_walk(weights: sparse.csr_array, names: Names) -> sparse.csr_array:
    walk = sparse.diags_array(1 / positive_degrees(weights, names, "symmetrized-walk")) @ weights
    return (walk + walk.T) / 2


KINDS: dict[str, Callable[[sparse.csr_array, Names], sparse.csr_array]] = {
    "as-is": _as_is,
    "adjacency": _adjacency,
    "laplacian": _laplacian,
    "normalized-laplacian": _normalized_laplacian,
    "random-walk-laplacian": _random_walk_laplacian,
    "gcn": _gcn,
    "symmetrized-walk": _symmetrized_walk,
}
r"""The kinds of shift, with :math:`D = \mathrm{diag}(W 1)`:

- ``as-is``: the matrix as given, symmetric or not;
- ``adjacency``: :math:`W`, which must be symmetric;
- ``laplacian``: :math:`D - W`;
- ``normalized-laplacian``: :math:`I - D^{-1/2} W D^{-1/2}`;
- ``random-walk-laplacian``: :math:`I - D^{-1} W`;
- ``gcn``: :math:`\tilde D^{-1/2} (I + W) \tilde D^{-1/2}` with :math:`\tilde D = \mathrm{diag}((I + W) 1)`;
- ``symmetrized-walk``: :math:`(D^{-1} W + W^T D^{-1}) / 2`, the support of the paper's word networks.
"""


def positive_degrees(weights: sparse.csr_array, names: Names, kind: str) -> np.ndarray:
    """Return the row sums of W, all of which a division needs to be positive."""
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    bad = np.flatnonzero(degrees <= 0)
    if bad.size:
        raise ValueError(
            f"kind '{kind}' divides by the degrees, but {bad.size} of {degrees.size} nodes have none or a "
            f"negative one ({node_list(bad, names)}); see GraphShift.without_isolated"
        )
    return degrees
