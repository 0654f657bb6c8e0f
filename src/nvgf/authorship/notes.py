"""What is told about a text: notes on what was dropped, and warnings among them."""

from __future__ import annotations


class Notes(list[str]):
    """Notes on one text, in words that a person can read; ``warnings`` are those that a person should read.

    Example:
        >>> notes = Notes(["credits: 12 words dropped"])
        >>> notes.warn("has no END mark")
        >>> notes, notes.warnings
        (['credits: 12 words dropped', 'has no END mark'], ['has no END mark'])
    """

    def __init__(self, notes: list[str] | None = None) -> None:
        super().__init__(notes or [])
        self.warnings: list[str] = []

    def add(self, other: Notes) -> None:
        """Add the notes and the warnings of a later step."""
        self.extend(other)
        self.warnings += other.warnings

    def warn(self, message: str) -> None:
        """Add a note that is a warning."""
        self.append(message)
        self.warnings.append(message)
