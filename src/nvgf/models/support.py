"""The graph supports of GCN, SGC and GAT: S taken as an adjacency matrix, with self-loops added."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from nvgf.graph import GraphShift


def gcn_shift(shift: GraphShift) -> GraphShift:
    r"""Return :math:`S_{GCN} = \tilde D^{-1/2} (I + S) \tilde D^{-1/2}`, :math:`\tilde D = diag((I + S) 1)`.

    The self-loops are added to the diagonal that S has (PyTorch Geometric's normalisation leaves existing self-loops
    alone).

    Example:
        >>> gcn_shift(GraphShift([[0.0, 1.0], [1.0, 0.0]])).to_dense()
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    looped = sparse.csr_array(shift.to_scipy() + sparse.eye_array(shift.num_nodes, format="csr"))
    degrees = np.asarray(looped.sum(axis=1)).ravel()
    if not (degrees > 0).all():
        node = int(np.flatnonzero(~(degrees > 0))[0])
        raise ValueError(
            f"shift: node {node} has degree {degrees[node]:g} in I + S, and GCN's normalisation needs positive degrees"
        )
    scale = sparse.diags_array(degrees**-0.5)
    return GraphShift(
        scale @ looped @ scale,
        layout="dense" if shift.layout == "dense" else "csr",
        dtype=shift.dtype,
        device=shift.device,
    )


def neighbourhoods(shift: GraphShift) -> torch.Tensor:
    """Return 1 where a node attends to a node, itself included: the non-zero entries of I + S, ``(nodes, nodes)``."""
    dense = shift.to_dense()
    reached = (dense != 0) | torch.eye(shift.num_nodes, dtype=torch.bool, device=dense.device)
    return reached.to(dense.dtype)
