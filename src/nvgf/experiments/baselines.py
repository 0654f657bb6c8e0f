"""Linear classifiers of scikit-learn beside the networks: the anchor that every comparison is shown with."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nvgf.experiments.study import Outcome
from nvgf.training import Signals, Task

STRENGTHS = tuple(float(c) for c in np.logspace(-3, 3, 7))
"""The inverse regularisations C that are tried; validation chooses."""


def linear_classifier(name: str, task: Task, seed: int = 0) -> Outcome:
    """Fit a linear classifier to the signals of a task, with C chosen on the validation part.

    Each node is standardised by its training signals first, so that C means the same whatever the scaling; the
    largest regularisation that is best on the validation part is taken.

    Args:
        name: ``"logistic-regression"`` or ``"linear-svm"``.
        task: two classes.
        seed: of the solver.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    makers: dict[str, Any] = {
        "logistic-regression": lambda c: LogisticRegression(C=c, max_iter=2000, random_state=seed),
        "linear-svm": lambda c: LinearSVC(C=c, max_iter=20000, random_state=seed, dual=False),
    }
    if name not in makers:
        raise ValueError(f"name must be one of {', '.join(makers)}, got {name!r}")
    start = time.perf_counter()
    x, y = _table(task.train)
    models = [make_pipeline(StandardScaler(), makers[name](strength)).fit(x, y) for strength in STRENGTHS]
    errors = [_error(model, task.valid) for model in models]
    best = errors.index(min(errors))
    tested = _error(models[best], task.test)
    return Outcome(errors[best], tested, time.perf_counter() - start, {"C": STRENGTHS[best]})


def _table(signals: Signals) -> tuple[np.ndarray, np.ndarray]:
    return signals.x.flatten(1).double().cpu().numpy(), signals.y.cpu().numpy()


def _error(model: Any, signals: Signals) -> float:
    x, y = _table(signals)
    return float(np.mean(model.predict(x) != y))
