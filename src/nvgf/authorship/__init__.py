"""Room authorship."""
