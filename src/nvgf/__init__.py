"""Graph filters that create frequencies."""

__version__ = "0.1.0"
