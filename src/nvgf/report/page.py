"""The self-contained page: template, style, script and data in one file that asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from nvgf import __version__
from nvgf.files import write_atomically
from nvgf.report import html
from nvgf.report.content import Content
from nvgf.report.payload import payload

MAX_BYTES = 6_000_000
"""No page grows beyond this; filters are thinned out before it does."""


def script_json(value: Any) -> str:
    r"""Return JSON that may stand inside a ``<script>`` element, whatever strings it holds.

    Example:
        >>> script_json({"name": "</script><!--"})
        '{"name":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _asset(name: str) -> str:
    return (resources.files("nvgf.report") / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def render_page(content: Content) -> str:
    """Return the page for some content; the same content always gives the same page.

    The page's policy allows its own style and script, by their digests, and pictures that it holds itself: a browser
    refuses anything else, whatever a name in the results may look like.
    """
    page, every = _render(content, 1), 1
    most = max((response.shape[0] for a in content.analyses for response in a.responses.values()), default=1)
    while len(page.encode()) >= MAX_BYTES and every < most:
        every *= 2
        page = _render(content, every)
    if len(page.encode()) >= MAX_BYTES:
        raise ValueError(
            f"the report would have {len(page.encode()):,} bytes, more than {MAX_BYTES:,}: "
            f"the run holds {len(content.subjects)} subjects in {len(content.views)} settings; report on fewer at once"
        )
    return page


def write_report(content: Content, path: str | Path) -> Path:
    """Write the page, the whole of it or nothing, and return where it is."""
    path = Path(path)
    write_atomically(path, render_page(content).encode())
    return path


def _render(content: Content, every: int) -> str:
    words = content.words
    styles, script = _asset("style.css"), _asset("charts.js") + _asset("page.js")
    intervals = any(math.isfinite(change.low) for change in content.changes)
    return Template(_asset("page.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_digest(styles)}; script-src {_digest(script)}",
        version=escape(__version__),
        title=escape(words.texts.title),
        lede=escape(words.texts.lede),
        study=escape(words.study),
        subject=escape(words.subject),
        Subject=escape(words.subject.capitalize()),
        subjects=escape(words.texts.subjects),
        metric=escape(words.metric),
        metric_title=escape(words.metric_title),
        tolerance=f"{100 * content.tolerance:g}",
        interval_note="<b>Wide line:</b> 95 % interval of the paired differences." if intervals else "",
        facts=_facts(content),
        options="".join(
            f'<option value="{escape(s)}">{escape(content.titles.get(s, content.short(s)))}</option>'
            for s in content.subjects
        ),
        views="".join(
            f'<button type="button" data-value="{escape(view.id)}" aria-pressed="{str(k == 0).lower()}">'
            f"{escape(view.label)}</button>"
            for k, view in enumerate(content.views)
        ),
        tables=html.tables(content),
        claims=html.claims(content),
        record=html.record(content),
        style=styles,
        data=script_json(payload(content, every=every)),
        script=script,
    )


def _facts(content: Content) -> str:
    words = content.words
    splits = max(len(score.values) for score in content.scores)
    models = len({score.model for score in content.scores})
    parts = [
        (len(content.subjects), words.subject if len(content.subjects) == 1 else words.texts.subjects),
        (models, "methods"),
        (splits, "split" if splits == 1 else "splits"),
    ]
    facts = [f"<li><b>{count}</b> {escape(name)}</li>" for count, name in parts]
    for view in content.views:
        counts = html.count_verdicts(one for one in content.verdicts if one.view == view.id)
        shown = [
            f'<a href="#claims">{html.VERDICTS[verdict][1]} {html.verdict_count(verdict, count)}</a>'
            for verdict, count in counts.items()
            if count
        ]
        if shown:
            facts.append(f'<li data-view="{escape(view.id)}">claims: {" · ".join(shown)}</li>')
    return "".join(facts)
