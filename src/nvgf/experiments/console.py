"""Progress of a sweep: a live line on a terminal, plain log lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, TextIO

from nvgf.experiments.driver import Progress
from nvgf.experiments.rows import Row
from nvgf.experiments.study import Study

EVERY = 15.0
"""Seconds between log lines."""


class PlainLog:
    """Writes a line about every fifteen seconds, and one for each model of the first splits."""

    def __init__(self, study: Study, stream: TextIO | None = None, every: float = EVERY, first: int = 12) -> None:
        self.study = study
        self.stream = stream or sys.stderr
        self.every = every
        self.first = first
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Tell."""
        for row in progress.news[: max(self.first, 0)]:
            self._write(describe(row, self.study))
        self.first -= len(progress.news)
        ended = progress.done + progress.stored == progress.total and progress.news
        if ended or time.monotonic() - self._last >= self.every:
            self._last = time.monotonic()
            self._write(status(progress, self.study))

    def _write(self, line: str) -> None:
        print(line, file=self.stream, flush=True)

    def __enter__(self) -> PlainLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class LiveBar:
    """A bar of rich that stays in place; the models of the first splits are printed above it."""

    def __init__(self, study: Study, console: Any, first: int = 12) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self.study = study
        self.console = console
        self.first = first
        self.bar = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("models"),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
        )
        self.number = self.bar.add_task("starting", total=None)

    def __call__(self, progress: Progress) -> None:
        """Tell."""
        for row in progress.news[: max(self.first, 0)]:
            self.console.print(describe(row, self.study), highlight=False, markup=False)
        self.first -= len(progress.news)
        text = status(progress, self.study, counts=False) or "starting"
        done = progress.done + progress.stored
        self.bar.update(self.number, total=progress.total, completed=done, description=text)

    def __enter__(self) -> LiveBar:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()


def progress_display(study: Study, stream: TextIO | None = None) -> PlainLog | LiveBar:
    """Return what suits the stream: the live bar on a terminal where rich is installed, else plain lines."""
    stream = stream or sys.stderr
    if stream.isatty():
        try:
            from rich.console import Console
        except ImportError:
            pass
        else:
            return LiveBar(study, Console(file=stream, soft_wrap=True))
    return PlainLog(study, stream)


def describe(row: Row, study: Study) -> str:
    """Return one result as a line."""
    unit = f" {study.metric.unit}" if study.metric.unit else ""
    valid, test = (error * study.metric.scale for error in (row.valid_error, row.test_error))
    where = f"{row.subject}, {row.setting}, split {row.split}"
    return f"{where}: {row.model} ({row.hyper})  valid {valid:.3g}{unit}, test {test:.3g}{unit}, {row.seconds:.1f} s"


def status(progress: Progress, study: Study, counts: bool = True) -> str:
    """Return how far a sweep is: done, rate, time left, best so far."""
    parts = []
    if counts:
        parts.append(f"{progress.done + progress.stored} of {progress.total} models")
    if progress.done:
        rate = progress.rate
        parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min")
    if progress.left is not None and progress.left > 0.5:
        parts.append(f"{duration(progress.left)} left")
    if progress.best is not None:
        row, unit = progress.best, f" {study.metric.unit}" if study.metric.unit else ""
        parts.append(f"best valid {row.valid_error * study.metric.scale:.3g}{unit} ({row.subject} {row.model})")
    if progress.lost_workers:
        parts.append(f"{progress.lost_workers} batches lost their worker and were handed out again")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return seconds as a person says them.

    Example:
        >>> duration(42.4), duration(150), duration(7300)
        ('42 s', '2.5 min', '2.0 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
