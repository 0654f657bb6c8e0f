from __future__ import annotations

import re
from importlib import resources

import pytest

from nvgf.models import ARCHITECTURES
from nvgf.report.labels import FREQUENCY_MODELS, MARKERS, MODELS, PALETTE, short_title, texts_of


def test_every_architecture_has_a_name_and_those_of_a_figure_look_different() -> None:
    assert set(ARCHITECTURES) <= set(MODELS)
    looks = [(MODELS[name].color, MODELS[name].shape) for name in ARCHITECTURES]
    assert len(set(looks)) == len(looks)
    for figure in (
        FREQUENCY_MODELS,
        ("learn-nvgf", "gat", "gcn", "sgc"),
        ("learn-nvgf", "rmgcnn", "rmcayley", "nearest-neighbour"),
    ):
        assert len({MODELS[name].color for name in figure}) == 4
    assert all(one.shape < len(MARKERS) and one.color < len(PALETTE) for one in MODELS.values())


def test_style_sheet_and_static_figures_have_the_same_colours() -> None:
    css = (resources.files("nvgf.report") / "assets" / "style.css").read_text("utf-8")
    first = {int(k): color for k, color in reversed(re.findall(r"--c(\d): (#\w+);", css))}
    assert tuple(first[k] for k in range(len(PALETTE))) == PALETTE


def test_short_titles() -> None:
    assert short_title("brontë", "Charlotte Brontë") == "Brontë"
    assert short_title("liar-liar", "Liar Liar (1997)") == "Liar Liar (1997)"


def test_an_unknown_study_is_refused() -> None:
    with pytest.raises(ValueError, match="study must be one of authorship, movies, got 'songs'"):
        texts_of("songs")
