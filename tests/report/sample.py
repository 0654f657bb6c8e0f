"""Content of the shape that a run leaves, made from a seed: for tests of the drawing, not results."""

from __future__ import annotations

import numpy as np

from nvgf.report.content import Analysis, Best, Change, Content, Curve, Score, Verdict, View
from nvgf.report.labels import Words, texts_of

AUTHORS = (
    "abbott", "alcott", "alger", "allen", "austen", "brontë", "cooper", "dickens", "doyle", "garland", "hawthorne",
    "irving", "james", "jewett", "melville", "page", "poe", "stevenson", "thoreau", "twain", "wharton",
)  # fmt: skip
MOVIES = ("star-wars", "contact", "fargo", "jedi", "liar-liar")
CHANGED = ("learn-nvgf", "design-nvgf", "lsigf")
WORDS = {
    "authorship": Words(
        "authorship", texts_of("authorship"), "author", "classification error", "%", 100.0,
        ("learn-nvgf", "gat", "gcn", "sgc"), CHANGED, ("logistic-regression", "linear-svm"),
    ),
    "movies": Words(
        "movies", texts_of("movies"), "movie", "RMSE", "rating points", 1.0,
        ("learn-nvgf", "rmgcnn", "rmcayley", "nearest-neighbour"), CHANGED, ("mean-of-means", "item-knn"),
    ),
}  # fmt: skip
LEVELS = (7, 8, 9, 11, 7, 7.2, 8.5, 10, 6)
FREQUENCY = ("lsigf", "gcnn", "design-nvgf", "learn-nvgf")


CLAIMS = (
    ("Learn NVGF has a lower error than GAT, GAT than GCN, and GCN than SGC.", "holds",
     "7.0 < 8.1 < 9.2 < 11.0 %; smallest paired difference 0.9 points, p = 0.003", "section 5, experiment 1"),
    ("LSIGF is considerably worse than Learn NVGF and the GCNN.", "does not hold", "+1.2 % (−3.0 to 5.1)",
     "section 5", "The interval reaches beyond the tolerance."),
    ("Learn NVGF and the GCNN perform the same.", "undecided", "−3.2 % (−9.0 to 2.9), tolerance 5 %", "section 5"),
    ("The output of LSIGF holds the input's frequency alone.", "holds", "share created 0.000", "figure 3a"),
)  # fmt: skip


def _analysis(view: str, subject: str, rng: np.random.Generator, nodes: int, filters: int, maps: int) -> Analysis:
    eigenvalues = np.sort(rng.normal(0, 0.12, nodes))
    eigenvalues[-1] = 1.0
    mean = np.abs(rng.normal(0, 0.002, nodes)) + 0.0005
    mean[-1] = 0.06
    responses, transfers = {}, {}
    index = np.arange(nodes)
    for model, spread in zip(FREQUENCY, (0.0, 0.25, 0.5, 1.0), strict=True):
        response = spread * np.abs(rng.normal(0, 0.3, (filters, nodes))) * (0.3 + 2.5 * np.exp(-index / 8))
        response[:, -1] += np.abs(rng.normal(1, 0.4, filters))
        responses[model] = response
        transfers[model] = spread * np.abs(rng.normal(0, 0.1, (maps, maps))) + np.diag(1 + rng.random(maps))
    created = dict(zip(FREQUENCY, (0.0, 0.41, 0.63, 0.93), strict=True))
    first = {model: response.mean(axis=0)[::-1] for model, response in responses.items()}
    return Analysis(
        view, subject, eigenvalues, mean, mean * rng.random(nodes), responses, transfers, created, first, created,
        created, one_sign=True,
    )  # fmt: skip


def content(
    subjects: tuple[str, ...] = ("austen",),
    *,
    study: str = "authorship",
    views: tuple[str, ...] = ("paper", "scaled"),
    splits: int = 10,
    nodes: int = 190,
    filters: int = 32,
    maps: int = 64,
    seed: int = 0,
) -> Content:
    rng = np.random.default_rng(seed)
    words = WORDS[study]
    level = dict(zip(words.models, LEVELS, strict=True))
    scores, changes, curves, analyses, best, groups = [], [], [], [], [], {}
    for view in views:
        for subject in subjects:
            factor = rng.uniform(0.5, 1.8) / (100 if study == "authorship" else 8)
            means = {}
            for model, typical in level.items():
                errors = np.abs(rng.normal(typical, 1.5, splits)) * factor
                means[model] = errors.mean()
                half = 2.26 * errors.std(ddof=1) / np.sqrt(splits) if splits > 1 else np.nan
                features, order = (None, None) if model in (*words.anchors, "nearest-neighbour") else (32, 3)
                scores.append(
                    Score(view, subject, model, tuple(errors), errors.mean(), errors.std(), errors.mean() - half,
                          errors.mean() + half, 0.001 if features else None, features, order, rng.uniform(1, 9))
                )  # fmt: skip
                steps = np.arange(0, 800, 20)
                fall = means[model] * (1 + 2 * np.exp(-steps / 150)) + rng.normal(0, 0.001, steps.size)
                curves.append(Curve(view, subject, model, tuple(int(s) for s in steps), tuple(fall)))
            for model in ("learn-nvgf", "design-nvgf", "lsigf"):
                value = means[model] / means["gcnn"] - 1
                changes.append(Change(view, subject, model, value, value - 0.08, value + 0.08))
            groups[view, subject] = int(rng.integers(0, 4))
            analyses.append(_analysis(view, subject, rng, nodes, filters, maps))
            best.append(Best(view, subject, "learn-nvgf", "0.001, 32, 3", "0.001, 32, 3"))
            best.append(Best(view, subject, "gcn", "0.005, 32", "0.01, 64"))
    verdicts = [Verdict(view, *claim) for view in views for claim in CLAIMS]
    return Content(
        words=words,
        views=tuple(View(view, view) for view in views),
        subjects=tuple(subjects),
        titles={subject: f"Ms {subject.capitalize()}" for subject in subjects},
        scores=tuple(scores),
        changes=tuple(changes),
        groups=groups,
        curves=tuple(curves),
        analyses=tuple(analyses),
        verdicts=tuple(verdicts),
        best=tuple(best),
        selection="hyper-parameters chosen on the validation set",
        commands=(f"nvgf {study} run --seed {seed}",),
        record={"nvgf": "0.1.0", "torch": "2.13.0", "rows": str(len(scores) * splits), "seconds of training": "184"},
    )
