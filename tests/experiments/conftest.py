"""A tiny corpus, so that sweeps take seconds, and rows with errors of one's choice."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from nvgf.authorship import Book, Corpus, FunctionWords
from nvgf.authorship.skeletons import end_symbol
from nvgf.experiments import Row, make_study

NUM_WORDS = 10


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory):
    """A corpus file of three authors of whom each prefers other words."""
    random = np.random.default_rng(0)
    books, pieces = [], []
    for number, author in enumerate(("ann", "bob", "cyd")):
        chances = np.full(NUM_WORDS + 1, 1.0)
        chances[1 + 3 * number : 4 + 3 * number] = 2.0
        excerpts = []
        for _ in range(60):
            sentences = [
                np.append(random.choice(NUM_WORDS + 1, 12, p=chances / chances.sum()), end_symbol(NUM_WORDS))
                for _ in range(10)
            ]
            excerpts.append(np.concatenate(sentences).astype(np.uint8))
        books.append(Book(author, "Book", f"{author}/1.txt", "work", 7200, len(excerpts)))
        pieces += excerpts
    words = FunctionWords(tuple("abcdefghij"), ("letters",) * NUM_WORDS)
    sizes = np.array([len(piece) for piece in pieces], np.int64)
    names = {"ann": "Ann", "bob": "Bob", "cyd": "Cyd"}
    path = tmp_path_factory.mktemp("corpus") / "tiny.npz"
    Corpus(words, tuple(books), names, 120, np.concatenate(pieces), sizes).save(path)
    return path


@pytest.fixture
def study(corpus_file):
    return make_study("authorship", str(corpus_file))


@pytest.fixture
def make_row():
    """Return a function that makes a row; the key follows from what identifies it."""

    def make(subject="austen", model="lsigf", split=0, test_error=0.1, valid_error=None, hyper=(0.001, 32, 3), **more):
        values = {"setting": "paper", "split_by": "excerpt", "seed": split, "study": "authorship"} | more
        identity = f"{subject} {model} {split} {hyper} {sorted(values.items())}"
        return Row(
            key=hashlib.sha256(identity.encode()).hexdigest(),
            subject=subject,
            model=model,
            split=split,
            learning_rate=hyper[0],
            features=hyper[1],
            order=hyper[2],
            test_error=test_error,
            valid_error=test_error if valid_error is None else valid_error,
            **values,
        )

    return make
