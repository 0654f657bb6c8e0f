"""What the commands of all studies share: their options, running cells, printing sheets, writing the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from nvgf.experiments.cells import Cell
    from nvgf.experiments.session import Place
    from nvgf.experiments.sheets import Sheet
    from nvgf.experiments.study import Study
    from nvgf.experiments.tables import Selection

SplitsOption = Annotated[int | None, typer.Option("--splits", min=1, help="How many splits; 10 as in the paper.")]
ModelsOption = Annotated[str | None, typer.Option("--models", help="Only these, separated by commas.")]
SettingOption = Annotated[str | None, typer.Option("--setting", help="How signals are scaled, separated by commas.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of all trainings.")]
DeviceOption = Annotated[str, typer.Option("--device", help="cpu or cuda.")]
WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="Processes; by default one a core.")]
DaskOption = Annotated[str | None, typer.Option("--dask", help="tcp://host:port of a Dask scheduler.")]
SelectOption = Annotated[
    str, typer.Option("--select", help="Choose hyper-parameters by: valid, test (as the paper did) or paper.")
]
ReportOption = Annotated[bool, typer.Option("--report/--no-report", help="Write the page of the run.")]
GridOption = Annotated[str, typer.Option("--grid", help="paper, the exhaustive search, or table.")]
PartOption = Annotated[str | None, typer.Option("--part", help="1/4: the first of four parts of the subjects.")]
LimitOption = Annotated[
    float | None, typer.Option("--limit", min=0.0, help="Minutes after which no new batch is begun.")
]
AnalyseOption = Annotated[bool, typer.Option("--analyse/--no-analyse", help="Store spectra of trained models.")]
FollowOption = Annotated[
    bool, typer.Option("--follow/--no-follow", help="Then run experiment 2 at the chosen hyper-parameters too.")
]


def names(text: str | None) -> list[str] | None:
    """Return the names in a list that is separated by commas."""
    from nvgf.experiments.sweep import split_names

    return split_names(text)


def selection_of(text: str) -> Selection:
    """Return a selection, or say which there are."""
    from typing import get_args

    from nvgf.experiments.tables import Selection

    found: Selection | None = next((name for name in get_args(Selection) if name == text), None)
    if found is None:
        raise ValueError(f"--select must be one of {', '.join(get_args(Selection))}, got {text!r}")
    return found


def run_both(
    study: Study,
    subjects: Sequence[str] | None,
    *,
    splits: int | None,
    models: str | None,
    setting: str | None,
    device: str,
    seed: int,
    out: Path | None,
    workers: int | None,
    dask: str | None,
    select: str,
    report: bool,
    split_by: str | None = None,
) -> None:
    """Run both experiments of the paper, at the hyper-parameters of the paper, and show what came of them."""
    from nvgf.experiments.cells import enumerate_cells
    from nvgf.experiments.session import Place

    selection = selection_of(select)
    cells = enumerate_cells(
        study,
        subjects=subjects,
        models=names(models) or study.default_models(device),
        settings=names(setting),
        splits=splits,
        split_by=split_by,
        seed=seed,
        analyse=True,
    )
    folder = out or default_out(study, subjects)
    settings = {"subjects": subjects, "splits": splits, "models": models, "setting": setting, "split_by": split_by}
    train(study, cells, folder, Place(device, workers, dask), {**settings, "device": device, "seed": seed})
    show_run(folder, selection, with_report=report)


def search(
    study: Study,
    subjects: Sequence[str] | None,
    *,
    grid: str,
    splits: int | None,
    models: str | None,
    setting: str | None,
    device: str,
    seed: int,
    out: Path | None,
    workers: int | None,
    dask: str | None,
    part: str | None,
    limit: float | None,
    analyse: bool,
    follow: bool,
    select: str,
    report: bool,
    split_by: str | None = None,
) -> None:
    """Search hyper-parameters, and show what came of it."""
    from nvgf.experiments.follow import sweep_cells
    from nvgf.experiments.session import Place

    selection = selection_of(select)
    cells = sweep_cells(
        study,
        subjects=subjects,
        models=names(models),
        settings=names(setting),
        splits=splits,
        split_by=split_by,
        grid=grid,
        seed=seed,
        analyse=analyse,
        device=device,
    )
    folder = out or default_out(study, subjects, "sweep")
    settings = {"subjects": subjects, "grid": grid, "models": models, "setting": setting, "splits": splits}
    settings |= {"split_by": split_by, "seed": seed, "device": device, "part": part}
    place, follows = Place(device, workers, dask, limit), follow and models is None
    if train(study, cells, folder, place, settings, follow=follows, part=part):
        show_run(folder, selection, with_report=report)


def train(
    study: Study,
    cells: Sequence[Cell],
    out: Path,
    place: Place,
    settings: dict[str, Any],
    *,
    follow: bool = False,
    part: str | None = None,
) -> int:
    """Train what is missing, and return how many models there are of those that were asked for.

    Leave with exit code 1 if something is missing still, 130 after Ctrl-C.
    """
    from nvgf.experiments.session import run_session

    try:
        outcome = run_session(study, cells, out, place, settings, follow=follow, part=part)
    except KeyboardInterrupt:
        typer.echo("interrupted; what was trained is stored, and the same command continues", err=True)
        raise typer.Exit(130) from None
    if outcome.failures:
        typer.echo("some models could not be trained, see above; the same command tries them again", err=True)
        raise typer.Exit(1)
    if outcome.stopped:
        typer.echo("stopped by --limit; the same command continues", err=True)
        raise typer.Exit(1)
    return outcome.trained + outcome.stored


def show_run(run: Path, selection: Selection, *, with_report: bool) -> None:
    """Print both experiments and the claims of a run, and write its page; the page's path comes last."""
    from nvgf.experiments.claims import evaluate
    from nvgf.experiments.runs import load_results
    from nvgf.experiments.sheets import change_sheet, comparison_sheet, overall_sheet

    results = load_results(run)
    for sheet in (
        make(results.rows, results.study, selection) for make in (comparison_sheet, change_sheet, overall_sheet)
    ):
        if sheet.rows:
            print_sheet(sheet)
    verdicts = evaluate(results.rows, results.analysis, study=results.study, selection=selection)
    words = {"holds": "hold", "does not hold": "do not hold", "undecided": "are undecided"}
    told = ", ".join(f"{sum(v.verdict == answer for v in verdicts)} {word}" for answer, word in words.items())
    typer.echo(f"Of {len(verdicts)} claims of the paper: {told} (nvgf claims {run})")
    if with_report:
        from nvgf.report import read_run, write_report

        typer.echo(write_report(read_run(run, selection=selection), run / "report.html"))


def print_sheet(sheet: Sheet) -> None:
    """Print a sheet with its note."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    table = Table(title=sheet.title, title_justify="left", caption=sheet.note or None, caption_justify="left")
    for place, column in enumerate(sheet.columns):
        table.add_column(column, justify="left" if place < sheet.labels else "right")
    last: tuple[str, ...] = ()
    for row in sheet.rows:
        if last and row[:2] != last[:2] and sheet.labels > 2 and sheet.columns[0] != "verdict":
            table.add_section()
        table.add_row(*map(Text, row))
        last = row
    console.print(table)


def default_out(study: Study, subjects: Sequence[str] | None, kind: str = "") -> Path:
    """Return the run folder of a command that names none: ``runs/authorship-austen``.

    Data that are not the study's own are named too: ``runs/movies-planted-sweep-all``.
    """
    chosen = (
        "all" if not subjects else "-".join(subjects[:3]) + (f"-and-{len(subjects) - 3}" if len(subjects) > 3 else "")
    )
    source = Path(study.source).resolve().stem if study.source else ""
    name = "-".join(filter(None, (study.name, source, kind, chosen)))
    return Path("runs") / "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name.casefold())
