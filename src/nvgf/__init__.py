"""Graph filters that create frequencies: node-variant graph filters, their analysis, design and learning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nvgf.design import DesignedActivation as DesignedActivation
    from nvgf.design import optimal_taps as optimal_taps
    from nvgf.filters import LSIFilter as LSIFilter
    from nvgf.filters import NodeVariantFilter as NodeVariantFilter
    from nvgf.filters import lsi as lsi
    from nvgf.filters import node_variant as node_variant
    from nvgf.filters import shifts as shifts
    from nvgf.graph import GraphShift as GraphShift
    from nvgf.spectral import Spectrum as Spectrum
    from nvgf.spectral import creates_frequencies as creates_frequencies
    from nvgf.spectral import creation as creation
    from nvgf.spectral import probe as probe

__version__ = "0.1.0"

_ROOMS = {
    "DesignedActivation": "design",
    "GraphShift": "graph",
    "LSIFilter": "filters",
    "NodeVariantFilter": "filters",
    "Spectrum": "spectral",
    "creates_frequencies": "spectral",
    "creation": "spectral",
    "lsi": "filters",
    "node_variant": "filters",
    "optimal_taps": "design",
    "probe": "spectral",
    "shifts": "filters",
}

__all__ = sorted(_ROOMS)


def __getattr__(name: str) -> Any:
    # The rooms are opened when they are entered: the command line must answer before torch is loaded.
    if name not in _ROOMS:
        raise AttributeError(f"module 'nvgf' has no attribute {name!r}")
    value = getattr(import_module(f"nvgf.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS})
