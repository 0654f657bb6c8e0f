"""Training steps in compiled code, for a CPU with the extra ``fast`` (numba); the PyTorch formulas are their oracle."""

from __future__ import annotations

from importlib.util import find_spec


def available() -> bool:
    """Return whether numba is installed."""
    return find_spec("numba") is not None
