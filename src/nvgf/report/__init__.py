"""Room ``report``: figures and the self-contained page, drawn from stored results alone."""

from nvgf.report.content import Content
from nvgf.report.page import render_page

__all__ = ["Content", "render_page"]
