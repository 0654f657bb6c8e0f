"""Data sets for authorship attribution: is this excerpt by the author, or by another?"""

from __future__ import annotations

import hashlib
import json
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from nvgf.authorship.corpus import Corpus
from nvgf.authorship.gutenberg import strip_gutenberg
from nvgf.authorship.networks import DISCOUNT, WINDOW, network
from nvgf.authorship.shift import support
from nvgf.authorship.signals import Scaling, fit_scaling, frequencies
from nvgf.authorship.skeletons import count_words, skeleton, split_excerpts
from nvgf.authorship.splits import TEST_SHARE, VALID_SHARE, Negatives, SplitBy, split_excerpts_of
from nvgf.authorship.words import FunctionWords
from nvgf.training.data import Signals, Task

GraphTexts = Literal["train", "train+valid"]


class AuthorshipDataset:
    """One author against the others: the graph of the author's training excerpts, and labelled signals on it.

    The graph, its nodes and the scaling come from training excerpts alone. Each set has as many excerpts by others
    as by the author; no excerpt is in two sets. An excerpt that has none of the words of the graph has frequencies 0.

    Args:
        corpus: where the excerpts come from.
        author: the key of the author, one of ``corpus.authors``.
        split: the seed of the split. The same seed gives the same numbers everywhere.
        scaling: ``"paper"`` (1-norm frequencies), ``"unit-mean"`` (times the number of nodes, so that the entries of
            each signal have mean 1) or ``"standard"`` (each node centred and scaled by its training mean and
            standard deviation).
        split_by: ``"excerpt"`` as the paper does, or ``"book"``: the test excerpts come from works that have no
            excerpt in training.
        negatives: ``"paper"`` (drawn from all other excerpts) or ``"balanced"`` (as many from each other author).
        graph_from: ``"train"``, or ``"train+valid"`` as the paper does.
        discount: the discount of the network per word of distance.
        window: how many following words the network looks at.
        test_share: the author's share of excerpts to test on.
        valid_share: the share of the remaining excerpts to validate on.

    Attributes:
        task: everything a trainer needs, as one ``Task``.
        shift: the support, dense, with ``names`` the words of its nodes.
        train, valid, test: ``Signals`` with ``x`` of shape ``(samples, nodes, 1)``, float32, and ``y`` of shape
            ``(samples,)``, int64, 1 for the author.
        excerpts: the indices, in the corpus, of the samples of ``"train"``, ``"valid"`` and ``"test"``.
        words: the node names.
        scaling: the map from frequencies of the nodes to signals, fitted to the training excerpts.
        fingerprint: a hash of the corpus and all options; equal fingerprints mean equal numbers.

    Example:
        >>> from nvgf.authorship import load_corpus
        >>> data = AuthorshipDataset(load_corpus(), "austen", split=0)
        >>> data.train.x.shape[1:] == (data.shift.num_nodes, 1)
        True
        >>> float(data.train.y.float().mean())
        0.5
    """

    def __init__(
        self,
        corpus: Corpus,
        author: str,
        split: int = 0,
        *,
        scaling: Scaling = "paper",
        split_by: SplitBy = "excerpt",
        negatives: Negatives = "paper",
        graph_from: GraphTexts = "train",
        discount: float = DISCOUNT,
        window: int = WINDOW,
        test_share: float = TEST_SHARE,
        valid_share: float = VALID_SHARE,
    ) -> None:
        if graph_from not in ("train", "train+valid"):
            raise ValueError(f"graph_from must be 'train' or 'train+valid', got {graph_from!r}")
        self.author = author
        self.options: dict[str, str | int | float] = {
            "author": author,
            "split": split,
            "scaling": scaling,
            "split_by": split_by,
            "negatives": negatives,
            "graph_from": graph_from,
            "discount": discount,
            "window": window,
            "test_share": test_share,
            "valid_share": valid_share,
        }
        parts = split_excerpts_of(
            corpus,
            author,
            split,
            split_by=split_by,
            negatives=negatives,
            test_share=test_share,
            valid_share=valid_share,
        )
        graph_texts = parts.train.positive
        if graph_from == "train+valid":
            graph_texts = np.concatenate((graph_texts, parts.valid.positive))
        words = corpus.words.words
        weights = network(corpus.take(graph_texts), len(words), discount=discount, window=window)
        self.shift = support(weights, words)
        self.words: tuple[str, ...] = self.shift.names or ()
        column = {word: index for index, word in enumerate(words)}
        self._columns = np.array([column[word] for word in self.words])
        self._words, self._size = corpus.words, corpus.excerpt_size
        self.excerpts = {name: getattr(parts, name).excerpts for name in ("train", "valid", "test")}
        counts = {name: corpus.counts[np.ix_(chosen, self._columns)] for name, chosen in self.excerpts.items()}
        self.scaling = fit_scaling(frequencies(counts["train"]), scaling)
        self.train = Signals(self._scaled(counts["train"]), torch.from_numpy(parts.train.labels))
        self.valid = Signals(self._scaled(counts["valid"]), torch.from_numpy(parts.valid.labels))
        self.test = Signals(self._scaled(counts["test"]), torch.from_numpy(parts.test.labels))
        self.task = Task(self.shift, self.train, self.valid, self.test)
        text = json.dumps([corpus.digest, self.options], sort_keys=True)
        self.fingerprint = hashlib.sha256(text.encode()).hexdigest()

    def signals(self, text: str, size: int | None = None) -> torch.Tensor:
        """Return the signals of a new text, ready for a model that was trained on this data set.

        The text is treated as a book of the corpus is: what Project Gutenberg added is dropped, the skeleton is cut
        into excerpts of about ``size`` words (by default those of the corpus: 1,000 in the package's), and the counts
        over the nodes are normalised and scaled as those of the training excerpts were.

        Shapes:
            - result: ``(excerpts, nodes, 1)``, float32

        Raises:
            ValueError: if the text is too short for an excerpt or has none of the words of the graph.

        Example:
            >>> from nvgf.authorship import load_corpus
            >>> data = AuthorshipDataset(load_corpus(), "austen")
            >>> tuple(data.signals("It was the best of times, it was the worst of times. " * 250).shape)
            (3, 192, 1)
        """
        return self.signals_of(text_counts(text, self._words, self._size if size is None else size))

    def signals_of(self, counts: NDArray[np.int32]) -> torch.Tensor:
        """Return the signals of excerpts whose words were counted by :func:`text_counts`, as :meth:`signals` does."""
        return self._scaled(counts[:, self._columns])

    def _scaled(self, counts: NDArray[np.int32]) -> torch.Tensor:
        values = self.scaling(frequencies(counts))
        return torch.from_numpy(values.astype(np.float32))[:, :, None]

    def __repr__(self) -> str:
        return (
            f"AuthorshipDataset({self.author!r}, split={self.options['split']}, nodes={self.shift.num_nodes}, "
            f"train={len(self.train)}, valid={len(self.valid)}, test={len(self.test)})"
        )


def text_counts(text: str, words: FunctionWords, size: int) -> NDArray[np.int32]:
    """Return how often each function word occurs in each excerpt of a text, ``(excerpts, words)``.

    The text is treated as a book of a corpus is, see :meth:`AuthorshipDataset.signals`.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, the text itself, got {type(text).__name__}")
    pieces, _ = split_excerpts(skeleton(strip_gutenberg(text)[0], words), len(words), size)
    sizes = np.array([len(piece) for piece in pieces], np.int64)
    return count_words(np.concatenate(pieces), sizes, len(words))
