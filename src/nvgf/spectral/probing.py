"""Measure what any module does to frequencies, by feeding it eigenvectors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from nvgf.graph import GraphShift
from nvgf.graph.checks import whole_number
from nvgf.spectral.spectrum import Spectrum
from nvgf.spectral.transfer import Creation, creation_of_energy


@dataclass(frozen=True, eq=False)
class Probe:
    """What a module made of eigenvectors.

    Attributes:
        transfer: ``(in, out, n, n)``; column j is the GFT of the answer to ``amplitude`` times eigenvector j,
            divided by the amplitude. For a linear module it is the transfer matrix.
        energy: ``(n, n)``, the energy of the same over all features, averaged over both signs of the input,
            since the sign of an eigenvector is arbitrary and a non-linear module tells it.
        creation: from that energy.
    """

    transfer: torch.Tensor
    energy: torch.Tensor
    creation: Creation


def probe(
    module: Callable[..., torch.Tensor],
    shift: GraphShift | torch.Tensor,
    *,
    amplitude: float = 1.0,
    features: int = 1,
    remove_rest: bool = False,
    spectrum: Spectrum | None = None,
    dtype: torch.dtype | None = None,
    batch_size: int = 256,
) -> Probe:
    """Measure the transfer map of any module on graph signals: an activation, a filter, a trained network.

    Args:
        module: called as ``module(x, shift)`` if it takes two arguments, else as ``module(x)``, with ``x`` of
            shape ``(batch, nodes, features)``; must return ``(batch, nodes, out)``. A module is put in
            evaluation mode meanwhile.
        shift: the graph.
        amplitude: of the eigenvectors; a non-linear module may answer differently to loud and soft inputs.
        features: of the input; each is fed by itself.
        remove_rest: take away the answer to the zero signal (of a module with a bias).
        spectrum: by default that of the shift; a part of it probes that part alone.
        dtype: of the inputs; by default that of the module's parameters, else float64.
        batch_size: eigenvectors fed at once.

    Example:
        >>> S = GraphShift([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        >>> round(probe(torch.tanh, S, amplitude=1e-4).creation.share, 6)  # nearly linear: nothing new
        0.0
        >>> probe(torch.relu, S).creation.share > 0.2
        True
    """
    if not isinstance(shift, GraphShift):
        shift = GraphShift(shift)
    if not amplitude > 0:
        raise ValueError(f"amplitude must be positive, got {amplitude}")
    features, batch_size = whole_number("features", features, 1), whole_number("batch_size", batch_size, 1)
    spectrum = Spectrum.of(shift) if spectrum is None else spectrum
    dtype = dtype or _dtype_of(module)
    basis = spectrum.eigenvectors
    nodes, count = basis.shape
    transfers, energies, totals = [], basis.new_zeros(count, count), basis.new_zeros(count)
    rest: torch.Tensor | float = 0.0
    if remove_rest:
        rest = answer(module, shift, basis.new_zeros(1, nodes, features), dtype=dtype)
    for feature in range(features):
        columns = []
        for part in torch.arange(count, device=basis.device).split(batch_size):
            x = basis.new_zeros(len(part), nodes, features)
            x[..., feature] = amplitude * basis[:, part].T
            plus, minus = ((answer(module, shift, sign * x, dtype=dtype) - rest) / amplitude for sign in (1, -1))
            columns.append(basis.T @ plus)
            for output in (plus, minus):
                energies[:, part] += (basis.T @ output).square().sum(-1).T / 2
                totals[part] += output.square().sum((1, 2)) / 2
        transfers.append(torch.cat(columns).permute(2, 1, 0))
    measured = creation_of_energy(energies, totals, spectrum, eps=torch.finfo(dtype).eps)
    return Probe(torch.stack(transfers), energies, measured)


def answer(
    module: Callable[..., torch.Tensor],
    shift: GraphShift,
    x: torch.Tensor,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Return what a module makes of signals ``(batch, nodes, features)``: in evaluation mode, in float64, checked.

    Args:
        module: as for :func:`probe`.
        shift: the graph.
        x: the signals.
        dtype: that the module is given them in; by default that of its parameters, else float64.

    Example:
        >>> answer(torch.relu, GraphShift([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([[[-1.0], [2.0]]]))[0, :, 0]
        tensor([0., 2.], dtype=torch.float64)
    """
    dtype = dtype or _dtype_of(module)
    with torch.no_grad(), _evaluating(module):
        x = x.to(dtype)
        y = module(x, shift.to(dtype=dtype)) if _takes_shift(module) else module(x)
    if not isinstance(y, torch.Tensor) or y.ndim != 3 or y.shape[:2] != x.shape[:2]:
        shape = tuple(y.shape) if isinstance(y, torch.Tensor) else type(y).__name__
        raise ValueError(
            f"module must return graph signals (batch, nodes, out) = ({x.shape[0]}, {x.shape[1]}, out), got {shape}"
        )
    if not bool(torch.isfinite(y).all()):
        raise ValueError("module gave NaN or infinity on an eigenvector")
    return y.double()


def _takes_shift(module: Callable[..., torch.Tensor]) -> bool:
    module = getattr(module, "_orig_mod", module)  # what torch.compile wraps, and hides the arguments of
    function = module.forward if isinstance(module, nn.Module) else module
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # a function of C has no signature: torch.relu and its like
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 and (positional[1].name == "shift" or positional[1].default is inspect.Parameter.empty)


def _dtype_of(module: Any) -> torch.dtype:
    if isinstance(module, nn.Module):
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.dtype.is_floating_point:
                return tensor.dtype
    return torch.float64


@contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    training = [part for part in module.modules() if part.training] if isinstance(module, nn.Module) else []
    try:
        for part in training:
            part.training = False
        yield
    finally:
        for part in training:
            part.training = True
