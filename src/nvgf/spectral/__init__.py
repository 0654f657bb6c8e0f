"""Room ``spectral``: graph frequencies, responses and frequency creation (section 3 of the paper)."""

from nvgf.spectral.bands import Bands, band_energy, chebyshev_moments, spectral_density
from nvgf.spectral.eigenspaces import canonical_basis
from nvgf.spectral.inputs import filter_bank
from nvgf.spectral.interval import spectral_interval
from nvgf.spectral.probing import Probe, probe
from nvgf.spectral.responses import (
    chebyshev_filter,
    fit_taps,
    lsi_response,
    node_responses,
    output_spectrum,
    to_chebyshev,
    vandermonde,
)
from nvgf.spectral.spectrum import Spectrum
from nvgf.spectral.transfer import Creation, creates_frequencies, creation, transfer_matrix

__all__ = [
    "Bands",
    "Creation",
    "Probe",
    "Spectrum",
    "band_energy",
    "canonical_basis",
    "chebyshev_filter",
    "chebyshev_moments",
    "creates_frequencies",
    "creation",
    "filter_bank",
    "fit_taps",
    "lsi_response",
    "node_responses",
    "output_spectrum",
    "probe",
    "spectral_density",
    "spectral_interval",
    "to_chebyshev",
    "transfer_matrix",
    "vandermonde",
]
