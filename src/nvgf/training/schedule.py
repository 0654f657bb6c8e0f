"""How a model is trained: everything about it except the model, the data and the learning rate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """The paper's protocol: Adam on random batches, validation every few steps, the best weights kept.

    Args:
        epochs: passes over the training signals, each in a new random order; the last batch may be smaller.
        batch_size: signals a step.
        validate_every: steps between validations. Steps after the last validation could never be kept, so they are
            not run; a run shorter than one interval is validated once, at its end.
        dropout: probability with which a hidden feature of a node is dropped before the readout, in training; the
            others are scaled up, so that nothing is left to do at test time.
        betas: Adam's forgetting factors.
        eps: Adam's regularisation of the denominator.

    Example:
        >>> PAPER_AUTHORSHIP.steps(samples=1346)
        1700
    """

    epochs: int
    batch_size: int
    validate_every: int = 5
    dropout: float = 0.5
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ("epochs", "batch_size", "validate_every"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        object.__setattr__(self, "betas", tuple(self.betas))
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas must be two numbers of at least 0 and below 1, got {self.betas}")
        if not self.eps > 0:
            raise ValueError(f"eps must be positive, got {self.eps}")

    def steps_per_epoch(self, samples: int) -> int:
        """Return the number of batches of an epoch."""
        return -(-samples // self.batch_size)

    def interval(self, samples: int) -> int:
        """Return the number of steps between validations."""
        return min(self.validate_every, self.epochs * self.steps_per_epoch(samples))

    def steps(self, samples: int) -> int:
        """Return the number of steps that are run: up to the last validation."""
        total = self.epochs * self.steps_per_epoch(samples)
        return total - total % self.interval(samples)


PAPER_AUTHORSHIP = Schedule(epochs=25, batch_size=20)
"""The paper's schedule for authorship attribution: 25 epochs, batches of 20, dropout 0.5."""
PAPER_MOVIES = Schedule(epochs=40, batch_size=5, dropout=0.0)
"""The paper's schedule for movie recommendation: 40 epochs, batches of 5; dropout is not mentioned."""
