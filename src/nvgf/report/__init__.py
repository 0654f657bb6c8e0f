"""Room ``report``: figures and the self-contained page, drawn from stored results alone.

Example:
    >>> import tempfile
    >>> from nvgf.experiments.rows import Row
    >>> from nvgf.experiments.store import Store
    >>> row = Row("k", "authorship", "austen", "paper", 0, "excerpt", "lsigf", 0.01, 16, 2, 0, 0.1, 0.2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(folder, write=True) as store:
    ...         store.add([row])
    ...     content = read_run(folder)
    ...     page = write_report(content, f"{folder}/report.html").read_text("utf-8")
    >>> content.short("austen"), "Jane Austen" in page
    ('Austen', True)
"""

from typing import get_args

from nvgf.experiments.tables import Selection
from nvgf.report.content import Content
from nvgf.report.figures import write_figures
from nvgf.report.page import render_page, write_report
from nvgf.report.source import content_of, read_run

SELECTIONS: tuple[Selection, ...] = get_args(Selection)

__all__ = ["SELECTIONS", "Content", "content_of", "read_run", "render_page", "write_figures", "write_report"]
