"""Graph filters that create frequencies: node-variant graph filters, their analysis, design and learning."""

from nvgf.filters import LSIFilter, NodeVariantFilter, lsi, node_variant, shifts
from nvgf.graph import GraphShift

__version__ = "0.1.0"

__all__ = ["GraphShift", "LSIFilter", "NodeVariantFilter", "lsi", "node_variant", "shifts"]
