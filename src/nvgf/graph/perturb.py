r"""Perturbations of a graph: symmetric changes E of the matrix with a given norm :math:`\|E\|_2 = \epsilon`.

- ``absolute``: Gaussian noise on all entries (dense), or on the stored entries and the diagonal when the graph has
  more than :data:`FULL_NODES` nodes;
- ``relative``: :math:`E = (DS + SD)/2` with a random diagonal D, so that weights change in proportion;
- ``drop-edges``: edges vanish in random order until the norm is reached, the last one in part;
- ``add-edges``: edges with the mean absolute weight appear between unlinked nodes in random order, the last in part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from scipy import optimize, sparse

from nvgf.graph.checks import SYMMETRY_TOLERANCE, worst_asymmetry
from nvgf.graph.norm import spectral_norm

Perturbation = Literal["absolute", "relative", "drop-edges", "add-edges"]

FULL_NODES = 2_000
"""Absolute noise fills the matrix up to this many nodes, and stays on the stored entries beyond."""


def perturbation(
    matrix: sparse.csr_array, epsilon: float, kind: Perturbation, generator: np.random.Generator
) -> sparse.csr_array:
    """Return E with spectral norm ``epsilon``; symmetric if ``matrix`` is."""
    if not np.isfinite(epsilon) or epsilon < 0:
        raise ValueError(f"epsilon must be a non-negative number, got {epsilon}")
    if kind not in get_args(Perturbation):
        raise ValueError(f"kind must be one of {', '.join(get_args(Perturbation))}, got {kind!r}")
    symmetric = worst_asymmetry(matrix)[0] <= SYMMETRY_TOLERANCE
    if epsilon == 0:
        return sparse.csr_array(matrix.shape)
    if kind == "absolute":
        return _scaled(_noise(matrix, symmetric, generator), epsilon)
    if kind == "relative":
        factors = sparse.diags_array(generator.standard_normal(matrix.shape[0]))
        return _scaled(sparse.csr_array(factors @ matrix + matrix @ factors), epsilon)
    pick = _dropped if kind == "drop-edges" else _added
    rows, columns, values = pick(matrix, symmetric, generator)
    return _as_many_as_fit(rows, columns, values, matrix.shape, symmetric, epsilon, kind)


def _scaled(change: sparse.csr_array, epsilon: float) -> sparse.csr_array:
    size = spectral_norm(change)
    if size == 0:
        raise ValueError("kind 'relative' needs a graph with edges, the shift is zero")
    return change * (epsilon / size)


def _noise(matrix: sparse.csr_array, symmetric: bool, generator: np.random.Generator) -> sparse.csr_array:
    nodes = matrix.shape[0]
    if nodes <= FULL_NODES:
        noise = sparse.csr_array(generator.standard_normal((nodes, nodes)))
    else:
        support = sparse.csr_array(abs(matrix) + sparse.eye_array(nodes))
        noise = sparse.csr_array(
            (generator.standard_normal(support.nnz), support.indices, support.indptr), shape=matrix.shape
        )
    return sparse.csr_array(noise + noise.T) if symmetric else noise


_Edges = tuple[np.ndarray, np.ndarray, np.ndarray]


def _dropped(matrix: sparse.csr_array, symmetric: bool, generator: np.random.Generator) -> _Edges:
    entries = (sparse.triu(matrix) if symmetric else matrix).tocoo()
    if entries.nnz == 0:
        raise ValueError("kind 'drop-edges' needs a graph with edges, the shift is zero")
    order = generator.permutation(entries.nnz)
    return entries.coords[0][order], entries.coords[1][order], -entries.data[order]


def _added(matrix: sparse.csr_array, symmetric: bool, generator: np.random.Generator) -> _Edges:
    nodes = matrix.shape[0]
    weight = float(abs(matrix.data).mean()) if matrix.nnz else 1.0
    # As many candidates as there are edges, at least one a node: drawn, then freed of loops and of links that exist.
    pairs = generator.integers(nodes, size=(max(4 * matrix.nnz, 4 * nodes), 2))
    if symmetric:
        pairs = np.sort(pairs, axis=1)
    codes = pairs[:, 0] * nodes + pairs[:, 1]
    present = matrix.tocoo()
    taken = np.isin(codes, present.coords[0].astype(np.int64) * nodes + present.coords[1])
    fresh = ~taken & (pairs[:, 0] != pairs[:, 1])
    _, first = np.unique(codes[fresh], return_index=True)
    chosen = pairs[fresh][np.sort(first)]
    if len(chosen) == 0:
        raise ValueError("kind 'add-edges' found no two unlinked nodes: the graph is complete")
    return chosen[:, 0], chosen[:, 1], np.full(len(chosen), weight)


def _as_many_as_fit(
    rows: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    shape: tuple[int, ...],
    symmetric: bool,
    epsilon: float,
    kind: str,
) -> sparse.csr_array:
    def change(amount: float) -> sparse.csr_array:
        # The first edges whole and one more in part: continuous in the amount, so that any norm is met.
        whole = int(amount)
        share = values[: whole + 1].copy()
        share[whole:] *= amount - whole
        part = sparse.csr_array((share, (rows[: whole + 1], columns[: whole + 1])), shape=shape)
        return sparse.csr_array(part + sparse.triu(part, 1).T) if symmetric else part

    excess: Callable[[float], float] = lambda amount: spectral_norm(change(amount)) - epsilon  # noqa: E731
    most = float(len(values))
    if excess(most) < 0:
        raise ValueError(
            f"epsilon {epsilon:.6g} is more than kind '{kind}' can change: {spectral_norm(change(most)):.6g}"
        )
    return change(float(optimize.brentq(excess, 0.0, most, xtol=1e-12, rtol=1e-12)))
