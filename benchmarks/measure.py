"""Measuring side by side: interleaved repeats in one process, medians, and what the machine itself can do.

Timings of processes run apart mislead on a shared machine, so all rivals of a comparison take turns in one process.
glibc gives large temporaries back to the system at each step; how much that costs is shown by running the same script
with an allocator that keeps them (``rerun_with_tuned_allocator``).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch

TUNED_ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": str(16 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "MALLOC_TOP_PAD_": str(1 << 30),
}


def interleaved(candidates: dict[str, Callable[[], object]], repeats: int, warmup: int = 2) -> dict[str, float]:
    """Run the candidates in turns and return the median seconds of each."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(warmup + repeats):
        for name, run in candidates.items():
            synchronize()
            start = time.perf_counter()
            run()
            synchronize()
            if turn >= warmup:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def machine() -> tuple[float, float]:
    """Return the rate of ``torch.mm`` (GFLOP/s) and the copy bandwidth (GB/s, bytes read and written)."""
    a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
    out = torch.empty_like(a)
    source = torch.randn(32 << 20)
    target = torch.empty_like(source)
    median = interleaved({"mm": lambda: torch.mm(a, b, out=out), "copy": lambda: target.copy_(source)}, repeats=7)
    return 2 * 2048**3 / median["mm"] / 1e9, 2 * source.nbytes / median["copy"] / 1e9


def table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown, so that it can be pasted into the documentation."""
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    print(f"\n### {title}\n")
    for row in (header, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    sys.stdout.flush()


def allocator_is_tuned() -> bool:
    return "MALLOC_TOP_PAD_" in os.environ


def rerun_with_tuned_allocator(arguments: list[str]) -> None:
    """Run this script again with an allocator that keeps what it has mapped."""
    subprocess.run([sys.executable, sys.argv[0], *arguments], check=True, env=os.environ | TUNED_ALLOCATOR)
