"""The download, against a server on this machine only."""

import hashlib
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from nvgf.cli.app import app
from nvgf.movies import fetch, fetch_movielens, find_movielens


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("ml-100k/u.data", "1\t10\t5\t0\n2\t10\t3\t0\n")
        file.writestr("ml-100k/u.item", "10|Fargo (1996)|\n")
    return buffer.getvalue()


ARCHIVE = archive()
SHA256 = hashlib.sha256(ARCHIVE).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.hits += 1
        if self.path == "/missing.zip":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(ARCHIVE)))
        self.end_headers()
        self.wfile.write(ARCHIVE[:50] if self.path == "/short.zip" else ARCHIVE)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        httpd.hits = 0
        thread = threading.Thread(target=httpd.serve_forever, daemon=True)
        thread.start()
        yield httpd
        httpd.shutdown()
        thread.join()


@pytest.fixture
def address(server):
    return f"http://127.0.0.1:{server.server_address[1]}"


def test_a_download_is_checked_and_kept(server, address, tmp_path):
    for _ in range(2):
        path = fetch_movielens(tmp_path, url=f"{address}/good.zip", sha256=SHA256)
        assert path.read_bytes() == ARCHIVE
    assert server.hits == 1


def test_a_wrong_checksum_leaves_nothing(address, tmp_path):
    with pytest.raises(ValueError, match=r"not the expected file: its checksum differs from sha256 000.*nothing was"):
        fetch_movielens(tmp_path, url=f"{address}/good.zip", sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_spoiled_on_disk_is_downloaded_again(server, address, tmp_path):
    path = fetch_movielens(tmp_path, url=f"{address}/good.zip", sha256=SHA256)
    path.write_bytes(b"spoiled")
    assert fetch_movielens(tmp_path, url=f"{address}/good.zip", sha256=SHA256).read_bytes() == ARCHIVE
    assert server.hits == 2


@pytest.mark.parametrize("name", ["short.zip", "missing.zip"])
def test_a_broken_download_leaves_nothing(address, tmp_path, name):
    with pytest.raises(ConnectionError, match=f"could not download {address}/{name}"):
        fetch_movielens(tmp_path, url=f"{address}/{name}", sha256=SHA256)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder_is_left_alone(server, address, tmp_path):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(NotADirectoryError, match="file is a file, expected a folder to download to"):
        fetch_movielens(tmp_path / "file", url=f"{address}/good.zip", sha256=SHA256)
    assert (tmp_path / "file").read_text() == "precious"
    assert server.hits == 0


def test_nobody_answers(tmp_path):
    with pytest.raises(ConnectionError, match="could not download"):
        fetch_movielens(tmp_path, url="http://127.0.0.1:9/x.zip", sha256=SHA256)


def test_the_command_says_the_licence_and_the_place(address, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "MOVIELENS_100K_URL", f"{address}/good.zip")
    monkeypatch.setattr(fetch, "MOVIELENS_100K_SHA256", SHA256)
    result = CliRunner().invoke(app, ["movies", "fetch", "--to", str(tmp_path)])
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert text.index("research only") < text.index("2 ratings by 2 users of 1 movies")
    assert "may not be redistributed" in text
    assert (tmp_path / "ml-100k.zip").read_bytes() == ARCHIVE


def test_find_prefers_the_given_place_then_the_environment_then_the_cache(tmp_path, monkeypatch):
    cache, beside, given = (tmp_path / name for name in ("cache", "beside", "given"))
    for folder in (cache, beside / "ml-100k", given):
        folder.mkdir(parents=True)
    monkeypatch.setattr(fetch, "cache_folder", lambda: cache)
    monkeypatch.delenv("NVGF_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"run `nvgf movies fetch` .* or name a local copy with --data"):
        find_movielens()
    (cache / "ml-100k.zip").write_bytes(ARCHIVE)
    assert find_movielens() == cache / "ml-100k.zip"
    monkeypatch.setenv("NVGF_DATA", str(beside))
    assert find_movielens() == beside / "ml-100k"
    assert find_movielens(given) == given
    with pytest.raises(FileNotFoundError, match="there is no ratings file or folder"):
        find_movielens(tmp_path / "nowhere")
