"""Room ``filters``: graph filters as pure functions, and the modules thin on top."""

from nvgf.filters.functional import lsi, node_variant, shifts
from nvgf.filters.modules import LSIFilter, NodeVariantFilter

__all__ = ["LSIFilter", "NodeVariantFilter", "lsi", "node_variant", "shifts"]
