"""One command's worth of work: open the store and the pool, sweep, and write what lies beside the store."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from nvgf.experiments.cells import Cell, part_of
from nvgf.experiments.console import progress_display
from nvgf.experiments.driver import Outcome, check_store, missing, sweep
from nvgf.experiments.follow import following_cells
from nvgf.experiments.pools import DaskPool, Pool, ProcessPool
from nvgf.experiments.runs import configuration, store_path, write_beside
from nvgf.experiments.store import Store
from nvgf.experiments.study import Study
from nvgf.training.engine import check_device


@dataclass(frozen=True)
class Place:
    """Where and how cells are trained.

    Args:
        device: of torch; on a GPU the driver trains, in large stacks.
        workers: processes on a CPU; by default as many as this process has cores.
        dask: address of a scheduler whose workers train.
        limit: minutes after which no new batch is begun.
    """

    device: str = "cpu"
    workers: int | None = None
    dask: str | None = None
    limit: float | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and not self.limit >= 0:
            raise ValueError(f"limit must be at least 0 minutes, got {self.limit:g}")

    def pool(self) -> Pool | None:
        """Return the pool, or ``None`` to work in this process; say at once if a GPU or a cluster is not there."""
        if self.workers is not None and self.workers < 1:
            raise ValueError(f"workers must be at least 1, got {self.workers}")
        if self.dask:
            return DaskPool(self.dask)
        if check_device(self.device).type == "cpu":
            return ProcessPool(self.workers or available_cores())
        return None


def available_cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_session(
    study: Study,
    cells: Sequence[Cell],
    out: str | Path,
    place: Place,
    settings: Mapping[str, Any],
    *,
    follow: bool = False,
    part: str | None = None,
    stream: TextIO | None = None,
) -> Outcome:
    """Train the cells that the store in ``out`` lacks, and write ``config.json`` and ``analysis.json`` beside it.

    Args:
        study: the application.
        cells: what the store shall hold.
        out: the run folder, whatever it is called.
        place: where and how.
        settings: the options of the command, to be recorded.
        follow: then also experiment 2 at the hyper-parameters that the search chose.
        part: ``"1/4"`` does the first of four parts of the subjects; one without a subject leaves nothing behind.
        stream: where progress goes, standard error by default.
    """
    stream = stream or sys.stderr
    if part:
        cells = part_of(cells, *parse_part(part), subjects=[cell.data.subject for cell in cells])
        if not cells:
            print(f"part {part} has no {study.subject_noun}", file=stream, flush=True)
            return Outcome(0, 0)
    end = None if place.limit is None else time.monotonic() + 60 * place.limit
    for line in study.warnings(tuple(dict.fromkeys(cell.data.subject for cell in cells))):
        print(line, file=stream, flush=True)
    with ExitStack() as stack:
        pool = place.pool()
        if pool is not None:
            stack.callback(pool.close)
        store = stack.enter_context(Store(store_path(out), write=True))
        check_store(cells, study, store)
        left_out = study.costly - {cell.model for cell in cells}
        if left_out and not settings.get("models"):
            names = ", ".join(model for model in study.models if model in left_out)
            print(
                f"left out on {place.device}, since they take long there: {names} (name them with --models)",
                file=stream,
            )
        pending = len(missing(cells, study, store))
        print(f"{store.path}: {len(cells) - pending} of {len(cells)} models are there", file=stream, flush=True)
        if pending or follow:
            store.add_run(configuration(study, command_line(), settings))
        outcome = _sweep(study, cells, store, pool, place.device, end, stream)
        if follow and outcome.complete:
            subjects = {cell.data.subject for cell in cells}
            rows = [row for row in store.rows(study=study.name) if row.subject in subjects]
            more = following_cells(study, rows, cells)
            second = _sweep(study, more, store, pool, place.device, end, stream)
            outcome = Outcome(
                outcome.trained + second.trained, outcome.stored + second.stored, second.failures, second.stopped
            )
        write_beside(store, study)
    for failed, reason in outcome.failures:
        print(f"failed: {failed[0]} and {len(failed) - 1} more: {reason}", file=stream, flush=True)
    return outcome


def _sweep(
    study: Study,
    cells: Sequence[Cell],
    store: Store,
    pool: Pool | None,
    device: str,
    end: float | None,
    stream: TextIO,
) -> Outcome:
    limit = None if end is None else max(0.0, end - time.monotonic())
    with progress_display(study, stream) as tell:
        return sweep(study, cells, store, pool=pool, device=device, limit=limit, tell=tell)


def parse_part(text: str) -> tuple[int, int]:
    """Return a part such as ``"2/4"`` as numbers.

    Example:
        >>> parse_part("2/4")
        (2, 4)
    """
    first, slash, second = text.partition("/")
    if not slash or not first.strip().isdecimal() or not second.strip().isdecimal() or int(second) < 1:
        raise ValueError(f"part must be like 1/4, the first of four parts, got {text!r}")
    return int(first), int(second)


def command_line() -> str:
    """Return the command that this program was started by, without the path of the interpreter."""
    program = Path(sys.argv[0])
    name = program.name
    if name == "__main__.py" or program.suffix == ".py":
        spec = getattr(sys.modules.get("__main__"), "__spec__", None)
        name = f"python -m {spec.name}" if spec is not None else f"python {program.name}"
    return " ".join([name, *map(shlex.quote, sys.argv[1:])])
