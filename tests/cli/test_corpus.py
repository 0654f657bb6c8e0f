import csv
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

from nvgf.authorship import author_network, load_corpus
from nvgf.authorship.fetch import FetchReport
from nvgf.cli.app import app

SENTENCE = "The cat of the house, which had seen all of it, went to the door and upon the step. "


def run(*arguments):
    return CliRunner().invoke(app, ["corpus", *map(str, arguments)])


@pytest.fixture
def books(tmp_path):
    for name, count in {"ann/1.txt": 20, "ann/2.txt": 30, "bob/1.txt": 25}.items():
        path = tmp_path / "books" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n" + SENTENCE * count)
    return tmp_path / "books"


def test_info_lists_the_authors_of_the_package():
    result = run("info")
    assert result.exit_code == 0
    rows = [line.rsplit(None, 5) for line in result.output.splitlines()]
    rows = {row[0].split()[0]: row[1:] for row in rows if len(row) == 6}
    corpus = load_corpus()
    for author in corpus.authors:
        books, excerpts, _, nodes, edges = (int(cell.replace(",", "")) for cell in rows[author])
        assert books == sum(book.author == author for book in corpus.books)
        assert excerpts == len(corpus.excerpts(author))
        assert 180 <= nodes <= len(corpus.words)
        assert edges > 8000


def test_build_info_and_network_go_together(books, tmp_path):
    file = tmp_path / "corpus.npz"
    result = run("build", books, "-o", file, "--size", 100, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "2 authors, 3 books, 15 excerpts" in result.output
    assert "ann" in run("info", file).output
    result = run("network", "--author", "bob", "-o", tmp_path / "wan.graphml", file, "--window", 3)
    assert result.exit_code == 0
    corpus = load_corpus(file)
    graph = nx.read_graphml(tmp_path / "wan.graphml")
    expected = author_network(corpus, "bob", window=3)
    words = list(graph.nodes)
    index = [corpus.words.words.index(word) for word in words]
    np.testing.assert_allclose(nx.to_numpy_array(graph, nodelist=words), expected[np.ix_(index, index)])


def test_network_writes_csv(tmp_path):
    assert run("network", "--author", "austen", "-o", tmp_path / "wan.csv").exit_code == 0
    with (tmp_path / "wan.csv").open(newline="") as stream:
        total = sum(float(row["weight"]) for row in csv.DictReader(stream))
    assert total == pytest.approx(author_network(load_corpus(), "austen").sum())


def test_build_reports_bad_files_and_ends_with_1(books, tmp_path):
    (books / "bob/2.txt").write_text("")
    result = run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "--jobs", 1)
    assert result.exit_code == 1
    assert "the file is empty" in result.output
    assert "1 of 4 files were left out" in result.output
    assert len(load_corpus(tmp_path / "c.npz").books) == 3


def test_verbose_tells_what_was_dropped(books, tmp_path):
    quiet = run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "--jobs", 1)
    verbose = run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "--jobs", 1, "--verbose")
    assert "header and licence" not in quiet.output
    assert verbose.output.count("header and licence") == 3


def test_warnings_are_always_shown_and_the_exit_code_is_0(books, tmp_path):
    for options in ((), ("--verbose",)):
        result = run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "--jobs", 1, *options)
        assert result.exit_code == 0
        for file in ("ann/1.txt", "ann/2.txt", "bob/1.txt"):
            assert f"warning {file}: has no END mark" in result.output
        assert result.output.count("no END mark") == 3


def test_a_copy_of_a_book_is_left_out(books, tmp_path):
    (books / "bob/copy.txt").write_bytes((books / "ann/1.txt").read_bytes())
    result = run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "--jobs", 1)
    assert result.exit_code == 1
    assert "left out bob/copy.txt: holds the same text as ann/1.txt" in result.output
    assert "1 of 4 files were left out" in result.output


def test_books_that_are_skipped_are_told_in_one_line(books, tmp_path):
    (books / "top.txt").write_text(SENTENCE)
    (books / "ann/deep").mkdir()
    (books / "ann/deep/3.TXT").write_text(SENTENCE)
    result = run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "--jobs", 1)
    lines = [line for line in result.output.splitlines() if "files skipped" in line]
    assert len(lines) == 1
    assert lines[0] == f"book files skipped, not {books}/AUTHOR/BOOK.txt: 2; the first is ann/deep/3.TXT"
    (books / "CATALOG.csv").write_text("author,title,file\nann,Emma,ann/1.txt\n")
    result = run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "--jobs", 1)
    assert f"book files skipped, not listed in {books / 'CATALOG.csv'}: 4; the first is " in result.output


def test_where_a_corpus_goes_is_checked_before_books_are_read(books, tmp_path, monkeypatch):
    monkeypatch.setattr("nvgf.authorship.build.build_corpus", lambda *args, **options: pytest.fail("books were read"))
    result = run("build", books, "-o", tmp_path)
    assert isinstance(result.exception, IsADirectoryError)
    assert str(result.exception) == f"{tmp_path} is a folder; name a file to write"
    result = run("build", books, "-o", tmp_path / "none" / "c.npz")
    assert isinstance(result.exception, FileNotFoundError)
    assert "there is no folder" in str(result.exception)
    assert run("build", books, "-o", tmp_path / "c.npz", "--size", 0).exit_code == 2


def test_a_catalogue_and_own_words(books, tmp_path):
    (books / "CATALOG.csv").write_text("author,full_name,title,file\nann,Ann A.,Emma,ann/1.txt\n")
    (tmp_path / "words.txt").write_text("the of and")
    result = run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "-j", 1, "--words", tmp_path / "words.txt")
    assert result.exit_code == 0
    corpus = load_corpus(tmp_path / "c.npz")
    assert corpus.words.words == ("the", "of", "and")
    assert corpus.full_names == {"ann": "Ann A."}
    (tmp_path / "all.csv").write_text("author,title,file\nann,Emma,ann/1.txt\nbob,Red,bob/1.txt\n")
    run("build", books, "-o", tmp_path / "c.npz", "--size", 100, "-j", 1, "--catalogue", tmp_path / "all.csv")
    assert len(load_corpus(tmp_path / "c.npz").books) == 2


def test_fetch_overwrites_another_file_only_if_forced(tmp_path):
    (tmp_path / "books/ann").mkdir(parents=True)
    (tmp_path / "books/ann/1.txt").write_text("mine")
    (tmp_path / "c.csv").write_text("author,title,file,pg_id\nann,Emma,ann/1.txt,158\n")
    common = ["fetch", tmp_path / "books", "--catalogue", tmp_path / "c.csv", "--mirror", "http://127.0.0.1:9/{id}"]
    result = run(*common)
    assert result.exit_code == 1
    assert "failed ann/1.txt: what is there is not the book, and is kept; --force overwrites it" in result.output
    result = run(*common, "--force", "--delay", 0)
    assert result.exit_code == 1
    assert "is kept" not in result.output  # it was asked for, from a server that does not answer
    assert (tmp_path / "books/ann/1.txt").read_text() == "mine"


def test_fetch_uses_the_catalogue_of_the_package(tmp_path, monkeypatch):
    asked = {}

    def fake(entries, folder, *, mirror, delay, force, progress):
        asked.update(entries=entries, folder=folder, mirror=mirror, delay=delay, force=force)
        reports = [FetchReport(entries[0].file, "fetched"), FetchReport(entries[1].file, "failed", "no luck")]
        for report in reports:
            progress(report)
        return tuple(reports)

    monkeypatch.setattr("nvgf.authorship.fetch.fetch_books", fake)
    result = run("fetch", tmp_path, "--author", "austen", "--delay", 5)
    assert result.exit_code == 1
    assert "failed no luck" in result.output
    assert "1 fetched, 0 already there, 1 failed" in result.output
    assert {entry.author for entry in asked["entries"]} == {"austen"}
    assert len(asked["entries"]) == 8
    assert asked["delay"] == 5
    assert asked["force"] is False
    assert asked["mirror"].startswith("https://www.gutenberg.org/")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "{tmp}/none.npz"], "No such file or directory"),
        (["network", "--author", "eve", "-o", "{tmp}/wan.csv"], "author 'eve' is not in the corpus"),
        (
            ["network", "--author", "poe", "-o", "{tmp}/w.csv", "--window", "1000000"],
            "window must be a whole number from",
        ),
        (
            ["fetch", "{tmp}", "--author", "poe", "--mirror", "http://127.0.0.1:9/{{id}}/{{name}}"],
            "mirror must have {id}",
        ),
        (["network", "--author", "poe", "-o", "{tmp}/wan.png"], "a network is written to .csv or .graphml"),
        (["build", "{tmp}/none", "-o", "{tmp}/c.npz"], "is not a folder of books"),
        (["build", "{tmp}", "-o", "{tmp}/c.npz"], "there are no books"),
        (["fetch", "{tmp}", "--author", "eve"], "the catalogue has no author 'eve'"),
    ],
)
def test_mistakes_end_in_one_line_and_exit_code_2(arguments, message, tmp_path):
    command = [sys.executable, "-c", "from nvgf.cli import main; main()", "corpus"]
    command += [argument.format(tmp=tmp_path) for argument in arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
