"""Finding MovieLens 100k, and downloading it where it is wanted."""

from __future__ import annotations

import os
from pathlib import Path

MOVIELENS_100K_URL = "https://files.grouplens.org/datasets/movielens/ml-100k.zip"
MOVIELENS_100K_SHA256 = "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229"
LICENCE = (
    "MovieLens 100k (F. M. Harper and J. A. Konstan, 2015) is for research only: it may not be redistributed, "
    "nor used commercially without permission of the GroupLens project, and publications must acknowledge it "
    "(https://files.grouplens.org/datasets/movielens/ml-100k-README.txt)."
)

_ARCHIVE = "ml-100k.zip"


def cache_folder() -> Path:
    """The user's cache folder of nvgf."""
    import pooch

    return Path(pooch.os_cache("nvgf"))


def fetch_movielens(
    folder: str | Path | None = None,
    *,
    url: str = MOVIELENS_100K_URL,
    sha256: str = MOVIELENS_100K_SHA256,
) -> Path:
    """Download MovieLens 100k once, check it, and return the path of the zip.

    A file that is there already and has the right checksum is kept. A download that breaks off, or that has
    another checksum, leaves nothing behind.

    Args:
        folder: where to put it; the user's cache by default.
        url: where from.
        sha256: the checksum that the file must have.
    """
    import pooch
    import requests

    target = Path(folder) if folder is not None else cache_folder()
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(f"{target} is a file, expected a folder to download to")
    try:
        path = pooch.retrieve(url, known_hash=f"sha256:{sha256}", fname=_ARCHIVE, path=target)
    except requests.RequestException as error:
        raise ConnectionError(f"could not download {url}: {error}") from error
    except ValueError as error:
        raise ValueError(
            f"{url} is not the expected file: its checksum differs from sha256 {sha256}; nothing was kept"
        ) from error
    return Path(path)


def find_movielens(data: str | Path | None = None) -> Path:
    """Where MovieLens is: ``data``, or ``$NVGF_DATA/ml-100k``, or what ``nvgf movies fetch`` downloaded."""
    if data is not None:
        if not Path(data).exists():
            raise FileNotFoundError(f"there is no ratings file or folder {data}")
        return Path(data)
    beside = os.environ.get("NVGF_DATA")
    candidates = []
    if beside:
        candidates.append(Path(beside, "ml-100k"))
        if candidates[0].exists():
            return candidates[0]
    candidates.append(cache_folder() / _ARCHIVE)
    if candidates[-1].exists():
        return candidates[-1]
    raise FileNotFoundError(
        "MovieLens is not here: run `nvgf movies fetch` to download it, or name a local copy with --data "
        f"(looked for {' and '.join(str(c) for c in candidates)})"
    )
