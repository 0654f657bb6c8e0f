"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def nvgf_data() -> Path:
    """The folder of data that lies beside the repository, named by ``NVGF_DATA``."""
    value = os.environ.get("NVGF_DATA")
    if not value:
        pytest.skip("NVGF_DATA is not set: this test needs the books and ratings beside the repository")
    folder = Path(value)
    if not folder.is_dir():
        pytest.fail(f"NVGF_DATA names {value}, which is not a folder")
    return folder
