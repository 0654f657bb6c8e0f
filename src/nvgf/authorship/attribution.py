"""Who of several authors wrote a new text: one model an author, each on the author's own graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nvgf.authorship.corpus import Corpus
from nvgf.authorship.dataset import AuthorshipDataset, text_counts
from nvgf.authorship.signals import Scaling
from nvgf.training import Job, Progress, fit_many


@dataclass(frozen=True, eq=False)
class Candidate:
    """What the model of one author says of a text.

    Attributes:
        author: the key of the author.
        log_odds: for each excerpt, how much more likely the model finds the author than another; 0 is undecided.
        test_error: how often the model is wrong on the texts of the corpus that it was tested on.
    """

    author: str
    log_odds: NDArray[np.float64]
    test_error: float

    @property
    def score(self) -> float:
        """The mean log-odds: candidates are compared by it."""
        return float(self.log_odds.mean())

    @property
    def share(self) -> float:
        """The share of excerpts that the model takes for the author's."""
        return float((self.log_odds > 0).mean())


class Attributor:
    """Models of several authors, trained on a corpus, that judge new texts.

    A text whose author is not among the candidates is ranked like any other: look at the shares. A text that is in the
    corpus was trained on, and is recognised for that.

    Args:
        corpus: the texts of the candidates, and those that they are told apart from.
        authors: the keys of the candidates; all of the corpus by default.
        architecture, options, learning_rate: of the models, see :class:`nvgf.training.Job`.
        scaling: of the signals, see :class:`AuthorshipDataset`.
        split: the seed of the split into texts to train, validate and test on, and of the training.
        device: where to train.
        progress: see :func:`nvgf.training.fit_many`.

    Example:
        >>> from nvgf.authorship import load_corpus
        >>> attributor = Attributor(load_corpus(), ["austen", "poe"])
        >>> text = "The one of these, and that upon which the whole of it depended, was by the other. " * 80
        >>> len(attributor.judge(text)), len(attributor.judge(text)[0].log_odds)
        (2, 1)
    """

    def __init__(
        self,
        corpus: Corpus,
        authors: Sequence[str] | None = None,
        *,
        architecture: str = "learn-nvgf",
        options: Mapping[str, Any] | None = None,
        learning_rate: float = 0.001,
        scaling: Scaling = "standard",
        split: int = 0,
        device: str = "cpu",
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.corpus = corpus
        self.authors = tuple(corpus.authors if authors is None else dict.fromkeys(authors))
        if not self.authors:
            raise ValueError("authors is empty: name a candidate")
        self.datasets = [
            AuthorshipDataset(corpus, author, split, scaling=scaling, negatives="balanced") for author in self.authors
        ]
        options = {"features": 32, "order": 3} if options is None else options
        jobs = [Job(architecture, data.task, options, learning_rate, split) for data in self.datasets]
        self.results = fit_many(jobs, device=device, progress=progress)
        self.models = [result.model() for result in self.results]

    def judge(self, text: str) -> list[Candidate]:
        """Return what each candidate's model says of a text, the most likely first."""
        counts = text_counts(text, self.corpus.words, self.corpus.excerpt_size)
        found = []
        for data, result, model in zip(self.datasets, self.results, self.models, strict=True):
            with torch.no_grad():
                outputs = model(data.signals_of(counts), data.shift)
            log_odds = (outputs[:, 1] - outputs[:, 0]).double().numpy()
            found.append(Candidate(data.author, log_odds, result.test_error))
        return sorted(found, key=lambda candidate: -candidate.score)
