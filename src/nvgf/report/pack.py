"""Matrices of magnitudes in a byte each: a page with all authors stays small."""

from __future__ import annotations

import base64
from typing import TypedDict

import numpy as np

from nvgf.report.content import Matrix


class Packed(TypedDict):
    """A matrix as text: entry = most (byte / 255)^2, row by row."""

    rows: int
    columns: int
    most: float
    bytes: str


def pack(matrix: Matrix) -> Packed:
    """Pack a non-negative matrix; the square root spends the 256 levels where magnitudes are small.

    An entry m is off by at most sqrt(m most) / 255 and a little: 0.4 % of the largest entry at worst, and 0.04 % of it
    where an entry is a hundredth of the largest.

    Example:
        >>> packed = pack(np.array([[0.0, 1.0], [4.0, 2.0]]))
        >>> packed["rows"], packed["most"], unpack(packed).round(1).tolist()
        (2, 4.0, [[0.0, 1.0], [4.0, 2.0]])
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"a packed matrix has two dimensions, got shape {matrix.shape}")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("a packed matrix holds finite magnitudes, none below zero")
    # Six digits on the page; the levels are counted from the number that the page will read.
    most = float(f"{matrix.max(initial=0.0):.6g}")
    levels = np.rint(255 * np.sqrt(np.clip(matrix / most, 0.0, 1.0))) if most > 0 else np.zeros_like(matrix)
    data = base64.b64encode(levels.astype(np.uint8).tobytes()).decode("ascii")
    return Packed(rows=matrix.shape[0], columns=matrix.shape[1], most=most, bytes=data)


def unpack(packed: Packed) -> Matrix:
    """Return the matrix that the page draws."""
    levels = np.frombuffer(base64.b64decode(packed["bytes"]), dtype=np.uint8).astype(np.float64)
    return (packed["most"] * (levels / 255) ** 2).reshape(packed["rows"], packed["columns"])
