"""Room ``spectral``: graph frequencies, responses and frequency creation (section 3 of the paper)."""
