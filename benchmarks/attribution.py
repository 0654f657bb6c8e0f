"""Whole works as new texts: one of each author is left out of the corpus, and attributed by models of all authors.

    NVGF_DATA=... python benchmarks/attribution.py

The work that is left out is the one of middle length, all its volumes; it is read from the books, as a new text is.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch

from nvgf.authorship import Attributor, Book, Corpus, load_corpus, read_text, strip_gutenberg


def middle_works(corpus: Corpus) -> dict[str, list[Book]]:
    """The volumes of the work of middle length of each author who has three works or more."""
    chosen = {}
    for author in corpus.authors:
        works: dict[str, list[Book]] = {}
        for book in corpus.books:
            if book.author == author:
                works.setdefault(book.work, []).append(book)
        if len(works) >= 3:
            by_length = sorted(works.values(), key=lambda books: sum(book.num_excerpts for book in books))
            chosen[author] = by_length[len(by_length) // 2]
    return chosen


def main() -> None:
    """Leave out, train, attribute, count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--books", type=Path, default=Path(os.environ.get("NVGF_DATA", ".")) / "authorship")
    parser.add_argument("--architecture", default="learn-nvgf")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    corpus = load_corpus()
    works = middle_works(corpus)
    start = time.perf_counter()
    rest = corpus.without(book.file for books in works.values() for book in books)
    attributor = Attributor(rest, architecture=args.architecture)
    print(f"{len(attributor.authors)} models in {time.perf_counter() - start:.0f} s")
    right = excerpts_right = excerpts = 0
    for author, books in works.items():
        text = "\n\n".join(strip_gutenberg(read_text(args.books / book.file)[0])[0] for book in books)
        found = attributor.judge(text)
        ranked = [candidate.author for candidate in found]
        # Each excerpt by itself: the candidate with the largest log-odds.
        single = np.array(ranked)[np.stack([candidate.log_odds for candidate in found]).argmax(0)]
        right += ranked[0] == author
        excerpts_right += int((single == author).sum())
        excerpts += len(single)
        share = next(candidate.share for candidate in found if candidate.author == author)
        print(f"{author:10s} {books[0].work[:40]:40s} {len(single):4d} excerpts, {share:4.0%} taken: {ranked[:3]}")
    print(f"{right} of {len(works)} works, {excerpts_right / excerpts:.1%} of {excerpts} excerpts alone")


if __name__ == "__main__":
    main()
