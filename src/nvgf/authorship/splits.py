"""Which excerpts train, validate and test: the paper's random split, and a stricter one by whole works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nvgf.authorship.corpus import Corpus

SplitBy = Literal["excerpt", "book"]
Negatives = Literal["paper", "balanced"]
Indices = NDArray[np.int64]

TEST_SHARE = 0.05
VALID_SHARE = 0.08


@dataclass(frozen=True)
class Part:
    """The excerpts of one set: those of the author, and as many of others."""

    positive: Indices
    negative: Indices

    @property
    def excerpts(self) -> Indices:
        """All excerpts of the set, the author's first."""
        return np.concatenate((self.positive, self.negative))

    @property
    def labels(self) -> NDArray[np.int64]:
        """1 for the author's, 0 for others."""
        return np.repeat(np.array([1, 0]), [len(self.positive), len(self.negative)])


@dataclass(frozen=True)
class Split:
    """Three sets that share no excerpt."""

    train: Part
    valid: Part
    test: Part


class _Shuffler:
    """Random orders from the raw 64-bit output of PCG64, which no release of numpy will change."""

    def __init__(self, seed: int, author: str, stream: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed, stream, *author.encode()]))

    def __call__(self, items: Indices) -> Indices:
        return items[np.argsort(self._bits.random_raw(len(items)), kind="stable")]


def split_excerpts_of(
    corpus: Corpus,
    author: str,
    seed: int,
    *,
    split_by: SplitBy = "excerpt",
    negatives: Negatives = "paper",
    test_share: float = TEST_SHARE,
    valid_share: float = VALID_SHARE,
) -> Split:
    """Split the excerpts of an author, and add to each set as many excerpts of the other authors.

    ``split_by="excerpt"`` draws 5 % of the author's excerpts for the test, and 8 % of the rest for validation.
    ``split_by="book"`` draws whole works, until they hold 5 % of the excerpts, for the test, and does so for the
    other authors too: no test excerpt comes from a work that has any excerpt in training or validation.

    ``negatives="paper"`` draws from all excerpts of all other authors; ``"balanced"`` takes them author by author,
    in turn, so that each other author has the same number of them, give or take one.

    The same seed and author give the same split on every machine and for every release of numpy.

    Raises:
        ValueError: if the author, or the others, have too few excerpts or works.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"split must be a seed: a whole number of at least 0, got {seed!r}")
    for name, share in (("test_share", test_share), ("valid_share", valid_share)):
        if not 0 < share < 1:
            raise ValueError(f"{name} must lie between 0 and 1, got {share}")
    if split_by not in ("excerpt", "book"):
        raise ValueError(f"split_by must be 'excerpt' or 'book', got {split_by!r}")
    if negatives not in ("paper", "balanced"):
        raise ValueError(f"negatives must be 'paper' or 'balanced', got {negatives!r}")
    own = corpus.excerpts(author)
    others = np.flatnonzero(corpus.author_of != corpus.author_index(author))
    own_shuffle, other_shuffle = (_Shuffler(int(seed), author, stream) for stream in (0, 1))
    if split_by == "book":
        test, rest = _split_works(corpus, own, own_shuffle, test_share)
        if not len(test):
            raise ValueError(f"author {author!r} has one work only: a split by book needs at least two")
        rest = own_shuffle(rest)
        # In a small corpus one work of the author can be more than the usual share of the others.
        other_share = max(test_share, len(test) / max(len(others), 1))
        other_test, other_rest = _split_others(corpus, others, other_shuffle, other_share)
    else:
        order = own_shuffle(own)
        num_test = len(own) - int((1 - test_share) * len(own) + 0.5)
        test, rest = order[:num_test], order[num_test:]
        other_test = other_rest = others
    num_valid = int(valid_share * len(rest) + 0.5)
    valid, train = rest[:num_valid], rest[num_valid:]
    if not (len(test) and len(valid) and len(train)):
        raise ValueError(
            f"author {author!r} has {len(own)} excerpts, which split into {len(train)} to train, {len(valid)} to "
            f"validate and {len(test)} to test: each set needs at least one"
        )
    draw = _in_turn if negatives == "balanced" else _at_random
    if split_by == "book":
        drawn_test = _first(draw(corpus, other_test, other_shuffle), len(test), author)
        drawn_rest = _first(draw(corpus, other_rest, other_shuffle), len(rest), author)
    else:
        drawn = _first(draw(corpus, others, other_shuffle), len(own), author)
        drawn_test, drawn_rest = drawn[: len(test)], drawn[len(test) :]
    return Split(
        train=Part(train, drawn_rest[num_valid:]),
        valid=Part(valid, drawn_rest[:num_valid]),
        test=Part(test, drawn_test),
    )


def _works(corpus: Corpus) -> list[tuple[str, str]]:
    return [(book.author, book.work) for book in corpus.books]


def _split_works(corpus: Corpus, excerpts: Indices, shuffle: _Shuffler, share: float) -> tuple[Indices, Indices]:
    """Draw whole works until they hold ``share`` of the excerpts; a single work is not drawn."""
    keys = _works(corpus)
    books = corpus.book_of[excerpts]
    works = sorted({keys[book] for book in np.unique(books)})
    number = {work: index for index, work in enumerate(works)}
    work_of = np.array([number[keys[book]] for book in books], np.int64)
    drawn = np.zeros(len(excerpts), bool)
    if len(works) > 1:
        for work in shuffle(np.arange(len(works)))[:-1]:
            drawn |= work_of == work
            if drawn.sum() >= share * len(excerpts):
                break
    return excerpts[drawn], excerpts[~drawn]


def _split_others(corpus: Corpus, others: Indices, shuffle: _Shuffler, share: float) -> tuple[Indices, Indices]:
    parts = [_split_works(corpus, group, shuffle, share) for group in _by_author(corpus, others)]
    return np.concatenate([test for test, _ in parts]), np.concatenate([rest for _, rest in parts])


def _by_author(corpus: Corpus, excerpts: Indices) -> Sequence[Indices]:
    authors = corpus.author_of[excerpts]
    return [excerpts[authors == author] for author in np.unique(authors)] or [excerpts]


def _at_random(corpus: Corpus, pool: Indices, shuffle: _Shuffler) -> Indices:
    return shuffle(pool)


def _in_turn(corpus: Corpus, pool: Indices, shuffle: _Shuffler) -> Indices:
    """Order a pool so that each stretch of it takes from every author in turn."""
    groups = [shuffle(group) for group in _by_author(corpus, pool)]
    order = shuffle(np.arange(len(groups)))
    turn = np.concatenate([np.arange(len(groups[group])) for group in order])
    seat = np.concatenate([np.full(len(groups[group]), place) for place, group in enumerate(order)])
    return np.concatenate([groups[group] for group in order])[np.lexsort((seat, turn))]


def _first(pool: Indices, count: int, author: str) -> Indices:
    if len(pool) < count:
        raise ValueError(
            f"{count} excerpts by others than {author!r} are needed, one for each of the author's, but there are "
            f"{len(pool)}"
        )
    return pool[:count]
