"""The study of authorship attribution: 21 authors, an excerpt is by the author or by another."""

from __future__ import annotations

import csv
import hashlib
import inspect
import json
from collections.abc import Mapping
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from nvgf.experiments.study import Data, Hyper, Metric, Outcome, Study
from nvgf.training import PAPER_AUTHORSHIP, Schedule, Task

if TYPE_CHECKING:
    from nvgf.authorship import AuthorshipDataset, Corpus
    from nvgf.experiments.claims import Claim

SCALINGS: Mapping[str, str] = {"paper": "paper", "scaled": "unit-mean", "standard": "standard"}
"""The scaling of the signals in each setting.

``scaled`` is ``unit-mean``, the paper's signals times the number of nodes: nothing but the size of the numbers differs
from ``paper``, neither a spectrum nor which words count, so whatever changes is due to how far the training gets.
``standard`` standardises each word, which also changes what the graph sees.
"""


class AuthorshipStudy(Study):
    """Experiments 1 and 2 of the paper for each of the authors of a corpus.

    Example:
        >>> study = AuthorshipStudy()
        >>> study.paper_hypers("poe", "learn-nvgf")
        (Hyper(learning_rate=0.005, features=32, order=4),)
        >>> sum(len(study.grid_hypers(model)) for model in study.comparison) * 21 * 10
        15120
    """

    name = "authorship"
    subject_noun = "author"
    metric = Metric("classification error", "%", 100.0, most=1.0)
    comparison = ("learn-nvgf", "gat", "gcn", "sgc")
    baselines = ("logistic-regression", "linear-svm")
    settings = tuple(SCALINGS)
    default_settings = ("paper", "scaled")
    split_bys = ("excerpt", "book")
    test_ratio = 0.05 / (0.95 * 0.92)
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "learning_rate": (0.001, 0.005, 0.01),
        "features": (16, 32, 64),
        "order": (2, 3, 4),
    }
    schedule: ClassVar[Schedule] = PAPER_AUTHORSHIP

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus, loaded when first needed."""
        from nvgf.authorship import load_corpus

        return load_corpus(self.source)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The authors, by alphabet."""
        return self.corpus.authors

    def title(self, subject: str) -> str:
        """Return the author's full name."""
        return self.corpus.full_names[subject]

    def dataset(self, data: Data) -> AuthorshipDataset:
        """Make the data set with all that it knows about words and excerpts."""
        from nvgf.authorship import AuthorshipDataset

        options = cast(dict[str, Any], self._options(data))
        return AuthorshipDataset(self.corpus, options.pop("author"), **options)

    def task(self, data: Data) -> Task:
        """Make the data set."""
        return self.dataset(data).task

    @property
    def digest(self) -> str:
        """The corpus' own."""
        return self.corpus.digest

    def fingerprint(self, data: Data) -> str:
        """Return the fingerprint that the data set would have."""
        text = json.dumps([self.digest, _default_options() | self._options(data)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def paper_hypers(self, subject: str, model: str) -> tuple[Hyper, ...]:
        """Return the row of the paper's table; experiment 2 takes the values of Learn NVGF for all its models.

        An author who is not in the paper gets the values that are most frequent in the table.
        """
        if model in self.baselines:
            return (Hyper(),)
        column = "learn-nvgf" if model in self.creation else model
        table = hyperparameters()
        if subject in table:
            return (table[subject][column],)
        values = [row[column] for row in table.values()]
        return (max(values, key=lambda value: (values.count(value), value.features or 0)),)

    def run_baseline(self, model: str, data: Data, seed: int) -> Outcome:
        """Fit a linear classifier of scikit-learn on the same signals."""
        from nvgf.experiments.baselines import linear_classifier

        return linear_classifier(model, self.task(data), seed)

    def claims(self) -> tuple[Claim, ...]:
        """Return the paper's statements about authorship."""
        from nvgf.experiments.authorship_claims import CLAIMS

        return CLAIMS

    def describe(self, subject: str) -> Mapping[str, Any]:
        """Add the words of the graph."""
        dataset = self.dataset(Data(subject))
        return {**super().describe(subject), "names": list(dataset.words)}

    def _options(self, data: Data) -> dict[str, str | int]:
        if data.setting not in SCALINGS:
            raise ValueError(f"setting must be one of {', '.join(SCALINGS)}, got {data.setting!r}")
        if data.split_by not in self.split_bys:
            raise ValueError(f"split_by must be one of {', '.join(self.split_bys)}, got {data.split_by!r}")
        return {
            "author": data.subject,
            "split": data.split,
            "scaling": SCALINGS[data.setting],
            "split_by": data.split_by,
        }


@cache
def _default_options() -> dict[str, Any]:
    from nvgf.authorship import AuthorshipDataset

    parameters = inspect.signature(AuthorshipDataset).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


@cache
def hyperparameters() -> dict[str, dict[str, Hyper]]:
    """Return the paper's table of best hyper-parameters: author, model, values.

    Example:
        >>> hyperparameters()["austen"]["gat"]
        Hyper(learning_rate=0.01, features=64, order=None)
    """
    return read_hyperparameters("authorship", "author")


def read_hyperparameters(study: Literal["authorship", "movies"], column: str) -> dict[str, dict[str, Hyper]]:
    """Read a table of hyper-parameters that the package holds as data: ``rate features [order]`` in each cell."""
    text = (resources.files("nvgf.experiments") / "data" / f"{study}-hyperparameters.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    table = {}
    for row in csv.DictReader(lines):
        subject = row.pop(column)
        table[subject] = {model: _hyper(cell) for model, cell in row.items()}
    return table


def _hyper(cell: str) -> Hyper:
    rate, features, *order = cell.split()
    return Hyper(float(rate), int(features), int(order[0]) if order else None)
