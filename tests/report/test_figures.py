from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.report import sample

from nvgf.report import write_figures

PNG = b"\x89PNG\r\n\x1a\n"


def _small(**options: object) -> object:
    return sample.content(nodes=20, filters=4, maps=8, views=("paper",), **options)  # type: ignore[arg-type]


def test_every_figure_as_png_and_svg(tmp_path: Path) -> None:
    files = write_figures(_small(), tmp_path / "figures")  # type: ignore[arg-type]
    names = {"comparison", "change", "spectrum-austen", "responses-austen", "transfer-austen"}
    assert {file.name for file in files} == {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {file.name for file in files}
    for file in files:
        if file.suffix == ".png":
            assert file.read_bytes().startswith(PNG)
        else:
            assert ElementTree.parse(file).getroot().tag.endswith("svg")
    text = (tmp_path / "figures" / "comparison.svg").read_text("utf-8")
    assert "Learn NVGF" in text
    assert "Austen" in text


def test_the_same_results_give_the_same_files(tmp_path: Path) -> None:
    first = write_figures(_small(), tmp_path / "a", formats=("svg",))  # type: ignore[arg-type]
    second = write_figures(_small(), tmp_path / "b", formats=("svg",))  # type: ignore[arg-type]
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


def test_movies_have_names_of_letters_and_hyphens(tmp_path: Path) -> None:
    content = sample.content(("star-wars",), study="movies", views=("paper", "scaled"), nodes=12, filters=2, maps=4)
    names = {file.name for file in write_figures(content, tmp_path, formats=["svg"])}
    assert "spectrum-paper-star-wars.svg" in names
    assert len(names) == 10


def test_bad_targets(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="file is a file; the figures need a folder"):
        write_figures(_small(), tmp_path / "file")  # type: ignore[arg-type]
    with pytest.raises(OSError, match="cannot be made: No such file or directory"):
        write_figures(_small(), tmp_path / "no" / "folder")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="formats must be of png, svg, got pdf"):
        write_figures(_small(), tmp_path, formats=["pdf"])  # type: ignore[arg-type]
