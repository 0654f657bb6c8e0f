"""Training of RMGCNN and RMCayley: full batch, many problems at once, as a CUDA graph on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from nvgf.movies.completion.filters import Layout, StackedOperator, normalised_laplacian
from nvgf.movies.completion.model import (
    CompletionConfig,
    RecurrentCompletion,
    dirichlet,
    initial_factors,
    rescaled,
)

Graph: TypeAlias = "NDArray[np.float64] | sp.sparray"
Progress = Callable[[int, NDArray[np.float64]], None]

_WARMUP_STEPS = 3


@dataclass(frozen=True)
class CompletionProblem:
    """One matrix to complete.

    ``known`` marks the ratings that training sees, ``valid`` those that choose the iteration, ``test`` those
    that are only watched. Ratings outside ``known`` reach neither the start, nor the loss; those that none marks
    may be anything, and are set to 0.

    Shapes:
        - ``ratings``, ``known``, ``valid``, ``test``: ``(users, items)``; masks are boolean
        - ``user_graph``: ``(users, users)``, ``item_graph``: ``(items, items)``, symmetric adjacencies
    """

    ratings: NDArray[np.float64]
    known: NDArray[np.bool_]
    user_graph: Graph
    item_graph: Graph
    valid: NDArray[np.bool_] | None = None
    test: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        users, items = self.ratings.shape
        for name in ("known", "valid", "test"):
            mask = getattr(self, name)
            if mask is None:
                continue
            if mask.shape != self.ratings.shape:
                raise ValueError(f"{name} must have the ratings' shape {self.ratings.shape}, got {mask.shape}")
            if mask.dtype != np.bool_:
                raise TypeError(f"{name} must be a boolean mask, got dtype {mask.dtype}")
            if not mask.any():
                raise ValueError(f"{name} marks no rating")
        for name, size in (("user_graph", users), ("item_graph", items)):
            if getattr(self, name).shape != (size, size):
                raise ValueError(f"{name} must have shape ({size}, {size}), got {getattr(self, name).shape}")
        marked = np.any([mask for mask in (self.known, self.valid, self.test) if mask is not None], axis=0)
        if not np.isfinite(self.ratings[marked]).all():
            raise ValueError("ratings must be finite where known, valid or test marks them")
        object.__setattr__(self, "ratings", np.where(marked, self.ratings, 0.0))


@dataclass(frozen=True)
class CompletionFit:
    """What training gives.

    Shapes:
        - ``completion``: ``(problems, users, items)``, at each problem's best iteration; NaN for a problem that was
          finite at none
        - ``best_iteration``: ``(problems,)``
        - ``curves``: ``(iterations, 3, problems)``: loss, RMSE on ``valid``, RMSE on ``test`` (NaN without)
    """

    completion: NDArray[np.float32]
    best_iteration: NDArray[np.int64]
    curves: NDArray[np.float64]


class _Trainer:
    """All state of a training. :meth:`step` has no branch on data, so that a CUDA graph can hold it."""

    def __init__(
        self,
        problems: Sequence[CompletionProblem],
        config: CompletionConfig,
        *,
        iterations: int,
        seeds: Sequence[int],
        scale: tuple[float, float],
        device: torch.device,
        layout: Layout,
    ) -> None:
        users = [normalised_laplacian(problem.user_graph) for problem in problems]
        items = [normalised_laplacian(problem.item_graph) for problem in problems]
        starts = [_start(problem, config, seed) for problem, seed in zip(problems, seeds, strict=True)]
        start = tuple(torch.as_tensor(np.stack([s[side] for s in starts])) for side in (0, 1))
        self.model = RecurrentCompletion(users, items, (start[0], start[1]), config, seeds=seeds, layout=layout).to(
            device
        )
        dtype = torch.float32
        self.user_laplacian = StackedOperator(users, layout=layout, dtype=dtype).to(device)
        self.item_laplacian = StackedOperator(items, layout=layout, dtype=dtype).to(device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=config.learning_rate, capturable=device.type == "cuda"
        )
        self.ratings = torch.as_tensor(np.stack([p.ratings for p in problems]), dtype=dtype, device=device)
        self.train = _weights([p.known for p in problems], dtype, device)
        watched = [[p.valid for p in problems], [p.test for p in problems]]
        self.watched = [
            _weights([m for m in masks if m is not None], dtype, device) if masks[0] is not None else None
            for masks in watched
        ]
        self.gamma, self.scale = config.gamma, scale
        count = len(problems)
        self.best = torch.zeros_like(self.ratings)
        self.best_value = torch.full((count,), torch.inf, device=device)
        self.best_iteration = torch.zeros(count, dtype=torch.int64, device=device)
        self.curves = torch.full((iterations, 3, count), torch.nan, device=device)
        self.iteration = torch.zeros(1, dtype=torch.int64, device=device)

    def step(self) -> None:
        """One iteration: complete, score, keep the best, update the weights."""
        left, right = self.model()
        completion = rescaled(left @ right.transpose(1, 2), *self.scale)
        error = (completion - self.ratings).square()
        loss = (error * self.train).sum((1, 2))
        if self.gamma:
            energy = dirichlet(left, right, self.item_laplacian) + dirichlet(right, left, self.user_laplacian)
            loss = loss + self.gamma / 2 * energy
        self.optimizer.zero_grad(set_to_none=True)
        loss.sum().backward()
        with torch.no_grad():
            valid, test = (
                torch.full_like(loss, torch.nan) if w is None else (error * w).sum((1, 2)).sqrt() for w in self.watched
            )
            criterion = loss if self.watched[0] is None else valid
            better = criterion < self.best_value
            self.best_value.copy_(torch.where(better, criterion, self.best_value))
            self.best.copy_(torch.where(better[:, None, None], completion, self.best))
            self.best_iteration.copy_(torch.where(better, self.iteration, self.best_iteration))
            self.curves.index_copy_(0, self.iteration, torch.stack([loss, valid, test])[None])
            self.iteration.add_(1)
        self.optimizer.step()

    def capture(self) -> torch.cuda.CUDAGraph:
        """The step as a CUDA graph. The warm-up steps that capturing needs are undone."""
        weights = [parameter.detach().clone() for parameter in self.model.parameters()]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARMUP_STEPS):
                self.iteration.zero_()
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        with torch.no_grad():
            for parameter, weight in zip(self.model.parameters(), weights, strict=True):
                parameter.copy_(weight)
            for state in self.optimizer.state.values():
                for value in state.values():
                    value.zero_()
        self.best.zero_()
        self.best_value.fill_(torch.inf)
        self.iteration.zero_()
        return graph


def fit_completion(
    problems: Sequence[CompletionProblem],
    config: CompletionConfig | None = None,
    *,
    iterations: int = 10_000,
    seeds: Sequence[int],
    scale: tuple[float, float] = (1.0, 5.0),
    device: str | torch.device = "cpu",
    layout: Layout = "auto",
    cuda_graph: bool = True,
    progress: Progress | None = None,
    progress_every: int = 100,
) -> CompletionFit:
    """Train RMGCNN or RMCayley on each of ``problems``, all at once, and complete the matrices.

    Adam on the full batch with the loss ``mean squared error on known ratings + gamma / 2 (Dirichlet
    energies)``. A random ``config.input_fraction`` of the known ratings is the input (the start of the
    factors); all known ratings are the target. The kept iteration is that of the lowest RMSE on ``valid``, or
    of the lowest training loss where the problems have no ``valid`` (as in the released code). Problems share
    nothing but the launch: each has its own weights, seed and best iteration.

    Args:
        problems: matrices of one size.
        config: hyper-parameters; RMGCNN's published ones by default.
        iterations: number of Adam steps.
        seeds: one seed per problem, for the input ratings and the weights.
        scale: smallest and largest rating; completions are rescaled onto it.
        device: where to train.
        layout: ``"dense"`` or ``"csr"`` graph operators; ``"auto"`` is dense on a GPU, sparse on a processor.
        cuda_graph: capture the step in a CUDA graph on a GPU: a step is about a thousand small kernels.
        progress: called with the number of steps done and ``(3, problems)`` latest values of the curves.
        progress_every: how often to call ``progress``.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> ratings = rng.integers(1, 6, size=(8, 6)).astype(float)
    >>> problem = CompletionProblem(ratings, rng.random((8, 6)) < 0.7, np.ones((8, 8)), np.ones((6, 6)))
    >>> fit = fit_completion([problem], CompletionConfig(rank=2, hidden=4, steps=2), iterations=3, seeds=[0])
    >>> fit.completion.shape, fit.curves.shape
    ((1, 8, 6), (3, 3, 1))
    """
    config = config or CompletionConfig()
    place = torch.device(device)
    _check(problems, seeds, iterations, scale)
    if layout == "auto":
        layout = "dense" if place.type == "cuda" else "csr"
    trainer = _Trainer(problems, config, iterations=iterations, seeds=seeds, scale=scale, device=place, layout=layout)
    step = trainer.capture().replay if cuda_graph and place.type == "cuda" else trainer.step
    for done in range(1, iterations + 1):
        step()
        if progress is not None and (done % progress_every == 0 or done == iterations):
            progress(done, trainer.curves[done - 1].double().cpu().numpy())
    trainer.best[trainer.best_value.isinf()] = torch.nan
    return CompletionFit(
        completion=trainer.best.cpu().numpy(),
        best_iteration=trainer.best_iteration.cpu().numpy(),
        curves=trainer.curves.double().cpu().numpy(),
    )


def _check(
    problems: Sequence[CompletionProblem], seeds: Sequence[int], iterations: int, scale: tuple[float, float]
) -> None:
    if not problems:
        raise ValueError("problems must hold at least one problem, got none")
    if len(seeds) != len(problems):
        raise ValueError(f"seeds must hold one seed for each of the {len(problems)} problems, got {len(seeds)}")
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations}")
    if not scale[0] < scale[1]:
        raise ValueError(f"scale must be (smallest, largest) rating, got {scale}")
    if len({p.ratings.shape for p in problems}) != 1:
        raise ValueError("problems that are trained together must have ratings of one shape")
    for name in ("valid", "test"):
        if len({getattr(p, name) is None for p in problems}) != 1:
            raise ValueError(f"either all problems or none must have {name} ratings")


def _start(
    problem: CompletionProblem, config: CompletionConfig, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Factors of a random part of the known ratings."""
    places = np.flatnonzero(problem.known)
    count = max(1, round(config.input_fraction * len(places)))
    chosen = np.random.default_rng(seed).permutation(places)[:count]
    known = np.zeros(problem.ratings.size)
    known[chosen] = problem.ratings.ravel()[chosen]
    return initial_factors(known.reshape(problem.ratings.shape), config.rank)


def _weights(masks: Sequence[NDArray[np.bool_]], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Masks as weights that sum to 1 in each problem: a weighted sum of squared errors is their mean."""
    stacked = torch.as_tensor(np.stack(masks), dtype=dtype, device=device)
    return stacked / stacked.sum((1, 2), keepdim=True)
