"""What a report shows, as plain values: no storage, no drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nvgf.report.labels import Words, short_title

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """One way in which the experiments were run: a setting of the signals and a way of splitting."""

    id: str
    label: str


@dataclass(frozen=True)
class Score:
    """The errors of one architecture, with its chosen hyper-parameters, over the splits of one subject.

    ``low`` and ``high`` bound the mean with 95 % confidence, or are nan when one split says nothing of that.
    """

    view: str
    subject: str
    model: str
    values: tuple[float, ...]
    mean: float
    std: float
    low: float = float("nan")
    high: float = float("nan")
    learning_rate: float | None = None
    features: int | None = None
    order: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Change:
    """The relative change of an architecture's mean error to that of the GCNN; -0.1 is a tenth better."""

    view: str
    subject: str
    model: str
    value: float
    low: float = float("nan")
    high: float = float("nan")


@dataclass(frozen=True)
class Curve:
    """The validation error over the steps of training, averaged over splits."""

    view: str
    subject: str
    model: str
    steps: tuple[int, ...]
    mean: tuple[float, ...]


@dataclass(frozen=True)
class Analysis:
    """The frequencies of one subject, in ascending order of eigenvalue.

    Attributes:
        mean: ``(N,)``, the mean magnitude of the test signals at each frequency; ``std`` beside it.
        responses: per architecture ``(F, N)``, the magnitudes that its filters answer to the input v_N.
        transfers: per architecture ``(m, m)`` with m <= N, output frequencies down, input frequencies across.
        created: per architecture the share of the output's energy at frequencies that the input lacks, for the input
            v_N; ``created_first``: for v_1; ``created_mean``: the mean over all eigenvectors as inputs.
        first_responses: per architecture ``(N,)``, the mean over its filters of what they answer to v_1.
        one_sign: whether all entries of v_N have the same sign, so that no pointwise function sees it change sign.
    """

    view: str
    subject: str
    eigenvalues: Matrix
    mean: Matrix
    std: Matrix
    responses: Mapping[str, Matrix] = field(default_factory=dict)
    transfers: Mapping[str, Matrix] = field(default_factory=dict)
    created: Mapping[str, float] = field(default_factory=dict)
    first_responses: Mapping[str, Matrix] = field(default_factory=dict)
    created_first: Mapping[str, float] = field(default_factory=dict)
    created_mean: Mapping[str, float] = field(default_factory=dict)
    one_sign: bool = False


@dataclass(frozen=True)
class Verdict:
    """A statement of the paper with the outcome of its test: holds, does not hold, undecided."""

    view: str
    statement: str
    verdict: str
    statistic: str
    source: str = ""
    note: str = ""


@dataclass(frozen=True)
class Best:
    """The hyper-parameters that were best here beside those of the paper, as text such as ``0.001, 32, 3``."""

    view: str
    subject: str
    model: str
    chosen: str
    paper: str


@dataclass(frozen=True)
class Content:
    """Everything that the page and the figures are drawn from.

    Attributes:
        titles: the full names of the subjects.
        groups: the paper's group (1, 2, 3, or 0 for none) for a view and subject.
        selection: how hyper-parameters were chosen, in words.
        tolerance: the relative change up to which the paper calls two errors comparable.
        commands: what was typed; ``record``: what else is behind the numbers, in the order in which it is shown.
    """

    words: Words
    views: tuple[View, ...]
    subjects: tuple[str, ...]
    titles: Mapping[str, str]
    scores: tuple[Score, ...]
    changes: tuple[Change, ...] = ()
    groups: Mapping[tuple[str, str], int] = field(default_factory=dict)
    curves: tuple[Curve, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    best: tuple[Best, ...] = ()
    selection: str = ""
    tolerance: float = 0.05
    commands: tuple[str, ...] = ()
    record: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.scores:
            raise ValueError("there is nothing to report: no trained model is stored")

    def short(self, subject: str) -> str:
        """Return the short name of a subject."""
        return short_title(subject, self.titles.get(subject, subject.capitalize()))
