"""Checks that name the argument."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

SYMMETRY_TOLERANCE = 1e-5
"""Largest ``|S_ij - S_ji|`` of a symmetric matrix, relative to its largest entry: float32 rounding passes."""


def whole_number(name: str, value: Any, least: int) -> int:
    """Return a whole number of any type, numpy's too, as an ``int``, or raise and name the argument.

    Example:
        >>> whole_number("order", np.int64(2), 0)
        2
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return number


def check_square(shape: Sequence[int], what: str = "matrix") -> None:
    """Raise unless ``shape`` is that of a square matrix with at least one node."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{what} must be square, got shape {tuple(shape)}")
    if shape[0] == 0:
        raise ValueError(f"{what} is empty: a graph needs at least one node")


def check_finite(matrix: sparse.csr_array, names: Sequence[str] | None, what: str = "matrix") -> None:
    """Raise if a stored entry is NaN or infinite, and say which."""
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right") - 1)
        column = int(matrix.indices[bad[0]])
        raise ValueError(
            f"{what} must be finite, got {matrix.data[bad[0]]} at {entry(row, column, names)} ({bad.size} such entries)"
        )


def check_names(names: Sequence[str] | None, num_nodes: int) -> tuple[str, ...] | None:
    """Return ``names`` as a tuple of as many different strings as there are nodes."""
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(f"names must be a sequence of node names, got the single string {names!r}")
    result = tuple(str(name) for name in names)
    if len(result) != num_nodes:
        raise ValueError(f"names has {len(result)} entries, the shift has {num_nodes} nodes")
    if len(set(result)) != num_nodes:
        seen: set[str] = set()
        double = next(name for name in result if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"names must differ, got {double!r} more than once")
    return result


def worst_asymmetry(matrix: sparse.csr_array) -> tuple[float, int, int]:
    """Return the largest ``|S_ij - S_ji|`` relative to the largest entry, and the pair ``(i, j)`` where it is."""
    difference = abs(matrix - matrix.T).tocoo()
    if difference.nnz == 0:
        return 0.0, 0, 0
    worst = int(np.argmax(difference.data))
    scale = float(abs(matrix.data).max())
    row, column = difference.coords
    return float(difference.data[worst]) / scale, int(row[worst]), int(column[worst])


def check_symmetric(matrix: sparse.csr_array, names: Sequence[str] | None, purpose: str) -> None:
    """Raise unless the matrix is symmetric; the message shows the worst pair."""
    worst, i, j = worst_asymmetry(matrix)
    if worst > SYMMETRY_TOLERANCE:
        there, back = (float(matrix[k]) for k in ((i, j), (j, i)))
        raise ValueError(
            f"{purpose} needs a symmetric matrix, but {entry(i, j, names)} = {there:.6g} and "
            f"{entry(j, i, names)} = {back:.6g} (the worst pair)"
        )


def entry(i: int, j: int, names: Sequence[str] | None) -> str:
    """Write an entry of the matrix as a person would: ``S[the, of]``, or ``S[3, 7]`` without names."""
    if names is None:
        return f"S[{i}, {j}]"
    return f"S[{names[i]}, {names[j]}]"


def node_list(nodes: np.ndarray, names: Sequence[str] | None, limit: int = 5) -> str:
    """List the first few nodes of a set, for a message."""
    shown = ", ".join(str(n) if names is None else names[n] for n in nodes[:limit])
    return shown + (f" and {len(nodes) - limit} more" if len(nodes) > limit else "")
