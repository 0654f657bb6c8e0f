"""What a worker does: make data sets, train a batch of cells, and return rows. It never sees the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nvgf import __version__
from nvgf.experiments.analysis import analyse_data, analyse_model
from nvgf.experiments.cells import Cell, cell_key, protocol
from nvgf.experiments.rows import Row
from nvgf.experiments.store import AnalysisKey
from nvgf.experiments.study import Data, Study, make_study
from nvgf.training import Job, Result, Task, fit_many

Analyses = tuple[tuple[AnalysisKey, Any], ...]


@dataclass(frozen=True)
class Work:
    """One batch: which study, from where, which cells, on which device."""

    study: str
    source: str | None
    cells: tuple[Cell, ...]
    device: str = "cpu"


@dataclass(frozen=True)
class Done:
    """What came of one cell."""

    row: Row
    analyses: Analyses = ()


@lru_cache(maxsize=4)
def study_of(name: str, source: str | None) -> Study:
    """Return a study; a process makes it once."""
    return make_study(name, source)


@lru_cache(maxsize=4096)
def _task(name: str, source: str | None, data: Data) -> Task:
    return study_of(name, source).task(data)


def run_work(work: Work, on_done: Callable[[Done], None] | None = None) -> list[Done]:
    """Train the cells of a batch and return what came of each, in their order.

    Args:
        work: the batch.
        on_done: called with each as soon as it is there (in this process).
    """
    study = study_of(work.study, work.source)
    done: dict[Cell, Done] = {}

    def finish(cell: Cell, one: Done) -> None:
        done[cell] = one
        if on_done is not None:
            on_done(one)

    trained = [cell for cell in work.cells if cell.model not in study.baselines]
    for model in study.baselines:
        cells = [cell for cell in work.cells if cell.model == model]
        if cells:
            for cell, row in zip(cells, _baselines(model, cells, study, work.device), strict=True):
                finish(cell, Done(row))
    if trained:
        jobs = [_job(cell, study, work.source) for cell in trained]
        waiting: list[tuple[Cell, Result]] = []

        def receive(place: int, result: Result) -> None:
            cell = trained[place]
            if cell.analyse:
                waiting.append((cell, result))
            else:
                finish(cell, Done(_trained(cell, result, study, work.device)))

        fit_many(jobs, device=work.device, keep_weights=any(cell.analyse for cell in trained), on_result=receive)
        chosen = _best_of_models(waiting)
        for cell, result in waiting:
            analyses = _analyses(cell, result, work.source) if cell in chosen else ()
            finish(cell, Done(_trained(cell, result, study, work.device), analyses))
    return [done[cell] for cell in work.cells]


def _job(cell: Cell, study: Study, source: str | None) -> Job:
    task = _task(cell.study, source, cell.data)
    options = {name: value for name, value in cell.hyper._asdict().items() if value is not None}
    rate = options.pop("learning_rate")
    return Job(cell.model, task, options, rate, seed=cell.seed, schedule=study.schedule)


def _best_of_models(results: Sequence[tuple[Cell, Result]]) -> set[Cell]:
    """Return of each model on each data set the cell that validates best: its spectra are those to be kept."""
    best: dict[tuple[Data, str], tuple[Cell, Result]] = {}
    for cell, result in results:
        held = best.setdefault((cell.data, cell.model), (cell, result))
        if result.valid_error < held[1].valid_error:
            best[cell.data, cell.model] = cell, result
    return {cell for cell, _ in best.values()}


def _trained(cell: Cell, result: Result, study: Study, device: str) -> Row:
    return _row(
        cell,
        study,
        device,
        valid_error=result.valid_error,
        test_error=result.test_error,
        seconds=result.seconds,
        kept_step=result.kept_step,
        interval=result.interval,
        curve=result.curve,
        losses=result.losses,
        diverged_at=result.diverged_at,
    )


def _baselines(model: str, cells: Sequence[Cell], study: Study, device: str) -> list[Row]:
    outcomes = study.run_baselines(model, [cell.data for cell in cells], [cell.seed for cell in cells], device)
    return [
        _row(
            cell,
            study,
            device if model in study.costly else "cpu",
            valid_error=outcome.valid_error,
            test_error=outcome.test_error,
            seconds=outcome.seconds,
            extras=dict(outcome.extras),
        )
        for cell, outcome in zip(cells, outcomes, strict=True)
    ]


def _row(cell: Cell, study: Study, device: str, **results: Any) -> Row:
    return Row(
        key=cell_key(cell, study),
        study=cell.study,
        subject=cell.data.subject,
        setting=cell.data.setting,
        split=cell.data.split,
        split_by=cell.data.split_by,
        model=cell.model,
        learning_rate=cell.hyper.learning_rate,
        features=cell.hyper.features,
        order=cell.hyper.order,
        seed=cell.seed,
        fingerprint=study.fingerprint(cell.data),
        protocol=protocol(study),
        version=__version__,
        device=device,
        **results,
    )


def _analyses(cell: Cell, result: Result, source: str | None) -> Analyses:
    data = cell.data
    place = (data.subject, data.setting, data.split_by)
    found = analyse_model(result.model(), result.job.task.shift, cell.hyper._asdict())
    return (((*place, "data"), _facts(cell.study, source, data)), ((*place, cell.model), found))


@lru_cache(maxsize=256)
def _facts(name: str, source: str | None, data: Data) -> dict[str, Any]:
    return analyse_data(study_of(name, source), data, _task(name, source, data))
