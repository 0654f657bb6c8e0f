"""Small corpora made of random skeletons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nvgf.authorship import Book, Corpus, FunctionWords
from nvgf.authorship.skeletons import end_symbol

NUM_WORDS = 12


def random_skeleton(rng: np.random.Generator, num_words: int, sentences: int, longest: int = 12) -> np.ndarray:
    """A skeleton of some sentences, with at least one function word."""
    parts = []
    for _ in range(sentences):
        length = int(rng.integers(1, longest + 1))
        parts += [rng.integers(0, num_words + 1, length), [end_symbol(num_words)]]
    symbols = np.concatenate(parts).astype(np.uint8)
    symbols[0] = 1 + rng.integers(num_words)
    return symbols


@pytest.fixture
def make_corpus() -> Callable[..., Corpus]:
    """Return a function from ``{author: [excerpts of each book]}`` to a corpus; volumes may share a work."""

    def make(authors: dict[str, list[int]], seed: int = 0, works: dict[tuple[str, int], str] | None = None) -> Corpus:
        rng = np.random.default_rng(seed)
        books, pieces = [], []
        for author in sorted(authors):
            for number, count in enumerate(authors[author]):
                excerpts = [random_skeleton(rng, NUM_WORDS, 8) for _ in range(count)]
                num_words = sum(int((piece <= NUM_WORDS).sum()) for piece in excerpts)
                work = (works or {}).get((author, number), f"work {number}")
                books.append(Book(author, f"Book {number}", f"{author}/{number}.txt", work, num_words, count))
                pieces += excerpts
        words = FunctionWords(tuple("abcdefghijkl"), ("letters",) * NUM_WORDS)
        sizes = np.array([len(piece) for piece in pieces], np.int64)
        names = {author: author.title() for author in sorted(authors)}
        return Corpus(words, tuple(books), names, 50, np.concatenate(pieces), sizes)

    return make
