"""Ratings files: MovieLens 100k, 1M and latest-small (folders or zips), and any table of user, item, rating."""

from __future__ import annotations

import csv
import io
import math
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nvgf.movies.archive import Archive, decode
from nvgf.movies.ratings import Ratings

_COLUMNS = {
    "user": ("user", "userid", "user_id"),
    "item": ("item", "itemid", "item_id", "movieid", "movie_id", "movie"),
    "rating": ("rating", "score"),
}
"""Names of the columns; where a table has several of them, the first here counts."""

_STARS = (1.0, 5.0)
_HALF_STARS = (0.5, 5.0)

# Ratings file -> (file of titles, encoding of the titles). The first that is there decides the format.
_MOVIELENS = {
    "u.data": ("u.item", "latin-1"),
    "ratings.dat": ("movies.dat", "latin-1"),
    "ratings.csv": ("movies.csv", "utf-8"),
}

_Row = tuple[int, str, str, str]


def read_ratings(path: str | Path, *, scale: tuple[float, float] | None = None) -> Ratings:
    """Read ratings from a MovieLens folder or zip, a MovieLens ratings file, or a table.

    Recognised are MovieLens 100k (``u.data``, ``u.item`` in latin-1), 1M (``ratings.dat``, ``movies.dat``)
    and latest-small (``ratings.csv``, ``movies.csv``); titles are those beside the ratings. A table, its columns
    separated by commas, tabs or semicolons, needs user, item and rating, named in a first line (``userId``,
    ``movie_id`` ... are understood too) or, without one, in this order.

    Args:
        path: folder, zip or file.
        scale: smallest and largest possible rating. By default 1..5 for 100k and 1M, 0.5..5 for latest-small,
            and what the file holds for any other table.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "mine.csv")
    ...     _ = file.write_text("user,item,rating\\n1,10,4.5\\n2,10,3\\n")
    ...     read_ratings(file)
    Ratings(users=2, items=1, ratings=2, scale=(3, 4.5))
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no ratings file or folder {path}")
    if path.is_dir() or path.suffix.lower() == ".zip":
        archive = Archive(path)
        folder = archive.uppermost(_MOVIELENS)
        names = (posixpath.join(folder, name) for name in _MOVIELENS)
        return _read_movielens(archive, next(name for name in names if name in archive.names), scale)
    if path.name in _MOVIELENS:
        return _read_movielens(Archive(path.parent), path.name, scale)
    source, text = str(path), decode(path.read_bytes(), "utf-8-sig", str(path))
    if path.suffix.lower() in (".data", ".dat"):
        separator = "\t" if path.suffix.lower() == ".data" else "::"
        return _assemble(_rows(text, separator, source), source, scale or _STARS)
    return _assemble(_table(text, source), source, scale)


def _read_movielens(archive: Archive, place: str, scale: tuple[float, float] | None) -> Ratings:
    folder, name = posixpath.split(place)
    source = f"{archive.path}:{place}"
    titles_name, encoding = _MOVIELENS[name]
    titles_place = posixpath.join(folder, titles_name)
    has_titles = titles_place in archive.names
    text = archive.text(place, "utf-8-sig")
    if name == "ratings.csv":
        # latest-small has half stars; a CSV without MovieLens' titles beside it is anybody's.
        scale = scale or (_HALF_STARS if has_titles else None)
        rows: Iterable[_Row] = _table(text, source)
    else:
        scale = scale or _STARS
        rows = _rows(text, "\t" if name == "u.data" else "::", source)
    titles = {}
    if has_titles:
        titles = dict(_titles(archive.text(titles_place, encoding), titles_name, f"{archive.path}:{titles_place}"))
    return _assemble(rows, source, scale, titles)


def _assemble(
    rows: Iterable[_Row], source: str, scale: tuple[float, float] | None, titles: dict[int, str] | None = None
) -> Ratings:
    users, items, values = [], [], []
    for line, user, item, rating in rows:
        users.append(_id(user, "user", line, source))
        items.append(_id(item, "item", line, source))
        values.append(_rating(rating, line, source))
    if not users:
        raise ValueError(f"{source} is empty: there are no ratings")
    try:
        return Ratings.from_triples(users, items, values, titles=titles, scale=scale)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def _id(text: str, what: str, line: int, source: str) -> int:
    whole = re.fullmatch(r"\s*([+-]?[0-9]+)(\.0*)?\s*", text)
    if whole is None:
        raise ValueError(f"{source}, line {line}: the {what} must be an integer id, got {text!r}")
    return int(whole[1])


def _rating(text: str, line: int, source: str) -> float:
    value = _number(text)
    if value is None or not math.isfinite(value):
        raise ValueError(f"{source}, line {line}: the rating must be a number, got {text!r}")
    return value


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _lines(text: str) -> io.StringIO:
    """Lines end with LF, CR LF or CR, and nowhere else: titles may hold what Python takes for a line's end."""
    return io.StringIO(text, newline=None)


def _rows(text: str, separator: str, source: str) -> Iterator[_Row]:
    for number, line in enumerate(_lines(text), start=1):
        if not line.strip():
            continue
        fields = line.rstrip("\n").split(separator)
        if len(fields) < 3:
            raise ValueError(
                f"{source}, line {number}: expected user, item and rating separated by {separator!r}, "
                f"got {line.rstrip()!r}"
            )
        yield number, fields[0], fields[1], fields[2]


def _csv(text: str, source: str, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Lines that are not empty, with their number."""
    reader = csv.reader(_lines(text), delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(field.strip() for field in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{source}, line {reader.line_num}: {error}") from None


def _table(text: str, source: str) -> Iterator[_Row]:
    first = next((line for line in _lines(text) if line.strip()), "")
    places: tuple[int, int, int] | None = None
    for number, row in _csv(text, source, max("\t;,", key=first.count)):
        if places is None:
            places, named = _places(row, source)
            if named:
                continue
        if len(row) <= max(places):
            raise ValueError(f"{source}, line {number}: expected {max(places) + 1} columns or more, got {len(row)}")
        yield number, row[places[0]], row[places[1]], row[places[2]]


def _places(row: list[str], source: str) -> tuple[tuple[int, int, int], bool]:
    """Columns of user, item and rating, and whether the first line names them; one with numbers is data."""
    names = [field.strip().lower() for field in row]
    found = {
        wanted: next((names.index(name) for name in known if name in names), None) for wanted, known in _COLUMNS.items()
    }
    missing = [wanted for wanted, place in found.items() if place is None]
    if not missing:
        user, item, rating = (place for place in found.values() if place is not None)
        return (user, item, rating), True
    if all(_number(name) is None for name in names):
        are = "columns" if len(missing) > 1 else "column"
        raise ValueError(
            f"{source}: the {are} {', '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing among {names}"
        )
    if len(row) < 3:
        raise ValueError(f"{source}: expected the columns user, item, rating, got {len(row)} column(s)")
    return (0, 1, 2), False


def _titles(text: str, name: str, source: str) -> Iterator[tuple[int, str]]:
    if name == "movies.csv":
        rows: Iterable[tuple[int, list[str]]] = list(_csv(text, source))[1:]
    else:
        separator = "|" if name == "u.item" else "::"
        rows = enumerate((line.rstrip("\n").split(separator) for line in _lines(text)), start=1)
    for number, row in rows:
        if len(row) >= 2:
            yield _id(row[0], "item", number, source), row[1].strip()
