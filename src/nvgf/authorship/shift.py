"""The support of a word adjacency network as a graph shift, ready for the filters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nvgf.authorship.networks import support_matrix
from nvgf.graph import GraphShift


def support(weights: NDArray[np.float64], words: Sequence[str]) -> GraphShift:
    r"""Return the shift of a network: :math:`\frac12 (D^{-1} W + W^T D^{-1})` at unit spectral norm, dense.

    Words without edges and words outside the largest component are no nodes; see
    :func:`nvgf.authorship.support_matrix`.

    Example:
        >>> import numpy as np
        >>> support(np.array([[0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), ["the", "of", "ere"]).names
        ('the', 'of')
    """
    if len(words) != len(weights):
        raise ValueError(f"there are {len(words)} words for a network of {len(weights)}")
    matrix, nodes = support_matrix(weights)
    return GraphShift(matrix, names=[words[node] for node in nodes], layout="dense")
