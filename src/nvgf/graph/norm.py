"""The spectral norm of a sparse matrix, by Lanczos."""

from __future__ import annotations

from collections.abc import Callable

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
    largest = largest_eigenvalue(lambda x: transposed @ (matrix @ x) + offset * x, start_vector(nodes))
    return float(np.sqrt(max(largest - offset, 0.0)))


def start_vector(size: int) -> np.ndarray:
    """Return the random vector that Lanczos starts from, the same at every call."""
    return np.random.default_rng(0).standard_normal(size)


def largest_eigenvalue(multiply: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> float:
    """Return the largest eigenvalue of a symmetric matrix that is given by its products, by ARPACK.

    Raises:
        ValueError: if neither of the :data:`ATTEMPTS` converges.
    """
    size = len(start)
    operator = LinearOperator((size, size), matvec=multiply, dtype=np.dtype(np.float64))
    for tolerance, basis in ATTEMPTS:
        limits = {"ncv": min(basis, size - 1), "maxiter": RESTARTS}
        try:
            found = eigsh(operator, k=1, which="LA", v0=start, tol=tolerance, return_eigenvectors=False, **limits)
        except ArpackNoConvergence:
            continue
        return float(found[0])
    raise ValueError(f"the largest eigenvalue of this matrix of size {size} did not converge: its top is too dense")
