r"""How much an NVGF changes when its graph does: what is measured, and what can be said beforehand.

All bounds are on the operator norm of :math:`H(\hat S) - H(S)`, and so on the change of the output for every
signal of unit energy. For a bank they bound each pair of features, and the norm of the matrix of these bounds
bounds the bank.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from nvgf.graph import GraphShift
from nvgf.graph.norm import largest_eigenvalue, start_vector
from nvgf.spectral.inputs import analysis_shift, filter_bank
from nvgf.spectral.interval import norm_bound, spectral_interval
from nvgf.spectral.responses import Interval, checked_interval, lsi_response

DENSE_SIZE = 1_500
"""Operators with up to this many rows and columns have their norm computed from the matrix, beyond by
Lanczos."""
ROUNDING = 1e-9
"""An interval is widened by this share, so that rounded eigenvalues lie in it too."""


def lipschitz_constants(filter: Any, interval: Interval, num_nodes: int) -> torch.Tensor:
    r"""Return a Lipschitz constant of each node's response on an interval:
    :math:`\max |\tilde h_i'(\lambda)|`.

    The derivative, a polynomial of degree d, is sampled at ``64 d`` Chebyshev points, and the largest sample
    is raised by :math:`1/\cos(\pi/128)` (Ehlich and Zeller 1964): never below the maximum, and at most 0.03 %
    above it.

    Returns:
        ``(nodes, in, out)``

    Example:
        >>> lipschitz_constants(torch.tensor([0.0, 1.0, 1.0]), (0.0, 1.0), num_nodes=1)[0, 0]  # h' = 1 + 2x
        tensor([3.0009], dtype=torch.float64)
    """
    bank = filter_bank(filter, num_nodes)
    order = bank.shape[0] - 1
    if order == 0:
        return torch.zeros_like(bank[0])
    low, high = checked_interval(interval)
    derivative = torch.arange(1, order + 1).to(bank)[:, None, None, None] * bank[1:]
    if order == 1:
        return derivative[0].abs()
    count = 64 * (order - 1)
    grid = torch.cos(torch.arange(count + 1).to(bank) * (math.pi / count))
    values = lsi_response(derivative, (low + high) / 2 + (high - low) / 2 * grid)
    return values.abs().amax(0) / math.cos(math.pi / 128)


@dataclass(frozen=True)
class TheoremBound:
    r"""The bound of Theorem 3 (``thm:stability``), term by term.

    Attributes:
        constant: C, the Lipschitz constant of the responses (for a bank, the norm of the matrix of
            constants).
        eigenvalues: :math:`\epsilon C \sqrt N`, from the eigenvalues of the perturbation.
        eigenvectors: :math:`8 \epsilon C N \sqrt N`, from the misalignment of its eigenvectors.
        remainder: a bound on the theorem's :math:`O(\epsilon^2)`, from the proof.
    """

    constant: float
    eigenvalues: float
    eigenvectors: float
    remainder: float

    @property
    def leading(self) -> float:
        r"""The printed term, :math:`\epsilon C \sqrt N (1 + 8N)`."""
        return self.eigenvalues + self.eigenvectors

    @property
    def total(self) -> float:
        """The whole bound, remainder included."""
        return self.leading + self.remainder


def theorem_bound(
    filter: Any, shift: GraphShift | torch.Tensor, epsilon: float, *, interval: Interval | None = None
) -> TheoremBound:
    r"""Return the bound of Theorem 3 on :math:`\|H(\hat S) - H(S)\|_2` for
    :math:`\|\hat S - S\|_2 \le \epsilon`.

    Args:
        filter: taps or a filter, see :func:`nvgf.spectral.filter_bank`.
        shift: the graph, symmetric.
        epsilon: the size of the perturbation.
        interval: where C bounds the derivative of the responses; by default that of
            :func:`nvgf.spectral.spectral_interval` widened by epsilon, which holds the spectra of both graphs.
            With such an interval the leading term alone is a bound, for any epsilon (see
            :func:`lipschitz_bound`, which is never above it).

    Example:
        >>> bound = theorem_bound(torch.tensor([0.0, 1.0]), torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 0.1)
        >>> round(bound.leading, 4), bound.remainder  # 0.1 * sqrt(2) * 17, where the change is at most 0.1
        (2.4042, 0.0)
    """
    shift = analysis_shift(shift)
    epsilon = _checked(epsilon)
    bank = filter_bank(filter, shift.num_nodes)
    nodes = shift.num_nodes
    interval = _joint_interval(shift, epsilon) if interval is None else interval
    constant = _norm(lipschitz_constants(bank, interval, nodes).amax(0))
    size = norm_bound(shift)
    # (size + epsilon)^k without its first two terms, which would cancel all digits if they were subtracted.
    growth = torch.tensor(
        [
            epsilon**2 * sum((r + 1) * size**r * (size + epsilon) ** (k - 2 - r) for r in range(k - 1))
            for k in range(len(bank))
        ],
        dtype=torch.float64,
        device=bank.device,
    )
    return TheoremBound(
        constant,
        epsilon * constant * math.sqrt(nodes),
        8 * epsilon * constant * nodes * math.sqrt(nodes),
        _norm(torch.einsum("k,kio->io", growth, bank.abs().amax(1))),
    )


def telescoping_bound(filter: Any, shift: GraphShift | torch.Tensor, epsilon: float) -> float:
    r"""Return a bound on :math:`\|H(\hat S) - H(S)\|_2` that holds for every epsilon and any S, symmetric or
    not.

    From :math:`\hat S^k - S^k = \sum_{r<k} \hat S^r (\hat S - S) S^{k-1-r}` and
    :math:`\|\hat S\| \le \|S\| + \epsilon`:

    .. math:: \sum_k \max_i |h_{ik}| \, \epsilon \sum_{r<k} (\|S\| + \epsilon)^r \|S\|^{k-1-r}.

    Example:
        >>> telescoping_bound(torch.tensor([0.0, 1.0]), torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 0.1)
        0.1
    """
    shift = analysis_shift(shift)
    epsilon = _checked(epsilon)
    bank = filter_bank(filter, shift.num_nodes)
    size = norm_bound(shift)
    growth = torch.tensor(
        [epsilon * sum((size + epsilon) ** r * size ** (k - 1 - r) for r in range(k)) for k in range(len(bank))],
        dtype=torch.float64,
        device=bank.device,
    )
    return _norm(torch.einsum("k,kio->io", growth, bank.abs().amax(1)))


def lipschitz_bound(filter: Any, shift: GraphShift | torch.Tensor, perturbed: GraphShift | torch.Tensor) -> float:
    r"""Return :math:`\|\hat S - S\|_F \, (\sum_i C_i^2)^{1/2}`, a bound for one given perturbation.

    A function with Lipschitz constant C on an interval that holds the spectra of two symmetric matrices
    satisfies :math:`\|h(\hat S) - h(S)\|_F \le C \|\hat S - S\|_F`. Row i of the change of an NVGF is row i
    of :math:`\tilde h_i(\hat S) - \tilde h_i(S)`. Since :math:`\|E\|_F \le \sqrt N \epsilon`, it is at most
    :math:`\epsilon C N`, below the leading term of Theorem 3 and without its :math:`O(\epsilon^2)`.

    Example:
        >>> S = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> round(lipschitz_bound(torch.tensor([0.0, 1.0]), S, 1.1 * S), 4)  # 0.1 * sqrt(2) * sqrt(2)
        0.2
    """
    shift, perturbed = _pair(shift, perturbed)
    bank = filter_bank(filter, shift.num_nodes)
    ends = [spectral_interval(one, margin=ROUNDING) for one in (shift, perturbed)]
    interval = min(low for low, _ in ends), max(high for _, high in ends)
    constants = lipschitz_constants(bank, interval, shift.num_nodes)
    change = perturbed.to_scipy() - shift.to_scipy()
    return float(sparse.linalg.norm(change)) * _norm(constants.square().sum(0).sqrt())


def operator_change(filter: Any, shift: GraphShift | torch.Tensor, perturbed: GraphShift | torch.Tensor) -> float:
    r"""Return :math:`\|H(\hat S) - H(S)\|_2`, the largest change of the output over all signals of unit
    energy.

    Example:
        >>> S = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> round(operator_change(torch.tensor([0.0, 0.0, 1.0]), S, 1.1 * S), 6)  # 1.1^2 - 1
        0.21
    """
    shift, perturbed = _pair(shift, perturbed)
    bank = filter_bank(filter, shift.num_nodes)
    if not (perturbed.to_scipy() - shift.to_scipy()).data.any():
        return 0.0
    _, nodes, inputs, outputs = bank.shape
    if nodes * max(inputs, outputs) <= DENSE_SIZE:
        basis = torch.eye(nodes * inputs, dtype=torch.float64, device=bank.device)
        change = signal_change(bank, shift, perturbed, basis.reshape(-1, nodes, inputs))
        return float(torch.linalg.matrix_norm(change.reshape(nodes * inputs, -1), 2))

    def forward(x: np.ndarray) -> np.ndarray:
        signal = torch.from_numpy(np.ascontiguousarray(x).reshape(nodes, inputs)).to(bank)
        return signal_change(bank, shift, perturbed, signal).cpu().numpy().ravel()

    before, after = _transposed(shift), _transposed(perturbed)

    def backward(y: np.ndarray) -> np.ndarray:
        signal = torch.from_numpy(np.ascontiguousarray(y).reshape(nodes, outputs)).to(bank)
        heard = torch.einsum("kngf,nf->kng", bank, signal)
        return (_adjoint(heard, after) - _adjoint(heard, before)).cpu().numpy().ravel()

    return _lanczos_norm(forward, backward, nodes * inputs)


def signal_change(
    filter: Any, shift: GraphShift | torch.Tensor, perturbed: GraphShift | torch.Tensor, x: torch.Tensor
) -> torch.Tensor:
    r"""Return :math:`(H(\hat S) - H(S)) x` for signals ``(..., nodes, in)``: ``(..., nodes, out)``, float64.

    Example:
        >>> S = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> signal_change(torch.tensor([0.0, 1.0]), S, 2 * S, torch.tensor([[1.0], [3.0]]))
        tensor([[3.],
                [1.]], dtype=torch.float64)
    """
    shift, perturbed = _pair(shift, perturbed)
    bank = filter_bank(filter, shift.num_nodes)
    before = after = x.double()
    result = torch.zeros(*x.shape[:-1], bank.shape[3], dtype=torch.float64, device=bank.device)
    for tap in bank[1:]:
        before, after = shift @ before, perturbed @ after
        result = result + torch.einsum("...ni,nio->...no", after - before, tap)
    return result


def _transposed(shift: GraphShift) -> GraphShift:
    return GraphShift(shift.to_scipy().T, dtype=torch.float64, device=shift.device)


def _adjoint(heard: torch.Tensor, transposed: GraphShift) -> torch.Tensor:
    result = heard[-1]
    for part in heard.flip(0)[1:]:
        result = transposed @ result + part
    return result


Map = Callable[[np.ndarray], np.ndarray]


def _lanczos_norm(forward: Map, backward: Map, size: int) -> float:
    """The norm of a linear map of vectors of a size, from the map and its adjoint."""
    start = start_vector(size)
    if not forward(start).any():  # the map is zero: Lanczos cannot start, and has nothing to find
        return 0.0
    return math.sqrt(max(largest_eigenvalue(lambda x: backward(forward(x)), start), 0.0))


def _pair(shift: GraphShift | torch.Tensor, perturbed: GraphShift | torch.Tensor) -> tuple[GraphShift, GraphShift]:
    shift, perturbed = analysis_shift(shift), analysis_shift(perturbed)
    if shift.num_nodes != perturbed.num_nodes:
        raise ValueError(f"perturbed has {perturbed.num_nodes} nodes, the shift has {shift.num_nodes}")
    return shift, perturbed


def _joint_interval(shift: GraphShift, epsilon: float) -> Interval:
    low, high = spectral_interval(shift, margin=ROUNDING)
    return low - epsilon, high + epsilon


def _checked(epsilon: float) -> float:
    if not (epsilon >= 0 and math.isfinite(epsilon)):
        raise ValueError(f"epsilon must be a non-negative number, got {epsilon}")
    return float(epsilon)


def _norm(bounds: torch.Tensor) -> float:
    return float(torch.linalg.matrix_norm(bounds, 2))
