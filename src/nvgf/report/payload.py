"""From the content of a report to the values that the page's script draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nvgf.report.content import Analysis, Change, Content, Score
from nvgf.report.labels import FREQUENCY_MODELS, GROUPS, Words, settings_text, style
from nvgf.report.pack import pack

CURVE_POINTS = 120


def payload(content: Content, *, every: int = 1) -> dict[str, Any]:
    """Return what the script reads: plain JSON values, in an order that the same results always give.

    Args:
        content: what to show.
        every: of the filters that answer to v_N, take each ``every``-th; for pages that would grow too large.
    """
    words = content.words
    models = sorted({score.model for score in content.scores} | {m for a in content.analyses for m in a.responses})
    return {
        "words": _words(words),
        "models": {model: vars(style(model)) for model in models},
        "subjects": [
            {
                "id": subject,
                "label": content.short(subject),
                "title": content.titles.get(subject, content.short(subject)),
            }
            for subject in content.subjects
        ],
        "first": words.texts.first if words.texts.first in content.subjects else content.subjects[0],
        "views": [vars(view) for view in content.views],
        "compared": [model for model in words.compared if model in models],
        "changed": [model for model in words.changed if model in models],
        "created": [model for model in FREQUENCY_MODELS if model in models],
        "anchors": [model for model in words.anchors if model in models],
        "tolerance": content.tolerance,
        "groups": [{"id": group, "label": label, "note": note} for group, label, note in GROUPS],
        "comparison": _nested((s.view, s.subject, s.model, _score(s)) for s in content.scores if math.isfinite(s.mean)),
        "change": _changes(content),
        "curves": _nested((c.view, c.subject, c.model, _curve(c.steps, c.mean)) for c in content.curves),
        "spectrum": {
            view.id: {a.subject: _spectrum(a) for a in content.analyses if a.view == view.id} for view in content.views
        },
        "creation": {
            view.id: {a.subject: _creation(a, every) for a in content.analyses if a.view == view.id}
            for view in content.views
        },
    }


def _words(words: Words) -> dict[str, Any]:
    return {
        "subject": words.subject,
        "subjects": words.texts.subjects,
        "metric": words.metric,
        "unit": words.space_unit,
        "scale": words.scale,
        "digits": words.texts.digits,
        "anchors": words.texts.anchors_name,
        "reference": words.reference,
    }


def number(value: float, digits: int = 4) -> float:
    """Return a number with so many significant digits: what nobody can see need not travel."""
    return float(f"{float(value):.{digits}g}")


def _numbers(values: Iterable[float], digits: int = 4) -> list[float]:
    return [number(value, digits) for value in values]


def _nested(entries: Iterable[tuple[str, str, str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    table: dict[str, dict[str, dict[str, Any]]] = {}
    for view, subject, model, value in entries:
        table.setdefault(view, {}).setdefault(subject, {})[model] = value
    return table


def _score(score: Score) -> dict[str, Any]:
    return {
        "mean": number(score.mean, 6),
        "std": number(score.std, 6),
        "values": _numbers(value for value in score.values if math.isfinite(value)),
        "settings": settings_text(score.learning_rate, score.features, score.order),
    }


def _interval(change: Change) -> dict[str, Any]:
    found: dict[str, Any] = {"value": number(change.value, 6)}
    if math.isfinite(change.low) and math.isfinite(change.high):
        found["ci"] = _numbers((change.low, change.high), 6)
    return found


def _changes(content: Content) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for change in content.changes:
        if not math.isfinite(change.value):
            continue  # the reference made no error at all: there is no point to draw
        place = table.setdefault(change.view, {}).setdefault(
            change.subject, {"group": content.groups.get((change.view, change.subject), 0), "models": {}}
        )
        place["models"][change.model] = _interval(change)
    return table


def _curve(steps: tuple[int, ...], mean: tuple[float, ...]) -> dict[str, Any]:
    thin = max(1, math.ceil(len(steps) / CURVE_POINTS))
    return {"steps": list(steps[::thin]), "mean": _numbers(mean[::thin])}


def _spectrum(analysis: Analysis) -> dict[str, Any]:
    return {
        "eigenvalues": _numbers(analysis.eigenvalues),
        "oneSign": analysis.one_sign,
        "mean": _numbers(analysis.mean),
        "std": _numbers(analysis.std),
    }


def _creation(analysis: Analysis, every: int) -> Mapping[str, Any]:
    eigenvalues = _numbers(analysis.eigenvalues)
    table: dict[str, Any] = {}
    for model, response in sorted(analysis.responses.items()):
        entry: dict[str, Any] = {
            "eigenvalues": eigenvalues,
            "filters": pack(np.abs(response)[::every]),
            "every": every,
        }
        if model in analysis.transfers:
            entry["transfer"] = pack(np.abs(analysis.transfers[model]))
        if model in analysis.first_responses:
            entry["first"] = _numbers(np.abs(analysis.first_responses[model]), 3)
        shares = {"last": analysis.created, "first": analysis.created_first, "mean": analysis.created_mean}
        entry["shares"] = {name: number(share[model]) for name, share in shares.items() if model in share}
        table[model] = entry
    return table
