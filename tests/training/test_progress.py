"""What people see of a training."""

from __future__ import annotations

import io

from nvgf.training import Progress, ProgressBar


def test_plain_lines_are_few_and_end_with_the_end():
    out = io.StringIO()
    with ProgressBar(every=1000, file=out, terminal=False) as bar:
        for step in range(1, 101):
            bar(Progress(step // 50, 2, step, 100, float("inf") if step < 50 else 0.25))
    lines = out.getvalue().splitlines()
    assert lines == ["0 of 2 models, 1 %", "2 of 2 models, 100 %, best validation error 0.2500"]


def test_a_bar_is_a_plain_callback_too():
    out = io.StringIO()
    bar = ProgressBar(file=out, terminal=True)
    bar(Progress(1, 2, 5, 10, 0.5))
    bar(Progress(2, 2, 10, 10, 0.25))
    assert "2 of 2 models, best 0.2500" in out.getvalue()


def test_a_terminal_gets_a_bar():
    out = io.StringIO()
    with ProgressBar(file=out, terminal=True) as bar:
        bar(Progress(2, 2, 10, 10, 0.25))
    assert "2 of 2 models, best 0.2500" in out.getvalue()
