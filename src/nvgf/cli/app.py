"""The root of ``nvgf``: command groups are registered here, one module each."""

from __future__ import annotations

import typer

from nvgf import __version__
from nvgf.cli import authorship, corpus, movies, results
from nvgf.cli.report import report

app = typer.Typer(
    name="nvgf",
    help="Graph filters that create frequencies: authorship attribution, movie ratings and their experiments.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
app.add_typer(corpus.app, name="corpus")
app.add_typer(authorship.app, name="authorship")
app.add_typer(movies.app, name="movies")
app.add_typer(results.app, name="results")
app.command()(results.claims)
app.command()(report)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"nvgf {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Graph filters that create frequencies."""


def main() -> None:
    """Run the command line; a user's mistake ends in one line on stderr and exit code 2."""
    try:
        app()
    except (ValueError, OSError, ModuleNotFoundError) as error:
        typer.echo(f"nvgf: {error}", err=True)
        raise SystemExit(2) from error
