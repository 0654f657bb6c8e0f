"""Text files of a folder or a zip, by their paths in it."""

from __future__ import annotations

import lzma
import posixpath
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path

_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError)
"""What reading a member raises: a RuntimeError where it needs a password or is packed in an unknown way."""


class Archive:
    """The files of a folder, at the top and one folder down, or of a zip, at any depth.

    Args:
        path: the folder or the zip.

    Attributes:
        names: paths of the files in it, with slashes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_dir():
            files = [file for file in (*path.iterdir(), *path.glob("*/*")) if file.is_file()]
            self._members = {file.relative_to(path).as_posix(): str(file) for file in files}
        else:
            try:
                with zipfile.ZipFile(path) as packed:
                    members = packed.namelist()
            except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
                raise ValueError(f"{path} is not a readable zip: {error}") from error
            self._members = {posixpath.normpath(name.replace("\\", "/")): name for name in members}
        self.names = tuple(sorted(self._members))

    def uppermost(self, wanted: Collection[str]) -> str:
        """Return the folder, ``""`` for the top, that holds a file of a wanted name and lies highest.

        Raises:
            ValueError: if none does, or several on one level.
        """
        found = {posixpath.dirname(name) for name in self.names if posixpath.basename(name) in wanted}
        if not found:
            raise ValueError(f"{self.path} holds none of {', '.join(wanted)}: it is no MovieLens data set")
        level = min(map(_depth, found))
        highest = sorted(folder for folder in found if _depth(folder) == level)
        if len(highest) > 1:
            raise ValueError(f"{self.path} holds several data sets, {' and '.join(highest)}: name one of them")
        return highest[0]

    def text(self, name: str, encoding: str) -> str:
        """Return what a file says."""
        member, source = self._members[name], f"{self.path}:{name}"
        if self.path.is_dir():
            return decode(Path(member).read_bytes(), encoding, source)
        try:
            with zipfile.ZipFile(self.path) as packed:
                raw = packed.read(member)
        except _DAMAGE as error:
            raise ValueError(f"{self.path} is damaged at {name}, or packed in a way not known: {error}") from error
        return decode(raw, encoding, source)


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0


def decode(raw: bytes, encoding: str, source: str) -> str:
    """Return bytes as text, or name their source."""
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} is not {encoding} text: {error}") from error
