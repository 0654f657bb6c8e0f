"""``Spectrum``: the eigenvalues of a shift and an orthonormal basis, and the graph Fourier transform."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
import torch
from scipy import sparse

from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.spectral.eigenspaces import canonical_basis, group_numbers
from nvgf.spectral.inputs import analysis_shift

TOLERANCE = 1e-10
"""Eigenvalues nearer than this, relative to the spectral radius, are one frequency (float64 shifts)."""

_CACHE: WeakKeyDictionary[GraphShift, tuple[int, Spectrum]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""Eigenvalues of S in ascending order, and orthonormal eigenvectors:
    :math:`S = V \mathrm{diag}(\lambda) V^T`.

    Eigenvalues within ``tolerance`` of their neighbour are one *frequency*: inside such an eigenspace a basis
    is arbitrary, and no measure of this room depends on it. :meth:`of` moreover fixes the basis (see
    :func:`nvgf.spectral.canonical_basis`), so that two machines get the same one.

    Attributes:
        eigenvalues: ``(n,)``, ascending, float64.
        eigenvectors: ``(nodes, n)``; the columns are the paper's :math:`v_i`.
        tolerance: the largest gap, absolute, between eigenvalues that count as equal.

    Example:
        >>> spectrum = Spectrum.of(GraphShift([[0, 1, 1], [1, 0, 1], [1, 1, 0]]))
        >>> spectrum.eigenvalues
        tensor([-1.0000, -1.0000,  2.0000], dtype=torch.float64)
        >>> spectrum.frequencies  # the distinct ones
        tensor([-1.,  2.], dtype=torch.float64)
        >>> x = torch.tensor([[1.0], [2.0], [3.0]])
        >>> torch.allclose(spectrum.igft(spectrum.gft(x)), x.double())
        True
    """

    eigenvalues: torch.Tensor
    eigenvectors: torch.Tensor
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        values, vectors = self.eigenvalues, self.eigenvectors
        if values.ndim != 1 or vectors.ndim != 2 or vectors.shape[1] != len(values):
            raise ValueError(
                "eigenvalues must have shape (n,) and eigenvectors (nodes, n), got "
                f"{tuple(values.shape)} and {tuple(vectors.shape)}"
            )
        if bool((values.diff() < 0).any()):
            raise ValueError("eigenvalues must ascend")

    @classmethod
    def of(cls, shift: GraphShift | torch.Tensor, *, tolerance: float | None = None) -> Spectrum:
        """Return the whole spectrum of a symmetric shift: dense ``eigh`` in float64, kept while the shift
        lives.

        Args:
            shift: the graph.
            tolerance: relative to the spectral radius; by default :data:`TOLERANCE`, or the rounding of the
                shift's dtype where that is larger (float32 entries split equal eigenvalues by about 1e-7).
        """
        if not isinstance(shift, GraphShift):
            shift = GraphShift(shift)
        version = _version(shift)
        kept = _CACHE.get(shift)
        if kept is not None and kept[0] == version and tolerance is None:
            return kept[1]
        shift.require_symmetric("A spectrum")
        with _one_torch_thread(), torch.inference_mode(False):
            matrix = shift.to_dense().detach().double()
            values, vectors = _eigh((matrix + matrix.T) / 2)
            spectrum = _canonical(values, vectors, _absolute(tolerance, shift.dtype, values))
        if tolerance is None and version is not None:
            _CACHE[shift] = (version, spectrum)
        return spectrum

    @classmethod
    def extreme(
        cls,
        shift: GraphShift | torch.Tensor,
        count: int,
        which: Literal["smallest", "largest", "both"] = "both",
        *,
        tolerance: float | None = None,
    ) -> Spectrum:
        """Return ``count`` extreme eigenvalues of a large sparse shift, by Lanczos.

        Lanczos may miss copies of a repeated eigenvalue; where that matters, use :meth:`of`.
        """
        names: dict[str, Literal["SA", "LA", "BE"]] = {"smallest": "SA", "largest": "LA", "both": "BE"}
        if which not in names:
            raise ValueError(f"which must be 'smallest', 'largest' or 'both', got {which!r}")
        original, shift = shift, _symmetric(shift)
        count, nodes = whole_number("count", count, 1), shift.num_nodes
        if count >= nodes:
            raise ValueError(f"count must be from 1 to {nodes - 1} (nodes - 1), got {count}")
        matrix = shift.to_scipy()
        if matrix.nnz == 0:  # Lanczos cannot start
            return _partial(np.zeros(count), np.eye(nodes, count), original, tolerance)
        values, vectors = sparse.linalg.eigsh(matrix, k=count, which=names[which], v0=_start(nodes))
        return _partial(values, vectors, original, tolerance)

    @classmethod
    def band(
        cls,
        shift: GraphShift | torch.Tensor,
        low: float,
        high: float,
        *,
        tolerance: float | None = None,
    ) -> Spectrum:
        """Return the eigenvalues in ``[low, high]`` of a large sparse shift, by shift-and-invert Lanczos.

        The same caution as for :meth:`extreme` holds for repeated eigenvalues.
        """
        if not low < high:
            raise ValueError(f"low must be below high, got {low} and {high}")
        original, shift = shift, _symmetric(shift)
        middle, half = (low + high) / 2, (high - low) / 2
        matrix = shift.to_scipy().tocsc()
        # An eigenvalue that is the middle itself would make the matrix to invert singular.
        middle += 1e-7 * half * math.sqrt(2)
        count = 16
        while count < shift.num_nodes:
            values, vectors = sparse.linalg.eigsh(matrix, k=count, sigma=middle, which="LM", v0=_start(shift.num_nodes))
            if np.abs(values - middle).max() > half * (1 + 1e-6):
                return _partial(values, vectors, original, tolerance)._restricted(low, high)
            count *= 2
        return cls.of(original, tolerance=tolerance)._restricted(low, high)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return self.eigenvectors.shape[0]

    @property
    def is_complete(self) -> bool:
        """Whether all eigenvalues are there, and not only a part."""
        return self.eigenvectors.shape[0] == self.eigenvectors.shape[1]

    @cached_property
    @torch.inference_mode(False)
    def groups(self) -> torch.Tensor:
        """The number of the frequency of each eigenvalue, ``(n,)``: equal eigenvalues share one."""
        return group_numbers(self.eigenvalues, self.tolerance)

    @cached_property
    @torch.inference_mode(False)
    def multiplicities(self) -> torch.Tensor:
        """How many eigenvalues each frequency has, ``(frequencies,)``."""
        return torch.bincount(self.groups)

    @cached_property
    @torch.inference_mode(False)
    def frequencies(self) -> torch.Tensor:
        """The distinct eigenvalues (the mean of each group), ``(frequencies,)``."""
        return self.by_frequency(self.eigenvalues) / self.multiplicities

    @property
    def interval(self) -> tuple[float, float]:
        """The least and the largest eigenvalue."""
        return float(self.eigenvalues[0]), float(self.eigenvalues[-1])

    def gft(self, x: torch.Tensor) -> torch.Tensor:
        r"""Return :math:`\tilde x = V^T x` (``eq:GFT``) of signals ``(..., nodes, features)``, in float64."""
        self._check(x, self.num_nodes, "x", "nodes")
        return self.eigenvectors.T @ x.double()

    def igft(self, x: torch.Tensor) -> torch.Tensor:
        r"""Return :math:`V \tilde x` of spectra ``(..., n, features)``, in float64."""
        self._check(x, len(self.eigenvalues), "x", "eigenvalues")
        return self.eigenvectors @ x.double()

    def energy(self, x: torch.Tensor) -> torch.Tensor:
        """Return the energy of signals at each frequency, ``(..., frequencies, features)``."""
        return self.by_frequency(self.gft(x).square(), dim=-2)

    def by_frequency(self, values: torch.Tensor, dim: int = 0) -> torch.Tensor:
        """Add up a dimension that runs over eigenvalues, so that it runs over frequencies."""
        shape = list(values.shape)
        shape[dim] = int(self.groups[-1]) + 1
        return values.new_zeros(shape).index_add_(dim, self.groups, values)

    def _restricted(self, low: float, high: float) -> Spectrum:
        inside = (self.eigenvalues >= low - self.tolerance) & (self.eigenvalues <= high + self.tolerance)
        if not bool(inside.any()):
            raise ValueError(f"the shift has no eigenvalue from {low} to {high}")
        return Spectrum(self.eigenvalues[inside], self.eigenvectors[:, inside], self.tolerance)

    @staticmethod
    def _check(x: torch.Tensor, size: int, name: str, what: str) -> None:
        if x.ndim < 2 or x.shape[-2] != size:
            raise ValueError(
                f"{name} must have shape (..., {size}, features): there are {size} {what}, got {tuple(x.shape)}"
            )

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Spectrum(nodes={self.num_nodes}, eigenvalues={len(self.eigenvalues)}, "
            f"frequencies={len(self.frequencies)}, interval=[{low:.4g}, {high:.4g}])"
        )


def as_spectrum(shift: GraphShift | torch.Tensor | Spectrum) -> Spectrum:
    """Return the spectrum of a shift; a spectrum is returned as it is."""
    return shift if isinstance(shift, Spectrum) else Spectrum.of(shift)


def _version(shift: GraphShift) -> int | None:
    """How often the matrix has been written to; None of a tensor of ``torch.inference_mode``, which does not count."""
    if shift.layout != "dense":
        return 0
    return None if shift.matrix.is_inference() else int(shift.matrix._version)


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """Keep torch's threads out of the way of numpy's: both wait spinning, and would take the cores from each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _eigh(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if matrix.device.type != "cpu":
        values, vectors = torch.linalg.eigh(matrix)
        return values, vectors
    return tuple(torch.from_numpy(part) for part in np.linalg.eigh(matrix.numpy()))  # type: ignore[return-value]


def _absolute(tolerance: float | None, dtype: torch.dtype, values: torch.Tensor) -> float:
    if tolerance is None:
        tolerance = max(TOLERANCE, 4 * torch.finfo(dtype).eps)
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be a non-negative number, got {tolerance}")
    return tolerance * float(values.abs().max())


def _canonical(values: torch.Tensor, vectors: torch.Tensor, tolerance: float) -> Spectrum:
    return Spectrum(values, canonical_basis(vectors, group_numbers(values, tolerance)), tolerance)


def _symmetric(shift: GraphShift | torch.Tensor) -> GraphShift:
    shift = analysis_shift(shift)
    shift.require_symmetric("A spectrum")
    return shift


def _partial(
    values: np.ndarray, vectors: np.ndarray, shift: GraphShift | torch.Tensor, tolerance: float | None
) -> Spectrum:
    order = np.argsort(values)
    eigenvalues = torch.from_numpy(values[order].copy()).to(shift.device)
    eigenvectors = torch.from_numpy(vectors[:, order].copy()).to(shift.device)
    return _canonical(eigenvalues, eigenvectors, _absolute(tolerance, shift.dtype, eigenvalues))


def _start(nodes: int) -> np.ndarray:
    # Fixed and random: the same result at every call, and no eigenvector is likely to be orthogonal to it.
    return np.random.default_rng(0).standard_normal(nodes)
