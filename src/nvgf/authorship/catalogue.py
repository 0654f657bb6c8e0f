"""Which books there are: a folder of authors, or a CSV catalogue."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nvgf.authorship.reading import SUFFIXES

COLUMNS = ("author", "full_name", "title", "pg_id", "year", "work", "file")
"""The columns of a catalogue that are read; ``author``, ``title`` and ``file`` must be there."""


@dataclass(frozen=True)
class Entry:
    """One book: where it lies and what it is.

    ``work`` names what must not be split over training and test: the volumes of one novel are one work.
    """

    author: str
    title: str
    file: str
    full_name: str = ""
    pg_id: int | None = None
    year: int | None = None
    work: str = ""


def _number(value: str | None, column: str, where: str) -> int | None:
    if not value or not value.strip():
        return None
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"{where}: {column} must be a whole number, got {value!r}") from None


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()


def check_authors(entries: Sequence[Entry]) -> None:
    """Raise if two authors have names that differ in case or spelling form alone, or one has two full names."""
    seen: dict[str, str] = {}
    full_names: dict[str, str] = {}
    for entry in entries:
        first = seen.setdefault(_key(entry.author), entry.author)
        if first != entry.author:
            raise ValueError(f"two authors have the same name: {first!r} and {entry.author!r}")
        full = full_names.setdefault(entry.author, entry.full_name)
        if full != entry.full_name:
            raise ValueError(f"author {entry.author!r} has two full names: {full!r} and {entry.full_name!r}")


def read_catalogue(path: str | Path) -> tuple[Entry, ...]:
    """Read a catalogue: a UTF-8 CSV file with the columns ``author``, ``title`` and ``file``, and maybe others.

    Paths in ``file`` are relative to the folder of books. A missing ``work`` is the book itself.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            missing = [name for name in ("author", "title", "file") if name not in (reader.fieldnames or ())]
            if missing:
                raise ValueError(f"{path}: the catalogue has no column {', '.join(missing)}; see {', '.join(COLUMNS)}")
            rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: the catalogue must be a CSV file in UTF-8 ({error})") from error
    entries = []
    for line, row in enumerate(rows, start=2):
        where = f"{path}, line {line}"
        for name in ("author", "title", "file"):
            if not (row[name] or "").strip():
                raise ValueError(f"{where}: {name} is empty")
        entries.append(
            Entry(
                author=row["author"].strip(),
                title=row["title"].strip(),
                file=row["file"].strip(),
                full_name=(row.get("full_name") or "").strip(),
                pg_id=_number(row.get("pg_id"), "pg_id", where),
                year=_number(row.get("year"), "year", where),
                work=(row.get("work") or "").strip() or row["title"].strip(),
            )
        )
    return _checked(entries, str(path))


def scan_folder(folder: str | Path) -> tuple[Entry, ...]:
    """List the books of a folder that has one folder per author, one ``.txt`` or ``.txt.gz`` file per book."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder of books")
    entries = [
        Entry(
            author=path.parent.name,
            title=_title(path),
            file=f"{path.parent.name}/{path.name}",
            work=path.name,
        )
        for path in sorted(folder.glob("*/*"))
        if path.is_file() and path.name.endswith(SUFFIXES)
    ]
    return _checked(entries, f"{folder} (one folder per author with {' or '.join(SUFFIXES)} files)")


def _title(path: Path) -> str:
    name = path.name
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        name = name.removesuffix(suffix)
    return name


def _checked(entries: list[Entry], where: str) -> tuple[Entry, ...]:
    if not entries:
        raise ValueError(f"{where}: there are no books")
    files = [entry.file for entry in entries]
    if len(set(files)) < len(files):
        double = next(file for file in files if files.count(file) > 1)
        raise ValueError(f"{where}: the file {double!r} is listed more than once")
    check_authors(entries)
    return tuple(sorted(entries, key=lambda entry: (entry.author, entry.file)))
