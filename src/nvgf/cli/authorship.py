"""``nvgf authorship``: the paper's experiments on authorship attribution."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nvgf.cli.experiment import (
    DaskOption,
    DeviceOption,
    ModelsOption,
    ReportOption,
    SeedOption,
    SelectOption,
    SettingOption,
    SplitsOption,
    WorkersOption,
)

app = typer.Typer(help="Who wrote it? Both experiments of the paper.", no_args_is_help=True)

SplitByOption = Annotated[str | None, typer.Option("--split-by", help="excerpt, as the paper does, or book.")]
CorpusOption = Annotated[
    Path | None, typer.Option("--corpus", help="A corpus file; without it, the 21 authors of the package.")
]


@app.command()
def run(
    author: Annotated[
        str, typer.Option("--author", help="The author; several separated by commas, or all.")
    ] = "austen",
    splits: SplitsOption = None,
    models: ModelsOption = None,
    setting: SettingOption = None,
    split_by: SplitByOption = None,
    device: DeviceOption = "cpu",
    seed: SeedOption = 0,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; runs/authorship-AUTHOR by default.")] = None,
    corpus: CorpusOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    select: SelectOption = "valid",
    report: ReportOption = True,
) -> None:
    """Run both experiments of the paper for an author, at the hyper-parameters of the paper's table.

    What is in the run folder already is not trained again. The last line is the path of the report.
    """
    from nvgf.cli.experiment import default_out, names, selection_of, show_run, train
    from nvgf.experiments.cells import enumerate_cells
    from nvgf.experiments.session import Place
    from nvgf.experiments.study import make_study

    selection = selection_of(select)
    study = make_study("authorship", str(corpus) if corpus else None)
    authors = None if author.strip().casefold() == "all" else names(author)
    cells = enumerate_cells(
        study,
        subjects=authors,
        models=names(models),
        settings=names(setting),
        splits=splits,
        split_by=split_by,
        seed=seed,
        analyse=True,
    )
    folder = out or default_out(study, authors)
    settings = {"author": author, "splits": splits, "models": models, "setting": setting, "split_by": split_by}
    train(study, cells, folder, Place(device, workers, dask), {**settings, "device": device, "seed": seed})
    show_run(folder, selection, with_report=report)


@app.command()
def sweep(
    authors: Annotated[str | None, typer.Option("--authors", help="Separated by commas; all by default.")] = None,
    grid: Annotated[str, typer.Option("--grid", help="paper, the exhaustive search, or table.")] = "paper",
    models: ModelsOption = None,
    setting: SettingOption = None,
    splits: SplitsOption = None,
    split_by: SplitByOption = None,
    device: DeviceOption = "cpu",
    seed: SeedOption = 0,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; runs/authorship-sweep-... by default.")] = None,
    corpus: CorpusOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    part: Annotated[str | None, typer.Option("--part", help="1/4: the first of four parts of the authors.")] = None,
    limit: Annotated[float | None, typer.Option("--limit", help="Minutes after which no new batch is begun.")] = None,
    analyse: Annotated[bool, typer.Option("--analyse/--no-analyse", help="Store spectra of trained models.")] = True,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Then run experiment 2 at the chosen hyper-parameters too.")
    ] = True,
    select: SelectOption = "valid",
    report: ReportOption = False,
) -> None:
    """Search hyper-parameters for any authors and models; the same command again continues.

    With the defaults these are the 15,120 trainings of the paper, experiment 2 and the baselines.
    """
    from nvgf.cli.experiment import default_out, names, selection_of, show_run, train
    from nvgf.experiments.follow import sweep_cells
    from nvgf.experiments.session import Place
    from nvgf.experiments.study import make_study

    selection = selection_of(select)
    study = make_study("authorship", str(corpus) if corpus else None)
    chosen = names(authors)
    cells = sweep_cells(
        study,
        subjects=chosen,
        models=names(models),
        settings=names(setting),
        splits=splits,
        split_by=split_by,
        grid=grid,
        seed=seed,
        analyse=analyse,
        device=device,
    )
    folder = out or default_out(study, chosen, "sweep")
    settings = {"authors": authors, "grid": grid, "models": models, "setting": setting, "splits": splits, "seed": seed}
    place = Place(device, workers, dask, limit)
    follows = follow and models is None
    train(study, cells, folder, place, {**settings, "device": device, "part": part}, follow=follows, part=part)
    show_run(folder, selection, with_report=report)
