"""Run folders: the store with its configuration and analysis beside it, and reading results from wherever they are."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from nvgf import __version__
from nvgf.experiments.analysis import gather
from nvgf.experiments.checks import check_analysis
from nvgf.experiments.compact import read_table, write_table
from nvgf.experiments.rows import Origin, Row
from nvgf.experiments.store import STORE_NAME, Store
from nvgf.experiments.study import Data, Study, make_study
from nvgf.files import write_atomically

CONFIG_NAME = "config.json"
ANALYSIS_NAME = "analysis.json"


@dataclass(frozen=True)
class Results:
    """Everything that is known about a run: its rows, its analysis and the commands that made it."""

    path: Path
    study: Study
    rows: tuple[Row, ...]
    analysis: Mapping[str, Any]
    runs: tuple[Mapping[str, Any], ...]


def versions() -> dict[str, str]:
    """Return the versions that numbers may depend on."""
    system = f"{platform.system()} {platform.machine()}"
    found = {"nvgf": __version__, "python": platform.python_version(), "platform": system}
    for name in ("torch", "numpy", "scipy", "scikit-learn"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found


def configuration(study: Study, command: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is recorded before training: the command as typed, study, data, options, versions and time."""
    return {
        "command": command,
        "study": study.name,
        "source": study.source,
        "data": study.digest,
        "settings": dict(settings),
        "versions": versions(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def write_beside(store: Store, study: Study) -> None:
    """Write ``config.json`` and, where there are analyses, ``analysis.json`` beside a store."""
    folder = store.path.parent
    runs = store.runs()
    latest: dict[str, Any] = runs[-1] if runs else {}
    _write_json(folder / CONFIG_NAME, {**latest, "runs": runs}, indent=1)
    analyses = store.analyses()
    if analyses:
        _write_json(folder / ANALYSIS_NAME, gather(study, analyses))


def _write_json(path: Path, value: Any, indent: int | None = None) -> None:
    separators = (",", ": ") if indent else (",", ":")
    write_atomically(path, (json.dumps(value, indent=indent, separators=separators) + "\n").encode())


def load_results(path: str | Path) -> Results:
    """Read results: a run folder, a store, or a compact table (``NAME.csv``, with ``NAME.analysis.json`` beside it).

    A store may be read while a sweep writes to it.
    """
    path = Path(path)
    if path.suffix == ".csv" and not path.is_dir():
        rows, facts = read_table(path)
        study, runs = make_study(facts["study"]), facts.get("runs", [])
        beside = path.with_suffix(".analysis.json")
        analysis = _read_analysis(beside) if beside.is_file() else {}
        return Results(path, study, tuple(rows), analysis, tuple(runs))
    if not path.exists():
        raise FileNotFoundError(f"there are no results at {path}")
    with Store(path) as store:
        rows, runs, analyses = store.rows(), store.runs(), store.analyses()
    if not rows and not runs:
        raise ValueError(f"{path} has no results yet")
    names = {row.study for row in rows} or {run["study"] for run in runs}
    if len(names) != 1:
        raise ValueError(f"{path} has results of several studies: {', '.join(sorted(names))}")
    source = runs[-1].get("source") if runs else None
    name = names.pop()
    study = make_study(name, source)
    try:
        _ = study.subjects
    except OSError:
        study = make_study(name)  # results outlive the data that they were made from
    return Results(path, study, tuple(rows), gather(study, analyses) if analyses else {}, tuple(runs))


def _read_analysis(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    try:
        return check_analysis(value)
    except ValueError as error:
        raise ValueError(f"{path} is no analysis: {error}") from None


@dataclass(frozen=True)
class Merge:
    """What a merge did; ``differing`` are models that two runs have with unequal errors, of which the first is kept."""

    rows: int
    repeated: int
    differing: int


def merge(sources: Sequence[str | Path], out: str | Path) -> Merge:
    """Put the rows and analyses of several stores into one, a new one or one that is continued.

    A model that several have is taken from the first. Numbers of different machines may differ in the last digits
    and then, after many steps, visibly; how many do is told. Models of other data, or by another protocol, are refused.
    """
    opened = []
    for source in sources:
        with Store(source) as store:
            opened.append((Path(source), store.rows(), store.analyses(), store.runs()))
    names = {row.study for _, rows, _, _ in opened for row in rows}
    if len(names) > 1:
        raise ValueError(f"cannot merge results of different studies: {', '.join(sorted(names))}")
    origins: dict[Data, Origin] = {}
    digests: dict[str, Path] = {}
    for source, rows, _, runs in opened:
        _check_digests(digests, runs, source)
        for row in rows:
            origins.setdefault(row.data, row.origin).check(row.origin, row.subject, source)
    with Store(store_path(out), write=True) as target:
        there = {row.key: row for row in target.rows()}
        _check_digests(digests, target.runs(), Path(out))
        for data, origin in target.origins():
            origins.get(data, origin).check(origin, data.subject, out)
        if there and names and {row.study for row in there.values()} != names:
            raise ValueError(f"{out} has results of another study")
        repeated = differing = added = 0
        analysed = set(target.analyses())
        recorded = target.runs()
        for _, rows, analyses, runs in opened:
            fresh = [row for row in rows if row.key not in there]
            for row in rows:
                if row.key in there:
                    repeated += 1
                    kept = there[row.key]
                    differing += (kept.test_error, kept.valid_error) != (row.test_error, row.valid_error)
            target.add(fresh, [(key, value) for key, value in analyses.items() if key not in analysed])
            for run in runs:
                if run not in recorded:
                    target.add_run(run)
                    recorded.append(run)
            there |= {row.key: row for row in fresh}
            analysed |= set(analyses)
            added += len(fresh)
        if names:
            write_beside(target, make_study(names.pop()))
    return Merge(added, repeated, differing)


def _check_digests(known: dict[str, Path], runs: Sequence[Mapping[str, Any]], where: Path) -> None:
    """Raise if a run was made from other data than those known so far; early runs do not say from which."""
    for digest in {run["data"] for run in runs if "data" in run}:
        known.setdefault(digest, where)
    if len(known) > 1:
        raise ValueError(f"{where} holds models of other data than {next(iter(known.values()))}; keep them apart")


def save_table(results: Results, path: str | Path, *, with_analysis: bool = True) -> None:
    """Write results as a compact table, and their analysis as ``NAME.analysis.json`` beside it."""
    path = Path(path)
    if path.suffix != ".csv":
        raise ValueError(f"a table of results must end in .csv, got {path}")
    write_table(path, results.rows, {"runs": list(results.runs)})
    if with_analysis and results.analysis:
        _write_json(path.with_suffix(".analysis.json"), results.analysis)


def store_path(folder: str | Path) -> Path:
    """Return where the store of a run folder is, whatever the folder is called."""
    return Path(folder) / STORE_NAME
