"""Sheets: the tables of an experiment as text, for the terminal and for LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nvgf.experiments.claims import Verdict
from nvgf.experiments.overall import overall
from nvgf.experiments.rows import Row
from nvgf.experiments.statistics import Interval
from nvgf.experiments.study import Hyper, Study
from nvgf.experiments.tables import (
    SELECTION_NOTES,
    Place,
    Selection,
    best_hypers,
    comparison,
    groups,
    paired_differences,
    relative_change,
)


@dataclass(frozen=True)
class Sheet:
    """A table of text; the first ``labels`` columns are names, the others numbers. ``note`` belongs below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    labels: int = 2


def overall_sheet(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> Sheet:
    """Both experiments over all subjects, where there are several."""
    scale = study.metric.scale
    lines = tuple(
        (
            {"comparison": "1", "creation": "2"}[found.experiment],
            found.setting if found.split_by == study.split_bys[0] else f"{found.setting}, by {found.split_by}",
            found.model,
            number(found.mean * scale, study),
            "" if found.interval is None else f"minus {found.anchor}",
            "" if found.interval is None else interval(found.interval.scaled(scale), study),
            "" if found.interval is None else f"{found.better} of {found.subjects}",
        )
        for found in overall(rows, study, selection)
    )
    columns = ("experiment", "setting", "model", "mean", "difference", "over subjects", "better for")
    note = f"Means over the {study.subject_noun}s, which are the observations of the 95 % intervals. "
    return Sheet(f"All {study.subject_noun}s: test {study.metric.label}", columns, lines, note + _note(selection), 3)


def comparison_sheet(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> Sheet:
    """Experiment 1: mean, deviation and one third of it, and the paired difference to the paper's model."""
    chosen = comparison(rows, study, selection)
    gaps = {(gap.place, gap.model): gap.interval for gap in paired_differences(chosen, study)}
    scale, anchor = study.metric.scale, study.comparison[0]
    lines = []
    for s in chosen:
        gap = gaps.get((s.place, s.model))
        lines.append(
            (
                *_place(s.place, study),
                s.model,
                str(s.hyper),
                number(s.mean * scale, study),
                number(s.std * scale, study),
                number(s.third * scale, study),
                "" if gap is None else interval(gap.scaled(scale), study),
                str(s.n),
            )
        )
    columns = (study.subject_noun, "setting", "model", "hyper-parameters", "mean", "std", "std/3")
    note = "Differences are paired over splits, with 95 % intervals that allow for overlapping training sets. "
    title = f"Experiment 1: test {study.metric.label}"
    return Sheet(title, (*columns, f"minus {anchor}", "splits"), tuple(lines), note + _note(selection), 4)


def change_sheet(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> Sheet:
    """Experiment 2: the change of the mean error relative to the reference, and the paper's group."""
    changes = relative_change(rows, study, selection)
    group_of = {group.place: group.number for group in groups(changes)}
    seen: set[Place] = set()
    lines = []
    for change in changes:
        reference, scale = change.reference, study.metric.scale
        number_of_group = group_of.get(change.place)
        told = "" if number_of_group is None or change.place in seen else str(number_of_group or "none")
        seen.add(change.place)
        lines.append(
            (
                *_place(change.place, study),
                change.model,
                str(change.summary.hyper),
                percent(change.change),
                _percents(change.interval),
                number(change.summary.mean * scale, study),
                number(reference.mean * scale, study),
                told,
            )
        )
    columns = (study.subject_noun, "setting", "model", "hyper-parameters", "change", "95 % interval", "mean")
    note = (
        "Groups: 1 Learn NVGF alike (within 5 %) and LSIGF worse, 2 Learn NVGF better, 3 both alike, none: Learn NVGF "
        f"worse, or alike and LSIGF better. {_note(selection)}"
    )
    title = f"Experiment 2: change of the {study.metric.name} relative to {study.reference}"
    return Sheet(title, (*columns, f"{study.reference} mean", "group"), tuple(lines), note, 4)


def hyper_sheet(rows: Iterable[Row], study: Study, selection: Selection = "valid") -> Sheet:
    """The chosen hyper-parameters beside the paper's."""
    scale = study.metric.scale
    lines = tuple(
        (
            *_place(found.place, study),
            found.model,
            str(found.chosen.hyper),
            _any_of(found.paper),
            number(found.chosen.mean * scale, study),
            "" if found.paper_mean is None else number(found.paper_mean * scale, study),
        )
        for found in best_hypers(rows, study, selection)
    )
    columns = (study.subject_noun, "setting", "model", "chosen", "paper", "mean", "mean with the paper's")
    return Sheet("Hyper-parameters", columns, lines, _note(selection), 5)


def row_sheet(rows: Sequence[Row], study: Study) -> Sheet:
    """One line a trained model."""
    scale = study.metric.scale
    lines = tuple(
        (
            row.subject,
            row.setting,
            row.split_by,
            row.model,
            str(row.hyper),
            str(row.split),
            number(row.valid_error * scale, study),
            number(row.test_error * scale, study),
            "" if row.kept_step is None else str(row.kept_step),
            f"{row.seconds:.2f}",
        )
        for row in rows
    )
    columns = (study.subject_noun, "setting", "split by", "model", "hyper-parameters")
    return Sheet(
        f"Trained models: {study.metric.label}",
        (*columns, "split", "valid", "test", "kept step", "seconds"),
        lines,
        labels=5,
    )


def claim_sheet(verdicts: Sequence[Verdict], selection: Selection = "valid") -> Sheet:
    """Claims with their verdicts."""
    lines = tuple((v.verdict, v.text, v.where, f"{v.statistic}. {v.note}".rstrip(" .") + ".") for v in verdicts)
    where = f" (setting {verdicts[0].setting}, split by {verdicts[0].split_by})" if verdicts else ""
    return Sheet(f"Claims of the paper{where}", ("verdict", "claim", "where", "statistic"), lines, _note(selection), 4)


def number(value: float, study: Study) -> str:
    """Return an error as it is printed: two decimals for per cent, three else."""
    return f"{value:.{3 if study.metric.scale == 1 else 2}f}"


def interval(found: Interval, study: Study) -> str:
    """Return a difference with its interval."""
    if not math.isfinite(found.low):
        return f"{found.mean:+.3g}"
    return found.text(digits=3 if study.metric.scale == 1 else 2)


def percent(value: float) -> str:
    """Return a ratio in per cent.

    Example:
        >>> percent(-0.0512)
        '-5.1 %'
    """
    return f"{100 * value:+.1f} %" if math.isfinite(value) else "infinite"


def _percents(found: Interval) -> str:
    return f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}]" if math.isfinite(found.low) else ""


def _any_of(hypers: Sequence[Hyper]) -> str:
    """Return hyper-parameters of which any will do; those that differ in eta alone share a line.

    Example:
        >>> _any_of([Hyper(0.001, 16, 3), Hyper(0.01, 16, 3)])
        'eta=0.001|0.01, F=16, K=3'
    """
    rates: dict[Hyper, list[str]] = {}
    for hyper in hypers:
        rates.setdefault(hyper._replace(learning_rate=None), []).append(f"{hyper.learning_rate:g}")
    return " or ".join(f"eta={'|'.join(own)}, {rest}".removesuffix(", -") for rest, own in rates.items())


def _place(place: Place, study: Study) -> tuple[str, str]:
    usual = place.split_by == study.split_bys[0]
    return place.subject, place.setting if usual else f"{place.setting}, by {place.split_by}"


def _note(selection: Selection) -> str:
    text = SELECTION_NOTES[selection]
    return text[0].upper() + text[1:] + "."


def latex(sheet: Sheet) -> str:
    r"""Return a sheet as a LaTeX table (package booktabs).

    Example:
        >>> print(latex(Sheet("T", ("model", "mean"), (("gat", "5 %"),), labels=1)))
        \begin{table}
          \centering
          \caption{T.}
          \begin{tabular}{lr}
            \toprule
            model & mean \\
            \midrule
            gat & 5 \% \\
            \bottomrule
          \end{tabular}
        \end{table}
    """
    body = [f"    {' & '.join(map(_escaped, row))} \\\\" for row in sheet.rows]
    lines = [
        "\\begin{table}",
        "  \\centering",
        f"  \\caption{{{_escaped(f'{sheet.title}. {sheet.note}'.strip())}}}",
        f"  \\begin{{tabular}}{{{'l' * sheet.labels + 'r' * (len(sheet.columns) - sheet.labels)}}}",
        "    \\toprule",
        f"    {' & '.join(map(_escaped, sheet.columns))} \\\\",
        "    \\midrule",
        *body,
        "    \\bottomrule",
        "  \\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    for sign in "\\&%$#_{}":
        text = text.replace(sign, "\\textbackslash " if sign == "\\" else f"\\{sign}")
    return text
