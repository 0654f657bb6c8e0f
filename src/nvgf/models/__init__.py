"""Room ``models``: architectures as modules that are called as ``model(x, shift)``."""

from __future__ import annotations

from typing import Any

from nvgf.models.base import GraphModel, Prepared
from nvgf.models.design_nvgf import DesignNVGF
from nvgf.models.fold import Affine, fold
from nvgf.models.gat import GAT
from nvgf.models.gcn import GCN
from nvgf.models.gcnn import GCNN
from nvgf.models.learn_nvgf import LearnNVGF
from nvgf.models.lsigf import LSIGF
from nvgf.models.sgc import SGC
from nvgf.models.support import gcn_shift

ARCHITECTURES: dict[str, type[GraphModel]] = {
    cls.name: cls for cls in (LSIGF, GCNN, LearnNVGF, DesignNVGF, GCN, SGC, GAT)
}
"""The architectures by name."""


def architecture(name: str) -> type[GraphModel]:
    """Return the architecture of this name."""
    if name not in ARCHITECTURES:
        raise ValueError(f"architecture must be one of {', '.join(ARCHITECTURES)}, got {name!r}")
    return ARCHITECTURES[name]


def build(name: str, num_nodes: int, **options: Any) -> GraphModel:
    """Make an architecture by name.

    All take ``in_features=1, features=32, readout="all" | "shared", outputs=2, dropout=0.5, bias=False``; those with
    polynomial filters also ``order`` and ``basis``, SGC ``order``, GAT ``heads``, the nonlinear ones ``activation``.

    Example:
        >>> build("sgc", num_nodes=5, features=16, order=2).num_parameters
        178
    """
    cls = architecture(name)
    try:
        return cls(num_nodes, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        unknown = str(error).rsplit("argument ", 1)[-1]
        raise ValueError(f"architecture {name!r} has no option {unknown}") from None


__all__ = [
    "ARCHITECTURES",
    "GAT",
    "GCN",
    "GCNN",
    "LSIGF",
    "SGC",
    "Affine",
    "DesignNVGF",
    "GraphModel",
    "LearnNVGF",
    "Prepared",
    "architecture",
    "build",
    "fold",
    "gcn_shift",
]
