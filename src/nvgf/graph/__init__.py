"""Room graph."""
