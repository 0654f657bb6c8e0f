"""The corpus that comes with the package: what it is, and that it is what the books give."""

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from nvgf.authorship import build_corpus, default_words, load_corpus, load_words, network, read_catalogue
from nvgf.authorship.build import book_skeletons
from nvgf.authorship.skeletons import end_symbol

DATA = Path(str(resources.files("nvgf.authorship") / "data"))


def test_it_has_the_authors_and_the_sizes_of_the_paper():
    corpus = load_corpus()
    assert len(corpus.authors) == 21
    assert len(corpus.books) == 151
    # The paper's Austen has 771 texts: (1464 + 78) / 2.
    assert len(corpus.excerpts("austen")) == pytest.approx(771, rel=0.02)
    assert corpus.words == default_words()
    assert (DATA / "corpus.npz").stat().st_size < 9e6


def test_its_excerpts_have_about_a_thousand_words():
    corpus = load_corpus()
    is_word = corpus.symbols != end_symbol(len(corpus.words))
    words = np.add.reduceat(is_word.astype(int), corpus.starts[:-1])
    assert words.min() >= 900
    assert words.max() <= 1100
    assert words.sum() == sum(book.num_words for book in corpus.books)


def test_its_books_are_those_of_its_catalogue():
    entries = read_catalogue(DATA / "catalogue.csv")
    books = load_corpus().books
    for name in ("author", "title", "file", "pg_id", "year", "work"):
        assert [getattr(entry, name) for entry in entries] == [getattr(book, name) for book in books]
    volumes = [book.work for book in books if "Volume" in book.title and book.author in ("hawthorne", "james")]
    assert volumes == ["The Marble Faun"] * 2 + ["The Portrait of a Lady"] * 2


def test_it_is_saved_to_the_same_bytes(tmp_path):
    load_corpus().save(tmp_path / "corpus.npz")
    assert (tmp_path / "corpus.npz").read_bytes() == (DATA / "corpus.npz").read_bytes()


@pytest.mark.data
def test_it_is_rebuilt_byte_for_byte_from_the_books(nvgf_data, tmp_path):
    result = build_corpus(nvgf_data / "authorship", read_catalogue(DATA / "catalogue.csv"), jobs=2)
    assert result.errors == ()
    assert not [warning for report in result.reports for warning in report.warnings]
    result.corpus.save(tmp_path / "corpus.npz")
    assert (tmp_path / "corpus.npz").read_bytes() == (DATA / "corpus.npz").read_bytes()


@pytest.mark.data
def test_the_published_network_of_northanger_abbey(nvgf_data):
    words = load_words(nvgf_data / "oracles" / "northanger-abbey.words.txt")
    published = np.loadtxt(nvgf_data / "oracles" / "northanger-abbey.wan.txt") / 100
    (book,) = (nvgf_data / "authorship" / "austen").glob("121-*")
    excerpts, _ = book_skeletons(book, words)
    ours = network(np.concatenate(excerpts), len(words))
    assert np.abs(ours - published).sum() < 0.02 * published.sum()


@pytest.mark.data
def test_no_licence_or_credit_is_left_in_any_book(nvgf_data):
    from nvgf.authorship.build import known_cuts
    from nvgf.authorship.gutenberg import strip_gutenberg
    from nvgf.authorship.reading import read_text

    for entry in read_catalogue(DATA / "catalogue.csv"):
        text, _ = read_text(nvgf_data / "authorship" / entry.file)
        body, _ = strip_gutenberg(text, known_cuts().get(entry.pg_id, ()))
        lower = body.lower()
        assert "project gutenberg license" not in lower, entry.file
        assert "small print" not in lower[:20000], entry.file
        assert "distributed proofread" not in lower, entry.file
        assert "start of this project" not in lower, entry.file
        assert "transcriber's note" not in lower.replace("’", "'"), entry.file
        assert len(body) > 0.6 * len(text) or entry.pg_id == 2151, entry.file
