"""Checks of what is read from a table of results and from the analysis beside it: anything may have been written there.

Whatever is not as it should be raises a ``ValueError`` that says what; who reads adds the file and the line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from nvgf.experiments.rows import Row
from nvgf.experiments.study import SIZES, make_study

_SHARES = ("input_high_share", "input_last_share", "input_rest_high_share")
_SPECTRA = ("eigenvalues", "input_mean", "input_std")
_ANSWERS = ("outputs", "first_outputs", "transfer")
_CREATION = ("creation", "creation_last", "creation_first")


def check_facts(facts: object) -> dict[str, Any]:
    """Return the facts of a table: study, number of rows, commands and protocols.

    Example:
        >>> check_facts({"study": "movies", "rows": 0, "runs": 5})
        Traceback (most recent call last):
        ...
        ValueError: "runs" must be a list of objects, got 5
    """
    found = _object(facts, "it")
    study, rows = found.get("study"), found.get("rows")
    if not isinstance(study, str):
        raise ValueError(f'"study" must be a name, got {_short(study)}')
    make_study(study)
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
        raise ValueError(f'"rows" must be the number of rows, got {_short(rows)}')
    for name in ("runs", "protocols"):
        values = found.get(name, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise ValueError(f'"{name}" must be a list of objects, got {_short(values)}')
    for run in found.get("runs", []):
        command = run.get("command", "")
        if not isinstance(command, str) and not (
            isinstance(command, list) and all(isinstance(c, str) for c in command)
        ):
            raise ValueError(f'the "command" of a run must be text, got {_short(command)}')
    return found


def check_row(row: Row, most: float) -> None:
    """Raise if a row has an impossible number; ``most`` is the largest error of a model that did not diverge."""
    for name, error in (("valid_error", row.valid_error), ("test_error", row.test_error)):
        if not (0 <= error <= most or error == math.inf):
            bound = f"from 0 to {most:g}" if math.isfinite(most) else "at least 0"
            raise ValueError(f"{name} must be {bound}, or inf, got {error:g}")
    if row.split < 0:
        raise ValueError(f"split must be at least 0, got {row.split}")
    rate, features, order = row.hyper
    if rate is not None and not 0 < rate < math.inf:
        raise ValueError(f"learning_rate must be positive, got {rate:g}")
    for name, value in (("features", features), ("order", order)):
        if value is not None and value < 0:
            raise ValueError(f"{name} must be at least 0, got {value}")
    _object(row.extras, "extras")


def check_analysis(value: object) -> dict[str, Any]:
    """Return the contents of ``analysis.json``: for each subject its facts and spectra, see :func:`gather`.

    Example:
        >>> check_analysis({"subjects": {"austen": 5}})
        Traceback (most recent call last):
        ...
        ValueError: the analysis of austen must be a JSON object, got 5
    """
    found = _object(value, "it")
    for subject, entry in _object(found.get("subjects", {}), '"subjects"').items():
        first = _object(entry, f"the analysis of {subject}")
        for name in ("setting", "split_by", "title", "graph"):
            if not isinstance(first.get(name, ""), str):
                raise ValueError(f'the "{name}" of {subject} must be text, got {_short(first[name])}')
        others = _object(first.get("others", {}), f'the "others" of {subject}')
        for place, one in {"first": first, **others}.items():
            _check_entry(_object(one, f"{place} of {subject}"), subject)
    return found


def _check_entry(entry: Mapping[str, Any], subject: str) -> None:
    models = _object(entry.get("models", {}), f'the "models" of {subject}')
    for name in (*SIZES, *_SHARES):
        _number(entry.get(name, 0), f"{name} of {subject}")
    if "eigenvalues" in entry:
        for name in _SPECTRA:
            _list(entry.get(name), f"{name} of {subject}")
    for model, one in models.items():
        found = _object(one, f"{model} of {subject}")
        for source in ("last", "first"):
            for name, value in _object(found.get(source, {}), f'"{source}" of {model} of {subject}').items():
                _number(value, f"{name} of {model} of {subject}")
        if "outputs" in found and "eigenvalues" in entry:
            for name in _ANSWERS:
                _list(found.get(name), f"{name} of {model} of {subject}")
            for name in _CREATION:
                _number(found.get(name), f"{name} of {model} of {subject}")


def _number(value: object, what: str) -> None:
    if not isinstance(value, (int, float)):
        raise ValueError(f"{what} must be a number, got {_short(value)}")


def _list(value: object, what: str) -> None:
    if not isinstance(value, list):
        raise ValueError(f"{what} must be a list, got {_short(value)}")


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be a JSON object, got {_short(value)}")
    return value


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
