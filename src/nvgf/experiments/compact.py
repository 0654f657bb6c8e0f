"""The compact table: results as one CSV file, a line a trained model, small enough to be kept in a repository."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nvgf.experiments.checks import check_facts, check_row
from nvgf.experiments.rows import DIGITS, Row
from nvgf.experiments.study import make_study
from nvgf.files import write_atomically

MAGIC = "# nvgf-results 1"
COLUMNS = (
    "subject",
    "setting",
    "split_by",
    "model",
    "learning_rate",
    "features",
    "order",
    "seed",
    "split",
    "valid_error",
    "test_error",
    "kept_step",
    "diverged_at",
    "seconds",
    "device",
    "version",
    "extras",
)


def format_table(rows: Iterable[Row], facts: Mapping[str, Any]) -> str:
    """Return rows as text: a first line with the format, a second with facts as JSON, then CSV.

    Errors are written with six significant digits, more than any number of samples needs; curves, keys and
    fingerprints are left out. The training protocols of the rows are among the facts.

    Example:
        >>> row = Row("k", "authorship", "poe", "paper", 0, "excerpt", "gat", 0.01, 16, None, 0, 1 / 78, 0.25)
        >>> print(format_table([row], {"note": "one"}))
        # nvgf-results 1
        # {"note": "one", "rows": 1, "study": "authorship"}
        subject,setting,split_by,model,learning_rate,features,order,seed,split,valid_error,test_error,kept_step,...
        poe,paper,excerpt,gat,0.01,16,,0,0,0.0128205,0.25,,,0,cpu,,
        <BLANKLINE>
    """
    rows = list(rows)
    studies = {row.study for row in rows}
    if len(studies) != 1:
        raise ValueError(f"a table is about one study, got {', '.join(sorted(studies)) or 'no rows'}")
    header = {**facts, "study": studies.pop(), "rows": len(rows)}
    if protocols := sorted({row.protocol for row in rows} - {""}):
        header["protocols"] = [json.loads(protocol) for protocol in protocols]
    text = io.StringIO()
    text.write(f"{MAGIC}\n# {json.dumps(header, sort_keys=True)}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(name, getattr(row, name)) for name in COLUMNS])
    return text.getvalue()


def _cell(name: str, value: Any) -> str:
    if value is None or value == {}:
        return ""
    if name == "seconds":
        return f"{value:.3g}"
    if isinstance(value, Mapping):
        return json.dumps(dict(value), sort_keys=True, separators=(",", ":"))
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def write_table(path: Path, rows: Iterable[Row], facts: Mapping[str, Any]) -> None:
    """Write a compact table, whole or not at all."""
    write_atomically(path, format_table(rows, facts).encode())


def read_table(path: Path) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows and the facts of a compact table.

    Raises:
        FileNotFoundError: if it is not there.
        ValueError: if it is another kind of file, has other columns, impossible numbers or a model twice, or is cut
            off.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no table of results: it is not text") from None
    if not lines or lines[0].strip() != MAGIC:
        raise ValueError(f"{path} is no table of results: its first line is not {MAGIC!r}")
    try:
        facts = check_facts(json.loads("".join(lines[1:2]).removeprefix("#")))
    except ValueError as error:
        raise ValueError(f"{path}, line 2: it must hold facts as JSON ({error})") from None
    reader = csv.DictReader(lines[2:])
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise ValueError(f"{path}: the columns must be {', '.join(COLUMNS)}, got {', '.join(reader.fieldnames or ())}")
    most = make_study(facts["study"]).metric.most
    rows: dict[tuple[object, ...], Row] = {}
    try:
        for line in reader:
            row = _row(line, facts)
            check_row(row, most)
            identity = (row.data, row.model, row.hyper, row.seed)
            if identity in rows:
                raise ValueError("the model is there already")
            rows[identity] = row
    except (ValueError, TypeError, csv.Error) as error:
        raise ValueError(f"{path}, line {reader.line_num + 2}: not a result ({error})") from None
    if len(rows) != facts["rows"]:
        raise ValueError(f"{path} is cut off: it announces {facts['rows']} rows and has {len(rows)}")
    return list(rows.values()), facts


def _row(line: Mapping[str, str], facts: Mapping[str, Any]) -> Row:
    if len(line) != len(COLUMNS) or None in line.values():
        raise ValueError(f"it must have {len(COLUMNS)} cells")
    protocols = facts.get("protocols", [])

    def number(name: str, kind: type) -> Any:
        return kind(line[name]) if line[name] else None

    return Row(
        key="",
        study=facts["study"],
        subject=line["subject"],
        setting=line["setting"],
        split=int(line["split"]),
        split_by=line["split_by"],
        model=line["model"],
        learning_rate=number("learning_rate", float),
        features=number("features", int),
        order=number("order", int),
        seed=int(line["seed"]),
        valid_error=float(line["valid_error"]),
        test_error=float(line["test_error"]),
        kept_step=number("kept_step", int),
        diverged_at=number("diverged_at", int),
        seconds=float(line["seconds"]),
        device=line["device"],
        version=line["version"],
        protocol=json.dumps(protocols[0], sort_keys=True) if len(protocols) == 1 else "",
        extras=json.loads(line["extras"]) if line["extras"] else {},
    )
