"""``nvgf results`` and ``nvgf claims``: look into a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from nvgf.cli.experiment import ModelsOption, SelectOption, SettingOption


class _ShowByDefault(TyperGroup):
    """``nvgf results RUN`` is short for ``nvgf results show RUN``."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if args and args[0] not in self.commands and args[0] not in ("--help",):
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_ShowByDefault, help="Show, filter, export and merge results.", no_args_is_help=True)

RunArgument = Annotated[Path, typer.Argument(help="A run folder, a store, or a table of results.", metavar="RUN")]
TABLES = ("comparison", "change", "overall", "hyper", "rows")


@app.command()
def show(
    run: RunArgument,
    table: Annotated[
        str | None,
        typer.Option("--table", help="Only this: comparison, change, overall, hyper or rows (models one by one)."),
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", "--author", "--target", help="Only these, separated by commas.")
    ] = None,
    models: ModelsOption = None,
    setting: SettingOption = None,
    split_by: Annotated[str | None, typer.Option("--split-by", help="Only this way to split.")] = None,
    select: SelectOption = "valid",
    csv: Annotated[Path | None, typer.Option("--csv", help="Write the models as a compact table.")] = None,
    parquet: Annotated[Path | None, typer.Option("--parquet", help="Write the models with their curves.")] = None,
    latex: Annotated[Path | None, typer.Option("--latex", help="Write the tables for LaTeX.")] = None,
) -> None:
    """Show the tables of a run, of some of its models if wanted, or export them."""
    from dataclasses import replace

    from nvgf.cli.experiment import names, print_sheet, selection_of
    from nvgf.experiments import sheets
    from nvgf.experiments.export import write_parquet
    from nvgf.experiments.runs import load_results, save_table
    from nvgf.experiments.study import check_name
    from nvgf.files import write_atomically

    selection = selection_of(select)
    if table is not None and table not in TABLES:
        raise ValueError(f"--table must be one of {', '.join(TABLES)}, got {table!r}")
    results = load_results(run)
    study, rows = results.study, list(results.rows)
    filters = (("subject", subject), ("model", models), ("setting", setting), ("split_by", split_by))
    for field, text in filters:
        wanted = names(text)
        if wanted is not None:
            known = tuple(dict.fromkeys(getattr(row, field) for row in rows))
            keep = {check_name(name, known, field) for name in wanted}
            rows = [row for row in rows if getattr(row, field) in keep]
    if not rows:
        raise ValueError(f"{run} has no models that fit")
    results = replace(results, rows=tuple(rows))
    make = {
        "comparison": lambda: sheets.comparison_sheet(rows, study, selection),
        "change": lambda: sheets.change_sheet(rows, study, selection),
        "overall": lambda: sheets.overall_sheet(rows, study, selection),
        "hyper": lambda: sheets.hyper_sheet(rows, study, selection),
        "rows": lambda: sheets.row_sheet(rows, study),
    }
    chosen = [make[name]() for name in ([table] if table else TABLES[:4])]
    exported = [path for path in (csv, parquet, latex) if path is not None]
    if csv is not None:
        save_table(results, csv)
    if parquet is not None:
        write_parquet(parquet, rows)
    if latex is not None:
        write_atomically(latex, ("\n\n".join(map(sheets.latex, chosen)) + "\n").encode())
    for path in exported:
        typer.echo(f"{path}: {path.stat().st_size / 1e3:.1f} kB")
    if not exported:
        for sheet in chosen:
            if sheet.rows:
                print_sheet(sheet)
        typer.echo(f"{len(rows)} models in {run}")


@app.command()
def merge(
    runs: Annotated[list[Path], typer.Argument(help="Run folders or stores.", metavar="RUN...")],
    out: Annotated[Path, typer.Option("--out", help="Run folder to put them into; may exist.")],
) -> None:
    """Put several runs into one; a model that several have is taken from the first."""
    from nvgf.experiments.runs import merge as merge_runs

    done = merge_runs(runs, out)
    typer.echo(
        f"{out}: {done.rows} models added, {done.repeated} were there ({done.differing} of them with other errors)"
    )


def claims(
    run: RunArgument,
    select: SelectOption = "valid",
    setting: Annotated[str | None, typer.Option("--setting", help="By default the paper's own.")] = None,
    split_by: Annotated[str | None, typer.Option("--split-by", help="By default as the paper does.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the verdicts as JSON too.")] = None,
) -> None:
    """Test every claim of the paper on a run: holds, does not hold, or undecided."""
    from nvgf.cli.experiment import print_sheet, selection_of
    from nvgf.experiments.claims import as_json, evaluate
    from nvgf.experiments.runs import load_results
    from nvgf.experiments.sheets import claim_sheet
    from nvgf.files import write_atomically

    selection = selection_of(select)
    results = load_results(run)
    verdicts = evaluate(
        results.rows,
        results.analysis,
        study=results.study,
        selection=selection,
        setting=setting,
        split_by=split_by,
    )
    print_sheet(claim_sheet(verdicts, selection))
    for answer in ("holds", "does not hold", "undecided"):
        typer.echo(f"{sum(verdict.verdict == answer for verdict in verdicts)} {answer}")
    if json_file is not None:
        write_atomically(json_file, as_json(verdicts).encode())
