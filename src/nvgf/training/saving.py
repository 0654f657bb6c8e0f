"""Trained models as folders of safetensors and JSON, with their graph; no pickle is written or read."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from nvgf.files import sync_folder
from nvgf.graph import GraphShift
from nvgf.models import GraphModel, architecture, build
from nvgf.training.files import read_json, read_tensors, tensors_to_bytes

FORMAT = 1
_WEIGHTS, _FACTS = "model.safetensors", "model.json"
_PREFIX, _SCALING = "weights/", "scaling/"


@dataclass(frozen=True)
class SavedModel:
    """A trained model with what is needed to use it.

    ``scaling`` are the tensors that turn raw into scaled signals, by name; ``facts`` is whatever was stored along.
    """

    model: GraphModel
    shift: GraphShift
    scaling: Mapping[str, torch.Tensor] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


def save_model(
    path: str | Path,
    model: GraphModel,
    shift: GraphShift,
    *,
    scaling: Mapping[str, torch.Tensor] | None = None,
    facts: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Save a model with its graph as a folder, which appears whole or not at all.

    Args:
        path: the folder to make.
        model: the model.
        shift: its graph, with the names of its nodes.
        scaling: tensors that turn raw into scaled signals, by name.
        facts: plain data to store along.
        overwrite: whether to replace what is there.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists: give overwrite=True to replace it")
    if model.num_nodes != shift.num_nodes:
        raise ValueError(f"the model has {model.num_nodes} nodes, the shift has {shift.num_nodes}")
    tensors = {_PREFIX + name: tensor for name, tensor in model.state_dict().items()}
    tensors |= {_SCALING + name: torch.as_tensor(tensor) for name, tensor in (scaling or {}).items()}
    matrix = shift.to_scipy()
    tensors["shift/indptr"] = torch.from_numpy(matrix.indptr.astype("int64"))
    tensors["shift/indices"] = torch.from_numpy(matrix.indices.astype("int64"))
    tensors["shift/values"] = torch.from_numpy(matrix.data)
    data = tensors_to_bytes(tensors, {"format": FORMAT})
    description = {
        "format": FORMAT,
        "architecture": model.name,
        "config": model.config,
        "dtype": str(model.readout.weight.dtype).removeprefix("torch."),
        "nodes": list(shift.names) if shift.names is not None else None,
        "shift": {"layout": shift.layout, "dtype": str(shift.dtype).removeprefix("torch.")},
        "sha256": hashlib.sha256(data).hexdigest(),
        "versions": versions(),
        "facts": dict(facts or {}),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    side = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        (side / _WEIGHTS).write_bytes(data)
        (side / _FACTS).write_text(json.dumps(description, indent=2), encoding="utf-8")
        side.chmod(0o755)
        sync_folder(side)
        if path.exists():
            old = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.old."))
            path.rename(old / path.name)
            side.rename(path)
            shutil.rmtree(old)
        else:
            side.rename(path)
        sync_folder(path.parent)
    finally:
        shutil.rmtree(side, ignore_errors=True)


def load_model(path: str | Path) -> SavedModel:
    """Load what :func:`save_model` saved; the model is in evaluation mode.

    Raises:
        FileNotFoundError: if there is no such folder or a file of it is missing.
        ValueError: if a file is damaged, of another format, or does not fit the other.
    """
    path = Path(path)
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is not a folder with a saved model")
    facts = read_json(path / _FACTS)
    if facts.get("format") != FORMAT:
        raise ValueError(f"{path / _FACTS} has format {facts.get('format')!r}, this version reads {FORMAT}")
    tensors, _ = read_tensors(path / _WEIGHTS)
    if hashlib.sha256((path / _WEIGHTS).read_bytes()).hexdigest() != facts.get("sha256"):
        raise ValueError(f"{path / _WEIGHTS} is not the file that {_FACTS} describes: its checksum differs")
    try:
        shift = _shift(tensors, facts)
        architecture(facts["architecture"])
        model = build(facts["architecture"], **facts["config"], device="meta", dtype=_dtype(facts["dtype"]))
        state = {n.removeprefix(_PREFIX): t for n, t in tensors.items() if n.startswith(_PREFIX)}
        model.load_state_dict(state, assign=True)
    except (KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"{path}: the description and the weights do not fit: {error}") from None
    scaling = {n.removeprefix(_SCALING): t for n, t in tensors.items() if n.startswith(_SCALING)}
    return SavedModel(model.eval(), shift, scaling, facts["facts"])


def versions() -> dict[str, str]:
    """Return the versions of the software that trains."""
    import nvgf

    return {"nvgf": nvgf.__version__, "torch": torch.__version__, "python": platform.python_version()}


def _dtype(name: str) -> torch.dtype:
    dtypes = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if name not in dtypes:
        raise ValueError(f"dtype must be one of {', '.join(dtypes)}, got {name!r}")
    return dtypes[name]


def _shift(tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]) -> GraphShift:
    pointers, indices, values = (tensors[f"shift/{name}"] for name in ("indptr", "indices", "values"))
    nodes = len(pointers) - 1
    matrix = torch.sparse_csr_tensor(pointers, indices, values, size=(nodes, nodes), check_invariants=True)
    layout, dtype = facts["shift"]["layout"], _dtype(facts["shift"]["dtype"])
    return GraphShift(matrix, names=facts["nodes"], layout=layout, dtype=dtype)
