"""``nvgf report``: the page and the figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[
        Path, typer.Argument(help="The folder that a run wrote, or a table of results (.csv).", metavar="RUN")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page to write; by default RUN/report.html, or beside a table."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Write the figures as PNG and SVG files into this folder too.")
    ] = None,
    select: Annotated[
        str, typer.Option("--select", help="Choose hyper-parameters by: valid, test (as the paper did) or paper.")
    ] = "valid",
    subject: Annotated[
        list[str] | None, typer.Option("--subject", help="Only this author or movie; may be given several times.")
    ] = None,
) -> None:
    """Write one self-contained HTML page about a run, from its stored results alone."""
    from nvgf.report import SELECTIONS, read_run, write_figures, write_report

    selection = next((name for name in SELECTIONS if name == select), None)
    if selection is None:
        raise ValueError(f"--select must be one of {', '.join(SELECTIONS)}, got {select!r}")
    content = read_run(run, selection=selection, subjects=subject)
    if figures is not None:
        files = write_figures(content, figures)
        typer.echo(f"{len(files)} files in {figures}", err=True)
    typer.echo(write_report(content, out or (run / "report.html" if run.is_dir() else run.with_suffix(".html"))))
