"""Reading one book: bytes, plain or gzipped, of unknown encoding, to text with ``\\n`` line ends."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path

SUFFIXES = (".txt", ".txt.gz")
"""The file names that count as books, in lower case."""
DAMAGED_UTF8 = "utf-8 with bad bytes"
"""The encoding of a text that is UTF-8 but for a few bytes."""
BAD = "\N{REPLACEMENT CHARACTER}"
"""What stands in such a text for each bad byte."""

_ESCAPED = re.compile("[\udc80-\udcff]")  # a byte that is not UTF-8, decoded by "surrogateescape"
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_GZIP_MAGIC = b"\x1f\x8b"
_CONTROL = bytes({*range(32), 127} - {*b"\t\n\f\r"})
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of ``data`` and the encoding it was in: UTF-8, else Windows-1252, else ISO-8859-1.

    A text with fewer than 0.1 % bytes that are not UTF-8, and with more characters beyond ASCII that are, is
    ``DAMAGED_UTF8``: as Windows-1252 all of those would come out wrong.

    Windows-1252 is tried before ISO-8859-1 since it adds the curly quotes of old Project Gutenberg files; the
    five bytes that it leaves undefined are control characters in ISO-8859-1.

    Example:
        >>> decode("café".encode("latin-1"))
        ('café', 'cp1252')
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return data.decode(encoding), encoding
            except UnicodeDecodeError as error:
                raise ValueError(f"has the byte order mark of {encoding} but is not {encoding} ({error})") from error
    if b"\x00" in data:
        raise ValueError("is a binary file (it has zero bytes), not a text")
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        if (text := _damaged_utf8(data)) is not None:
            return text, DAMAGED_UTF8
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _damaged_utf8(data: bytes) -> str | None:
    text = data.decode(errors="surrogateescape")
    bad = len(_ESCAPED.findall(text))
    valid = len(_BEYOND_ASCII.findall(text)) - bad
    return _ESCAPED.sub(BAD, text) if bad < min(valid, 0.001 * len(text)) else None


def read_text(path: str | Path) -> tuple[str, str]:
    """Return the text of a book, with ``\\n`` line ends, and its encoding. A ``.gz`` file is unpacked.

    Raises:
        ValueError: if the file is empty, binary, or a gzip file that is none, or a truncated one.
    """
    path = Path(path)
    data = path.read_bytes()
    if not data:
        raise ValueError(f"{path}: the file is empty")
    if path.suffix.lower() == ".gz":
        if not data.startswith(_GZIP_MAGIC):
            raise ValueError(f"{path}: is named .gz but is not a gzip file")
        try:
            data = gzip.decompress(data)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path}: the gzip file is truncated or damaged ({error})") from error
    try:
        text, encoding = decode(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    coded = text.encode()
    printable = coded.translate(None, _CONTROL)
    if len(coded) - len(printable) > 0.02 * len(coded):
        raise ValueError(f"{path}: is a binary file (more than 2 % control characters), not a text")
    if len(printable) < len(coded):
        text = printable.decode()
    if not text.strip():
        raise ValueError(f"{path}: holds no text")
    return text.replace("\r\n", "\n").replace("\r", "\n"), encoding
