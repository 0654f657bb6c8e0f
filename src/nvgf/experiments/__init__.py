"""Room experiments."""
