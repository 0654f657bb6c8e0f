"""``Study``: all that the machinery of experiments has to know about one application."""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from nvgf.training import Schedule, Task

if TYPE_CHECKING:
    from nvgf.experiments.claims import Claim


class Hyper(NamedTuple):
    """The hyper-parameters that the paper searches: eta, F and K; ``None`` where an architecture has none."""

    learning_rate: float | None = None
    features: int | None = None
    order: int | None = None

    def __str__(self) -> str:
        parts = zip(("eta", "F", "K"), self, strict=True)
        return ", ".join(f"{name}={value:g}" for name, value in parts if value is not None) or "-"


@dataclass(frozen=True)
class Data:
    """Which data set: a subject (author, target movie), a split, a setting (how signals are scaled) and a way to split.

    Example:
        >>> Data("austen", split=3)
        Data(subject='austen', split=3, setting='paper', split_by='excerpt')
    """

    subject: str
    split: int = 0
    setting: str = "paper"
    split_by: str = "excerpt"


SIZES = ("nodes", "edges", "train", "valid", "test", "ratings")
"""The facts of :meth:`Study.describe` that are numbers; they do not depend on the setting."""


@dataclass(frozen=True)
class Metric:
    """The error that a study measures; ``scale`` turns stored numbers into those shown (100 for per cent).

    ``most`` is the largest that a model with finite outputs can have.
    """

    name: str
    unit: str = ""
    scale: float = 1.0
    most: float = math.inf

    @property
    def label(self) -> str:
        """Name and unit, for axes and table heads."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Outcome:
    """What a model that is no :class:`nvgf.training.Job` achieved on a data set."""

    valid_error: float
    test_error: float
    seconds: float = 0.0
    extras: Mapping[str, Any] = field(default_factory=dict)


class Study(ABC):
    """One application: its subjects, tasks, architectures, hyper-parameters, baselines and claims.

    A study holds no results. It is made anew in every process from ``name`` and ``source`` (see
    :func:`make_study`), so it must be cheap to make; what is costly is loaded when first needed.

    Attributes:
        name: of the study, ``"authorship"`` or ``"movies"``.
        subject_noun: what a subject is called in messages, ``"author"`` or ``"movie"``.
        metric: the error.
        comparison: the models of experiment 1; the first is the paper's.
        creation: the models of experiment 2, trained with the same hyper-parameters.
        reference: the model that the changes of experiment 2 are relative to.
        baselines: models beside them that :meth:`run_baseline` runs.
        costly: those of the baselines that a plain run on a CPU leaves out.
        ordered: models that have an order K.
        settings: names of the ways to scale signals; ``default_settings`` are those of a plain run.
        split_bys: names of the ways to split.
        splits: the number of splits of the paper.
        test_ratio: test samples to training samples; widens the intervals, since training sets overlap.
        grid: values of the exhaustive search, by the fields of :class:`Hyper`.
        schedule: how models are trained.
        constants: what else decides the numbers of a model, such as the iterations of a baseline.
    """

    name: ClassVar[str]
    subject_noun: ClassVar[str]
    metric: ClassVar[Metric]
    comparison: ClassVar[tuple[str, ...]]
    creation: ClassVar[tuple[str, ...]] = ("lsigf", "design-nvgf", "learn-nvgf", "gcnn")
    reference: ClassVar[str] = "gcnn"
    baselines: ClassVar[tuple[str, ...]]
    costly: ClassVar[frozenset[str]] = frozenset()
    ordered: ClassVar[frozenset[str]] = frozenset({"lsigf", "design-nvgf", "learn-nvgf", "gcnn", "sgc"})
    settings: ClassVar[tuple[str, ...]]
    default_settings: ClassVar[tuple[str, ...]]
    split_bys: ClassVar[tuple[str, ...]]
    splits: ClassVar[int] = 10
    test_ratio: ClassVar[float]
    grid: ClassVar[Mapping[str, tuple[Any, ...]]]
    schedule: ClassVar[Schedule]
    constants: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, source: str | None = None) -> None:
        self.source = source

    @property
    @abstractmethod
    def subjects(self) -> tuple[str, ...]:
        """The keys of the subjects, in the order of tables."""

    @abstractmethod
    def title(self, subject: str) -> str:
        """Return how a subject is called on a page."""

    @abstractmethod
    def task(self, data: Data) -> Task:
        """Make the data set."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """Hash of all that the data sets of any subject are made from."""

    def warnings(self, subjects: Sequence[str]) -> tuple[str, ...]:
        """Return what is unusual about the data of some subjects, a line each.

        Raises:
            ValueError: if a subject's data do not suffice.
        """
        return ()

    @abstractmethod
    def fingerprint(self, data: Data) -> str:
        """Return a hash of everything that the data set is made from, without making it."""

    @abstractmethod
    def paper_hypers(self, subject: str, model: str) -> tuple[Hyper, ...]:
        """Return the paper's hyper-parameters; several where the paper leaves one to the validation."""

    @abstractmethod
    def run_baseline(self, model: str, data: Data, seed: int) -> Outcome:
        """Fit and test one of ``baselines``."""

    def run_baselines(
        self, model: str, datas: Sequence[Data], seeds: Sequence[int], device: str = "cpu"
    ) -> list[Outcome]:
        """Fit and test one of ``baselines`` on several data sets; a study may do it on the device, all at once."""
        return [self.run_baseline(model, data, seed) for data, seed in zip(datas, seeds, strict=True)]

    def default_models(self, device: str = "cpu") -> tuple[str, ...]:
        """Return the models of a plain run on a device."""
        left_out = frozenset() if device.startswith("cuda") else self.costly
        return tuple(model for model in self.models if model not in left_out)

    @abstractmethod
    def claims(self) -> tuple[Claim, ...]:
        """Return what the paper states about this study, as data with tests."""

    def describe(self, subject: str) -> Mapping[str, Any]:
        """Return facts about a subject's data for its analysis (sizes of graph and sets, names of nodes).

        ``edges`` are the pairs of nodes that are linked in either direction, and the loops.
        """
        task = self.task(Data(subject, setting=self.settings[0], split_by=self.split_bys[0]))
        linked = task.shift.to_dense() != 0
        return {
            "nodes": task.shift.num_nodes,
            "edges": int((linked | linked.T).triu().sum()),
            "train": len(task.train),
            "valid": len(task.valid),
            "test": len(task.test),
        }

    @property
    def trained(self) -> tuple[str, ...]:
        """The models of both experiments that are trained as jobs, each once."""
        others = set(self.baselines)
        return tuple(model for model in dict.fromkeys((*self.comparison, *self.creation)) if model not in others)

    @property
    def models(self) -> tuple[str, ...]:
        """All models: those of both experiments and the baselines."""
        return tuple(dict.fromkeys((*self.comparison, *self.creation, *self.baselines)))

    def grid_hypers(self, model: str) -> tuple[Hyper, ...]:
        """Return the exhaustive search for a model."""
        if model in self.baselines:
            return (Hyper(),)
        orders = self.grid["order"] if model in self.ordered else (None,)
        return tuple(
            Hyper(rate, features, order)
            for features in self.grid["features"]
            for order in orders
            for rate in self.grid["learning_rate"]
        )

    def check_subject(self, name: str) -> str:
        """Return the key of a subject, or say which names are near."""
        return check_name(name, self.subjects, self.subject_noun)


def check_name(name: str, known: tuple[str, ...], noun: str) -> str:
    """Return a known name, whatever its case, or raise and name the nearest.

    Example:
        >>> check_name("Austin", ("abbott", "austen"), "author")
        Traceback (most recent call last):
        ...
        ValueError: unknown author 'Austin'; did you mean austen?
    """
    folded = {key.casefold(): key for key in known}
    wanted = name.strip().casefold()
    if wanted in folded:
        return folded[wanted]
    near = [folded[key] for key in difflib.get_close_matches(wanted, list(folded), n=3, cutoff=0.5)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
    raise ValueError(f"unknown {noun} {name!r}; {hint}")


def make_study(name: str, source: str | None = None) -> Study:
    """Make a study by name; ``source`` is where its data are (a corpus file, a folder of ratings), if not the default.

    Example:
        >>> make_study("authorship").metric.label
        'classification error (%)'
    """
    if name == "authorship":
        from nvgf.experiments.authorship import AuthorshipStudy

        return AuthorshipStudy(source)
    if name == "movies":
        # The study of movies is looked up by name, since it is the application that is added on top of this room.
        from importlib import import_module

        study: Study = import_module("nvgf.experiments.movies").MovieStudy(source)
        return study
    raise ValueError(f"study must be 'authorship' or 'movies', got {name!r}")
