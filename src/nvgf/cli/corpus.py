"""``nvgf corpus``: build, show, fetch a corpus of books, and write word adjacency networks."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nvgf.authorship.catalogue import Entry

app = typer.Typer(help="Books, excerpts and word adjacency networks.", no_args_is_help=True)

CorpusFile = Annotated[
    Path | None, typer.Argument(help="A corpus file; without it, the 21 authors of the package.", metavar="FILE")
]
WordsFile = Annotated[Path | None, typer.Option("--words", help="Your own list of function words.")]
CatalogueFile = Annotated[
    Path | None,
    typer.Option("--catalogue", help="CSV with author, title, file and maybe full_name, pg_id, year, work."),
]


@app.command()
def build(
    folder: Annotated[Path, typer.Argument(help="A folder per author, or the files of a catalogue.", metavar="DIR")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The corpus file to write.")],
    catalogue: CatalogueFile = None,
    words: WordsFile = None,
    size: Annotated[int, typer.Option("--size", min=1, help="Words of an excerpt.")] = 1000,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0 means all cores.")] = 0,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell what was dropped from each file.")] = False,
) -> None:
    """Build a corpus file from books (.txt or .txt.gz).

    Without --catalogue, DIR/CATALOG.csv is used if it exists. A file that cannot be used is reported and left out;
    the exit code is then 1. Warnings about files that are used are always shown and do not change the exit code.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from nvgf.authorship.build import FileReport, build_corpus
    from nvgf.authorship.catalogue import read_catalogue, scan_folder
    from nvgf.authorship.words import load_words

    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder of books")
    _check_out(out)
    listed = folder / "CATALOG.csv"
    if catalogue is None and listed.exists():
        catalogue = listed
    entries = read_catalogue(catalogue) if catalogue else scan_folder(folder)
    if skipped := _skipped(folder, entries, catalogue):
        typer.echo(skipped, err=True)
    console = Console(stderr=True, soft_wrap=True)
    with Progress(console=console) as bar:
        task = bar.add_task("Reading books", total=len(entries))

        def show(report: FileReport) -> None:
            if report.error is not None:
                console.print(f"[red]left out[/red] {escape(report.error)}", highlight=False)
            for warning in report.warnings:
                console.print(f"[yellow]warning[/yellow] {escape(report.file)}: {escape(warning)}", highlight=False)
            if verbose and report.error is None:
                console.print(f"{escape(report.file)}: {report.num_excerpts} excerpts", highlight=False)
                for note in (note for note in report.notes if note not in report.warnings):
                    console.print(f"  {escape(note)}", highlight=False)
            bar.advance(task)

        result = build_corpus(
            folder,
            entries,
            words=load_words(words) if words else None,
            size=size,
            jobs=jobs or os.cpu_count() or 1,
            progress=show,
        )
    result.corpus.save(out)
    typer.echo(
        f"{out}: {len(result.corpus.authors)} authors, {len(result.corpus.books)} books, "
        f"{len(result.corpus)} excerpts, {out.stat().st_size / 1e6:.2f} MB"
    )
    if result.errors:
        typer.echo(f"{len(result.errors)} of {len(result.reports)} files were left out", err=True)
        raise typer.Exit(1)


def _check_out(out: Path) -> None:
    """Raise, before minutes of work, if a file cannot be written there."""
    if out.is_dir():
        raise IsADirectoryError(f"{out} is a folder; name a file to write")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"{out} cannot be written: there is no folder {out.parent}")


def _skipped(folder: Path, entries: tuple[Entry, ...], catalogue: Path | None) -> str:
    """Say in one line which book files of a folder are not used; empty if all are."""
    from nvgf.authorship.catalogue import unlisted

    files = unlisted(folder, entries)
    if not files:
        return ""
    why = f"not listed in {catalogue}" if catalogue else f"not {folder}/AUTHOR/BOOK.txt"
    return f"book files skipped, {why}: {len(files)}; the first is {files[0]}"


@app.command()
def info(file: CorpusFile = None) -> None:
    """List the authors of a corpus with their books, excerpts, words, and the nodes and edges of their networks.

    An edge is a pair of words, loops included, that is linked in either direction.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from nvgf.authorship.corpus import load_corpus
    from nvgf.authorship.networks import author_network, num_edges, support_matrix

    corpus = load_corpus(file)
    title = f"{len(corpus.words)} function words, excerpts of about {corpus.excerpt_size} words"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))  # 80 columns are enough
    table.add_column("author", no_wrap=True)
    table.add_column("name", no_wrap=True)
    for column in ("books", "excerpts", "words", "nodes", "edges"):
        table.add_column(column, justify="right", no_wrap=True)
    for author in corpus.authors:
        books = [book for book in corpus.books if book.author == author]
        weights = author_network(corpus, author)
        num_nodes = len(support_matrix(weights)[1]) if weights.any() else 0
        table.add_row(
            author,
            corpus.full_names[author],
            str(len(books)),
            f"{sum(book.num_excerpts for book in books):,}",
            f"{sum(book.num_words for book in books):,}",
            str(num_nodes),
            f"{num_edges(weights):,}",
        )
    table.add_section()
    words = sum(book.num_words for book in corpus.books)
    table.add_row("all", "", str(len(corpus.books)), f"{len(corpus):,}", f"{words:,}", "", "")
    Console().print(table)


@app.command()
def network(
    author: Annotated[str, typer.Option("--author", help="The key of the author, as shown by info.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A .csv or .graphml file.")],
    file: CorpusFile = None,
    discount: Annotated[float, typer.Option("--discount", help="Discount per word of distance.")] = 0.8,
    window: Annotated[int, typer.Option("--window", help="How many following words are looked at, up to 1,000.")] = 10,
) -> None:
    """Write the directed word adjacency network of all excerpts of an author: source, following word, weight."""
    import numpy as np

    from nvgf.authorship.corpus import load_corpus
    from nvgf.authorship.export import save_network
    from nvgf.authorship.networks import author_network

    corpus = load_corpus(file)
    weights = author_network(corpus, author, discount=discount, window=window)
    save_network(out, weights, corpus.words.words)
    typer.echo(f"{out}: {np.count_nonzero(weights)} edges among {len(corpus.words)} words")


@app.command()
def fetch(
    folder: Annotated[Path, typer.Argument(help="Where the books go, one folder per author.", metavar="DIR")],
    catalogue: CatalogueFile = None,
    author: Annotated[list[str] | None, typer.Option("--author", help="Only this author; may be repeated.")] = None,
    mirror: Annotated[str | None, typer.Option("--mirror", help="URL with {id} for the number of the book.")] = None,
    delay: Annotated[float, typer.Option("--delay", min=0.0, help="Seconds between requests.")] = 2.0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are not the whole book.")] = False,
) -> None:
    """Fetch the books of a catalogue (by default the package's) from Project Gutenberg.

    What is there already is kept, so an interrupted run can be continued. A file that is there and is not the whole
    book counts as failed, and is overwritten with --force only. The exit code is 1 if a book failed.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from nvgf.authorship.catalogue import read_catalogue
    from nvgf.authorship.fetch import MIRROR, FetchReport, check_mirror, fetch_books

    if catalogue is not None:
        entries = read_catalogue(catalogue)
    else:
        with resources.as_file(resources.files("nvgf.authorship") / "data" / "catalogue.csv") as path:
            entries = read_catalogue(path)
    if author:
        unknown = sorted(set(author) - {entry.author for entry in entries})
        if unknown:
            raise ValueError(f"the catalogue has no author {', '.join(map(repr, unknown))}")
        entries = tuple(entry for entry in entries if entry.author in author)
    mirror = mirror or MIRROR
    check_mirror(mirror)
    console = Console(stderr=True, soft_wrap=True)
    with Progress(console=console) as bar:
        task = bar.add_task("Fetching books", total=len(entries))

        def show(report: FetchReport) -> None:
            if report.error is not None:
                console.print(f"[red]failed[/red] {escape(report.error)}", highlight=False)
            bar.advance(task)

        reports = fetch_books(entries, folder, mirror=mirror, delay=delay, force=force, progress=show)
    count = {status: sum(report.status == status for report in reports) for status in ("fetched", "present", "failed")}
    typer.echo(f"{folder}: {count['fetched']} fetched, {count['present']} already there, {count['failed']} failed")
    if count["failed"]:
        raise typer.Exit(1)
