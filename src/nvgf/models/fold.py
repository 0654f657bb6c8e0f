"""``fold``: a linear architecture as one affine map of the signal."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch

from nvgf.graph import GraphShift
from nvgf.models.base import GraphModel

_CHUNK = 256


@dataclass(frozen=True)
class Affine:
    r"""The affine map :math:`z = A x + b` of a signal to the outputs of a model on one graph.

    Shapes:
        - ``matrix``: ``(*outputs, nodes, features)``: how much each node decides of each output
        - ``offset``: ``(*outputs)``
        - called with ``(..., nodes, features)`` it returns ``(..., *outputs)``

    ``outputs`` are ``(outputs,)`` for a readout over all nodes or at one node, ``(nodes, outputs)`` for a readout
    shared by all nodes.
    """

    matrix: torch.Tensor
    offset: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs for signals ``(..., nodes, features)``."""
        size = self.matrix.shape[-2:]
        if x.ndim < 2 or x.shape[-2:] != size:
            raise ValueError(f"x must have shape (..., {size[0]}, {size[1]}), got {tuple(x.shape)}")
        flat = self.matrix.reshape(-1, size.numel()).to(x)
        y = x.flatten(-2) @ flat.T + self.offset.reshape(-1).to(x)
        return y.reshape(*x.shape[:-2], *self.offset.shape)

    def by_frequency(self, eigenvectors: torch.Tensor) -> torch.Tensor:
        """Return how much each frequency decides, ``(*outputs, frequencies, features)``; eigenvectors are columns."""
        return torch.einsum("...nf,nt->...tf", self.matrix, eigenvectors.to(self.matrix))


def fold(model: GraphModel, shift: GraphShift, *, node: int | None = None) -> Affine:
    """Return the affine map that a linear architecture is on a graph, in float64.

    Exact, and far cheaper to serve: the graph, all filters and the readout become one matrix, which also shows which
    nodes (:attr:`Affine.matrix`) and frequencies (:meth:`Affine.by_frequency`) decide.

    Args:
        model: LSIGF, LearnNVGF or DesignNVGF, with their readout.
        shift: the graph.
        node: of a readout shared by all nodes, the node whose output is wanted; ``None`` for all.

    Raises:
        ValueError: for an architecture with an activation function.

    Example:
        >>> from nvgf.models import LSIGF
        >>> path, model = GraphShift.from_edges([(0, 1), (1, 2)]), LSIGF(3, features=4, order=2).eval()
        >>> x = torch.randn(5, 3, 1)
        >>> folded = fold(model, path)
        >>> folded.matrix.shape, torch.allclose(folded(x), model(x, path), atol=1e-5)
        (torch.Size([2, 3, 1]), True)
    """
    if not isinstance(model, GraphModel):
        raise TypeError(f"model must be an architecture of nvgf.models, got {type(model).__name__}")
    if not model.linear:
        raise ValueError(f"model: {type(model).__name__} has activation functions, only linear architectures fold")
    shared = model.readout_kind == "shared"
    if node is not None and not (shared and isinstance(node, int) and 0 <= node < model.num_nodes):
        raise ValueError(f"node must be from 0 to {model.num_nodes - 1}, of a readout shared by all nodes, got {node}")
    exact = copy.deepcopy(model).double().eval().requires_grad_(False)
    exact_shift = shift.to(dtype=torch.float64)

    def outputs(x: torch.Tensor) -> torch.Tensor:
        y = exact(x, exact_shift)
        return y[:, node] if node is not None else y

    zero = torch.zeros(1, model.num_nodes, model.in_features, dtype=torch.float64, device=shift.device)
    offset = outputs(zero)[0]
    rows = []
    with torch.enable_grad():
        for numbers in torch.arange(offset.numel(), device=shift.device).split(_CHUNK):
            # One copy of the signal for each output: the gradient of all at once is a row of the matrix for each.
            x = zero.expand(len(numbers), -1, -1).clone().requires_grad_()
            chosen = outputs(x).flatten(1).gather(1, numbers.unsqueeze(1)).sum()
            rows.append(torch.autograd.grad(chosen, x)[0])
    return Affine(torch.cat(rows).reshape(*offset.shape, *zero.shape[1:]), offset)
