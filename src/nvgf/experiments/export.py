"""Exports of rows to other programs."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from nvgf.experiments.rows import Row
from nvgf.files import write_atomically


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    """Write all fields of rows, curves included, as a Parquet file."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ModuleNotFoundError("Parquet needs the extra parquet: pip install nvgf[parquet]") from None
    columns: dict[str, list[Any]] = {}
    for field in fields(Row):
        values = [getattr(row, field.name) for row in rows]
        if field.name in ("curve", "losses"):
            values = [list(value) for value in values]
        elif field.name == "extras":
            values = [json.dumps(dict(value), sort_keys=True) for value in values]
        columns[field.name] = values
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), buffer)
    write_atomically(path, buffer.getvalue())
