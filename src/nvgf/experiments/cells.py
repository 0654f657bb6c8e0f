"""Cells: the models that an experiment is made of, each identified by all that decides its numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, get_args

from nvgf.experiments.study import Data, Hyper, Study, check_name

Grid = Literal["table", "paper"]

PROTOCOL = 2
"""Raised whenever the same configuration would give other numbers than before: old rows are not reused, nor mixed."""

COST: dict[str, int] = {"lsigf": 1, "gcnn": 1, "design-nvgf": 1, "learn-nvgf": 2, "gcn": 3, "sgc": 3, "gat": 9}
"""Roughly how models compare in time: what is cheap comes first, so that there are numbers to see early."""


@dataclass(frozen=True)
class Cell:
    """One model to train: a data set, an architecture, its hyper-parameters and a seed.

    ``analyse`` asks for the spectra of the trained model as well; it is no part of its identity.
    """

    study: str
    data: Data
    model: str
    hyper: Hyper
    seed: int
    analyse: bool = False

    @property
    def shape(self) -> tuple[object, ...]:
        """What cells share that can be trained as one stack; Design NVGF belongs to the GCNN that it comes from.

        Baselines of all settings belong together: one that does not feel the setting is run once.
        """
        family = "gcnn" if self.model == "design-nvgf" else self.model
        setting = None if self.hyper == Hyper() else self.data.setting
        return setting, self.data.split_by, family, self.hyper.features, self.hyper.order, self.analyse

    def __str__(self) -> str:
        return f"{self.data.subject} {self.data.setting} split {self.data.split} {self.model} ({self.hyper})"


def protocol(study: Study) -> str:
    """Return the training protocol as text: part of every key, and stored with every row."""
    return json.dumps({"version": PROTOCOL, **asdict(study.schedule), **study.constants}, sort_keys=True)


def cell_key(cell: Cell, study: Study) -> str:
    """Return the hash of configuration, data and protocol: equal keys mean equal numbers.

    Example:
        >>> from nvgf.experiments.study import make_study
        >>> study = make_study("authorship")
        >>> cell = Cell("authorship", Data("austen"), "lsigf", Hyper(0.01, 16, 2), seed=0)
        >>> cell_key(cell, study) == cell_key(Cell(**{**vars(cell), "analyse": True}), study)
        True
    """
    configuration = {
        "study": cell.study,
        **asdict(cell.data),
        "model": cell.model,
        **cell.hyper._asdict(),
        "seed": cell.seed,
        "fingerprint": study.fingerprint(cell.data),
        "protocol": protocol(study),
    }
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()


def enumerate_cells(
    study: Study,
    *,
    subjects: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    settings: Sequence[str] | None = None,
    splits: int | None = None,
    split_by: str | None = None,
    grid: Grid = "table",
    seed: int = 0,
    analyse: bool = False,
) -> list[Cell]:
    """List the cells of an experiment, in the order in which they are best trained.

    Splits come one after the other, cheap models first, so that all models have some numbers early.

    Args:
        study: the application.
        subjects, models, settings: which; by default all subjects and models, and the study's default settings.
        splits: how many; by default the paper's number.
        split_by: how; by default as the paper does.
        grid: ``"table"``, the hyper-parameters of the paper's table, or ``"paper"``, the paper's exhaustive search.
        seed: of the experiment; every split has a seed of its own from it, the same for all models.
        analyse: mark the models of experiment 2 at the paper's hyper-parameters, on the first split.
    """
    if grid not in get_args(Grid):
        raise ValueError(f"grid must be one of {', '.join(get_args(Grid))}, got {grid!r}")
    count = study.splits if splits is None else splits
    if count < 1:
        raise ValueError(f"splits must be at least 1, got {count}")
    if not 0 <= seed < 2**40:
        raise ValueError(f"seed must be from 0 to 2**40 - 1, got {seed}")
    chosen = [study.check_subject(name) for name in subjects or study.subjects]
    names = [check_name(name, study.models, "model") for name in models or study.models]
    modes = [check_name(name, study.settings, "setting") for name in settings or study.default_settings]
    how = check_name(split_by, study.split_bys, "way to split") if split_by else study.split_bys[0]
    cells = []
    for subject in dict.fromkeys(chosen):
        for model in dict.fromkeys(names):
            paper = study.paper_hypers(subject, model)
            for hyper in paper if grid == "table" else study.grid_hypers(model):
                for setting in dict.fromkeys(modes):
                    for split in range(count):
                        marked = analyse and split == 0 and model in study.creation and hyper in paper
                        data = Data(subject, split, setting, how)
                        cells.append(Cell(study.name, data, model, hyper, split_seed(seed, split), marked))
    return sorted(cells, key=lambda cell: (cell.data.split, COST.get(cell.model, 0)))


def split_seed(seed: int, split: int) -> int:
    """Return the seed of the training on a split.

    Example:
        >>> split_seed(0, 3), split_seed(1, 3)
        (3, 1000003)
    """
    return seed * 1_000_000 + split


def batches(cells: Iterable[Cell], device: str, size: int | None = None) -> Iterator[list[Cell]]:
    """Cut cells into batches, each the work of one call, in their order.

    On a CPU a batch is one data set and one shape with all its learning rates (a GCNN with the Design NVGF made from
    it): small, since each batch that is done is stored. On a GPU it is one shape with all subjects, splits and rates.

    Args:
        cells: what is to be trained.
        device: where.
        size: the most cells of a batch; by default no limit.
    """
    on_gpu = device.startswith("cuda")
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        key = cell.shape if on_gpu else (*cell.shape, replace(cell.data, setting=""))
        groups.setdefault(key, []).append(cell)
    for group in groups.values():
        # A Design NVGF and its GCNN stay together: trained apart, the GCNN would be trained twice.
        group.sort(key=lambda cell: (cell.data.split, cell.data.subject, cell.data.setting, cell.hyper, cell.seed))
        step = size or len(group)
        yield from (group[start : start + step] for start in range(0, len(group), step))


def part_of(cells: Sequence[Cell], part: int, parts: int, subjects: Sequence[str]) -> list[Cell]:
    """Return one of several parts of an experiment, by subject: part 1 of 4 has the first quarter of them, ...

    Example:
        >>> cells = [Cell("s", Data(name), "lsigf", Hyper(), 0) for name in "abcde"]
        >>> [[cell.data.subject for cell in part_of(cells, part, 2, "abcde")] for part in (1, 2)]
        [['a', 'c', 'e'], ['b', 'd']]
    """
    if not 1 <= part <= parts:
        raise ValueError(f"part must be from 1/{parts} to {parts}/{parts}, got {part}/{parts}")
    mine = set(list(dict.fromkeys(subjects))[part - 1 :: parts])
    return [cell for cell in cells if cell.data.subject in mine]
