"""Tensors and facts in safetensors and JSON files; never pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save


def tensors_to_bytes(tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]) -> bytes:
    """Return the bytes of a safetensors file with tensors, and facts as JSON in its header."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(plain, metadata={"nvgf": json.dumps(dict(facts))})


def read_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return tensors and facts of a file that :func:`tensors_to_bytes` made.

    Raises:
        FileNotFoundError: if it is not there.
        ValueError: if it is anything else, such as a pickle, or is cut off.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there")
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads((file.metadata() or {})["nvgf"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path} is not a whole safetensors file of nvgf (pickles are never loaded): {error}"
        ) from None
    return tensors, facts


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, with a message that names the file when there is none."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there")
    try:
        facts = json.loads(path.read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(facts, dict):
        raise ValueError(f"{path} must hold a JSON object, got {type(facts).__name__}")
    return facts
