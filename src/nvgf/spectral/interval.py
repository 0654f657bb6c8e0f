"""What surely holds the spectrum of a graph of any size: an interval, and a bound on the norm."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from scipy import linalg, sparse

from nvgf.graph import GraphShift
from nvgf.spectral.inputs import analysis_shift
from nvgf.spectral.responses import Interval

DENSE_NODES = 1_500
"""Up to this many nodes eigenvalues and norms are computed directly; beyond, they are enclosed."""
MISSED = (1e-3, 1e-2)
"""The least and the most that Lanczos is allowed to miss of the spectrum at either end, relative to its width."""
FAILURES = 1e-9
"""The share of random starts, at most, for which Lanczos misses more than it is allowed."""


def spectral_interval(shift: GraphShift | torch.Tensor, *, margin: float = 0.01) -> Interval:
    r"""Return an interval that holds all eigenvalues of a symmetric shift.

    Up to :data:`DENSE_NODES` nodes: the extreme eigenvalues, moved outwards by ``margin`` of the width. Beyond: the
    ends that Lanczos finds from a random start, moved outwards by what they may fall short of the extreme
    eigenvalues, from 0.1 % to 1 % of the width depending on the margin, but no further than ``margin`` beyond
    Gershgorin's discs. After k steps Lanczos falls short by more than a share :math:`\epsilon` of the
    width for at most :math:`1.648 \sqrt N e^{-\sqrt\epsilon (2k - 1)}` of all starts, whatever the matrix
    (Kuczynski and Wozniakowski 1992): as many steps are made as bring this to one in a billion.

    Args:
        shift: the graph, symmetric.
        margin: of the width, to add at both ends.

    Example:
        >>> spectral_interval(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), margin=0)
        (-1.0, 1.0)
    """
    shift = analysis_shift(shift)
    shift.require_symmetric("A spectral interval")
    if not 0 <= margin < math.inf:
        raise ValueError(f"margin must be a non-negative number, got {margin}")
    if shift.num_nodes <= DENSE_NODES:
        matrix = shift.to_dense()
        values = torch.linalg.eigvalsh((matrix + matrix.T) / 2)
        low, high = float(values[0]), float(values[-1])
        return low - margin * (high - low), high + margin * (high - low)
    return _enclosed(shift.to_scipy(), margin)


def norm_bound(shift: GraphShift) -> float:
    r"""Return a number that the spectral norm of a shift, symmetric or not, does not exceed, and hardly falls below.

    Up to :data:`DENSE_NODES` nodes the norm itself. Beyond, the largest eigenvalue of :math:`S^T S` is enclosed as in
    :func:`spectral_interval`; it is at most the product of the largest sums of a row and of a column.

    Example:
        >>> norm_bound(GraphShift([[0.0, 2.0], [0.0, 0.0]]))
        2.0
    """
    if shift.num_nodes <= DENSE_NODES:
        return float(torch.linalg.matrix_norm(shift.to_dense().double(), 2))
    matrix = shift.to_scipy()
    transposed = sparse.csr_array(matrix.T)
    most = float(abs(matrix).sum(axis=1).max()) * float(abs(matrix).sum(axis=0).max())
    missed = MISSED[0]
    steps = _steps(shift.num_nodes, missed)
    _, high = _ritz_ends(lambda x: transposed @ (matrix @ x), shift.num_nodes, steps, scale=most)
    return math.sqrt(min(high / (1 - missed), most))


def _enclosed(matrix: sparse.csr_array, margin: float) -> Interval:
    matrix = sparse.csr_array((matrix + matrix.T) / 2)
    nodes = matrix.shape[0]
    least, most = _discs(matrix)
    missed = min(max(margin, MISSED[0]), MISSED[1])
    low, high = _ritz_ends(matrix.__matmul__, nodes, _steps(nodes, missed), scale=max(abs(least), abs(most)))
    width = high - low  # at least 1 - 2 missed of that of the spectrum
    slack = missed / (1 - 2 * missed) * width
    outside = margin * width
    low = min(max(low - slack, least - outside), low - outside)
    high = max(min(high + slack, most + outside), high + outside)
    return low, high


def _discs(matrix: sparse.csr_array) -> Interval:
    """Gershgorin: every eigenvalue is within the sum of the others in its row of some entry of the diagonal."""
    diagonal = matrix.diagonal()
    radius = np.asarray(abs(matrix).sum(axis=1)).ravel() - abs(diagonal)
    return float((diagonal - radius).min()), float((diagonal + radius).max())


def _steps(nodes: int, missed: float) -> int:
    return math.ceil((math.log(1.648 * math.sqrt(nodes) / FAILURES) / math.sqrt(missed) + 1) / 2)


def _ritz_ends(multiply: Callable[[np.ndarray], np.ndarray], nodes: int, steps: int, scale: float) -> Interval:
    """The least and the largest value that Lanczos finds, always inside of the spectrum.

    The vectors are not orthogonalised anew: lost orthogonality repeats values, and moves none outwards.
    """
    vector = np.random.default_rng(0).standard_normal(nodes)
    vector /= np.linalg.norm(vector)
    before, step = np.zeros_like(vector), 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    while True:
        product = multiply(vector) - step * before
        diagonal.append(float(vector @ product))
        product -= diagonal[-1] * vector
        step = float(np.linalg.norm(product))
        # No step is left once the vectors span all that the matrix makes of the start.
        if len(diagonal) == steps or step <= 1e-14 * scale:
            break
        beside.append(step)
        before, vector = vector, product / step
    values = linalg.eigvalsh_tridiagonal(np.array(diagonal), np.array(beside))
    return float(values[0]), float(values[-1])
