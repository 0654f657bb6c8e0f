"""The spectral norm of a sparse matrix, by Lanczos."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

SMALL = 16
"""Up to this many nodes ARPACK has no room for its basis, and the norm is taken directly."""
ATTEMPTS = ((1e-12, 20), (1e-5, 80))
"""Tolerances of the residual, and vectors of the basis. The second is for long thin graphs, such as a path of 10,000
nodes, whose largest eigenvalues lie too close together to be told apart; their value comes out to about six digits."""
RESTARTS = 300
"""The most restarts of an attempt."""


def spectral_norm(matrix: sparse.csr_array) -> float:
    r"""Return the largest singular value, the root of the largest eigenvalue of :math:`A^T A`.

    Lanczos runs on :math:`A^T A + cI`, since ARPACK breaks down on matrices of low rank, and starts from a fixed
    random vector: the result is the same at every call, and a vector of ones would miss the largest eigenvalue of
    every Laplacian.
    """
    nodes = matrix.shape[0]
    if not matrix.data.any():
        return 0.0
    if nodes <= SMALL:
        return float(np.linalg.norm(matrix.toarray(), 2))
    offset = float(matrix.data @ matrix.data) / nodes  # at most the squared norm, so that no digits are lost
    transposed = sparse.csr_array(matrix.T)
    squared = LinearOperator(
        matrix.shape, matvec=lambda x: transposed @ (matrix @ x) + offset * x, dtype=np.dtype(np.float64)
    )
    start = np.random.default_rng(0).standard_normal(nodes)
    for tolerance, basis in ATTEMPTS:
        size = {"ncv": min(basis, nodes - 1), "maxiter": RESTARTS}
        try:
            found = eigsh(squared, k=1, which="LA", v0=start, tol=tolerance, return_eigenvectors=False, **size)
        except ArpackNoConvergence:
            continue
        return float(np.sqrt(max(found[0] - offset, 0.0)))
    raise ValueError(f"the spectral norm of this matrix of {nodes} nodes did not converge: its top is too dense")
