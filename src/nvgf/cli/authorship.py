"""``nvgf authorship``: who wrote a text, and the paper's experiments on authorship attribution."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nvgf.cli.attribute import attribute
from nvgf.cli.experiment import (
    AnalyseOption,
    DaskOption,
    DeviceOption,
    FollowOption,
    GridOption,
    LimitOption,
    ModelsOption,
    PartOption,
    ReportOption,
    SeedOption,
    SelectOption,
    SettingOption,
    SplitsOption,
    WorkersOption,
)

app = typer.Typer(help="Who wrote it? Both experiments of the paper.", no_args_is_help=True)
app.command()(attribute)

SplitByOption = Annotated[str | None, typer.Option("--split-by", help="excerpt, as the paper does, or book.")]
CorpusOption = Annotated[
    Path | None, typer.Option("--corpus", help="A corpus file; without it, the 21 authors of the package.")
]


@app.command()
def run(
    author: Annotated[
        str, typer.Option("--author", "--authors", help="The author; several separated by commas, or all.")
    ] = "austen",
    splits: SplitsOption = None,
    models: ModelsOption = None,
    setting: SettingOption = None,
    split_by: SplitByOption = None,
    device: DeviceOption = "cpu",
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Run folder; runs/authorship-[CORPUS-]AUTHOR by default.")
    ] = None,
    corpus: CorpusOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    select: SelectOption = "valid",
    report: ReportOption = True,
) -> None:
    """Run both experiments of the paper for an author, at the hyper-parameters of the paper's table.

    What is in the run folder already is not trained again. The last line is the path of the report.
    """
    from nvgf.cli.experiment import names, run_both
    from nvgf.experiments.study import make_study

    run_both(
        make_study("authorship", str(corpus) if corpus else None),
        None if author.strip().casefold() == "all" else names(author),
        splits=splits,
        models=models,
        setting=setting,
        split_by=split_by,
        device=device,
        seed=seed,
        out=out,
        workers=workers,
        dask=dask,
        select=select,
        report=report,
    )


@app.command()
def sweep(
    authors: Annotated[
        str | None, typer.Option("--authors", "--author", help="Separated by commas; all by default.")
    ] = None,
    grid: GridOption = "paper",
    models: ModelsOption = None,
    setting: SettingOption = None,
    splits: SplitsOption = None,
    split_by: SplitByOption = None,
    device: DeviceOption = "cpu",
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Run folder; runs/authorship-[CORPUS-]sweep-... by default.")
    ] = None,
    corpus: CorpusOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    part: PartOption = None,
    limit: LimitOption = None,
    analyse: AnalyseOption = True,
    follow: FollowOption = True,
    select: SelectOption = "valid",
    report: ReportOption = False,
) -> None:
    """Search hyper-parameters for any authors and models; the same command again continues.

    With the defaults these are the 15,120 trainings of the paper, experiment 2 and the baselines.
    """
    from nvgf.cli.experiment import names, search
    from nvgf.experiments.study import make_study

    search(
        make_study("authorship", str(corpus) if corpus else None),
        names(authors),
        grid=grid,
        splits=splits,
        models=models,
        setting=setting,
        split_by=split_by,
        device=device,
        seed=seed,
        out=out,
        workers=workers,
        dask=dask,
        part=part,
        limit=limit,
        analyse=analyse,
        follow=follow,
        select=select,
        report=report,
    )
