"""Ratings files: MovieLens 100k, 1M and latest-small (folders or zips), and any CSV of user, item, rating."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from nvgf.movies.ratings import Ratings

_COLUMNS = {
    "user": ("user", "userid", "user_id"),
    "item": ("item", "itemid", "item_id", "movieid", "movie_id", "movie"),
    "rating": ("rating", "score"),
}

_STARS = (1.0, 5.0)
_HALF_STARS = (0.5, 5.0)

# Ratings file -> (file of titles, encoding of the titles). The first that is there decides the format.
_MOVIELENS = {
    "u.data": ("u.item", "latin-1"),
    "ratings.dat": ("movies.dat", "latin-1"),
    "ratings.csv": ("movies.csv", "utf-8"),
}


class _Folder:
    """Files by their name, in a folder or a zip, at the top or one folder down."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_dir():
            self.zip = None
            files = [p for p in [*path.iterdir(), *path.glob("*/*")] if p.is_file()]
            self.places = {p.name: str(p) for p in reversed(files)}
        else:
            try:
                self.zip = zipfile.ZipFile(path)
            except zipfile.BadZipFile as error:
                raise ValueError(f"{path} is not a readable zip: {error}") from error
            self.places = {Path(name).name: name for name in reversed(self.zip.namelist()) if name.count("/") <= 1}

    def text(self, name: str, encoding: str) -> str:
        if self.zip is None:
            return _decode(Path(self.places[name]).read_bytes(), encoding, self.places[name])
        try:
            raw = self.zip.read(self.places[name])
        except zipfile.BadZipFile as error:
            raise ValueError(f"{self.path} is damaged at {name}: {error}") from error
        return _decode(raw, encoding, f"{self.path}:{name}")


def read_ratings(path: str | Path, *, scale: tuple[float, float] | None = None) -> Ratings:
    """Read ratings from a MovieLens folder or zip, a MovieLens ratings file, or a CSV.

    Recognised are MovieLens 100k (``u.data``, ``u.item`` in latin-1), 1M (``ratings.dat``, ``movies.dat``)
    and latest-small (``ratings.csv``, ``movies.csv``). A CSV needs the columns user, item and rating, named
    in a first line (``userId``, ``movie_id`` ... are understood too) or, without one, in this order.

    Args:
        path: folder, zip or file.
        scale: smallest and largest possible rating. By default 1..5 for 100k and 1M, 0.5..5 for latest-small,
            and what the file holds for any other CSV.

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
        return _read_movielens(_Folder(path), scale)
    if path.name in _MOVIELENS:
        return _read_movielens(_Folder(path.parent), scale, only=path.name)
    if path.suffix.lower() == ".data":
        return _assemble(_rows(_file_text(path), "\t", str(path)), str(path), scale or _STARS)
    if path.suffix.lower() == ".dat":
        return _assemble(_rows(_file_text(path), "::", str(path)), str(path), scale or _STARS)
    return _assemble(_csv_rows(_file_text(path), str(path)), str(path), scale)


def _read_movielens(folder: _Folder, scale: tuple[float, float] | None, only: str | None = None) -> Ratings:
    name = only or next((n for n in _MOVIELENS if n in folder.places), None)
    if name is None:
        raise ValueError(f"{folder.path} holds none of {', '.join(_MOVIELENS)}: it is no MovieLens data set")
    source = f"{folder.path}:{name}"
    titles_name, encoding = _MOVIELENS[name]
    text = folder.text(name, "utf-8-sig")
    if name == "ratings.csv":
        # latest-small has half stars; a CSV without MovieLens' titles beside it is anybody's.
        scale = scale or (_HALF_STARS if titles_name in folder.places else None)
        rows: Iterable[_Row] = _csv_rows(text, source)
    else:
        scale = scale or _STARS
        rows = _rows(text, "\t" if name == "u.data" else "::", source)
    titles = {}
    if titles_name in folder.places:
        titles = dict(_titles(folder.text(titles_name, encoding), titles_name, f"{folder.path}:{titles_name}"))
    return _assemble(rows, source, scale, titles)


_Row = tuple[int, str, str, str]


def _assemble(
    rows: Iterable[_Row], source: str, scale: tuple[float, float] | None, titles: dict[int, str] | None = None
) -> Ratings:
    users, items, values = [], [], []
    for line, user, item, rating in rows:
        users.append(_id(user, "user", line, source))
        items.append(_id(item, "item", line, source))
        try:
            values.append(float(rating))
        except ValueError:
            raise ValueError(f"{source}, line {line}: the rating must be a number, got {rating!r}") from None
    if not users:
        raise ValueError(f"{source} is empty: there are no ratings")
    try:
        return Ratings.from_triples(users, items, values, titles=titles, scale=scale)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def _id(text: str, what: str, line: int, source: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{source}, line {line}: the {what} must be an integer id, got {text!r}") from None


def _rows(text: str, separator: str, source: str) -> Iterator[_Row]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        fields = line.split(separator)
        if len(fields) < 3:
            raise ValueError(
                f"{source}, line {number}: expected user, item and rating separated by {separator!r}, got {line!r}"
            )
        yield number, fields[0], fields[1], fields[2]


def _csv_rows(text: str, source: str) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text))
    places = None
    for row in reader:
        if not any(field.strip() for field in row):
            continue
        if places is None:
            places = _places(row, source)
            if not row[places[0]].strip().lstrip("-").isdigit() and _is_header(row):
                continue
        if len(row) <= max(places):
            raise ValueError(
                f"{source}, line {reader.line_num}: expected {max(places) + 1} columns or more, got {len(row)}"
            )
        yield reader.line_num, row[places[0]], row[places[1]], row[places[2]]


def _is_header(row: list[str]) -> bool:
    names = {field.strip().lower() for field in row}
    return any(names & set(known) for known in _COLUMNS.values())


def _places(row: list[str], source: str) -> tuple[int, int, int]:
    """Columns of user, item and rating; a first line with none of their names is data in that order."""
    names = [field.strip().lower() for field in row]
    if not _is_header(row):
        if len(row) < 3:
            raise ValueError(f"{source}: expected the columns user, item, rating, got {len(row)} column(s)")
        return 0, 1, 2
    found = {
        wanted: next((i for i, name in enumerate(names) if name in known), None) for wanted, known in _COLUMNS.items()
    }
    missing = [wanted for wanted, place in found.items() if place is None]
    if missing:
        raise ValueError(
            f"{source}: the column{'s' * (len(missing) > 1)} {', '.join(missing)} is missing among {names}"
        )
    user, item, rating = (place for place in found.values() if place is not None)
    return user, item, rating


def _titles(text: str, name: str, source: str) -> Iterator[tuple[int, str]]:
    if name == "movies.csv":
        rows: Iterable[list[str]] = list(csv.reader(io.StringIO(text)))[1:]
    else:
        separator = "|" if name == "u.item" else "::"
        rows = (line.split(separator) for line in text.splitlines())
    for number, row in enumerate(rows, start=1):
        if len(row) < 2:
            continue
        yield _id(row[0], "item", number, source), row[1].strip()


def _file_text(path: Path) -> str:
    return _decode(path.read_bytes(), "utf-8-sig", str(path))


def _decode(raw: bytes, encoding: str, source: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} is not {encoding} text: {error}") from error
