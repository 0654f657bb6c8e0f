"""The cells of a sweep: the exhaustive search, and experiment 2 at the hyper-parameters that the search chose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nvgf.experiments.cells import Cell, enumerate_cells
from nvgf.experiments.rows import Row
from nvgf.experiments.study import Study
from nvgf.experiments.tables import Selection, best, summaries


def sweep_cells(
    study: Study,
    *,
    subjects: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    settings: Sequence[str] | None = None,
    splits: int | None = None,
    split_by: str | None = None,
    grid: str = "paper",
    seed: int = 0,
    analyse: bool = False,
    device: str = "cpu",
) -> list[Cell]:
    """List the cells of a sweep.

    With ``grid="paper"`` and no ``models`` these are the exhaustive search of experiment 1 (15,120 for the authors of
    the paper) and, at the hyper-parameters of the paper's table, experiment 2 and the baselines. Models that are named
    are searched exhaustively.

    The default setting is the paper's own; the default models are those of a plain run on the device.
    """
    settings = settings or study.settings[:1]

    def cells(names: Sequence[str], how: str) -> list[Cell]:
        return enumerate_cells(
            study,
            subjects=subjects,
            models=names,
            settings=settings,
            splits=splits,
            split_by=split_by,
            grid="paper" if how == "paper" else "table",
            seed=seed,
            analyse=analyse,
        )

    if grid not in ("paper", "table"):
        raise ValueError(f"grid must be paper or table, got {grid!r}")
    everything = study.default_models(device)
    if models or grid == "table":
        return cells(models or everything, grid)
    searched = [model for model in study.comparison if model in study.trained]
    others = [model for model in everything if model not in searched]
    return cells(searched, "paper") + cells(others, "table")


def following_cells(study: Study, rows: Iterable[Row], analysed: Iterable[Cell] = ()) -> list[Cell]:
    """List the cells of experiment 2 at the hyper-parameters that a search chose, by validation and by test.

    They are what lets experiment 2 be told with a selection of one's own, where the search covered the first model of
    experiment 1 alone.

    Args:
        study: the application.
        rows: what the store holds.
        analysed: cells that are listed already.
    """
    rows = [row for row in rows if row.model == study.comparison[0]]
    by_place: dict[object, list[Row]] = {}
    for row in rows:
        by_place.setdefault((row.subject, row.setting, row.split_by), []).append(row)
    found: dict[Cell, None] = {}
    known = {replace(cell, analyse=False) for cell in analysed}
    selections: tuple[Selection, ...] = ("valid", "test")
    for of_place in by_place.values():
        candidates = summaries(of_place)
        for selection in selections:
            chosen = best(candidates, study, selection)
            if chosen is None:
                continue
            for row in of_place:
                if row.hyper != chosen.hyper:
                    continue
                for model in study.creation:
                    if model != study.comparison[0]:
                        cell = Cell(study.name, row.data, model, row.hyper, row.seed)
                        if cell not in known:
                            found[cell] = None
    return list(found)
