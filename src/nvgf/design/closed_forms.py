r"""The designs that the paper solves by hand: i.i.d. signals and stationary processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nvgf.design.activations import Pointwise, pointwise
from nvgf.design.expectations import distribution_moments, gaussian_moments
from nvgf.design.result import Design
from nvgf.design.solve import solve_systems
from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.spectral.responses import vandermonde
from nvgf.spectral.spectrum import Spectrum, as_spectrum


def iid_design(num_nodes: int, order: int, activation: str | Pointwise = "relu", distribution: Any = None) -> Design:
    r"""Return the optimal design for zero-mean i.i.d. signals:
    :math:`\hat y_i = (\xi^2/\sigma^2) x_i + \mu_\rho`.

    Corollary 6 (``cor:ReLU``), with :math:`\xi^2 = E[\rho(x) x]` and :math:`\mu_\rho = E[\rho(x)]`: one tap,
    the same at all nodes, whatever the graph. For a ReLU and a symmetric distribution it is
    :math:`x_i/2 + E|x|/2` (the paper prints :math:`x_i/2`; see ``docs/errata.md``).

    Args:
        num_nodes: of the graph.
        order: of the design; taps beyond the first are zero.
        activation: the pointwise function.
        distribution: of an entry, a continuous frozen distribution of ``scipy.stats`` with mean zero; standard
            normal by default.

    Example:
        >>> design = iid_design(num_nodes=4, order=2)
        >>> design.taps[:, 0, 0].abs().round(decimals=6), design.offset[0, 0].item()
        (tensor([0.5000, 0.0000, 0.0000], dtype=torch.float64), 0.398942...)
    """
    num_nodes, order = whole_number("num_nodes", num_nodes, 1), whole_number("order", order, 0)
    function = pointwise(activation)
    if distribution is None:
        first, cross, second = (float(part) for part in gaussian_moments(function, torch.ones(1).double()))
        deviation, variance = 1.0, second - first**2
    else:
        deviation, first, cross, variance = distribution_moments(function, distribution)
    taps = torch.zeros(order + 1, num_nodes, 1, dtype=torch.float64)
    taps[0] = cross / deviation
    full = torch.ones(num_nodes, 1, dtype=torch.float64)
    error = max(variance - cross**2, 0.0)
    return Design(taps, first * full, error * full, variance * full)


def stationary_design(
    shift: GraphShift | torch.Tensor | Spectrum,
    density: torch.Tensor | Callable[[torch.Tensor], torch.Tensor],
    order: int,
    activation: str | Pointwise = "relu",
    *,
    cross: torch.Tensor | None = None,
    target_mean: torch.Tensor | None = None,
    target_variance: torch.Tensor | None = None,
) -> Design:
    r"""Return the optimal design for a zero-mean stationary process, :math:`C_x = V \mathrm{diag}(q) V^T`.

    Corollary 7 (``cor:stationary``). Its equations
    :math:`\mathrm{diag}(u_i \circ q) \Lambda h_i = V^T E[\rho(x_i) x]` are as many as nodes, and rarely have
    a solution in ``order + 1`` taps; what is solved here are those equations multiplied by
    :math:`\Lambda^T \mathrm{diag}(u_i)`, which always have one and characterise the optimum.

    Args:
        shift: the graph, or its complete spectrum.
        density: the power spectral density q, ``(nodes,)`` at the eigenvalues, or a function of them; not
            negative.
        order: the paper's K.
        activation: the pointwise function.
        cross: :math:`E[\rho(x_i) x_j]`, ``(nodes i, nodes j)``, with ``target_mean`` and ``target_variance``
            of :math:`\rho(x_i)`, ``(nodes,)`` each; by default those of a Gaussian process, for which
            :math:`E[\rho(x_i) x] = (E[\rho(x_i) x_i] / c_{ii}) \, C_x e_i`.

    Example:
        >>> ring = GraphShift.from_edges([(i, (i + 1) % 6) for i in range(6)])
        >>> design = stationary_design(ring, lambda eigenvalues: (0.3 * eigenvalues).exp(), order=2)
        >>> design.taps[:, 0, 0].round(decimals=6).abs()  # a ReLU of a Gaussian process: half the signal
        tensor([0.5000, 0.0000, 0.0000], dtype=torch.float64)
    """
    order = whole_number("order", order, 0)
    spectrum = as_spectrum(shift)
    if not spectrum.is_complete:
        raise ValueError("shift must be given as a graph or its complete spectrum, got a part of it")
    basis = spectrum.eigenvectors
    q = torch.as_tensor(density(spectrum.eigenvalues) if callable(density) else density, dtype=torch.float64)
    if q.shape != spectrum.eigenvalues.shape or bool((q < 0).any()) or not bool(torch.isfinite(q).all()):
        raise ValueError(f"density must hold {spectrum.num_nodes} finite non-negative numbers, got {q}")
    q = q.to(basis.device)
    power = basis.square() @ q
    if cross is None:
        first, own, second = gaussian_moments(pointwise(activation), power.sqrt())
        gain = torch.where(power > 0, own / torch.where(power > 0, power, 1.0), 0.0)
        projected = gain[:, None] * basis * q
        variance = second - first.square()
    else:
        if target_mean is None or target_variance is None:
            raise ValueError("cross needs target_mean and target_variance beside it")
        if cross.shape != basis.shape:
            raise ValueError(f"cross must have shape {tuple(basis.shape)} (nodes, nodes), got {tuple(cross.shape)}")
        projected, first, variance = cross.double() @ basis, target_mean.double(), target_variance.double()
    powers = vandermonde(spectrum.eigenvalues, order)
    gram = torch.einsum("mk,nm,ml->nkl", powers, basis.square() * q, powers)
    right = torch.einsum("mk,nm,nm->nk", powers, basis, projected)
    taps, rank = solve_systems(gram, right)
    error = torch.einsum("nk,nkl,nl->n", taps, gram, taps) - 2 * (taps * right).sum(-1) + variance
    return Design(
        taps.T[..., None].contiguous(), first[:, None], error.clamp_min(0)[:, None], variance[:, None], rank[:, None]
    )
