"""``nvgf authorship attribute``: who wrote these texts?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SHOWN = 5
"""Candidates in a table."""


def attribute(
    texts: Annotated[list[Path], typer.Argument(help="Plain texts, or gzipped; of any length from 500 words.")],
    authors: Annotated[
        str | None,
        typer.Option("--authors", "--author", help="Candidates, separated by commas; all of the corpus by default."),
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="A corpus file; without it, the 21 authors of the package.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the splits and of the training.")] = 0,
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
) -> None:
    """Train a Learn NVGF for each candidate, and rank the candidates for each text.

    Each excerpt of about 1,000 words is judged by itself. The log-odds are their mean: how much more likely the author
    is than another, by the author's model; below 0 the model says "not mine".
    """
    from rich.console import Console
    from rich.table import Table

    from nvgf.authorship import Attributor, load_corpus, read_text
    from nvgf.cli.experiment import names
    from nvgf.training import ProgressBar

    read = {path: read_text(path)[0] for path in texts}
    source = load_corpus(corpus)
    with ProgressBar() as bar:
        attributor = Attributor(source, names(authors), split=seed, device=device, progress=bar)
    failed = False
    for path, text in read.items():
        try:
            candidates = attributor.judge(text)
        except ValueError as error:
            failed = True
            typer.echo(f"nvgf: {path}: {error}", err=True)
            continue
        table = Table(title=f"{path}: {len(candidates[0].log_odds)} excerpts", title_justify="left")
        for heading in ("author", "log-odds", "excerpts taken for the author's", "wrong on tests"):
            table.add_column(heading, justify="left" if heading == "author" else "right")
        for one in candidates[:SHOWN]:
            row = f"{one.score:+.2f}", f"{one.share:.0%}".replace("%", " %"), f"{one.test_error:.1%}".replace("%", " %")
            table.add_row(source.full_names[one.author], *row)
        Console().print(table)
        best = candidates[0]
        verdict = f"most like {source.full_names[best.author]}" if best.score > 0 else "like none of the candidates"
        typer.echo(f"{path}: {verdict}")
    if failed:
        raise typer.Exit(1)
