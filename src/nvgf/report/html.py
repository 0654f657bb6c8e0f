"""The parts of the page that need no script: tables, claims, the record. All text is escaped here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from nvgf.report.content import Content, Score, Verdict
from nvgf.report.labels import GROUPS, settings_text, style

VERDICTS = {"holds": ("holds", "✓"), "does not hold": ("fails", "✗"), "undecided": ("undecided", "≈")}
"""The verdicts with their style and sign."""


@dataclass(frozen=True)
class Cell:
    """One cell of a table: what is read, and what is sorted by."""

    text: str
    value: float | str | None = None
    kind: str = ""
    small: str = ""


def _sort_key(cell: Cell) -> str:
    if cell.value is None:
        return cell.text
    if isinstance(cell.value, float):
        return "" if math.isnan(cell.value) else f"{cell.value:.8g}"
    return str(cell.value)


def table(
    title: str, note: str, head: Sequence[str], rows: Iterable[tuple[str, Sequence[Cell]]], *, view: str, name: str
) -> str:
    """Return a sortable table of one view; each row comes with its subject, the first cell is the row's header."""
    body, kinds = [], [""] * len(head)
    for subject, cells in rows:
        kinds = ["text" if cell.kind == "text" else "" for cell in cells]
        parts = []
        for column, cell in enumerate(cells):
            tag = 'th scope="row"' if column == 0 else "td"
            kind = f' class="{cell.kind}"' if cell.kind else ""
            small = f' <span class="sub">{escape(cell.small)}</span>' if cell.small else ""
            parts.append(
                f'<{tag}{kind} data-value="{escape(_sort_key(cell))}">{escape(cell.text)}{small}</{tag.split()[0]}>'
            )
        body.append(f'<tr data-subject="{escape(subject)}">{"".join(parts)}</tr>')
    heads = "".join(
        f'<th scope="col" class="{kind}"><button type="button">{escape(word)}</button></th>'
        for word, kind in zip(head, kinds, strict=True)
    )
    return (
        f'<div class="scroll" data-view="{escape(view)}" data-table="{escape(name)}" tabindex="0" role="region" '
        f'aria-label="{escape(title)}"><table><caption><b>{escape(title)}</b>{escape(note)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def tables(content: Content) -> str:
    """Return all tables of all views, one after the other; the script shows those of the chosen view."""
    return "\n".join(part for view in content.views for part in _tables_of(content, view.id) if part)


def _tables_of(content: Content, view: str) -> list[str]:
    return [_errors(content, view), _changes(content, view), _details(content, view), _best(content, view)]


def _models(content: Content, view: str) -> list[str]:
    """Return the models of a view in the order of the study; those that it does not know come last."""
    present = {score.model for score in content.scores if score.view == view}
    known = [model for model in content.words.models if model in present]
    return known + sorted(present.difference(known))


def _errors(content: Content, view: str) -> str:
    words, models = content.words, _models(content, view)
    scores = {(s.subject, s.model): s for s in content.scores if s.view == view}
    rows = []
    for subject in content.subjects:
        found = {model: scores[subject, model] for model in models if (subject, model) in scores}
        if not found:
            continue
        least = min(score.mean for score in found.values())
        cells = [Cell(content.short(subject))]
        for model in models:
            score = found.get(model)
            cells.append(
                Cell("–", math.nan)
                if score is None
                else Cell(
                    f"{score.mean * words.scale:.{words.texts.digits}f}",
                    score.mean,
                    "best" if score.mean == least else "",
                    f"± {score.std * words.scale / 3:.{words.texts.digits}f}",
                )
            )
        rows.append((subject, cells))
    note = (
        f"Mean over the splits ± one third of the standard deviation{', in percent' if words.unit == '%' else ''}; "
        f"the lowest of each row is bold. {_sentence(content.selection)}"
    )
    head = [words.subject.capitalize(), *(style(model).label for model in models)]
    return table(
        f"{words.metric_title} on the test sets",
        note,
        head,
        rows,
        view=view,
        name="errors",
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _signed(value: float) -> str:
    if math.isinf(value):
        return "∞"
    return f"{100 * value:+.1f} %".replace("-", "−")


def _changes(content: Content, view: str) -> str:
    words = content.words
    changes = {(c.subject, c.model): c for c in content.changes if c.view == view}
    models = [model for model in words.changed if any(key[1] == model for key in changes)]
    labels = {group: label for group, label, _ in GROUPS}
    rows = []
    for subject in content.subjects:
        if not any((subject, model) in changes for model in models):
            continue
        group = content.groups.get((view, subject), 0)
        cells = [Cell(content.short(subject)), Cell(labels[group], float(group or 9), "text")]
        for model in models:
            change = changes.get((subject, model))
            if change is None:
                cells.append(Cell("–", math.nan))
                continue
            known = math.isfinite(change.low) and math.isfinite(change.high)
            small = f"[{_signed(change.low)}, {_signed(change.high)}]" if known else ""
            cells.append(Cell(_signed(change.value), change.value, small=small))
        rows.append((subject, cells))
    if not rows:
        return ""
    head = [words.subject.capitalize(), "Group", *(style(model).label for model in models)]
    note = (
        "Relative change of the mean error, with the 95 % interval of the paired differences. "
        f"{_sentence(content.selection)}"
    )
    return table("Change with respect to the GCNN", note, head, rows, view=view, name="changes")


def _details(content: Content, view: str) -> str:
    words, order = content.words, {model: k for k, model in enumerate(_models(content, view))}
    scores = sorted(
        (s for s in content.scores if s.view == view), key=lambda s: (content.subjects.index(s.subject), order[s.model])
    )
    head = [words.subject.capitalize(), "Architecture", "Mean", "Std", "95 % interval", "Splits", "Settings", "Seconds"]
    rows = [
        (score.subject, _detail_cells(content.short(score.subject), score, words.scale, words.texts.digits))
        for score in scores
    ]
    note = f"Every architecture at one choice of its settings. {_sentence(content.selection)}"
    return table("All results", note, head, rows, view=view, name="details")


def _detail_cells(name: str, score: Score, scale: float, digits: int) -> list[Cell]:
    def shown(value: float) -> str:
        return f"{value * scale:.{digits}f}"

    known = math.isfinite(score.low) and math.isfinite(score.high)
    return [
        Cell(name),
        Cell(style(score.model).label, kind="text"),
        Cell(shown(score.mean), score.mean),
        Cell(shown(score.std), score.std),
        Cell(f"{shown(score.low)} to {shown(score.high)}" if known else "–", score.low if known else math.nan),
        Cell(str(len(score.values)), float(len(score.values))),
        Cell(settings_text(score.learning_rate, score.features, score.order) or "–", kind="text"),
        Cell(
            "–" if score.seconds is None else f"{score.seconds:.3g}",
            math.nan if score.seconds is None else score.seconds,
        ),
    ]


def _best(content: Content, view: str) -> str:
    words, entries = content.words, [best for best in content.best if best.view == view]
    if not entries:
        return ""
    head = [words.subject.capitalize(), "Architecture", "Chosen here", "In the paper", "Same"]
    rows = [
        (
            best.subject,
            [
                Cell(content.short(best.subject)),
                Cell(style(best.model).label, kind="text"),
                Cell(best.chosen, kind="text"),
                Cell(best.paper or "–", kind="text"),
                Cell("–" if not best.paper else "yes" if best.chosen == best.paper else "no", kind="text"),
            ],
        )
        for best in entries
    ]
    note = f"Learning rate η, features F and order K. {_sentence(content.selection)}"
    return table("Hyper-parameters beside those of the paper", note, head, rows, view=view, name="best")


def claims(content: Content) -> str:
    """Return the claims of every view; the script shows those of the chosen one."""
    if not content.verdicts:
        return '<p class="empty">No claim can be tested on these results.</p>'
    return "".join(_claims([one for one in content.verdicts if one.view == view.id], view.id) for view in content.views)


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return how many claims have each verdict, in the order of :data:`VERDICTS`."""
    counts = dict.fromkeys(VERDICTS, 0)
    for one in verdicts:
        if one.verdict not in counts:
            raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, got {one.verdict!r}")
        counts[one.verdict] += 1
    return counts


def verdict_count(verdict: str, count: int) -> str:
    """Return a count in words.

    Example:
        >>> verdict_count("holds", 2), verdict_count("does not hold", 1), verdict_count("undecided", 3)
        ('2 hold', '1 does not hold', '3 undecided')
    """
    plural = {"holds": "hold", "does not hold": "do not hold"}
    return f"{count} {verdict if count == 1 else plural.get(verdict, verdict)}"


def _claims(verdicts: Sequence[Verdict], view: str) -> str:
    """Return claims with verdict, statistic and source, and buttons that show one verdict alone."""
    buttons = [f'<button type="button" data-verdict="all" aria-pressed="true">All {len(verdicts)}</button>']
    buttons += [
        f'<button type="button" data-verdict="{VERDICTS[verdict][0]}" aria-pressed="false">'
        f"{VERDICTS[verdict][1]} {verdict_count(verdict, count)}</button>"
        for verdict, count in count_verdicts(verdicts).items()
        if count
    ]
    return (
        f'<div data-view="{escape(view)}"><div class="filters" role="group" aria-label="Show claims by verdict">'
        f'{"".join(buttons)}</div><ul class="claims">{"".join(_claim(one) for one in verdicts)}</ul></div>'
    )


def _claim(one: Verdict) -> str:
    kind, sign = VERDICTS[one.verdict]
    parts = [
        f'<li class="claim {kind}" data-verdict="{kind}"><span class="verdict"><span aria-hidden="true">{sign}</span> ',
        f"{escape(one.verdict)}</span>",
        f' <span class="figures">{escape(one.source)}</span>' if one.source else "",
        f"<p>{escape(one.statement)}</p>",
        f'<p class="figures"><b>{escape(one.statistic)}</b></p>' if one.statistic else "",
        f'<p class="figures">{escape(one.note)}</p>' if one.note else "",
    ]
    return "".join(parts) + "</li>"


def record(content: Content) -> str:
    """Return the commands and versions behind the numbers."""
    lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in content.record.items())
    commands = "\n".join(escape(command) for command in content.commands)
    shown = f"<p>Commands that made these results:</p><pre>{commands}</pre>" if commands else ""
    return f'{shown}<dl class="record">{lines}</dl>'
