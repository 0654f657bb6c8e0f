"""How long it takes from books to a corpus, to networks and to data sets; tokenisation beside faststylometry's.

    NVGF_DATA=/path/to/data python benchmarks/corpus.py [--out corpus.json]
    NVGF_DATA=/path/to/data python benchmarks/corpus.py --foreign   # words by other hands that are in the corpus

Without NVGF_DATA only what needs no books is measured. faststylometry is not a dependency: without it the
comparison is left out. The two tokenisers take turns, book by book, in one process, on the same stripped text; each
also does its own work beyond splitting words (ours maps words to symbols and marks sentence ends, theirs removes
pronouns).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from nvgf.authorship import (
    AuthorshipDataset,
    Corpus,
    Cut,
    author_network,
    build_corpus,
    default_words,
    load_corpus,
    read_catalogue,
    skeleton,
    strip_gutenberg,
)
from nvgf.authorship.build import known_cuts
from nvgf.authorship.catalogue import Entry
from nvgf.authorship.reading import read_text
from nvgf.authorship.skeletons import end_symbol

FOREIGN = {
    245: ("APPENDIX", ""),
    1371: ("APPENDIX", ""),
    30486: ("ESTABLISHED 1798", ""),
    42553: ('The "Excursions" of the present volume follow the arrangement of the', "EXCURSIONS"),
    49947: ("Typographical errors corrected by the etext transcriber:", ""),
}
"""The longer passages by others that are in the corpus as the author's: the lines where they begin and end."""


def count_foreign(books: Path, entries: tuple[Entry, ...], corpus: Corpus) -> None:
    """Print the words of these passages in the skeletons, and their share of the corpus."""
    total, end = 0, end_symbol(len(corpus.words))
    for entry in entries:
        if entry.pg_id not in FOREIGN:
            continue
        text, _ = read_text(books / entry.file)
        known = tuple(known_cuts().get(entry.pg_id, ()))
        bodies = (strip_gutenberg(text, cuts)[0] for cuts in (known, (*known, Cut(*FOREIGN[entry.pg_id], "by others"))))
        whole, own = (int((skeleton(body, corpus.words) != end).sum()) for body in bodies)
        total += whole - own
        print(f"{entry.file}: {whole - own:,} of {whole:,} words")
    words = sum(book.num_words for book in corpus.books)
    print(f"together {total:,} of {words:,} words, {total / words:.2%}")


def seconds(call: Callable[[], Any], repeats: int = 1) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def compare_tokenisers(books: Path, entries: tuple[Entry, ...]) -> dict[str, float]:
    try:
        from faststylometry import tokenise_remove_pronouns_en
    except ImportError:
        print("faststylometry is not installed: no comparison")
        return {}
    words = default_words()
    ours = theirs = 0.0
    ratios = []
    for number, entry in enumerate(entries):
        text, _ = read_text(books / entry.file)
        body, _ = strip_gutenberg(text, known_cuts().get(entry.pg_id or 0, ()))
        calls = {
            "ours": lambda body=body: skeleton(body, words),
            "theirs": lambda body=body: tokenise_remove_pronouns_en(body),
        }
        order = ("ours", "theirs") if number % 2 else ("theirs", "ours")
        took = {name: seconds(calls[name]) for name in order}
        ours, theirs = ours + took["ours"], theirs + took["theirs"]
        ratios.append(took["theirs"] / took["ours"])
    return {
        "tokenise_ours_s": ours,
        "tokenise_faststylometry_s": theirs,
        "tokenise_ratio_median": statistics.median(ratios),
    }


def catalogue() -> tuple[Entry, ...]:
    return read_catalogue(Path(str(resources.files("nvgf.authorship") / "data" / "catalogue.csv")))


def measure_build(books: Path, entries: tuple[Entry, ...], jobs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "corpus.npz"
        took = seconds(lambda: build_corpus(books, entries, jobs=jobs).corpus.save(file))
    return {"build_s": took, "build_jobs": jobs}


def measure_data(corpus: Corpus, repeats: int) -> dict[str, float]:
    embedded = Path(str(resources.files("nvgf.authorship") / "data" / "corpus.npz"))
    corpus.counts  # computed once per corpus  # noqa: B018
    return {
        "load_s": seconds(lambda: load_corpus(embedded), repeats),
        "network_austen_s": seconds(lambda: author_network(corpus, "austen"), repeats),
        "dataset_austen_s": seconds(lambda: AuthorshipDataset(corpus, "austen"), repeats),
        "datasets_21x10_s": seconds(
            lambda: [AuthorshipDataset(corpus, author, split) for author in corpus.authors for split in range(10)]
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--foreign", action="store_true", help="count passages by other hands, and nothing else")
    options = parser.parse_args()
    if options.foreign:
        count_foreign(Path(os.environ["NVGF_DATA"]) / "authorship", catalogue(), load_corpus())
        return
    results = measure_data(load_corpus(), options.repeats)
    if data := os.environ.get("NVGF_DATA"):
        books = Path(data) / "authorship"
        entries = catalogue()
        results |= measure_build(books, entries, options.jobs)
        results |= compare_tokenisers(books, entries)
    else:
        print("NVGF_DATA is not set: the books are not read")
    for name, value in results.items():
        print(f"{name:28s} {value:8.3f}")
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
