"""``Store``: trained models in one SQLite file, each once, safe against whatever ends a program."""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

import numpy as np

from nvgf.experiments.rows import Origin, Row
from nvgf.experiments.study import Data

SCHEMA = 1
STORE_NAME = "results.sqlite"
_APPLICATION_ID = 0x6E766766  # "nvgf", so that a file of another program is told from ours
_COLUMNS = tuple(field.name for field in fields(Row))
_TABLES = f"""
CREATE TABLE cells (
    {", ".join(f'"{name}"' + (" TEXT PRIMARY KEY" if name == "key" else "") for name in _COLUMNS)}
);
CREATE INDEX cells_by_subject ON cells (study, subject, setting, model);
CREATE TABLE analyses (
    subject TEXT, setting TEXT, split_by TEXT, model TEXT, value BLOB NOT NULL,
    PRIMARY KEY (subject, setting, split_by, model)
);
CREATE TABLE runs (id INTEGER PRIMARY KEY, config TEXT NOT NULL);
"""

AnalysisKey = tuple[str, str, str, str]
"""Subject, setting, way to split, model (or ``"data"`` for what concerns the data set alone)."""


class Store:
    """The results of a run: rows by key, analyses, and the commands that made them.

    A writer holds a lock on the store for as long as it is open; a second one is refused. Readers may look on at any
    time. What :meth:`add` has returned from is on the disk: it survives ``kill -9`` and a loss of power, and a
    failed :meth:`add` (a full disk) leaves the store as it was.

    Args:
        path: the file, or the run folder that holds ``results.sqlite``.
        write: open for writing, and make the file and its folder where they are not there.

    Example:
        >>> import tempfile
        >>> row = Row("k", "authorship", "austen", "paper", 0, "excerpt", "lsigf", 0.01, 16, 2, 0, 0.1, 0.2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Store(folder, write=True) as store:
        ...         store.add([row])
        ...     [found.test_error for found in Store(folder).rows(model="lsigf")]
        [0.2]
    """

    def __init__(self, path: str | Path, *, write: bool = False) -> None:
        path = Path(path)
        self.path = path if path.suffix in (".sqlite", ".db") and not path.is_dir() else path / STORE_NAME
        self.writable = write
        self._lock: sqlite3.Connection | None = None
        self._copies = ExitStack()
        if write:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise NotADirectoryError(f"{self.path.parent} is a file, expected a folder for results") from None
            self._lock = _lock(self.path)
        elif not self.path.is_file():
            raise FileNotFoundError(f"there is no result store at {self.path}")
        try:
            self._db = self._open()
            self._check()
        except BaseException:
            self.close()
            raise

    def _open(self) -> sqlite3.Connection:
        with _named(self.path):
            if self.writable:
                db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
                db.execute("PRAGMA synchronous=FULL")
                return db
            return _open_for_reading(self.path, self._copies)

    def _check(self) -> None:
        with _named(self.path):
            empty = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            application = self._db.execute("PRAGMA application_id").fetchone()[0]
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if empty and self.writable:
                self._create()
                return
            if application != _APPLICATION_ID:
                raise ValueError(f"{self.path} is no result store of nvgf")
            if version != SCHEMA:
                raise ValueError(
                    f"{self.path} is a result store of version {version}, this nvgf reads version {SCHEMA}; "
                    "write to another folder, or use the nvgf that made it"
                )
            if self.writable:
                self.check_integrity()
                self._db.execute("PRAGMA journal_mode=WAL")

    def _create(self) -> None:
        self._db.execute("PRAGMA journal_mode=WAL")
        with self._transaction():
            for statement in _TABLES.split(";"):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id={_APPLICATION_ID}")
            self._db.execute(f"PRAGMA user_version={SCHEMA}")

    def check_integrity(self) -> None:
        """Raise if the file is damaged."""
        with _named(self.path):
            (answer,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise ValueError(f"{self.path} is damaged: {answer}")

    def rows(self, **filters: Any) -> list[Row]:
        """Return the rows whose fields have the given values; a list or tuple of values means any of them.

        They come ordered by subject, setting, model, hyper-parameters and split.
        """
        return list(self._select(filters))

    def _select(self, filters: dict[str, Any]) -> Iterator[Row]:
        unknown = filters.keys() - set(_COLUMNS)
        if unknown:
            raise ValueError(f"rows have no field {', '.join(sorted(unknown))}; they have {', '.join(_COLUMNS)}")
        conditions, values = [], []
        for name, value in filters.items():
            options = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
            conditions.append(f'("{name}" IN ({", ".join("?" * len(options))})' + f' OR ("{name}" IS NULL AND ?))')
            values += [*options, None in options]
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        order = 'subject, setting, split_by, model, features, "order", learning_rate, split, seed, key'
        with _named(self.path):
            for found in self._db.execute(f"SELECT * FROM cells {where} ORDER BY {order}", values):
                yield _decode(found)

    def keys(self) -> set[str]:
        """Return the keys of all rows."""
        with _named(self.path):
            return {key for (key,) in self._db.execute("SELECT key FROM cells")}

    def origins(self) -> list[tuple[Data, Origin]]:
        """Return from which data, by which protocol, the rows of each data set are."""
        names = ", ".join(field.name for field in fields(Data))
        with _named(self.path):
            found = self._db.execute(f"SELECT DISTINCT {names}, fingerprint, protocol FROM cells").fetchall()
        return [(Data(*line[:-2]), Origin(*line[-2:])) for line in found]

    def __len__(self) -> int:
        with _named(self.path):
            return int(self._db.execute("SELECT count(*) FROM cells").fetchone()[0])

    def add(self, rows: Iterable[Row], analyses: Iterable[tuple[AnalysisKey, Any]] = ()) -> None:
        """Add rows, and analyses in place of earlier ones, all or none."""
        encoded = [_encode(row) for row in rows]
        marks = ", ".join("?" * len(_COLUMNS))
        with _named(self.path), self._transaction():
            self._db.executemany(f"INSERT INTO cells VALUES ({marks})", encoded)
            self._db.executemany(
                "INSERT OR REPLACE INTO analyses VALUES (?, ?, ?, ?, ?)",
                [(*key, zlib.compress(json.dumps(value).encode(), 9)) for key, value in analyses],
            )

    def analyses(self) -> dict[AnalysisKey, Any]:
        """Return all analyses by what they are about."""
        with _named(self.path):
            found = self._db.execute("SELECT * FROM analyses ORDER BY subject, setting, split_by, model").fetchall()
        return {(a, b, c, d): json.loads(zlib.decompress(value)) for a, b, c, d, value in found}

    def add_run(self, config: dict[str, Any]) -> None:
        """Record the command and versions that rows are about to be made by."""
        with _named(self.path), self._transaction():
            self._db.execute("INSERT INTO runs (config) VALUES (?)", [json.dumps(config, sort_keys=True)])

    def runs(self) -> list[dict[str, Any]]:
        """Return the recorded commands, the earliest first."""
        with _named(self.path):
            return [json.loads(config) for (config,) in self._db.execute("SELECT config FROM runs ORDER BY id")]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the store and let others write; a closed store is one file, without a journal beside it."""
        db = getattr(self, "_db", None)
        if db is not None:
            if self.writable:
                # Where a reader looks on, or the disk is full, the journal stays beside the file, which is as good.
                with suppress(sqlite3.Error):
                    db.execute("PRAGMA journal_mode=DELETE")
            db.close()
        self._copies.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _lock(path: Path) -> sqlite3.Connection:
    """Take the lock of a store: a transaction on a file beside it, which the system ends with the process."""
    beside = path.with_name(f".{path.name}.lock")
    try:
        lock = sqlite3.connect(beside, timeout=0, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise BlockingIOError(
                f"another sweep is writing to {path}; wait until it ends, or choose another folder"
            ) from None
        raise PermissionError(f"cannot write to {path.parent}: {error}") from error
    return lock


def _open_for_reading(path: Path, copies: ExitStack) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    db = sqlite3.connect(uri, uri=True, timeout=30, isolation_level=None)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        db.close()
        if "unable to open" not in str(error):
            raise
        # A journal cannot be made where the folder is read-only; then nobody can be writing there either.
        journal = path.with_name(f"{path.name}-wal")
        if journal.is_file() and journal.stat().st_size:
            # What a killed program stored last is in the journal alone, and an immutable file is read without it.
            folder = Path(copies.enter_context(TemporaryDirectory(prefix="nvgf-")))
            for file in (path, journal):
                copyfile(file, folder / file.name)
            return sqlite3.connect(folder / path.name, isolation_level=None)
        db = sqlite3.connect(f"{uri}&immutable=1", uri=True, isolation_level=None)
    return db


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite into those of files, with the name of the store."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ValueError(f"{path}: a model is there already, and no model is stored twice ({error})") from error
    except sqlite3.OperationalError as error:
        text = str(error)
        if any(word in text for word in ("full", "disk I/O", "readonly", "unable to open", "locked")):
            raise OSError(f"{path}: {text}; what was stored before is safe, and the same command continues") from error
        raise ValueError(f"{path} cannot be used as a result store: {text}") from error
    except (sqlite3.DatabaseError, zlib.error, json.JSONDecodeError, struct.error) as error:
        raise ValueError(f"{path} is damaged, or no result store ({error})") from error


def _encode(row: Row) -> tuple[Any, ...]:
    values = {name: getattr(row, name) for name in _COLUMNS}
    for name in ("curve", "losses"):
        values[name] = pack(values[name])
    values["extras"] = json.dumps(dict(row.extras), sort_keys=True)
    return tuple(values.values())


def _decode(found: Sequence[Any]) -> Row:
    values = dict(zip(_COLUMNS, found, strict=True))
    for name in ("curve", "losses"):
        values[name] = unpack(values[name])
    values["extras"] = json.loads(values["extras"])
    return Row(**values)


def pack(numbers: Sequence[float]) -> bytes:
    """Return numbers as compressed half-precision floats: a curve is drawn, not computed with.

    Example:
        >>> unpack(pack([0.5, 0.25, float("inf")]))
        (0.5, 0.25, inf)
    """
    with np.errstate(over="ignore"):
        halves = np.asarray(numbers, dtype=np.float64).astype("<f2")
    # The bytes of equal significance next to one another compress better.
    return zlib.compress(halves.view(np.uint8).reshape(-1, 2).T.tobytes(), 9)


def unpack(data: bytes) -> tuple[float, ...]:
    """Return the numbers that :func:`pack` made."""
    raw = np.frombuffer(zlib.decompress(data), np.uint8)
    return tuple(raw.reshape(2, -1).T.copy().view("<f2").ravel().astype(float).tolist())
