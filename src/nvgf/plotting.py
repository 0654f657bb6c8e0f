"""Matplotlib figures of the analysis: every function draws on the axes it is given and returns them.

Matplotlib is imported by the functions that need more of it than an ``ax``: importing :mod:`nvgf` does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from nvgf.design import Design, DesignedActivation
from nvgf.design.activations import Pointwise, pointwise
from nvgf.graph import GraphShift
from nvgf.spectral import Probe, Spectrum, node_responses, transfer_matrix
from nvgf.spectral.probing import answer
from nvgf.spectral.spectrum import as_spectrum
from nvgf.stability import StabilityStudy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Graph = GraphShift | torch.Tensor | Spectrum


def plot_node_responses(
    filter: Any,
    shift: Graph,
    ax: Axes,
    *,
    nodes: Sequence[int] | None = None,
    feature: tuple[int, int] = (0, 0),
    points: int = 300,
) -> Axes:
    r"""Draw the response :math:`\tilde h_i(\lambda)` of nodes over the spectral interval; ticks mark eigenvalues.

    Args:
        filter: taps or a filter, see :func:`nvgf.spectral.filter_bank`.
        shift: the graph, or its spectrum.
        ax: the axes.
        nodes: which to draw; all by default.
        feature: the pair (in, out) of a bank.
        points: of each curve.
    """
    spectrum = as_spectrum(shift)
    grid = torch.linspace(*spectrum.interval, points, dtype=torch.float64)
    curves = node_responses(filter, grid, spectrum.num_nodes)[:, :, feature[0], feature[1]].cpu()
    chosen = range(spectrum.num_nodes) if nodes is None else nodes
    for node in chosen:
        ax.plot(grid, curves[node], linewidth=0.8, alpha=0.7)
    ax.plot(spectrum.eigenvalues.cpu(), torch.zeros(len(spectrum.eigenvalues)), "|", color="black", markersize=4)
    ax.set(xlabel="eigenvalue", ylabel="response", title="Response of each node")
    return ax


def plot_transfer(transfer: Any, shift: Graph, ax: Axes, *, matrix: bool | None = None, floor: float = 1e-6) -> Axes:
    """Draw a transfer map as a heat map of magnitudes, on a logarithmic scale: input frequencies to the right.

    Args:
        transfer: a filter or taps, a :class:`~nvgf.spectral.Probe`, or a matrix ``(n, n)`` or ``(in, out, n, n)``
            from :func:`nvgf.spectral.transfer_matrix`.
        shift: the graph, or its spectrum.
        ax: the axes.
        matrix: whether a tensor is such a matrix, or taps. It must be said of a tensor whose shape could be either:
            one of shape ``(nodes, nodes)`` may be taps of order nodes - 1.
        floor: the smallest magnitude that is told apart, relative to the largest.
    """
    from matplotlib.colors import LogNorm

    spectrum = as_spectrum(shift)
    if isinstance(transfer, Probe):
        magnitude = transfer.energy.sqrt()
    else:
        whole = transfer if _is_matrix(transfer, spectrum, matrix) else transfer_matrix(transfer, spectrum)
        magnitude = whole.reshape(-1, *whole.shape[-2:]).norm(dim=0)
    magnitude = magnitude.detach().cpu()
    top = float(magnitude.max()) or 1.0
    image = ax.imshow(
        magnitude.clamp_min(floor * top).numpy(),
        norm=LogNorm(floor * top, top),
        origin="lower",
        cmap="viridis",
        interpolation="nearest",
    )
    ax.figure.colorbar(image, ax=ax, label="magnitude")
    ax.set(xlabel="input frequency", ylabel="output frequency", title="Transfer map")
    return ax


def _is_matrix(transfer: Any, spectrum: Spectrum, said: bool | None) -> bool:
    count = len(spectrum.eigenvalues)
    shape = tuple(transfer.shape) if isinstance(transfer, torch.Tensor) else ()
    fits = len(shape) in (2, 4) and shape[-2:] == (count, count)
    if said is None and fits and shape[1] == spectrum.num_nodes:
        raise ValueError(f"transfer of shape {shape} may be taps or a transfer matrix: say matrix=False or matrix=True")
    if said and not fits:
        got = shape or type(transfer).__name__
        raise ValueError(f"transfer must have shape ({count}, {count}) or (in, out, {count}, {count}), got {got}")
    return fits if said is None else said


def plot_spectrum(x: torch.Tensor, shift: Graph, ax: Axes, *, label: str | None = None) -> Axes:
    r"""Draw the magnitude of the GFT of signals at each eigenvalue: its root mean square over samples and features.

    The paper's figure of input frequencies; call it again for the output on the same axes. Equal eigenvalues are one
    point, the root mean square over their eigenspace, since only that does not depend on a basis.

    Args:
        x: ``(..., nodes, features)``.
        shift: the graph, or its spectrum.
        ax: the axes.
        label: for a legend.
    """
    spectrum = as_spectrum(shift)
    energy = spectrum.energy(x.detach().to(spectrum.eigenvalues.device))
    energy = energy.movedim(-2, 0).reshape(len(spectrum.frequencies), -1).mean(1) / spectrum.multiplicities
    ax.plot(spectrum.frequencies.cpu(), energy.sqrt().cpu(), ".-", linewidth=0.8, markersize=4, label=label)
    ax.set(xlabel="eigenvalue", ylabel="magnitude of the GFT", title="Spectrum")
    if label is not None:
        ax.legend()
    return ax


def plot_response_to_frequency(
    module: Callable[..., torch.Tensor],
    shift: GraphShift,
    ax: Axes,
    *,
    frequency: int = -1,
    amplitude: float = 1.0,
    features: int = 1,
) -> Axes:
    r"""Draw what a module answers to one eigenvector, :math:`x = v_N` by default: one line for each output feature.

    The paper's figure of frequency creation: an LSI filter answers at the same frequency alone.

    Args:
        module: what :func:`nvgf.spectral.probe` takes: a filter, an activation, a trained network.
        shift: the graph.
        ax: the axes.
        frequency: the number of the eigenvalue, from the end if negative.
        amplitude: of the eigenvector; answers are divided by it.
        features: of the input; each is fed by itself.
    """
    spectrum = Spectrum.of(shift)
    count = len(spectrum.eigenvalues)
    if not -count <= frequency < count:
        raise ValueError(f"frequency must be from {-count} to {count - 1}, got {frequency}")
    x = torch.zeros(features, spectrum.num_nodes, features, dtype=torch.float64, device=spectrum.eigenvalues.device)
    for feature in range(features):
        x[feature, :, feature] = amplitude * spectrum.eigenvectors[:, frequency]
    lines = spectrum.gft(answer(module, shift, x)).permute(1, 0, 2).flatten(1) / amplitude
    ax.plot(spectrum.eigenvalues.cpu(), lines.abs().cpu(), linewidth=0.7, alpha=0.7)
    ax.axvline(float(spectrum.eigenvalues[frequency]), color="black", linewidth=0.6, linestyle=":")
    ax.set(xlabel="eigenvalue", ylabel="magnitude of the GFT", title="Answer to a single frequency")
    return ax


def plot_stability(study: StabilityStudy, ax: Axes) -> Axes:
    """Draw the change that was measured, and the bounds, against the size of the perturbation."""
    epsilon = study.column("epsilon")
    for name, style in (("max", "o-"), ("mean", "o--"), ("telescoping", "-"), ("lipschitz", "-"), ("theorem", "-")):
        label = f"measured, {name}" if name in ("max", "mean") else f"bound, {name}"
        ax.plot(epsilon, study.column(name), style, label=label, markersize=4)
    ax.set(xscale="log", yscale="log", xlabel="size of the perturbation", ylabel="change", title="Stability")
    ax.legend()
    return ax


def plot_activation(
    design: Design | DesignedActivation,
    x: torch.Tensor,
    shift: GraphShift | torch.Tensor,
    ax: Axes,
    *,
    node: int = 0,
    feature: int = 0,
    activation: str | Pointwise | None = None,
) -> Axes:
    """Draw, at one node, the designed activation and the true one against the input, one dot for each signal.

    Args:
        design: a design or its module.
        x: ``(samples, nodes, features)``, the signals that reach the activation.
        shift: the graph.
        ax: the axes.
        node: which.
        feature: which.
        activation: the true one; by default that of the module. A design does not know it.
    """
    activation = getattr(design, "activation", None) if activation is None else activation
    if activation is None:
        raise ValueError("activation is needed: a design does not know which function it stands for")
    with torch.no_grad():
        estimate = design(x, shift).reshape(-1, *x.shape[-2:])[:, node, feature].cpu()
        values, order = x.detach().reshape(-1, *x.shape[-2:])[:, node, feature].cpu().sort()
        truth = pointwise(activation)(values.clone())
    ax.plot(values, estimate[order], ".", markersize=3, alpha=0.6, label="designed")
    ax.plot(values, truth, color="black", linewidth=1, label="true")
    ax.set(xlabel="input", ylabel="output", title=f"Activation at node {node}")
    ax.legend()
    return ax
