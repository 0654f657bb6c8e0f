"""The figures of the paper with the numbers of a run, as PNG and SVG files."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nvgf.files import write_atomically
from nvgf.report.content import Analysis, Content, Matrix
from nvgf.report.labels import (
    FREQUENCY_MODELS,
    GROUPS,
    MARKERS,
    PALETTE,
    Words,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
_LOOK: dict[Any, Any] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "grid.color": "#e8eaec",
    "legend.frameon": False,
    "savefig.dpi": 200,
    "svg.hashsalt": "nvgf",  # names inside an SVG are drawn from it: the same results give the same file
    "svg.fonttype": "none",
}
_WIDE = 6.9


def write_figures(content: Content, folder: str | Path, *, formats: Sequence[str] = FORMATS) -> tuple[Path, ...]:
    """Draw every figure that the content has, and return the files.

    Args:
        content: what was read from a run.
        folder: where the files go; it is made if its parent is there.
        formats: ``png`` and ``svg``, or one of them.
    """
    import matplotlib

    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        raise ValueError(f"formats must be of {', '.join(FORMATS)}, got {', '.join(unknown)}")
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; the figures need a folder")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OSError(f"{folder} cannot be made: {error.strerror}") from error
    written = []
    with matplotlib.rc_context(_LOOK):
        for name, figure in _figures(content):
            for kind in formats:
                stream = io.BytesIO()
                figure.savefig(stream, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
                path = folder / f"{name}.{kind}"
                write_atomically(path, stream.getvalue())
                written.append(path)
    return tuple(written)


def file_name(*parts: str) -> str:
    """Return a file name of letters, digits and hyphens.

    Example:
        >>> file_name("spectrum", "paper", "Star Wars (1977)")
        'spectrum-paper-star-wars-1977'
    """
    return re.sub(r"[^\w]+", "-", "-".join(parts).lower()).strip("-")


def _figures(content: Content) -> Iterator[tuple[str, Figure]]:
    several = len(content.views) > 1
    for view in content.views:
        mark = (view.id,) if several else ()
        yield file_name("comparison", *mark), _comparison(content, view.id)
        if any(change.view == view.id for change in content.changes):
            yield file_name("change", *mark), _change(content, view.id)
        for analysis in content.analyses:
            if analysis.view == view.id:
                yield (
                    file_name("spectrum", *mark, analysis.subject),
                    _spectrum(analysis, content.short(analysis.subject)),
                )
                if analysis.responses:
                    yield file_name("responses", *mark, analysis.subject), _responses(analysis)
                if analysis.transfers:
                    yield file_name("transfer", *mark, analysis.subject), _transfers(analysis)


def _new(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    # A Figure of its own, not one of pyplot's: nothing is kept alive and no window system is asked for.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(np.ravel(figure.subplots(rows, columns, squeeze=False)))


def _rows(axes: Axes, count: int, labels: Sequence[str], bold: Sequence[int] = ()) -> None:
    axes.set_yticks(range(count), labels)
    axes.set_ylim(count - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    for k in bold:
        axes.get_yticklabels()[k].set_fontweight("bold")


def _point(axes: Axes, model: str, value: float, at: float, spread: float | None = None) -> None:
    look = style(model)
    axes.errorbar(
        value, at, xerr=spread, fmt=MARKERS[look.shape % len(MARKERS)], color=PALETTE[look.color], markersize=4.2,
        markeredgecolor="white", markeredgewidth=0.5, elinewidth=1.2, capsize=0,
    )  # fmt: skip


def _legend(axes: Axes, models: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], ls="", marker=MARKERS[style(m).shape % 5], color=PALETTE[style(m).color], label=style(m).label)
        for m in models
    ]
    axes.legend(handles=marks, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(marks), borderaxespad=0.2)


def _dodge(k: int, count: int) -> float:
    return 0.17 * (k - (count - 1) / 2)


def _comparison(content: Content, view: str) -> Figure:
    words = content.words
    scores = {(s.subject, s.model): s for s in content.scores if s.view == view}
    models = [model for model in words.compared if any(key[1] == model for key in scores)]
    subjects = [subject for subject in content.subjects if any(key[0] == subject for key in scores)]
    figure, (axes,) = _new(_WIDE, 0.9 + 0.3 * max(len(subjects), 3))
    for row, subject in enumerate(subjects):
        for k, model in enumerate(models):
            if (subject, model) in scores:
                score = scores[subject, model]
                shift = _dodge(k, len(models))
                _point(axes, model, words.scale * score.mean, row + shift, words.scale * score.std / 3)
    _rows(axes, len(subjects), [content.short(subject) for subject in subjects])
    axes.set_xlabel(_metric_axis(words))
    _legend(axes, models)
    return figure


def _metric_axis(words: Words) -> str:
    unit = f" ({words.unit})" if words.unit else ""
    return f"{words.metric_title}{unit}, mean ± one third of the standard deviation"


def _change(content: Content, view: str) -> Figure:
    words = content.words
    changes = {(c.subject, c.model): c.value for c in content.changes if c.view == view}
    models = [model for model in words.changed if any(key[1] == model for key in changes)]
    rows: list[tuple[str, str | None]] = []
    for group, label, note in GROUPS:
        members = [
            subject
            for subject in content.subjects
            if content.groups.get((view, subject), 0) == group and any(key[0] == subject for key in changes)
        ]
        if members:
            rows += [(f"{label} ({len(members)})" + (f": {note}" if note else ""), None), *((m, m) for m in members)]
    figure, (axes,) = _new(_WIDE, 0.9 + 0.25 * max(len(rows), 4))
    axes.axvspan(-100 * content.tolerance, 100 * content.tolerance, color="#f0f2f4", zorder=0)
    axes.axvline(0, color="#1b1f24", linewidth=0.9)
    for row, (name, subject) in enumerate(rows):
        if subject is None:
            axes.text(0.01, row, name, transform=axes.get_yaxis_transform(), va="center", fontweight="bold",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})  # fmt: skip
            continue
        for k, model in enumerate(models):
            if (subject, model) in changes:
                _point(axes, model, 100 * changes[subject, model], row + _dodge(k, len(models)))
    _rows(axes, len(rows), ["" if subject is None else content.short(subject) for _, subject in rows])
    axes.set_xlabel(f"Change of the {words.metric} with respect to the GCNN (%)")
    _legend(axes, models)
    return figure


def _spectrum(analysis: Analysis, name: str) -> Figure:
    figure, (axes,) = _new(_WIDE, 2.3)
    index = np.arange(1, len(analysis.mean) + 1)
    low = np.maximum(analysis.mean - analysis.std, 0.0)
    axes.fill_between(index, low, analysis.mean + analysis.std, color=PALETTE[0], alpha=0.2, linewidth=0)
    axes.vlines(index, 0, analysis.mean, color=PALETTE[0], linewidth=1.2)
    axes.set_xlim(0, len(index) + 1)
    axes.set_ylim(0)
    axes.set_title(f"{name}: mean magnitude of the test signals")
    axes.set_xlabel("frequency, from the lowest eigenvalue to the highest")
    return figure


def _responses(analysis: Analysis) -> Figure:
    models = _frequency_models(analysis.responses)
    figure, panels = _new(_WIDE, 1.95, 1, len(models))
    for axes, model in zip(panels, models, strict=True):
        response = np.abs(analysis.responses[model])
        index = np.arange(1, response.shape[1] + 1)
        color, alpha = PALETTE[style(model).color], min(0.6, 0.12 + 3 / len(response))
        axes.plot(index, response.T, color=color, alpha=alpha, linewidth=0.5, rasterized=True)
        axes.plot(index, response.mean(axis=0), color="#1b1f24", linewidth=0.9)
        axes.set_ylim(0)
        axes.set_title(style(model).label)
        axes.set_xlabel("frequency")
    return figure


def _transfers(analysis: Analysis) -> Figure:
    models = _frequency_models(analysis.transfers)
    figure, panels = _new(_WIDE, 2.1, 1, len(models))
    for axes, model in zip(panels, models, strict=True):
        shown = np.sqrt(np.abs(analysis.transfers[model]))
        total = len(analysis.eigenvalues)
        axes.imshow(shown, origin="lower", cmap="Blues", extent=(0.5, total + 0.5, 0.5, total + 0.5), vmin=0)
        axes.set_title(style(model).label)
        axes.set_xlabel("input frequency")
    panels[0].set_ylabel("output frequency")
    return figure


def _frequency_models(found: Mapping[str, Matrix]) -> list[str]:
    return [model for model in FREQUENCY_MODELS if model in found]
