"""``Row``: one trained model and what came of it; the only thing that tables, claims and reports read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nvgf.experiments.study import Data, Hyper

DIGITS = 6
"""The significant digits of errors in a table of results."""


def as_written(error: float) -> float:
    """Return an error with the digits of a table of results.

    Example:
        >>> as_written(1 / 78)
        0.0128205
    """
    return float(f"{error:.{DIGITS}g}")


class Origin(NamedTuple):
    """The fingerprint of a data set and the training protocol: models that differ in them are no repetitions."""

    fingerprint: str
    protocol: str

    def check(self, other: Origin, subject: str, where: object) -> None:
        """Raise if what ``where`` holds of a subject is from another origin than this."""
        if self != other:
            how = "on other data" if self.fingerprint != other.fingerprint else "by another protocol"
            raise ValueError(f"{where} holds models of {subject} that were trained {how}; use another folder")


@dataclass(frozen=True)
class Row:
    """One trained model.

    ``curve`` holds the validation error after every ``interval`` steps, ``losses`` the mean training loss of these
    steps; both are kept with about three digits, errors exactly. Rows read from a compact table have neither.

    ``key`` is the hash of all that decides the numbers: see :attr:`nvgf.experiments.cells.Cell`.
    """

    key: str
    study: str
    subject: str
    setting: str
    split: int
    split_by: str
    model: str
    learning_rate: float | None
    features: int | None
    order: int | None
    seed: int
    valid_error: float
    test_error: float
    kept_step: int | None = None
    interval: int | None = None
    curve: tuple[float, ...] = ()
    losses: tuple[float, ...] = ()
    seconds: float = 0.0
    diverged_at: int | None = None
    fingerprint: str = ""
    protocol: str = ""
    version: str = ""
    device: str = "cpu"
    extras: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hyper(self) -> Hyper:
        """The hyper-parameters."""
        return Hyper(self.learning_rate, self.features, self.order)

    @property
    def data(self) -> Data:
        """The data set."""
        return Data(self.subject, self.split, self.setting, self.split_by)

    @property
    def origin(self) -> Origin:
        """What decides the numbers beside the configuration."""
        return Origin(self.fingerprint, self.protocol)

    @property
    def diverged(self) -> bool:
        """Whether the training loss became infinite or not a number."""
        return self.diverged_at is not None
