"""``nvgf movies``: ratings of movies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(name="movies", help="Predict how users rate movies.", no_args_is_help=True)


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
