"""Getting the books of a catalogue from Project Gutenberg: slowly, once, and checked."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nvgf.authorship.catalogue import Entry, check_inside
from nvgf.authorship.gutenberg import has_marks
from nvgf.authorship.reading import read_text
from nvgf.files import write_atomically

MIRROR = "https://www.gutenberg.org/cache/epub/{id}/pg{id}.txt"
"""Where a book lies; ``{id}`` stands for its number."""
DELAY = 2.0
"""Seconds between two requests, as Project Gutenberg asks of programs."""
LOCK = "fetched.json"
"""The file beside the books that holds the check sum of each."""

_NUMBER = re.compile(r"\bE(?:Book|text)[^\n]{0,20}#(\d+)\]?", re.I)
Status = Literal["present", "fetched", "failed"]


@dataclass(frozen=True)
class FetchReport:
    """What became of one book."""

    file: str
    status: Status
    error: str | None = None


def check_book(path: Path, pg_id: int) -> None:
    """Raise unless a file is the whole text of book ``pg_id``: a text with START and END marks and its number.

    A page of the server that says "not found", a text cut short and another book all fail.
    """
    text, _ = read_text(path)
    start, end = has_marks(text)
    if not start:
        raise ValueError(f"{path.name}: is no book of Project Gutenberg (it has no START mark)")
    if not end:
        raise ValueError(f"{path.name}: the book is cut short (it has no END mark)")
    number = _NUMBER.search(text[:3000])
    if number and int(number.group(1)) != pg_id:
        raise ValueError(f"{path.name}: is book {number.group(1)} of Project Gutenberg, expected {pg_id}")


def check_mirror(mirror: str) -> None:
    """Raise unless an address has ``{id}`` for the number of the book, and no other placeholder."""
    rest = mirror.replace("{id}", "")
    if rest == mirror or "{" in rest or "}" in rest:
        raise ValueError(
            f"mirror must have {{id}} where the number of the book goes, and no other braces, got {mirror!r}"
        )


def fetch_books(
    entries: Sequence[Entry],
    folder: str | Path,
    *,
    mirror: str = MIRROR,
    delay: float = DELAY,
    attempts: int = 3,
    timeout: float = 30.0,
    force: bool = False,
    progress: Callable[[FetchReport], None] | None = None,
) -> tuple[FetchReport, ...]:
    """Fetch the books that are not in ``folder`` yet; what is there and is the whole book is not touched.

    A file that is there and is not the whole book is reported and kept, or, with ``force``, fetched anew.

    An interrupted run is continued by the next. Requests follow one another ``delay`` seconds apart; a failed
    one is repeated after a longer pause, ``attempts`` times in all. A book that cannot be had is reported, the
    others are fetched.
    """
    check_mirror(mirror)
    if attempts < 1:
        raise ValueError(f"attempts must be at least 1, got {attempts}")
    for entry in entries:
        check_inside(entry.file)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = _Lock(folder / LOCK)
    reports = []
    asked = False
    for entry in entries:
        path = folder / entry.file
        if entry.pg_id is None:
            report = FetchReport(entry.file, "failed", f"{entry.file}: the catalogue gives no pg_id")
        elif (known := _without_asking(entry.file, entry.pg_id, path, lock, force)) is not None:
            report = known
        else:
            if asked:
                time.sleep(delay)
            asked = True
            report = _fetch(entry.file, entry.pg_id, path, mirror, delay, attempts, timeout)
            if report.status == "fetched":
                lock.add(entry.file, path)
        reports.append(report)
        if progress is not None:
            progress(report)
    return tuple(reports)


def _without_asking(file: str, pg_id: int, path: Path, lock: _Lock, force: bool) -> FetchReport | None:
    """Return the report on a book that is there, or that has no place to go; None if it must be fetched."""
    if path.parent.exists() and not path.parent.is_dir():
        return FetchReport(file, "failed", f"{file}: {path.parent} is a file, and no folder of books")
    if not path.exists():
        return None
    if not lock.holds(file, path):
        try:
            check_book(path, pg_id)
        except (ValueError, OSError) as error:
            kept = f"{file}: what is there is not the book, and is kept; --force overwrites it ({error})"
            return None if force else FetchReport(file, "failed", kept)
        lock.add(file, path)
    return FetchReport(file, "present")


def _fetch(file: str, pg_id: int, path: Path, mirror: str, delay: float, attempts: int, timeout: float) -> FetchReport:
    import pooch
    import requests

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        return FetchReport(file, "failed", f"{file}: {failure}")
    partial = path.with_name(f".{pg_id}.part.txt")
    downloader = pooch.HTTPDownloader(headers={"User-Agent": "nvgf corpus fetch"}, timeout=timeout)
    error = ""
    for attempt in range(attempts):
        if attempt:
            time.sleep(delay * 2**attempt)
        try:
            downloader(mirror.replace("{id}", str(pg_id)), str(partial), None)
            check_book(partial, pg_id)
            data = partial.read_bytes()
            write_atomically(path, gzip.compress(data, mtime=0) if path.suffix.lower() == ".gz" else data)
            return FetchReport(file, "fetched")
        except requests.HTTPError as failure:
            error = str(failure)
            if failure.response is not None and failure.response.status_code in (403, 404, 410):
                break  # asking again will not help
        except (requests.RequestException, ValueError, OSError) as failure:
            error = str(failure)
        finally:
            partial.unlink(missing_ok=True)
    return FetchReport(file, "failed", f"{file}: {error}")


class _Lock:
    """The check sums of the files that were fetched, written after each book."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sums: dict[str, str] = {}
        if path.exists():
            try:
                self._sums = {str(name): str(value) for name, value in json.loads(path.read_text("utf-8")).items()}
            except (ValueError, AttributeError) as error:
                raise ValueError(f"{path}: not a record of fetched books ({error}); delete it to start anew") from error

    def holds(self, file: str, path: Path) -> bool:
        return file in self._sums and path.is_file() and _sum(path) == self._sums[file]

    def add(self, file: str, path: Path) -> None:
        self._sums[file] = _sum(path)
        write_atomically(self._path, (json.dumps(self._sums, indent=1, sort_keys=True) + "\n").encode())


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
