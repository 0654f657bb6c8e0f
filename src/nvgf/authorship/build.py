"""From books to a corpus: each file is read, stripped and cut on its own, on as many cores as asked for."""

from __future__ import annotations

import csv
import hashlib
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import resources
from pathlib import Path

import numpy as np

from nvgf.authorship.catalogue import Entry, check_authors
from nvgf.authorship.corpus import Book, Corpus
from nvgf.authorship.gutenberg import Cut, strip_gutenberg
from nvgf.authorship.notes import Notes
from nvgf.authorship.reading import BAD, DAMAGED_UTF8, read_text
from nvgf.authorship.skeletons import Symbols, end_symbol, skeleton, split_excerpts
from nvgf.authorship.words import FunctionWords, default_words


@dataclass(frozen=True)
class FileReport:
    """What became of one file: notes on what was dropped, or the error for which it was left out.

    ``warnings`` are those of the notes that a person should read: the file may be damaged, or too much or too little
    of it was dropped.
    """

    file: str
    num_words: int = 0
    num_excerpts: int = 0
    notes: tuple[str, ...] = ()
    error: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class BuildResult:
    """A corpus and the report on every file that was, or was not, taken into it."""

    corpus: Corpus
    reports: tuple[FileReport, ...] = field(repr=False)

    @property
    def errors(self) -> tuple[FileReport, ...]:
        """The reports on files that were left out."""
        return tuple(report for report in self.reports if report.error is not None)


@lru_cache(maxsize=1)
def known_cuts() -> dict[int, tuple[Cut, ...]]:
    """Return the passages by other hands in books of Project Gutenberg that are known, by its number of the book."""
    file = resources.files("nvgf.authorship") / "data" / "cuts.csv"
    cuts: dict[int, tuple[Cut, ...]] = {}
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        number = int(row["pg_id"])
        cuts[number] = (*cuts.get(number, ()), Cut(row["start"], row["stop"], row["reason"]))
    return cuts


def book_skeletons(
    path: str | Path, words: FunctionWords, *, size: int = 1000, cuts: Sequence[Cut] = ()
) -> tuple[list[Symbols], Notes]:
    """Return the skeletons of the excerpts of one book file, and notes on what was dropped.

    Raises:
        ValueError: if the file is not a text, or has too little of one; the message names the file.
    """
    text, encoding = read_text(path)
    notes = Notes()
    if encoding == DAMAGED_UTF8:
        notes.warn(f"is UTF-8 but for {text.count(BAD)} bad bytes, which were taken for spaces")
    elif encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"read as {encoding}")
    body, stripped = strip_gutenberg(text, cuts)
    notes.add(stripped)
    try:
        excerpts, dropped = split_excerpts(skeleton(body, words), len(words), size)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    notes.add(dropped)
    return excerpts, notes


def _process(entry: Entry, folder: Path, words: FunctionWords, size: int) -> tuple[list[Symbols], FileReport]:
    cuts = known_cuts().get(entry.pg_id, ()) if entry.pg_id is not None else ()
    try:
        excerpts, notes = book_skeletons(folder / entry.file, words, size=size, cuts=cuts)
    except FileNotFoundError:
        return [], FileReport(entry.file, error=f"{folder / entry.file}: there is no such file")
    except (ValueError, OSError) as error:
        return [], FileReport(entry.file, error=str(error))
    end = end_symbol(len(words))
    num_words = sum(int(np.count_nonzero(excerpt != end)) for excerpt in excerpts)
    report = FileReport(entry.file, num_words, len(excerpts), tuple(notes), warnings=tuple(notes.warnings))
    return excerpts, report


def build_corpus(
    folder: str | Path,
    entries: Sequence[Entry],
    *,
    words: FunctionWords | None = None,
    size: int = 1000,
    jobs: int = 1,
    progress: Callable[[FileReport], None] | None = None,
) -> BuildResult:
    """Build a corpus from the books of a folder. A bad file is left out and reported; the others are processed.

    A book that has the same skeleton as another, by whichever author, is left out too: its excerpts would stand in
    training and in test. The result does not depend on ``jobs``. ``progress`` is called once per file, in the order
    of ``entries``.

    Raises:
        ValueError: if no book at all could be used, or two authors have the same name.
    """
    folder = Path(folder)
    words = default_words() if words is None else words
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if size < 1:
        raise ValueError(f"size must be at least 1 word, got {size}")
    check_authors(entries)
    entries = sorted(entries, key=lambda entry: (entry.author, entry.file))
    reports: list[FileReport] = []
    books: list[Book] = []
    pieces: list[Symbols] = []
    for entry, excerpts, report in _without_repeats(entries, _results(entries, folder, words, size, jobs)):
        reports.append(report)
        if progress is not None:
            progress(report)
        if report.error is None:
            pieces += excerpts
            books.append(
                Book(
                    author=entry.author,
                    title=entry.title,
                    file=entry.file,
                    work=entry.work or entry.title,
                    num_words=report.num_words,
                    num_excerpts=report.num_excerpts,
                    pg_id=entry.pg_id,
                    year=entry.year,
                )
            )
    if not books:
        first = f"; the first: {reports[0].error}" if reports else ""
        raise ValueError(f"{folder}: none of the {len(reports)} files could be used{first}")
    present = {book.author for book in books}
    full_names = {entry.author: entry.full_name or entry.author for entry in entries if entry.author in present}
    sizes = np.array([len(piece) for piece in pieces], np.int64)
    corpus = Corpus(words, tuple(books), dict(sorted(full_names.items())), size, np.concatenate(pieces), sizes)
    return BuildResult(corpus, tuple(reports))


def _without_repeats(
    entries: Sequence[Entry], results: Iterable[tuple[list[Symbols], FileReport]]
) -> Iterator[tuple[Entry, list[Symbols], FileReport]]:
    """Yield the results with their entries; the report on a book that was there before becomes an error."""
    seen: dict[bytes, str] = {}
    for entry, (excerpts, report) in zip(entries, results, strict=True):
        if report.error is None:
            first = seen.setdefault(hashlib.sha256(np.concatenate(excerpts).tobytes()).digest(), entry.file)
            if first != entry.file:
                error = f"{entry.file}: holds the same text as {first}, which is kept"
                report = replace(report, num_words=0, num_excerpts=0, error=error)
        yield entry, excerpts, report


def _results(
    entries: Sequence[Entry], folder: Path, words: FunctionWords, size: int, jobs: int
) -> Iterator[tuple[list[Symbols], FileReport]]:
    work = partial(_process, folder=folder, words=words, size=size)
    if jobs == 1 or len(entries) < 2:
        yield from map(work, entries)
        return
    # "spawn" starts clean interpreters: forking a process that has run threads of torch can hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(entries)), mp_context=context) as pool:
        yield from pool.map(work, entries)
