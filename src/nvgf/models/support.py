"""The graph supports of GCN, SGC and GAT: S taken as an adjacency matrix, with self-loops added."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import torch
from scipy import sparse

from nvgf.graph import GraphShift

_SUPPORTS: WeakKeyDictionary[GraphShift, GraphShift] = WeakKeyDictionary()


def gcn_shift(shift: GraphShift) -> GraphShift:
    r"""Return :math:`S_{GCN} = \tilde D^{-1/2} (I + S) \tilde D^{-1/2}`, :math:`\tilde D = diag((I + S) 1)`.

    The self-loops are added to the diagonal that S has (PyTorch Geometric's normalisation leaves existing self-loops
    alone). A shift does not change, so that its support is made once; gradients reach a dense S that asks for them.

    Example:
        >>> gcn_shift(GraphShift([[0.0, 1.0], [1.0, 0.0]])).to_dense()
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    if shift.layout == "dense" and shift.matrix.requires_grad:
        looped = shift.matrix.double() + torch.eye(shift.num_nodes, dtype=torch.float64, device=shift.device)
        factors = looped.sum(1)
        _check_degrees(factors.detach().cpu().numpy())
        factors = factors.rsqrt()
        scaled = factors.unsqueeze(1) * looped * factors
        return GraphShift(scaled, layout="dense", dtype=shift.dtype)
    if shift not in _SUPPORTS:
        _SUPPORTS[shift] = _constant_gcn_shift(shift)
    return _SUPPORTS[shift]


def _constant_gcn_shift(shift: GraphShift) -> GraphShift:
    looped = sparse.csr_array(shift.to_scipy() + sparse.eye_array(shift.num_nodes, format="csr"))
    degrees = np.asarray(looped.sum(axis=1)).ravel()
    _check_degrees(degrees)
    scale = sparse.diags_array(degrees**-0.5)
    return GraphShift(
        scale @ looped @ scale,
        layout="dense" if shift.layout == "dense" else "csr",
        dtype=shift.dtype,
        device=shift.device,
    )


def _check_degrees(degrees: np.ndarray) -> None:
    if not (degrees > 0).all():
        node = int(np.flatnonzero(~(degrees > 0))[0])
        raise ValueError(
            f"shift: node {node} has degree {degrees[node]:g} in I + S, and GCN's normalisation needs positive degrees"
        )


def neighbourhoods(shift: GraphShift) -> torch.Tensor:
    """Return 1 where a node attends to a node, itself included: the non-zero entries of I + S, ``(nodes, nodes)``."""
    dense = shift.to_dense()
    reached = (dense != 0) | torch.eye(shift.num_nodes, dtype=torch.bool, device=dense.device)
    return reached.to(dense.dtype)
