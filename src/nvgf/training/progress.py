"""Progress for people: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from nvgf.training.engine import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


class ProgressBar:
    """A callback for :func:`nvgf.training.fit_many` that shows how far it is, on standard error.

    On a terminal a bar of rich, elsewhere a line at most every ``every`` seconds. As a context manager it leaves the
    terminal in order after errors, too.

    Example:
        >>> with ProgressBar(every=0, file=sys.stdout, terminal=False) as bar:
        ...     bar(Progress(jobs_done=1, jobs=2, steps_done=50, steps=100, best_valid_error=0.125))
        1 of 2 models, 50 %, best validation error 0.1250
    """

    def __init__(self, every: float = 10.0, file: TextIO | None = None, terminal: bool | None = None) -> None:
        self._file = sys.stderr if file is None else file
        self._terminal = self._file.isatty() if terminal is None else terminal
        self._every = every
        self._last = -float("inf")
        self._start = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> ProgressBar:
        """Begin."""
        self._start = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, and leave what was shown last."""
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Show how far the training is."""
        now = time.monotonic()
        finished = progress.jobs_done == progress.jobs
        if now - self._last < (0.1 if self._terminal else self._every) and not finished:
            return
        self._last = now
        best = "" if progress.best_valid_error == float("inf") else f", best {progress.best_valid_error:.4f}"
        if self._terminal:
            self._bar = self._bar or _bar(self._file)
            text = f"{progress.jobs_done} of {progress.jobs} models{best}"
            task = self._bar.task_ids[0]
            self._bar.update(task, description=text, total=progress.steps, completed=progress.steps_done)
            if finished:
                self._bar.stop()
            return
        share = progress.steps_done / progress.steps
        elapsed = now - self._start
        left = "" if finished or share < 0.02 or elapsed < 1 else f", {elapsed / share - elapsed:.0f} s left"
        best = best.replace("best", "best validation error")
        print(
            f"{progress.jobs_done} of {progress.jobs} models, {share:.0%}{left}{best}".replace("%", " %"),
            file=self._file,
        )


def _bar(file: TextIO) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %")
    bar = Bar(*columns, TimeRemainingColumn(), console=Console(file=file))
    bar.add_task("training", total=None)
    bar.start()
    return bar
