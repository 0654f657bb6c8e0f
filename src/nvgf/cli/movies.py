"""``nvgf movies``: ratings of movies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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

if TYPE_CHECKING:
    from nvgf.experiments.study import Study

MOST_PARTS = 5
"""Of a title, between commas."""

app = typer.Typer(name="movies", help="Predict how users rate movies.", no_args_is_help=True)


DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        help="Folder, zip or file of ratings, or planted: made-up ratings. By default MovieLens 100k, where NVGF_DATA "
        "or nvgf movies fetch put it.",
    ),
]


@app.callback()
def movies() -> None:
    """Predict how users rate movies."""


@app.command()
def fetch(
    to: Annotated[Path | None, typer.Option("--to", help="Folder to download to; the user's cache by default.")] = None,
) -> None:
    """Download MovieLens 100k (5 MB), check it, and say where it lies."""
    from nvgf.movies import fetch as movielens
    from nvgf.movies.formats import read_ratings

    typer.echo(movielens.LICENCE)
    path = movielens.fetch_movielens(to, url=movielens.MOVIELENS_100K_URL, sha256=movielens.MOVIELENS_100K_SHA256)
    ratings = read_ratings(path)
    typer.echo(f"{path}: {len(ratings)} ratings by {ratings.num_users} users of {ratings.num_items} movies")


@app.command()
def run(
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "--targets",
            help="Title of the movie, or a part of it; several separated by commas, or all. Star Wars by default, of "
            "other ratings the most rated movie.",
        ),
    ] = None,
    data: DataOption = None,
    splits: SplitsOption = None,
    models: ModelsOption = None,
    setting: SettingOption = None,
    device: DeviceOption = "cpu",
    seed: SeedOption = 0,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; runs/movies-[DATA-]TARGET by default.")] = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    select: SelectOption = "valid",
    report: ReportOption = True,
) -> None:
    """Run both experiments of the appendix for a target movie, or for all five.

    The rivals RMGCNN and RMCayley complete whole matrices, which takes minutes a split on a CPU: they are run with
    --device cuda, or where --models names them. What is in the run folder already is not trained again. The last line
    is the path of the report.
    """
    from nvgf.cli.experiment import run_both

    study = study_of(data)
    run_both(
        study,
        [study.subjects[0]] if target is None else targets_of(study, target),
        splits=splits,
        models=models,
        setting=setting,
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
    targets: Annotated[
        str, typer.Option("--targets", "--target", help="Separated by commas; all five by default.")
    ] = "all",
    data: DataOption = None,
    grid: GridOption = "paper",
    models: ModelsOption = None,
    setting: SettingOption = None,
    splits: SplitsOption = None,
    device: DeviceOption = "cpu",
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Run folder; runs/movies-[DATA-]sweep-... by default.")
    ] = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    part: PartOption = None,
    limit: LimitOption = None,
    analyse: AnalyseOption = True,
    follow: FollowOption = True,
    select: SelectOption = "valid",
    report: ReportOption = False,
) -> None:
    """Search learning rate, F and K of Learn NVGF for any targets, then run the rest; the same command continues."""
    from nvgf.cli.experiment import search

    study = study_of(data)
    search(
        study,
        targets_of(study, targets),
        grid=grid,
        splits=splits,
        models=models,
        setting=setting,
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


def study_of(data: str | None) -> Study:
    """Return the study of these ratings, and say at once if there are none."""
    from nvgf.experiments.movies import MovieStudy

    study = MovieStudy(data)
    _ = study.ratings
    return study


def targets_of(study: Study, text: str) -> list[str] | None:
    """Return the keys of the movies in a list, each once; ``None`` stands for all.

    A comma may also belong to a title: the longest run of parts that names a movie is taken for one.
    """
    from nvgf.cli.experiment import names

    if text.strip().casefold() == "all":
        return None
    parts, keys = names(text) or [], []
    while parts:
        for length in range(min(len(parts), MOST_PARTS), 0, -1):
            try:
                keys.append(study.check_subject(", ".join(parts[:length])))
            except ValueError:
                if length == 1:
                    raise
            else:
                parts = parts[length:]
                break
    return list(dict.fromkeys(keys))
