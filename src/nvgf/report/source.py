"""From a run folder to the content of its report: the one module here that knows how results are stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nvgf.experiments import tables
from nvgf.experiments.claims import analysis_of, evaluate
from nvgf.experiments.rows import Row
from nvgf.experiments.runs import load_results
from nvgf.experiments.statistics import mean_interval
from nvgf.experiments.study import Hyper, Study
from nvgf.experiments.tables import Place, Selection, Summary
from nvgf.report.content import Analysis, Best, Change, Content, Curve, Matrix, Score, Verdict, View
from nvgf.report.labels import Words, settings_text, texts_of


def read_run(run: str | Path, *, selection: Selection = "valid", subjects: Sequence[str] | None = None) -> Content:
    """Read everything that a report shows from a run folder, its store, or a compact table of results.

    Args:
        run: the folder that a run wrote, or the table (``NAME.csv``).
        selection: how hyper-parameters are chosen where several were trained.
        subjects: only these; by default all that there are.
    """
    results = load_results(run)
    study, rows, runs = results.study, list(results.rows), results.runs
    if not rows:
        raise ValueError(f"{run} has nothing to report: no trained model is stored")
    analysed: dict[str, Mapping[str, Any]] = dict(results.analysis.get("subjects", {}))
    if subjects:
        wanted = {study.check_subject(name) for name in subjects}
        rows = [row for row in rows if row.subject in wanted]
        if not rows:
            raise ValueError(f"{run} has no rows for {', '.join(sorted(wanted))}")
        analysed = {subject: value for subject, value in analysed.items() if subject in wanted}
    return content_of(study, rows, analysed, runs, selection=selection)


def content_of(
    study: Study,
    rows: Sequence[Row],
    analysed: Mapping[str, Mapping[str, Any]],
    runs: Sequence[Mapping[str, Any]] = (),
    *,
    selection: Selection = "valid",
) -> Content:
    """Return the content of a report on some rows of a study and the ``subjects`` of their ``analysis.json``."""
    chosen = _chosen(rows, study, selection)
    changes = tables.relative_change(rows, study, selection)
    present = {row.subject for row in rows}
    known = [subject for subject in study.subjects if subject in present]
    subjects = (*known, *sorted(present.difference(known)))
    return Content(
        words=_words(study),
        views=_views(rows, study),
        subjects=subjects,
        titles=_titles(study, subjects, analysed),
        scores=tuple(_score(summary, study) for summary in chosen),
        changes=tuple(
            Change(_view(c.place), c.place.subject, c.model, c.change, c.interval.low, c.interval.high) for c in changes
        ),
        groups={(_view(group.place), group.place.subject): group.number for group in tables.groups(changes)},
        curves=tuple(_curves(rows, chosen)),
        analyses=tuple(
            _analysis(f"{setting}/{split_by}", subject, value)
            for setting, split_by in dict.fromkeys((row.setting, row.split_by) for row in rows)
            for subject, value in sorted(analysis_of(analysed, setting, split_by).items())
            if "eigenvalues" in value
        ),
        verdicts=tuple(_verdicts(study, rows, analysed, selection)),
        best=tuple(_best(rows, study, selection)),
        selection=tables.SELECTION_NOTES[selection],
        tolerance=tables.ALIKE,
        commands=tuple(dict.fromkeys(_command(one["command"]) for one in runs if one.get("command"))),
        record=_record(rows, runs) | _graphs(analysed),
    )


def _view(place: Place) -> str:
    return f"{place.setting}/{place.split_by}"


def _views(rows: Iterable[Row], study: Study) -> tuple[View, ...]:
    found = {(row.setting, row.split_by) for row in rows}
    several = len({split_by for _, split_by in found}) > 1
    order = {name: k for k, name in enumerate((*study.settings, *study.split_bys))}
    return tuple(
        View(f"{setting}/{split_by}", f"{setting}, split by {split_by}" if several else setting)
        for setting, split_by in sorted(found, key=lambda pair: [(order.get(name, 99), name) for name in pair])
    )


def _words(study: Study) -> Words:
    experiments = {*study.comparison, *study.creation}
    return Words(
        study=study.name,
        texts=texts_of(study.name),
        subject=study.subject_noun,
        metric=study.metric.name,
        unit=study.metric.unit,
        scale=study.metric.scale,
        compared=study.comparison,
        changed=tuple(model for model in reversed(study.creation) if model != study.reference),
        anchors=tuple(model for model in study.baselines if model not in experiments),
        reference=study.reference,
    )


def _titles(study: Study, subjects: Iterable[str], analysed: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    stored = {subject: value["title"] for subject, value in analysed.items() if "title" in value}
    found = {}
    for subject in subjects:
        if subject in stored or subject in study.subjects:
            found[subject] = stored.get(subject) or study.title(subject)
    return found


def _chosen(rows: Sequence[Row], study: Study, selection: Selection) -> list[Summary]:
    """Experiment 1, then what experiment 2 adds to it, then models that neither could place, each at its best."""
    found: dict[tuple[Place, str], Summary] = {}
    others: dict[tuple[Place, str], list[Summary]] = {}
    for summary in (
        *tables.comparison(rows, study, selection),
        *tables.creation_models(rows, study, selection),
    ):
        found.setdefault((summary.place, summary.model), summary)
    for summary in tables.summaries(rows):
        others.setdefault((summary.place, summary.model), []).append(summary)
    for key, candidates in others.items():
        if key not in found:
            best = tables.best(candidates, study, selection)
            if best is not None:
                found[key] = best
    return list(found.values())


def _score(summary: Summary, study: Study) -> Score:
    interval = mean_interval(summary.errors, test_ratio=study.test_ratio)
    hyper = summary.hyper
    return Score(
        _view(summary.place), summary.place.subject, summary.model, summary.errors, summary.mean, summary.std,
        interval.low, interval.high, hyper.learning_rate, hyper.features, hyper.order, summary.seconds,
    )  # fmt: skip


def _curves(rows: Iterable[Row], chosen: Iterable[Summary]) -> Iterable[Curve]:
    wanted = {(summary.place, summary.model, summary.hyper) for summary in chosen}
    found: dict[tuple[Place, str, Hyper], list[Row]] = {}
    for row in rows:
        key = (Place(row.subject, row.setting, row.split_by), row.model, row.hyper)
        if key in wanted and row.curve and row.interval:
            found.setdefault(key, []).append(row)
    for (place, model, _), members in found.items():
        length = min(len(row.curve) for row in members)
        mean = np.mean([row.curve[:length] for row in members], axis=0)
        finite = int(np.argmin(np.isfinite(mean))) if not np.isfinite(mean).all() else length
        interval = members[0].interval or 1
        if finite:
            steps = tuple(interval * (k + 1) for k in range(finite))
            yield Curve(_view(place), place.subject, model, steps, tuple(mean[:finite].tolist()))


def _analysis(view: str, subject: str, value: Mapping[str, Any]) -> Analysis:
    models = {model: one for model, one in sorted(value["models"].items()) if "outputs" in one}

    def arrays(name: str) -> dict[str, Matrix]:
        return {model: np.abs(np.asarray(one[name], dtype=np.float64)) for model, one in models.items()}

    def shares(name: str) -> dict[str, float]:
        return {model: float(one[name]) for model, one in models.items()}

    return Analysis(
        view,
        subject,
        np.asarray(value["eigenvalues"], dtype=np.float64),
        np.asarray(value["input_mean"], dtype=np.float64),
        np.asarray(value["input_std"], dtype=np.float64),
        arrays("outputs"),
        arrays("transfer"),
        shares("creation_last"),
        arrays("first_outputs"),
        shares("creation_first"),
        shares("creation"),
        bool(value.get("last_is_positive", False)),
    )


def _verdicts(
    study: Study, rows: Sequence[Row], analysed: Mapping[str, Mapping[str, Any]], selection: Selection
) -> Iterable[Verdict]:
    for setting, split_by in dict.fromkeys((row.setting, row.split_by) for row in rows):
        analysis = {"subjects": analysed}
        found = evaluate(rows, analysis, study=study, selection=selection, setting=setting, split_by=split_by)
        for one in found:
            yield Verdict(f"{setting}/{split_by}", one.text, one.verdict, one.statistic, one.where, one.note)


def _best(rows: Iterable[Row], study: Study, selection: Selection) -> Iterable[Best]:
    for one in tables.best_hypers(rows, study, selection):
        chosen = settings_text(*one.chosen.hyper)
        paper = chosen if one.agrees else " or ".join(settings_text(*hyper) for hyper in one.paper)
        yield Best(_view(one.place), one.place.subject, one.model, chosen, paper)


def _command(command: str | Sequence[str]) -> str:
    return command if isinstance(command, str) else " ".join(command)


def _record(rows: Sequence[Row], runs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    seconds = sum(row.seconds for row in rows)
    diverged = sum(row.diverged for row in rows)
    record = {
        "models trained": f"{len(rows):,}",
        "seconds of training": f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}",
        "trained by nvgf": ", ".join(sorted({row.version for row in rows if row.version})) or "unknown",
        "devices": ", ".join(sorted({row.device for row in rows})),
        "seeds": _span(sorted({row.seed for row in rows})),
        "data fingerprints": _span(sorted({row.fingerprint[:12] for row in rows if row.fingerprint})),
    }
    if diverged:
        record["diverged"] = str(diverged)
    protocols = sorted({row.protocol for row in rows if row.protocol})
    if protocols:
        record["protocol"] = "; ".join(_plain(json.loads(protocol)) for protocol in protocols)
    for key, value in (runs[-1] if runs else {}).items():
        if key not in ("command", "source", "data") and value not in (None, "", [], {}):
            record.setdefault(key, _plain(value))
    return record


def _graphs(analysed: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What had to be handled to make the graphs, where that is told."""
    return {f"graph of {one.get('title', key)}": one["graph"] for key, one in analysed.items() if "graph" in one}


def _span(values: Sequence[object]) -> str:
    shown = [str(value) for value in values]
    return ", ".join(shown) if len(shown) <= 12 else f"{', '.join(shown[:5])}, ... ({len(shown)} in all)"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(one)}" for name, one in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value)
