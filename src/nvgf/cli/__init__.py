"""The command line: one small module per command group."""

from nvgf.cli.app import main

__all__ = ["main"]
