"""Spectra of data and of trained models: what ``analysis.json`` holds, small enough to be drawn from a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from nvgf.experiments.study import Data, Study
from nvgf.graph import GraphShift
from nvgf.models import GraphModel
from nvgf.spectral import Spectrum, probe
from nvgf.training import Task

FORMAT = 1
BINS = 48
"""The most rows and columns of a transfer map that is kept."""


def analyse_data(study: Study, data: Data, task: Task) -> dict[str, Any]:
    """Return the graph's eigenvalues and the spectrum of the test signals of a data set.

    ``input_mean`` and ``input_std`` are over the test signals, of the magnitude of each coefficient of the GFT;
    ``input_high_share`` is the share of the signals' energy at eigenvalues above the middle of the spectrum.
    ``variation`` is the total variation of each eigenvector, ``1 - lambda / max |lambda|``.
    """
    spectrum = Spectrum.of(task.shift)
    hats = spectrum.gft(task.test.x)[..., 0].abs()
    energy = hats.square().mean(0)
    rest = energy[:-1]
    low, high = spectrum.interval
    upper = spectrum.eigenvalues > (low + high) / 2
    return {
        "title": study.title(data.subject),
        **study.describe(data.subject),
        "split": data.split,
        "eigenvalues": rounded(spectrum.eigenvalues),
        "variation": rounded(1 - spectrum.eigenvalues / spectrum.eigenvalues.abs().max()),
        "input_mean": rounded(hats.mean(0)),
        "input_std": rounded(hats.std(0)),
        "input_high_share": float(energy[upper].sum() / energy.sum()),
        "input_last_share": float(energy[-1] / energy.sum()),
        "input_rest_high_share": float(rest[upper[:-1]].sum() / rest.sum()),
        "last_is_positive": bool((spectrum.eigenvectors[:, -1] * spectrum.eigenvectors[:, -1].sum().sign() > 0).all()),
    }


def analyse_model(model: GraphModel, shift: GraphShift, hyper: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a trained model does to single frequencies before its readout.

    Its answer to the zero signal, the offset of Design NVGF, is taken away: it does not come from the input.

    ``outputs`` are the spectra of all F hidden features for the input v_N, the eigenvector of the largest eigenvalue
    (figure ``fig:austen:freq``), shape ``(F, N)``; ``first_outputs`` are the means over the features of the
    magnitudes for the input v_1, the eigenvector of the smallest eigenvalue, which varies most over the graph.
    ``transfer`` is the magnitude of the map from input to output frequency (rows: output), binned.
    """
    double = shift.to(dtype=torch.float64)
    spectrum = Spectrum.of(double)
    model = model.double().eval()
    vectors = spectrum.eigenvectors
    with torch.no_grad():
        rest = model.hidden(torch.zeros_like(vectors[None, :, [0]]), double)
        last, first = (spectrum.gft((model.hidden(vectors[None, :, [i]], double) - rest)[0]) for i in (-1, 0))
        measured = probe(lambda x: model.hidden(x, double), double, spectrum=spectrum, remove_rest=True)
    return {
        "hyper": dict(hyper),
        "outputs": rounded(last.T),
        "first_outputs": rounded(first.abs().mean(1)),
        "last": spread_of(last, -1),
        "first": spread_of(first, 0),
        "transfer": rounded(binned(measured.energy).sqrt()),
        "creation": measured.creation.share,
        "creation_last": float(measured.creation.per_frequency[-1]),
        "creation_first": float(measured.creation.per_frequency[0]),
    }


def spread_of(outputs: torch.Tensor, source: int) -> dict[str, float]:
    """Measure how spread the spectra ``(N, F)`` of the answers to one eigenvector are.

    ``own_share`` is the share of the energy at the input's own place; ``entropy`` that of the energy over
    frequencies relative to the largest possible, 0 for one frequency and 1 for all alike; ``peak`` the place of the
    largest energy from 0 (smallest eigenvalue) to 1; ``peak_share`` its share; ``active`` the share of frequencies
    with more than a thousandth of the peak's magnitude; ``peak_other``, ``low_share`` the same without the input's own
    place: where the largest created content lies, and how much of what is created lies in the lower half.

    Example:
        >>> spread_of(torch.eye(4)[:, :1].double(), 0)["own_share"]
        1.0
    """
    energy = outputs.square().sum(1)
    total = float(energy.sum())
    count = len(energy)
    if total == 0:
        return {}
    shares = energy / total
    entropy = float(-(shares * shares.clamp_min(1e-300).log()).sum() / np.log(count))
    others = shares.clone()
    others[source] = 0.0
    created = float(others.sum())
    peak = int(shares.argmax())
    found = {
        "own_share": float(shares[source]),
        "entropy": max(entropy, 0.0),
        "peak": peak / (count - 1),
        "peak_share": float(shares[peak]),
        "active": float((shares.sqrt() > 1e-3 * shares.max().sqrt()).double().mean()),
    }
    if created > 1e-12:
        found["peak_other"] = int(others.argmax()) / (count - 1)
        found["peak_other_share"] = float(others.max()) / created
        found["low_share"] = float(others[: count // 2].sum()) / created
    return found


def binned(matrix: torch.Tensor, bins: int = BINS) -> torch.Tensor:
    """Return the means of blocks of a square matrix, at most ``bins`` of them a side.

    Example:
        >>> binned(torch.arange(16.0).view(4, 4), bins=2)
        tensor([[ 2.5000,  4.5000],
                [10.5000, 12.5000]])
    """
    count = min(bins, len(matrix))
    of_bin = torch.arange(len(matrix)) * count // len(matrix)
    average = torch.zeros(count, len(matrix), dtype=matrix.dtype)
    average[of_bin, torch.arange(len(matrix))] = 1.0
    average /= average.sum(1, keepdim=True)
    return average @ matrix @ average.T


def rounded(values: torch.Tensor, digits: int = 4) -> list[Any]:
    """Return numbers as lists, with as many decimals as the largest needs for ``digits`` significant ones.

    A plot cannot show more; small entries in full length would be most of the file.

    Example:
        >>> rounded(torch.tensor([123.456, 0.0123]))
        [123.5, 0.0]
    """
    data = values.detach().double().cpu().numpy()
    largest = float(np.abs(data).max(initial=0.0))
    places = digits - 1 - int(np.floor(np.log10(largest))) if largest > 0 and np.isfinite(largest) else 0
    rounded_data: list[Any] = (np.round(data, places) + 0.0).tolist()
    return rounded_data


def gather(study: Study, analyses: Mapping[tuple[str, str, str, str], Any]) -> dict[str, Any]:
    """Return the contents of ``analysis.json`` from the analyses of a store.

    ``subjects`` has for each subject its facts and ``models`` of the first setting that was analysed, and under
    ``settings`` the same for the others.
    """
    subjects: dict[str, Any] = {}
    order = {name: place for place, name in enumerate(study.settings)}
    for (subject, setting, split_by, model), value in sorted(
        analyses.items(),
        key=lambda item: (item[0][0], order.get(item[0][1], len(order)), item[0][2] != study.split_bys[0]),
    ):
        first = subjects.setdefault(subject, {"setting": setting, "split_by": split_by, "models": {}})
        entry = first
        if (setting, split_by) != (first["setting"], first["split_by"]):
            entry = first.setdefault("others", {}).setdefault(f"{setting}/{split_by}", {"models": {}})
        if model == "data":
            entry.update(value)
        else:
            entry["models"][model] = value
    return {"format": FORMAT, "study": study.name, "subjects": subjects}
