r"""The transfer matrix of an NVGF, and the frequencies that it creates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from nvgf.graph import GraphShift
from nvgf.spectral.responses import Basis, Interval, node_responses
from nvgf.spectral.spectrum import Spectrum, as_spectrum


def transfer_matrix(
    filter: Any,
    shift: GraphShift | torch.Tensor | Spectrum,
    *,
    basis: Basis = "monomial",
    interval: Interval | None = None,
) -> torch.Tensor:
    r"""Return :math:`V^T (V \circ (H \Lambda^T))`: what maps the GFT of the input to that of the output.

    Proposition 1 (``prop:GFToutputNVGF``). Entry ``(i, j)`` is how much of frequency j arrives at frequency
    i.

    Args:
        filter: taps ``(order + 1, nodes)`` for one feature, or a bank ``(order + 1, nodes, in, out)``, LSI
            taps, a filter, a design: see :func:`nvgf.spectral.filter_bank`.
        shift: the graph, or its spectrum; a partial spectrum gives the block between its eigenvalues.
        basis: of the taps; ``interval`` for Chebyshev taps is that of the spectrum unless given.

    Returns:
        ``(in, out, n, n)``, float64; ``(n, n)`` if the filter was given as taps of one feature, ``(order +
        1,)`` or ``(order + 1, nodes)``.

    Example:
        >>> S = GraphShift([[0.0, 1.0], [1.0, 0.0]])
        >>> gains = torch.tensor([[1.0, 3.0]])  # an NVGF of order 0
        >>> transfer_matrix(gains, S).round(decimals=6)  # half the difference changes frequency
        tensor([[ 2., -1.],
                [-1.,  2.]], dtype=torch.float64)
    """
    spectrum = as_spectrum(shift)
    outputs = _outputs(filter, spectrum, basis, interval)
    transfer = spectrum.eigenvectors.T @ outputs
    single = isinstance(filter, torch.Tensor) and filter.ndim <= 2
    return transfer[0, 0] if single else transfer


def _outputs(filter: Any, spectrum: Spectrum, basis: Basis, interval: Interval | None) -> torch.Tensor:
    """The output of every eigenvector, V o (H Lambda^T): ``(in, out, nodes, n)``."""
    responses = node_responses(filter, spectrum.eigenvalues, spectrum.num_nodes, basis=basis, interval=interval)
    return spectrum.eigenvectors * responses.permute(2, 3, 0, 1)


@dataclass(frozen=True, eq=False)
class Creation:
    """How much of the output lies at frequencies that the input does not have.

    Attributes:
        share: in [0, 1]; the mean of ``per_frequency``, each eigenvector counting once.
        per_frequency: ``(frequencies,)``; for inputs of one frequency, the share of the output's energy at
            others. A frequency whose output is zero creates nothing, and has 0.
        pairs: ``(frequencies, frequencies)``; entry ``(i, j)`` is the share of the output's energy at
            frequency i for inputs at frequency j.
        frequencies: ``(frequencies,)``, the distinct eigenvalues.
    """

    share: float
    per_frequency: torch.Tensor
    pairs: torch.Tensor
    frequencies: torch.Tensor

    def __float__(self) -> float:
        return self.share

    def __repr__(self) -> str:
        return f"Creation(share={self.share:.6g}, frequencies={len(self.frequencies)})"


def creation(
    filter: Any,
    shift: GraphShift | torch.Tensor | Spectrum,
    *,
    basis: Basis = "monomial",
    interval: Interval | None = None,
) -> Creation:
    """Return the share of output energy at frequencies absent from the input, averaged over single-frequency
    inputs.

    Exact, from the transfer matrix. Zero for every LSI filter. Energies of all features of a bank are added
    up. The measure does not depend on the basis of an eigenspace: its inputs are taken all together.

    Example:
        >>> S = GraphShift([[0.0, 1.0], [1.0, 0.0]])
        >>> creation(torch.tensor([1.0, 0.5]), S).share
        0.0
        >>> round(creation(torch.tensor([[1.0, 3.0]]), S).share, 6)  # 1 of 2^2 + 1^2
        0.2
    """
    spectrum = as_spectrum(shift)
    outputs = _outputs(filter, spectrum, basis, interval)
    energy = (spectrum.eigenvectors.T @ outputs).square().sum((0, 1))
    return creation_of_energy(energy, outputs.square().sum((0, 1, 2)), spectrum)


def creation_of_energy(
    energy: torch.Tensor,
    total: torch.Tensor,
    spectrum: Spectrum,
    *,
    eps: float = torch.finfo(torch.float64).eps,
) -> Creation:
    """Return the creation of a map from its energies.

    Args:
        energy: ``(n, n)``, of the output at eigenvector i for the input eigenvector j.
        total: ``(n,)``, of the whole output for the input eigenvector j.
        spectrum: of the graph.
        eps: of the arithmetic; outputs smaller than 64 times this beside the largest are taken as zero.
    """
    pairs = spectrum.by_frequency(spectrum.by_frequency(energy), dim=1)
    total = spectrum.by_frequency(total)
    level = total / spectrum.multiplicities
    heard = level > (64 * eps) ** 2 * level.max().clamp_min(torch.finfo(level.dtype).tiny)
    pairs = torch.where(heard, pairs / torch.where(heard, total, 1.0), 0.0)
    others = pairs.masked_fill(torch.eye(len(total), dtype=torch.bool, device=pairs.device), 0.0).sum(0)
    if not spectrum.is_complete:
        others = torch.where(heard, 1 - pairs.diagonal(), 0.0).clamp(0, 1)
    weights = spectrum.multiplicities.double() / spectrum.multiplicities.sum()
    return Creation(float((others * weights).sum()), others, pairs, spectrum.frequencies)


def creates_frequencies(
    filter: Any,
    shift: GraphShift | torch.Tensor | Spectrum,
    *,
    tolerance: float = 1e-10,
    basis: Basis = "monomial",
    interval: Interval | None = None,
) -> bool:
    r"""Whether some input makes the filter give a frequency that the input does not have.

    Corollary 2 (``cor:NVGFnewFreq``): whether :math:`V^T(V \circ (H\Lambda^T))` is not diagonal; for repeated
    eigenvalues, not block diagonal between their eigenspaces.

    Args:
        tolerance: on the Frobenius norm outside of the diagonal (blocks), relative to that of the whole.

    Example:
        >>> S = GraphShift([[0.0, 1.0], [1.0, 0.0]])
        >>> creates_frequencies(torch.tensor([1.0, 0.5]), S)
        False
        >>> creates_frequencies(torch.tensor([[1.0, 3.0]]), S)
        True
    """
    spectrum = as_spectrum(shift)
    outputs = _outputs(filter, spectrum, basis, interval)
    energy = (spectrum.eigenvectors.T @ outputs).square().sum((0, 1))
    same = spectrum.groups[:, None] == spectrum.groups[None, :]
    total = outputs.square().sum()
    outside = energy[~same].sum()
    if not spectrum.is_complete:
        outside = (total - energy[same].sum()).clamp_min(0)
        tolerance = max(tolerance, 1e-7)  # a difference of energies cannot see less
    return bool(outside > tolerance**2 * total)
