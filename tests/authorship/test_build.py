import gzip

import numpy as np
import pytest

from nvgf.authorship import Entry, FunctionWords, build_corpus, scan_folder, skeleton
from nvgf.authorship.build import book_skeletons, known_cuts

SENTENCE = "The cat of the house, which had seen all of it, went to the door and upon the step. "
WORDS = FunctionWords(("the", "of", "and", "to"), ("",) * 4)


@pytest.fixture
def books(tmp_path):
    """Three good books by two authors, and one of each bad kind."""
    good = {
        "ann/1.txt": SENTENCE * 20,
        "ann/2.txt": SENTENCE * 31,
        "bob/1.txt": "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nProduced by Y\n\n" + SENTENCE * 10,
    }
    bad = {
        "ann/empty.txt": b"",
        "ann/short.txt": b"Only the end.",
        "bob/binary.txt": b"\x00\x01\x02" * 100,
        "bob/chinese.txt": "天下之水莫大于海。. ".encode() * 200,
        "bob/endless.txt": b"the one and " * 500,
        "bob/fake.txt.gz": b"no gzip",
        "bob/cut.txt.gz": gzip.compress(SENTENCE.encode() * 50)[:-9],
    }
    for name, text in {**good, **bad}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return tmp_path


def test_bad_files_are_reported_and_the_others_processed(books):
    seen = []
    result = build_corpus(books, scan_folder(books), words=WORDS, size=100, progress=seen.append)
    assert [report.file for report in seen] == [report.file for report in result.reports]
    assert [book.file for book in result.corpus.books] == ["ann/1.txt", "ann/2.txt", "bob/1.txt"]
    errors = {report.file: report.error for report in result.errors}
    assert set(errors) == {
        "ann/empty.txt", "ann/short.txt", "bob/binary.txt", "bob/chinese.txt", "bob/cut.txt.gz",
        "bob/endless.txt", "bob/fake.txt.gz",
    }  # fmt: skip
    for file, message in {
        "ann/empty.txt": "the file is empty",
        "ann/short.txt": "the text has 3 words; one excerpt of 100 words needs at least 50",
        "bob/binary.txt": "is a binary file",
        "bob/chinese.txt": "none of the 4 function words",
        "bob/endless.txt": "the text is one endless sentence: 1500 words",
        "bob/fake.txt.gz": "is named .gz but is not a gzip file",
        "bob/cut.txt.gz": "the gzip file is truncated or damaged",
    }.items():
        assert message in errors[file]
        assert str(books / file) in errors[file]


def test_a_book_that_is_there_twice_is_taken_once(books):
    frame = "The Project Gutenberg eBook\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n{}\n"
    (books / "ann/9.txt").write_text(frame.format(SENTENCE.upper() * 31))  # the skeleton of ann/2.txt
    (books / "cy").mkdir()
    (books / "cy/1.txt").write_bytes((books / "ann/1.txt").read_bytes())
    for jobs in (1, 2):
        result = build_corpus(books, scan_folder(books), words=WORDS, size=100, jobs=jobs)
        assert [book.file for book in result.corpus.books] == ["ann/1.txt", "ann/2.txt", "bob/1.txt"]
        errors = {report.file: report for report in result.errors}
        assert errors["ann/9.txt"].error == "ann/9.txt: holds the same text as ann/2.txt, which is kept"
        assert errors["cy/1.txt"].error == "cy/1.txt: holds the same text as ann/1.txt, which is kept"
        assert errors["cy/1.txt"].num_excerpts == 0
        assert result.corpus.authors == ("ann", "bob")


def test_warnings_are_told_apart_from_notes(books):
    (books / "bob/2.txt").write_bytes(("“The café” of it. " * 200).encode() + b"\xff And the end of it.")
    result = build_corpus(books, scan_folder(books), words=WORDS, size=100)
    reports = {report.file: report for report in result.reports}
    assert reports["ann/1.txt"].warnings == ()
    (warning,) = reports["bob/1.txt"].warnings
    assert warning.startswith("has no END mark")
    assert any(note.startswith("credits") for note in reports["bob/1.txt"].notes)
    assert reports["bob/2.txt"].warnings == ("is UTF-8 but for 1 bad bytes, which were taken for spaces",)
    assert set(reports["bob/1.txt"].warnings) < set(reports["bob/1.txt"].notes)


def test_a_known_passage_that_is_not_found_is_a_warning(tmp_path):
    (tmp_path / "poe.txt").write_text(SENTENCE * 20)
    entry = Entry("poe", "Works 1", "poe.txt", pg_id=2147)
    (report,) = build_corpus(tmp_path, [entry], words=WORDS, size=100).reports
    assert len(report.warnings) == 1
    assert report.warnings[0].startswith("appreciation and lives of Poe by others: not found")


def test_what_is_dropped_is_reported(books):
    result = build_corpus(books, scan_folder(books), words=WORDS, size=100)
    notes = {report.file: report.notes for report in result.reports}["bob/1.txt"]
    assert any(note.startswith("credits: ") for note in notes)
    assert any("no END mark" in note for note in notes)


def test_excerpts_never_cross_books_and_lose_nothing(books):
    corpus = build_corpus(books, scan_folder(books), words=WORDS, size=100).corpus
    whole = skeleton(SENTENCE * 31, WORDS)
    second = np.flatnonzero(corpus.book_of == 1)
    assert np.array_equal(corpus.take(second), whole)
    assert len(second) == 6  # 31 sentences of 19 words
    assert corpus.books[1].num_words == 31 * 19
    assert corpus.excerpt_size == 100


def test_the_number_of_processes_does_not_matter(books):
    entries = scan_folder(books)
    one = build_corpus(books, entries, words=WORDS, size=100, jobs=1)
    two = build_corpus(books, list(reversed(entries)), words=WORDS, size=100, jobs=2)
    assert one.corpus.digest == two.corpus.digest
    assert one.reports == two.reports


def test_a_missing_file_is_reported(books):
    entries = scan_folder(books)
    (books / "ann/1.txt").unlink()
    result = build_corpus(books, entries, words=WORDS, size=100)
    assert "there is no such file" in result.errors[0].error


def test_no_usable_file_at_all(books):
    entries = [entry for entry in scan_folder(books) if entry.file == "ann/empty.txt"]
    with pytest.raises(ValueError, match=r"none of the 1 files could be used; the first: .*the file is empty"):
        build_corpus(books, entries, words=WORDS)


def test_bad_jobs(books):
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        build_corpus(books, scan_folder(books), jobs=0)


def test_a_bad_size_is_told_before_any_book_is_read(books):
    with pytest.raises(ValueError, match=r"^size must be at least 1 word, got 0$"):
        build_corpus(books, scan_folder(books), size=0, progress=lambda report: pytest.fail("a book was read"))


def test_other_encodings_are_reported(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes((SENTENCE * 10 + "Café.").encode("latin-1"))
    assert "read as cp1252" in book_skeletons(file, WORDS, size=100)[1]


def test_known_cuts_have_reasons():
    cuts = known_cuts()
    assert 2147 in cuts
    assert all(cut.reason and (cut.start or cut.stop) for group in cuts.values() for cut in group)
