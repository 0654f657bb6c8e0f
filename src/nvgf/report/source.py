"""From a run folder to the content of its report: the one module here that knows how results are stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nvgf.experiments import tables
from nvgf.experiments.analysis import gather
from nvgf.experiments.claims import evaluate
from nvgf.experiments.rows import Row
from nvgf.experiments.statistics import mean_interval
from nvgf.experiments.store import AnalysisKey, Store
from nvgf.experiments.study import Hyper, Study, make_study
from nvgf.experiments.tables import Place, Selection, Summary
from nvgf.report.content import Analysis, Best, Change, Content, Curve, Score, Verdict, View
from nvgf.report.labels import Words, settings_text, texts_of


def read_run(run: str | Path, *, selection: Selection = "valid", subjects: Sequence[str] | None = None) -> Content:
    """Read everything that a report shows from a run folder (or from its store file).

    Args:
        run: the folder that a run wrote.
        selection: how hyper-parameters are chosen where several were trained.
        subjects: only these; by default all that there are.
    """
    run = Path(run)
    if not run.exists():
        raise FileNotFoundError(f"there is no run at {run}; expected a folder that `nvgf authorship run` or such wrote")
    with Store(run) as store:
        rows, analyses, runs = store.rows(), store.analyses(), store.runs()
    if not rows:
        raise ValueError(f"{run} has nothing to report: no trained model is stored")
    names = sorted({row.study for row in rows})
    if len(names) > 1:
        raise ValueError(f"{run} holds several studies ({', '.join(names)}); a report is about one")
    study = make_study(names[0], next((one["source"] for one in runs if one.get("source")), None))
    if subjects:
        wanted = {study.check_subject(name) for name in subjects}
        rows = [row for row in rows if row.subject in wanted]
        if not rows:
            raise ValueError(f"{run} has no rows for {', '.join(sorted(wanted))}")
        analyses = {key: value for key, value in analyses.items() if key[0] in wanted}
    return content_of(study, rows, analyses, runs, selection=selection)


def content_of(
    study: Study,
    rows: Sequence[Row],
    analyses: Mapping[AnalysisKey, Any],
    runs: Sequence[Mapping[str, Any]] = (),
    *,
    selection: Selection = "valid",
) -> Content:
    """Return the content of a report on some rows and analyses of a study."""
    chosen = _chosen(rows, study, selection)
    changes = tables.relative_change(rows, study, selection)
    present = {row.subject for row in rows}
    known = [subject for subject in study.subjects if subject in present]
    subjects = (*known, *sorted(present.difference(known)))
    words = _words(study)
    return Content(
        words=words,
        views=_views(rows, study),
        subjects=subjects,
        titles=_titles(study, subjects, analyses),
        scores=tuple(_score(summary, study) for summary in chosen),
        changes=tuple(
            Change(_view(c.place), c.place.subject, c.model, c.change, c.interval.low, c.interval.high) for c in changes
        ),
        groups={(_view(group.place), group.place.subject): group.number for group in tables.groups(changes)},
        curves=tuple(_curves(rows, chosen)),
        analyses=tuple(_analyses(analyses)),
        verdicts=tuple(_verdicts(study, rows, analyses, selection)),
        best=tuple(_best(rows, study, selection)),
        selection=tables.SELECTION_NOTES[selection],
        tolerance=tables.ALIKE,
        commands=tuple(dict.fromkeys(_command(one["command"]) for one in runs if one.get("command"))),
        record=_record(rows, runs),
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


def _titles(study: Study, subjects: Iterable[str], analyses: Mapping[AnalysisKey, Any]) -> dict[str, str]:
    stored = {key[0]: value["title"] for key, value in analyses.items() if key[3] == "data" and "title" in value}
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


def _analyses(stored: Mapping[AnalysisKey, Any]) -> Iterable[Analysis]:
    for (subject, setting, split_by, name), value in sorted(stored.items()):
        if name != "data":
            continue
        models = {key[3]: one for key, one in stored.items() if key[:3] == (subject, setting, split_by)}
        del models["data"]
        yield Analysis(
            f"{setting}/{split_by}",
            subject,
            np.asarray(value["eigenvalues"], dtype=np.float64),
            np.asarray(value["input_mean"], dtype=np.float64),
            np.asarray(value["input_std"], dtype=np.float64),
            {model: np.abs(np.asarray(one["outputs"], dtype=np.float64)) for model, one in sorted(models.items())},
            {model: np.asarray(one["transfer"], dtype=np.float64) for model, one in sorted(models.items())},
            {model: float(one["creation_last"]) for model, one in sorted(models.items())},
            {model: np.asarray(one["first_outputs"], dtype=np.float64) for model, one in sorted(models.items())},
            {model: float(one["creation_first"]) for model, one in sorted(models.items())},
            {model: float(one["creation"]) for model, one in sorted(models.items())},
            bool(value.get("last_is_positive", False)),
        )


def _verdicts(
    study: Study, rows: Sequence[Row], stored: Mapping[AnalysisKey, Any], selection: Selection
) -> Iterable[Verdict]:
    for setting, split_by in dict.fromkeys((row.setting, row.split_by) for row in rows):
        # The analyses of this setting alone, so that a claim about spectra speaks of the same models as its errors.
        of_view = {key: value for key, value in stored.items() if key[1:3] == (setting, split_by)}
        for one in evaluate(
            rows, gather(study, of_view), study=study, selection=selection, setting=setting, split_by=split_by
        ):
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
    for protocol in sorted({row.protocol for row in rows if row.protocol}):
        record["protocol"] = _plain(json.loads(protocol)) if protocol.startswith("{") else protocol
    for key, value in (runs[-1] if runs else {}).items():
        if key not in ("command", "source") and value not in (None, "", [], {}):
            record.setdefault(key, _plain(value))
    return record


def _span(values: Sequence[object]) -> str:
    shown = [str(value) for value in values]
    return ", ".join(shown) if len(shown) <= 12 else f"{', '.join(shown[:5])}, ... ({len(shown)} in all)"


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(one)}" for name, one in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value)
