"""Repeated eigenvalues: which belong together, and one basis of their space that everybody finds."""

from __future__ import annotations

import torch

BLOCK = 64
"""So many vectors of a basis are found before the whole eigenspace is brought up to date."""


def group_numbers(values: torch.Tensor, tolerance: float) -> torch.Tensor:
    """Number ascending values so that neighbours within ``tolerance`` share a number.

    Example:
        >>> group_numbers(torch.tensor([0.0, 1.0, 1.0 + 1e-6, 2.0]), 1e-3)
        tensor([0, 1, 1, 2])
    """
    steps = (values.diff() > tolerance).long()
    return torch.cat([steps.new_zeros(1), steps.cumsum(0)])


def canonical_basis(vectors: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
    r"""Return the basis of each eigenspace that depends on the space alone, not on the basis given.

    With the projector P on the space, the first vector is the normalised column of P at the node where it is
    longest (the first of equally long ones), the next the same for what remains of P, and so on. For a single
    eigenvector this makes its largest entry positive.

    Args:
        vectors: ``(nodes, n)``, orthonormal.
        groups: ``(n,)``, ascending: vectors with the same number span one space.

    Example:
        >>> turned = torch.tensor([[0.6, -0.8], [0.8, 0.6]])
        >>> canonical_basis(turned, torch.tensor([0, 0]))
        tensor([[1., 0.],
                [0., 1.]])
    """
    magnitude = vectors.abs()
    # Entries equal up to rounding tie, and the first of them decides.
    tied = magnitude >= magnitude.amax(0) * (1 - 1e-6)
    first = tied.to(torch.int8).argmax(0)
    pivot = vectors.gather(0, first[None])[0]
    result = vectors * torch.where(pivot < 0, -1.0, 1.0).to(vectors)
    sizes = torch.bincount(groups)
    start = 0
    for size in sizes.tolist():
        if size > 1:
            result[:, start : start + size] = _pivoted(vectors[:, start : start + size])
        start += size
    return result


def _pivoted(space: torch.Tensor) -> torch.Tensor:
    # Row i of the space holds the coordinates of column i of the projector: what remains of them, node after node,
    # is Gram and Schmidt's.
    directions, lengths = torch.linalg.qr(space[_pivots(space)].T)
    return space @ (directions * torch.where(lengths.diagonal() < 0, -1.0, 1.0).to(space))


def _pivots(space: torch.Tensor) -> torch.Tensor:
    """The nodes where what remains of the projector is longest, in turn: a Cholesky factorisation by blocks.

    Within a block the columns are brought up to date one by one, as they are chosen, and the rest with the block.
    """
    nodes, size = space.shape
    rest = space @ space.T if size > BLOCK else None
    lengths = space.square().sum(1)
    pivots: list[int] = []
    while len(pivots) < size:
        factor = space.new_zeros(nodes, min(BLOCK, size - len(pivots)))
        for step in range(factor.shape[1]):
            node = int((lengths >= lengths.max() * (1 - 1e-6)).to(torch.int8).argmax())
            column = space @ space[node] if rest is None else rest[node]
            column = column - factor[:, :step] @ factor[node, :step]
            factor[:, step] = column / column[node].sqrt()
            lengths = lengths - factor[:, step].square()
            pivots.append(node)
        if rest is not None:
            rest -= factor @ factor.T
    return torch.tensor(pivots, device=space.device)
