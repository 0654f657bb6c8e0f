"""A real browser for the page, or a reason why there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def _missing(reason: str) -> None:
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"{reason}: CI must look at the page in a browser")
    pytest.skip(f"{reason}: the page is NOT looked at in a browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's chromium, headless, driven by playwright, with a profile of its own."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    program = os.environ.get("NVGF_CHROMIUM") or shutil.which("chromium")
    if program is None:
        _missing("there is no chromium")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield opened
        opened.close()
