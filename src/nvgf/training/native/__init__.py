"""Training steps in compiled code, for a CPU with the extra ``fast`` (numba); the PyTorch formulas are their oracle."""

from nvgf.graph.native import available

__all__ = ["available"]
