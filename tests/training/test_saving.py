"""Saved models load in a fresh process; pickles and damaged files are refused."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nvgf import GraphShift
from nvgf.models import GAT, GCNN, LSIGF, DesignNVGF, LearnNVGF
from nvgf.training import load_model, save_model

FRESH = """
import sys, torch
from nvgf.training import load_model
saved = load_model(sys.argv[1])
x = torch.linspace(-1, 1, 8).reshape(2, 4, 1)
x = (x - saved.scaling["mean"]) / saved.scaling["deviation"]
print(saved.model(x, saved.shift).tolist(), saved.shift.names, saved.facts["author"])
"""


@pytest.fixture
def shift() -> GraphShift:
    names = ["the", "of", "and", "ünd"]
    return GraphShift.from_edges([(0, 1), (1, 2), (2, 3)], [0.5, 1.5, 2.0], names=names).normalized()


def test_loads_in_a_fresh_process(tmp_path, shift):
    model = LearnNVGF(4, features=3, order=2).eval()
    scaling = {"mean": torch.full((4, 1), 0.25), "deviation": torch.full((4, 1), 2.0)}
    save_model(tmp_path / "m", model, shift, scaling=scaling, facts={"author": "Brontë"})
    x = torch.linspace(-1, 1, 8).reshape(2, 4, 1)
    expected = f"{model((x - 0.25) / 2.0, shift).tolist()} {shift.names} Brontë"
    run = [sys.executable, "-X", "utf8", "-c", FRESH, str(tmp_path / "m")]
    assert subprocess.run(run, capture_output=True, text=True, check=True, encoding="utf-8").stdout.strip() == expected


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_all_kinds_come_back(tmp_path, shift, layout):
    shift = GraphShift(shift.to_dense(), names=shift.names, layout=layout)
    x = torch.randn(30, 4, 1)
    gcnn = GCNN(4, features=[3, 2], order=1, basis="chebyshev", activation="tanh").eval()
    models = [
        gcnn,
        DesignNVGF.from_gcnn(gcnn, x, shift),
        LSIGF(4, features=2, order=1, bias=True, readout="shared", outputs=1).eval(),
        GAT(4, features=2, heads=3).eval(),
    ]
    for number, model in enumerate(models):
        save_model(tmp_path / str(number), model, shift)
        saved = load_model(tmp_path / str(number))
        assert type(saved.model) is type(model)
        assert saved.shift.layout == layout
        assert torch.equal(saved.model(x, saved.shift), model(x, shift))


def test_float64_comes_back(tmp_path, shift):
    shift = shift.to(dtype=torch.float64)
    save_model(tmp_path / "m", LSIGF(4, dtype=torch.float64), shift)
    saved = load_model(tmp_path / "m")
    assert (saved.model.readout.weight.dtype, saved.shift.dtype) == (torch.float64, torch.float64)


def test_versions_are_stored(tmp_path, shift):
    save_model(tmp_path / "m", LSIGF(4), shift)
    facts = json.loads((tmp_path / "m" / "model.json").read_text())
    assert facts["versions"]["torch"] == torch.__version__
    assert facts["architecture"] == "lsigf"


def test_overwriting_is_asked_for(tmp_path, shift):
    save_model(tmp_path / "m", LSIGF(4, features=2), shift)
    with pytest.raises(FileExistsError, match="give overwrite=True to replace the model"):
        save_model(tmp_path / "m", LSIGF(4, features=3), shift)
    save_model(tmp_path / "m", LSIGF(4, features=3), shift, overwrite=True)
    assert load_model(tmp_path / "m").model.config["features"] == 3
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert len(list((tmp_path / "m").iterdir())) == 2


def test_overwriting_touches_nothing_else(tmp_path, shift):
    (tmp_path / "thesis.tex").write_text("years of work")
    save_model(tmp_path, LSIGF(4), shift, overwrite=True)
    save_model(tmp_path, LSIGF(4), shift, overwrite=True)
    assert load_model(tmp_path).model.name == "lsigf"
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("step", range(1, 11))
def test_a_model_that_is_replaced_is_whole_at_every_moment(tmp_path, shift, monkeypatch, step):
    """Die at each of the calls that reach the disk: the old model or the new one must load."""
    folder = tmp_path / "m"
    save_model(folder, LSIGF(4, features=2), shift)
    left = step

    def dying(real):
        def call(*arguments, **options):
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
            return real(*arguments, **options)

        return call

    for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink")):
        monkeypatch.setattr(owner, name, dying(getattr(owner, name)))
    with contextlib.suppress(KeyboardInterrupt):
        save_model(folder, LSIGF(4, features=3), shift, overwrite=True)
    monkeypatch.undo()
    assert load_model(folder).model.config["features"] == (2 if step <= 6 else 3)
    save_model(folder, LSIGF(4, features=5), shift, overwrite=True)
    assert load_model(folder).model.config["features"] == 5


def test_a_failed_write_leaves_nothing(tmp_path, shift):
    with pytest.raises(TypeError):
        save_model(tmp_path / "m", LSIGF(4), shift, facts={"what": object()})
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="the model has 5 nodes, the shift has 4"):
        save_model(tmp_path / "m", LSIGF(5), shift)


class Malice:
    def __reduce__(self):
        return print, ("a pickle was loaded",)


def test_pickles_and_damage_are_refused(tmp_path, shift, capsys):
    folder = tmp_path / "m"
    save_model(folder, LSIGF(4), shift)
    (weights,), description = folder.glob("weights-*.safetensors"), folder / "model.json"
    good, facts = weights.read_bytes(), description.read_text()

    def refused(error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=re.escape(message)):
            load_model(folder)
        weights.write_bytes(good)
        description.write_text(facts)

    weights.write_bytes(pickle.dumps(Malice()))
    refused(ValueError, "is not a whole safetensors file of nvgf (pickles are never loaded)")
    torch.save({"weights": Malice()}, weights)
    refused(ValueError, "is not a whole safetensors file")
    assert "a pickle was loaded" not in capsys.readouterr().out
    weights.write_bytes(good[: len(good) // 2])
    refused(ValueError, "is not a whole safetensors file")
    weights.write_bytes(good[:-4] + b"\0\0\0\1")
    refused(ValueError, "its checksum differs")
    weights.unlink()
    refused(FileNotFoundError, f"{weights} is not there")
    description.write_text("[]")
    refused(ValueError, "must hold a JSON object, got list")
    for change, message in [
        ({"format": 2}, "has format 2, this version reads 1"),
        ({"architecture": "gnn"}, "architecture must be one of"),
        ({"architecture": "gcn"}, "architecture 'gcn' has no option 'order'"),
        ({"architecture": "learn-nvgf"}, "the description and the weights do not fit"),
        ({"config": {"num_nodes": 9}}, "the description and the weights do not fit"),
        ({"dtype": "object"}, "dtype must be one of"),
        ({"sha256": "../../etc"}, "has no sha256 of the weights"),
        ({"nodes": ["a"]}, "names"),
    ]:
        description.write_text(json.dumps({**json.loads(facts), **change}))
        with pytest.raises(ValueError, match=re.escape(message)):
            load_model(folder)
    with pytest.raises(FileNotFoundError, match="is not a folder with a saved model"):
        load_model(tmp_path / "nothing")
