"""Room filters."""
