"""Design NVGF where one node alone is read: the errors need the filters of that node, not those of the whole graph."""

from __future__ import annotations

import torch

from nvgf.design.activations import apply_pointwise, pointwise
from nvgf.design.solve import RTOL, solve_systems
from nvgf.graph import GraphShift
from nvgf.models import GCNN


def readable_at_node(gcnn: GCNN) -> bool:
    """Return whether a single layer lies between the signals and the readout; deeper ones need other nodes' filters."""
    return len(gcnn.widths) == 1 and gcnn.readout_kind == "shared"


class NodeDesign:
    r"""A trained GCNN of one layer with the activation of one node replaced by the optimal NVGF.

    The taps are those that :func:`nvgf.design.optimal_taps` finds for the node (Proposition 2): the least-squares fit
    of :math:`\rho(u_i)` on :math:`u_i, (Su)_i, \ldots, (S^K u)_i`, all centred, where :math:`(S^k u)_i` is the product
    of row i of :math:`S^k` with u.

    Args:
        gcnn: the trained model.
        x: training signals ``(samples, nodes, features)``.
        shift: the graph, in the model's dtype.
        node: where the model is read.

    Shapes:
        - ``taps``: ``(order + 1, features)``; ``offset``: ``(features,)``

    Example:
        >>> path = GraphShift.from_edges([(0, 1), (1, 2)])
        >>> gcnn, x = GCNN(3, features=4, order=1, readout="shared", outputs=1).eval(), torch.rand(50, 3, 1)
        >>> NodeDesign(gcnn, x, path, node=1)(x).shape
        torch.Size([50, 1])
    """

    def __init__(self, gcnn: GCNN, x: torch.Tensor, shift: GraphShift, node: int) -> None:
        self.gcnn, self.shift = gcnn, shift
        matrix = shift.to(dtype=torch.float64)
        # Rows of S^k from the transpose, and the same of |S| for a bound of rounding.
        rows = torch.eye(shift.num_nodes, dtype=torch.float64, device=shift.device)[node]
        dense = matrix.to_dense().T
        self._rows = _powers(dense, rows, gcnn.order)
        with torch.no_grad():
            heard, size = self._heard(x)
            eps = torch.finfo(x.dtype).eps
            noise = (64 * eps * (_powers(dense.abs(), rows, gcnn.order) @ size)) ** 2
            target = apply_pointwise(pointwise(gcnn.activation), heard[:, 0])
            values = torch.cat([heard, target.unsqueeze(1)], dim=1).permute(2, 1, 0)
            mean = values.mean(dim=-1)
            centred = values - mean.unsqueeze(-1)
            covariance = centred @ centred.transpose(1, 2) / len(x)
            gram, cross = covariance[:, :-1, :-1], covariance[:, :-1, -1]
            taps, _ = solve_systems(gram, cross, noise=noise.T, rtol=max(RTOL, (64 * eps) ** 2))
            self.taps = taps.T
            self.offset = mean[:, -1] - (taps * mean[:, :-1]).sum(-1)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs at the node, ``(samples, outputs)``."""
        with torch.no_grad():
            hidden = (self._heard(x)[0] * self.taps).sum(1) + self.offset
            return self.gcnn.readout(hidden.to(x.dtype))

    def _heard(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what the node hears, ``(samples, order + 1, features)``, and the size of the signals everywhere."""
        reached = self.gcnn.filtered(0, x, self.shift).double()
        return self._rows @ reached, reached.square().mean(0).sqrt()


def _powers(transposed: torch.Tensor, row: torch.Tensor, order: int) -> torch.Tensor:
    rows = [row]
    for _ in range(order):
        rows.append(transposed @ rows[-1])
    return torch.stack(rows)
