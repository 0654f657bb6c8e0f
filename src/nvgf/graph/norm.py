"""The spectral norm of a sparse matrix, by Lanczos."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from nvgf.graph.checks import SYMMETRY_TOLERANCE, worst_asymmetry

SMALL = 16
"""Up to this many nodes ARPACK has no room for its basis, and the norm is taken directly."""


def spectral_norm(matrix: sparse.csr_array) -> float:
    """Return the largest singular value.

    Lanczos starts from a fixed random vector, so that the result is the same at every call: a vector of ones would
    miss the largest eigenvalue of every Laplacian.
    """
    nodes = matrix.shape[0]
    if matrix.nnz == 0:
        return 0.0
    if nodes <= SMALL:
        return float(np.linalg.norm(matrix.toarray(), 2))
    start = np.random.default_rng(0).standard_normal(nodes)
    if worst_asymmetry(matrix)[0] <= SYMMETRY_TOLERANCE:
        extreme = sparse.linalg.eigsh(matrix, k=1, which="LM", v0=start, tol=1e-10, return_eigenvectors=False)
        return float(abs(extreme[0]))
    return float(sparse.linalg.svds(matrix, k=1, v0=start, tol=1e-10, return_singular_vectors=False)[0])
