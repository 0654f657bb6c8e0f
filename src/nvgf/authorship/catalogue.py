"""Which books there are: a folder of authors, or a CSV catalogue."""

from __future__ import annotations

import csv
import posixpath
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

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


def _normalized(file: str) -> str:
    return posixpath.normpath(unicodedata.normalize("NFC", file))


def check_inside(file: str) -> None:
    """Raise unless the path of a book, as a catalogue gives it, stays inside the folder of books.

    Example:
        >>> check_inside("austen/emma.txt")
        >>> check_inside("../emma.txt")
        Traceback (most recent call last):
        ValueError: the file '../emma.txt' lies outside the folder of books: give a path inside it
    """
    windows = PureWindowsPath(file)
    if PurePosixPath(file).is_absolute() or windows.drive or windows.root or ".." in windows.parts:
        raise ValueError(f"the file {file!r} lies outside the folder of books: give a path inside it")


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

    Paths in ``file`` are relative to the folder of books, and inside it. A missing ``work`` is the book itself.

    Raises:
        ValueError: naming the file and the line, if it is no such catalogue or lists a file twice.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            missing = [name for name in ("author", "title", "file") if name not in (reader.fieldnames or ())]
            if missing:
                raise ValueError(
                    f"{path}: the catalogue has no column {', '.join(missing)}; its header is "
                    f"{','.join(reader.fieldnames or ())!r}, and columns are {', '.join(COLUMNS)}, between commas"
                )
            rows = [(reader.line_num, row) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: the catalogue must be a CSV file in UTF-8 ({error})") from error
    return _checked([_entry(row, f"{path}, line {line}") for line, row in rows], str(path))


def _entry(row: dict[str, str], where: str) -> Entry:
    for name in ("author", "title", "file"):
        if not (row[name] or "").strip():
            raise ValueError(f"{where}: {name} is empty")
    try:
        check_inside(row["file"].strip())
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return Entry(
        author=row["author"].strip(),
        title=row["title"].strip(),
        file=row["file"].strip(),
        full_name=(row.get("full_name") or "").strip(),
        pg_id=_number(row.get("pg_id"), "pg_id", where),
        year=_number(row.get("year"), "year", where),
        work=(row.get("work") or "").strip() or row["title"].strip(),
    )


def unlisted(folder: str | Path, entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return the book files anywhere in a folder that are none of the entries, as paths relative to it, sorted."""
    folder = Path(folder)
    listed = {_normalized(entry.file) for entry in entries}
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if _is_book(path))
    return tuple(sorted(file for file in files if _normalized(file) not in listed))


def _is_book(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES) and path.is_file()


def scan_folder(folder: str | Path) -> tuple[Entry, ...]:
    """List the books of a folder that has one folder per author, one ``.txt`` or ``.txt.gz`` file per book.

    Files that lie directly in the folder, or deeper, are no books of an author: :func:`unlisted` returns them.
    """
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
        if _is_book(path)
    ]
    return _checked(entries, f"{folder} (one folder per author with {' or '.join(SUFFIXES)} files)")


def _title(path: Path) -> str:
    suffix = max((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), key=len)
    return path.name[: -len(suffix)]


def _checked(entries: list[Entry], where: str) -> tuple[Entry, ...]:
    if not entries:
        raise ValueError(f"{where}: there are no books")
    seen: dict[str, str] = {}
    for entry in entries:
        key = _normalized(entry.file)
        if key in seen:
            also = f" (also as {seen[key]!r})" if seen[key] != entry.file else ""
            raise ValueError(f"{where}: the file {entry.file!r} is listed more than once{also}")
        seen[key] = entry.file
    check_authors(entries)
    return tuple(sorted(entries, key=lambda entry: (entry.author, entry.file)))
