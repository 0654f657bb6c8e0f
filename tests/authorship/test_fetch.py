import gzip
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nvgf.authorship import Entry
from nvgf.authorship.fetch import LOCK, check_book, fetch_books

HEADER = "The Project Gutenberg eBook of X\n\nRelease date: 1998 [eBook #{id}]\n\n"
BOOK = HEADER + (
    "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n"
    + "It was a bright day. " * 200
    + "\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\nlicence\n"
)


class Handler(BaseHTTPRequestHandler):
    """Book 1 is whole; the others are wrong, each in its way."""

    def do_GET(self):
        asked = self.server.asked
        number = int(self.path.strip("/").removesuffix(".txt"))
        asked[number] += 1
        self.server.agents.add(self.headers["User-Agent"])
        text = BOOK.format(id=number).encode()
        status, length = 200, None
        if number == 2:  # the connection breaks
            length, text = len(text), text[:900]
        elif number == 3:  # cut short, but the server says it is whole
            text = text[:900]
        elif number == 4:
            text = b"<html><body>Sorry, too many requests.</body></html>"
        elif number == 5:
            text = BOOK.format(id=55).encode()
        elif number == 6:
            status, text = 404, b"not found"
        elif number == 7 and asked[7] == 1:
            status, text = 503, b"busy"
        elif number == 8:
            text = b""
        elif number == 9 and asked[9] == 1:
            length, text = len(text), text[:900]
        self.send_response(status)
        self.send_header("Content-Length", str(length or len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.agents = Counter(), set()
        server.mirror = f"http://127.0.0.1:{server.server_port}/{{id}}.txt"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def entry(number: int | None, suffix: str = ".txt.gz") -> Entry:
    return Entry("ann", f"Book {number}", f"ann/{number}{suffix}", pg_id=number)


def fetch(server, folder, *entries, **options):
    return fetch_books(entries, folder, mirror=server.mirror, delay=0, attempts=2, **options)


def test_books_are_fetched_whole(server, tmp_path):
    seen = []
    reports = fetch(server, tmp_path, entry(1), entry(1, ".txt"), progress=seen.append)
    assert [report.status for report in reports] == ["fetched", "fetched"]
    assert seen == list(reports)
    text = BOOK.format(id=1)
    assert gzip.decompress((tmp_path / "ann/1.txt.gz").read_bytes()).decode() == text
    assert (tmp_path / "ann/1.txt").read_text() == text
    assert server.agents == {"nvgf corpus fetch"}


@pytest.mark.parametrize(
    ("number", "message", "asked"),
    [
        (2, "ann/2.txt.gz: ", 2),
        (3, "the book is cut short (it has no END mark)", 2),
        (4, "is no book of Project Gutenberg (it has no START mark)", 2),
        (5, "is book 55 of Project Gutenberg, expected 5", 2),
        (6, "404", 1),
        (8, "the file is empty", 2),
    ],
)
def test_wrong_books_are_reported_and_the_others_fetched(server, tmp_path, number, message, asked):
    bad, good = fetch(server, tmp_path, entry(number), entry(1))
    assert bad.status == "failed"
    assert message in bad.error
    assert good.status == "fetched"
    assert server.asked[number] == asked
    assert sorted(path.name for path in (tmp_path / "ann").iterdir()) == ["1.txt.gz"]


@pytest.mark.parametrize("number", [7, 9])
def test_a_passing_failure_is_tried_again(server, tmp_path, number):
    assert fetch(server, tmp_path, entry(number))[0].status == "fetched"
    assert server.asked[number] == 2


def test_an_interrupted_run_is_continued(server, tmp_path):
    def stop(report):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(server, tmp_path, entry(1), entry(7), progress=stop)
    reports = fetch(server, tmp_path, entry(1), entry(7))
    assert [report.status for report in reports] == ["present", "fetched"]
    assert server.asked[1] == 1


def test_a_file_that_is_not_the_book_is_kept_and_reported_unless_forced(server, tmp_path):
    fetch(server, tmp_path, entry(1))
    for other in (b"other", BOOK.format(id=77).encode(), b""):
        (tmp_path / "ann/1.txt.gz").write_bytes(gzip.compress(other))
        (report,) = fetch(server, tmp_path, entry(1))
        assert report.status == "failed"
        assert report.error.startswith("ann/1.txt.gz: what is there is not the book, and is kept; --force overwrites")
        assert gzip.decompress((tmp_path / "ann/1.txt.gz").read_bytes()) == other
    assert server.asked[1] == 1
    assert fetch(server, tmp_path, entry(1), force=True)[0].status == "fetched"
    assert check_book(tmp_path / "ann/1.txt.gz", 1) is None
    assert fetch(server, tmp_path, entry(1), force=True)[0].status == "present"


def test_a_book_that_is_there_without_a_record_is_kept_and_recorded(server, tmp_path):
    (tmp_path / "ann").mkdir()
    text = BOOK.format(id=1).replace("bright", "dark")
    (tmp_path / "ann/1.txt").write_text(text)
    assert fetch(server, tmp_path, entry(1, ".txt"))[0].status == "present"
    assert (tmp_path / "ann/1.txt").read_text() == text
    assert "ann/1.txt" in (tmp_path / LOCK).read_text()
    assert not server.asked


def test_a_file_in_place_of_a_folder_stops_only_its_own_books(server, tmp_path):
    (tmp_path / "bob").write_text("a file")
    wrong = Entry("bob", "Book 7", "bob/7.txt", pg_id=7)
    deeper = Entry("bob", "Book 9", "bob/deep/9.txt", pg_id=9)
    reports = fetch(server, tmp_path, wrong, deeper, entry(1))
    assert [report.status for report in reports] == ["failed", "failed", "fetched"]
    assert reports[0].error.endswith("bob is a file, and no folder of books")
    assert "bob/deep/9.txt: " in reports[1].error
    assert (tmp_path / "bob").read_text() == "a file"


@pytest.mark.parametrize("file", ["../escaped.txt", "ann/../../escaped.txt", "{tmp}/escaped.txt", "..\\escaped.txt"])
def test_nothing_is_written_outside_the_folder(server, tmp_path, file):
    file = file.format(tmp=tmp_path)
    with pytest.raises(ValueError, match="lies outside the folder of books"):
        fetch(server, tmp_path / "books", entry(1), Entry("eve", "Book 1", file, pg_id=1))
    assert not server.asked
    assert not list(tmp_path.rglob("*.txt*"))


def test_requests_keep_their_distance(server, tmp_path, monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    fetch_books([entry(1), entry(7), entry(6)], tmp_path, mirror=server.mirror, delay=2.0, attempts=3)
    assert pauses == [2.0, 4.0, 2.0]  # before 7, before its repetition, before 6
    pauses.clear()
    fetch_books([entry(1), entry(7)], tmp_path, mirror=server.mirror, delay=2.0)
    assert pauses == []  # nothing was asked


def test_no_server(tmp_path):
    (report,) = fetch_books([entry(1)], tmp_path, mirror="http://127.0.0.1:9/{id}", delay=0, attempts=1)
    assert report.status == "failed"
    assert "ann/1.txt.gz: " in report.error


def test_a_book_without_a_number(tmp_path):
    (report,) = fetch_books([entry(None)], tmp_path)
    assert report.error == "ann/None.txt.gz: the catalogue gives no pg_id"


def test_bad_arguments(tmp_path):
    for mirror in ("http://example.org/", "http://example.org/{id}/{name}", "http://example.org/{id}/{0}", "{id}{"):
        with pytest.raises(ValueError, match=r"mirror must have \{id\} .*, and no other braces, got"):
            fetch_books([], tmp_path, mirror=mirror)
    with pytest.raises(ValueError, match="attempts must be at least 1, got 0"):
        fetch_books([], tmp_path, attempts=0)
    (tmp_path / LOCK).write_text("[1]")
    with pytest.raises(ValueError, match="not a record of fetched books"):
        fetch_books([], tmp_path)


def test_old_books_are_checked_too(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text(
        "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\nText.\n\n"
        "End of Project Gutenberg Etext The Choir Invisible\n"
    )
    check_book(file, 2316)
