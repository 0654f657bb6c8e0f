import gzip

import pytest

from nvgf.authorship.reading import BAD, DAMAGED_UTF8, decode, read_text

TEXT = "“Café,” she said—‘naïve’."


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (TEXT.encode("utf-8-sig"), "utf-8-sig"),
        (TEXT.encode("cp1252"), "cp1252"),
        (TEXT.encode("utf-16"), "utf-16"),
    ],
)
def test_the_encoding_is_found(data, encoding):
    assert decode(data) == (TEXT, encoding)


def test_bytes_outside_cp1252_are_latin_1():
    assert decode(b"caf\xe9 \x81") == ("café \x81", "latin-1")


def test_a_few_bad_bytes_do_not_spoil_a_utf_8_text(tmp_path):
    good = ("The café was “closed,” she said—once more. " * 200).encode()
    damaged = good[:4000] + b"\xff\xe9" + good[4000:]
    text, encoding = decode(damaged)
    assert encoding == DAMAGED_UTF8
    assert text.count(BAD) == 2
    assert text.replace(BAD, "") == good.decode()
    (tmp_path / "a.txt").write_bytes(damaged)
    assert read_text(tmp_path / "a.txt") == (text, DAMAGED_UTF8)


@pytest.mark.parametrize(
    "text",
    [
        "She said so. " * 500 + "“Café,” ‘naïve’ CAFÉ”",  # "É”" is a character of UTF-8 by chance
        "Caf\u00e9. " * 20 + "na\u00c9\u00a9ve.",
    ],
)
def test_windows_texts_with_a_pair_of_bytes_that_is_utf_8_stay_windows_texts(text):
    assert decode(text.encode("cp1252")) == (text, "cp1252")


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_gzip(tmp_path, compress, newline):
    data = newline.join(["One.", "Two.", ""]).encode()
    file = tmp_path / ("book.txt.gz" if compress else "book.txt")
    file.write_bytes(gzip.compress(data) if compress else data)
    assert read_text(file) == ("One.\nTwo.\n", "utf-8")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"", "the file is empty"),
        ("a.txt.gz", b"", "the file is empty"),
        ("a.txt", b" \r\n\t ", "holds no text"),
        ("a.txt.gz", b"plain text", "is named .gz but is not a gzip file"),
        ("a.txt.gz", gzip.compress(b"text " * 1000)[:-12], "the gzip file is truncated or damaged"),
        ("a.txt", b"\x89PNG\r\n\x1a\n\x00\x00", "is a binary file"),
        ("a.txt", bytes(range(1, 32)) * 20, "more than 2 % control characters"),
        ("a.txt", b"\xef\xbb\xbfcaf\xe9", "has the byte order mark of utf-8-sig but is not"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path, name, data, message):
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        read_text(file)
    assert str(file) in str(caught.value)


def test_a_damaged_gzip_body_is_refused(tmp_path):
    data = bytearray(gzip.compress(bytes(range(32, 127)) * 50))
    data[20] ^= 0xFF
    file = tmp_path / "a.txt.gz"
    file.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="the gzip file is truncated or damaged"):
        read_text(file)
