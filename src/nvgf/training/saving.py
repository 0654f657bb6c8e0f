"""Trained models as folders of safetensors and JSON, with their graph; no pickle is written or read."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from nvgf.files import write_atomically
from nvgf.graph import GraphShift
from nvgf.models import GraphModel, architecture, build
from nvgf.training.files import read_json, read_tensors, tensors_to_bytes

FORMAT = 1
_FACTS = "model.json"
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
    """Save a model with its graph as a folder: whatever happens, the model that was there or the new one is whole.

    Args:
        path: the folder to make.
        model: the model.
        shift: its graph, with the names of its nodes.
        scaling: tensors that turn raw into scaled signals, by name.
        facts: plain data to store along.
        overwrite: whether to replace the model that is there; nothing else in the folder is touched.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists: give overwrite=True to replace the model in it")
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
    text = json.dumps(description, indent=2)
    path.mkdir(parents=True, exist_ok=True)
    # The description names the weights and is written last: until then the model that was there is whole.
    write_atomically(path / _weights(description), data)
    write_atomically(path / _FACTS, text.encode())
    for left in path.glob(_weights({"sha256": "*"})):
        if left.name != _weights(description):
            left.unlink()


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
    if not re.fullmatch("[0-9a-f]{64}", str(facts.get("sha256"))):
        raise ValueError(f"{path / _FACTS} has no sha256 of the weights")
    weights = path / _weights(facts)
    tensors, _ = read_tensors(weights)
    if hashlib.sha256(weights.read_bytes()).hexdigest() != facts["sha256"]:
        raise ValueError(f"{weights} is not the file that {_FACTS} describes: its checksum differs")
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


def _weights(facts: Mapping[str, Any]) -> str:
    return f"weights-{facts['sha256'][:12]}.safetensors"


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
