"""The recurrent factorised completion model of RMGCNN and RMCayley, for a stack of independent problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import nn

from nvgf.movies.completion.filters import CayleyFilter, ChebyshevFilter, Inverse, Layout, glorot

Method = Literal["rmgcnn", "rmcayley"]
METHODS: tuple[Method, ...] = ("rmgcnn", "rmcayley")


@dataclass(frozen=True)
class CompletionConfig:
    """Hyper-parameters of RMGCNN and RMCayley; the defaults are those of the published MovieLens runs.

    ``terms`` counts the Chebyshev polynomials of RMGCNN; ``order``, ``inverse`` and ``jacobi_iterations``
    belong to the Cayley filters of RMCayley. ``candidate`` is the non-linearity of the LSTM's candidate and
    output: the released code has a sigmoid where a textbook LSTM has a tanh.

    >>> CompletionConfig(method="rmcayley", order=2).rank
    10
    """

    method: Method = "rmgcnn"
    rank: int = 10
    hidden: int = 32
    steps: int = 10
    terms: int = 5
    order: int = 4
    inverse: Inverse = "exact"
    jacobi_iterations: int = 10
    candidate: Literal["sigmoid", "tanh"] = "sigmoid"
    gamma: float = 1e-10
    learning_rate: float = 1e-3
    input_fraction: float = 0.5

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        if self.candidate not in ("sigmoid", "tanh"):
            raise ValueError(f"candidate must be 'sigmoid' or 'tanh', got {self.candidate!r}")
        for name in ("rank", "hidden", "steps", "terms", "order"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.input_fraction <= 1:
            raise ValueError(f"input_fraction must lie in (0, 1], got {self.input_fraction}")
        if self.gamma < 0:
            raise ValueError(f"gamma must not be negative, got {self.gamma}")
        if self.learning_rate <= 0:
            raise ValueError(f"learning_rate must be positive, got {self.learning_rate}")


def initial_factors(known: NDArray[np.float64], rank: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``W = U sqrt(s)``, ``H = V sqrt(s)`` of the best rank-``rank`` approximation of ``known`` (0 = unknown).

    Signs are fixed (the largest entry of each column of U is positive): every LAPACK gives the same start.

    Shapes:
        - ``known``: ``(users, items)``; returns ``(users, rank)`` and ``(items, rank)``

    >>> import numpy as np
    >>> W, H = initial_factors(np.outer([1.0, 2.0], [3.0, 4.0, 5.0]), 1)
    >>> np.round(W @ H.T, 6)
    array([[ 3.,  4.,  5.],
           [ 6.,  8., 10.]])
    """
    if rank > min(known.shape):
        raise ValueError(f"rank must not exceed the smaller side of the ratings, {min(known.shape)}, got {rank}")
    left, values, right = np.linalg.svd(known, full_matrices=False)
    left, right, root = left[:, :rank], right[:rank].T, np.sqrt(values[:rank])
    signs = np.sign(left[np.abs(left).argmax(0), np.arange(rank)])
    return left * (root * signs), right * (root * signs)


class _Side(nn.Module):
    """One side (users or items): graph filter, LSTM, and the map from its cell to an update of the factor."""

    def __init__(
        self,
        laplacians: Sequence[sp.csr_array],
        config: CompletionConfig,
        layout: Layout,
        generators: Sequence[torch.Generator],
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.hidden = config.hidden
        self.filter: ChebyshevFilter | CayleyFilter
        if config.method == "rmgcnn":
            self.filter = ChebyshevFilter(
                laplacians,
                config.rank,
                config.hidden,
                terms=config.terms,
                layout=layout,
                generators=generators,
                dtype=dtype,
            )
        else:
            self.filter = CayleyFilter(
                laplacians,
                config.rank,
                config.hidden,
                order=config.order,
                inverse=config.inverse,
                jacobi_iterations=config.jacobi_iterations,
                layout=layout,
                generators=generators,
                dtype=dtype,
            )
        self.squash: Callable[[torch.Tensor], torch.Tensor] = (
            torch.sigmoid if config.candidate == "sigmoid" else torch.tanh
        )
        # Forget, input and output gate and the candidate, each drawn as a (hidden, hidden) matrix of its own.
        gates = [[glorot((self.hidden, self.hidden), generators, dtype).detach() for _ in range(4)] for _ in range(2)]
        self.gates = nn.Parameter(torch.cat([torch.cat(row, dim=2) for row in gates], dim=1))
        self.gate_bias = nn.Parameter(torch.zeros(len(generators), 1, 4 * self.hidden, dtype=dtype))
        self.out = glorot((self.hidden, config.rank), generators, dtype)
        self.out_bias = nn.Parameter(torch.zeros(len(generators), 1, config.rank, dtype=dtype))

    def forward(
        self, factor: torch.Tensor, state: torch.Tensor, cell: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """One diffusion step: the new factor, LSTM output and cell state."""
        features = torch.relu(self.filter(factor))
        gates = torch.baddbmm(self.gate_bias, torch.cat([features, state], dim=-1), self.gates)
        forget, update, output = torch.sigmoid(gates[..., : 3 * self.hidden]).chunk(3, dim=-1)
        cell = forget * cell + update * self.squash(gates[..., 3 * self.hidden :])
        state = output * self.squash(cell)
        return factor + torch.tanh(torch.baddbmm(self.out_bias, cell, self.out)), state, cell


class RecurrentCompletion(nn.Module):
    """RMGCNN or RMCayley for a stack of independent completions of equal size, each with its own weights.

    Args:
        users: adjacency-derived normalised Laplacians of the users' graphs, one per problem.
        items: those of the items' graphs.
        start: the factors W ``(problems, users, rank)`` and H ``(problems, items, rank)``.
        config: hyper-parameters.
        seeds: one seed of the weights per problem.
        layout: ``"dense"`` or ``"csr"`` filters (see
            :class:`~nvgf.movies.completion.filters.StackedOperator`).

    Shapes:
        - returns W ``(problems, users, rank)`` and H ``(problems, items, rank)``; the completion is ``W H^T``
    """

    start_users: torch.Tensor
    start_items: torch.Tensor

    def __init__(
        self,
        users: Sequence[sp.csr_array],
        items: Sequence[sp.csr_array],
        start: tuple[torch.Tensor, torch.Tensor],
        config: CompletionConfig,
        *,
        seeds: Sequence[int],
        layout: Layout = "csr",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        if not len(users) == len(items) == len(start[0]) == len(start[1]) == len(seeds):
            raise ValueError(
                "users, items, start and seeds must each have one entry per problem, got "
                f"{len(users)}, {len(items)}, ({len(start[0])}, {len(start[1])}) and {len(seeds)}"
            )
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.steps = config.steps
        self.hidden = config.hidden
        self.users = _Side(users, config, layout, generators, dtype)
        self.items = _Side(items, config, layout, generators, dtype)
        self.register_buffer("start_users", start[0].to(dtype), persistent=False)
        self.register_buffer("start_items", start[1].to(dtype), persistent=False)

    def forward(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Diffuse the factors ``steps`` times from their start."""
        left, right = self.start_users, self.start_items
        zeros = left.new_zeros(*left.shape[:2], self.hidden)
        user_state, user_cell = zeros, zeros
        item_state = item_cell = right.new_zeros(*right.shape[:2], self.hidden)
        for _ in range(self.steps):
            left, user_state, user_cell = self.users(left, user_state, user_cell)
            right, item_state, item_cell = self.items(right, item_state, item_cell)
        return left, right


def rescaled(completion: torch.Tensor, low: float, high: float) -> torch.Tensor:
    """``completion`` mapped affinely so that each problem's entries span ``low`` to ``high``.

    Shapes:
        - ``completion``: ``(problems, users, items)``

    >>> import torch
    >>> rescaled(torch.tensor([[[0.0, 1.0], [2.0, 4.0]]]), 1, 5)
    tensor([[[1., 2.],
             [3., 5.]]])
    """
    smallest = completion.amin((-2, -1), keepdim=True)
    span = completion.amax((-2, -1), keepdim=True) - smallest
    span = torch.where(span > 0, span, 1.0)  # entries that are all alike are all the smallest
    return low + (high - low) * (completion - smallest) / span


def dirichlet(left: torch.Tensor, right: torch.Tensor, apply: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """``trace(X L X^T)`` for ``X = left right^T`` and L on the right side, without forming X.

    Shapes:
        - ``left``: ``(problems, a, rank)``, ``right``: ``(problems, b, rank)``; returns ``(problems,)``
    """
    gram = left.transpose(1, 2) @ left
    return (gram * (right.transpose(1, 2) @ apply(right))).sum((-2, -1))
