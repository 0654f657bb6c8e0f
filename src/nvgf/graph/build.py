"""From what people hold a graph in, to the weights W as a canonical ``scipy.sparse`` matrix (float64)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from nvgf.graph.checks import check_finite, check_names, check_square


def weights_from_matrix(matrix: Any, names: Sequence[str] | None = None) -> sparse.csr_array:
    """Return the matrix as CSR: from numpy, ``scipy.sparse``, or torch (dense, COO, CSR); duplicates are summed."""
    if isinstance(matrix, torch.Tensor):
        check_square(matrix.shape)
        if matrix.is_complex():
            raise TypeError(f"matrix must hold real numbers, got {matrix.dtype}")
        result = _from_tensor(matrix.detach().cpu())
    elif sparse.issparse(matrix):
        check_square(matrix.shape)
        if matrix.dtype.kind not in "biuf":
            raise TypeError(f"matrix must hold real numbers, got {matrix.dtype}")
        result = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    else:
        array = np.asarray(matrix)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"matrix must hold real numbers, got {type(matrix).__name__} of dtype {array.dtype}")
        check_square(array.shape)
        result = sparse.csr_array(array.astype(np.float64))
    result.sum_duplicates()
    check_finite(result, names)
    result.eliminate_zeros()
    return result


def _from_tensor(matrix: torch.Tensor) -> sparse.csr_array:
    if matrix.layout == torch.sparse_csr:
        parts = (matrix.values().double(), matrix.col_indices(), matrix.crow_indices())
        return sparse.csr_array(tuple(part.numpy().copy() for part in parts), shape=tuple(matrix.shape))
    if matrix.layout == torch.sparse_coo:
        rows, columns = matrix._indices().numpy()
        return sparse.csr_array((matrix._values().double().numpy(), (rows, columns)), shape=tuple(matrix.shape))
    if matrix.layout != torch.strided:
        raise TypeError(f"matrix must be a dense, COO or CSR tensor, got layout {matrix.layout}")
    return sparse.csr_array(matrix.double().numpy())


def weights_from_edges(
    sources: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, num_nodes: int, directed: bool
) -> sparse.csr_array:
    """Return W with ``W[target, source]`` the summed weights of the edges; undirected edges count both ways."""
    if weights is None:
        weights = np.ones(len(sources))
    if len(weights) != len(sources):
        raise ValueError(f"weights has {len(weights)} entries, there are {len(sources)} edges")
    if num_nodes < 1:
        raise ValueError("edges is empty: a graph needs at least one node; give num_nodes or names")
    for what, ends in (("source", sources), ("target", targets)):
        wrong = np.flatnonzero((ends < 0) | (ends >= num_nodes))
        if wrong.size:
            raise ValueError(
                f"edges must lie between nodes 0 and {num_nodes - 1}, got {what} {ends[wrong[0]]} in edge {wrong[0]}"
            )
    if not directed:
        proper = sources != targets
        sources, targets = np.r_[sources, targets[proper]], np.r_[targets, sources[proper]]
        weights = np.r_[weights, weights[proper]]
    result = sparse.csr_array((np.asarray(weights, dtype=np.float64), (targets, sources)), shape=(num_nodes, num_nodes))
    check_finite(result, None, "weights")
    return result


def number_edges(
    edges: Iterable[Sequence[Any]], names: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...] | None]:
    """Return the ends of the edges as node numbers, and the node names if the edges are given by names."""
    if isinstance(edges, np.ndarray | torch.Tensor):
        if edges.ndim == 2 and edges.shape[0] == 2 and edges.shape[1] != 2:
            raise ValueError(f"edges must be pairs (source, target); shape {tuple(edges.shape)} is for from_edge_index")
        pairs = edges.tolist()
    else:
        pairs = list(edges)
    for position, pair in enumerate(pairs):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"edges must be pairs (source, target), got {pair!r} at position {position}")
    flat = [end for pair in pairs for end in pair]
    known = None if names is None else check_names(names, len(list(names)))
    if any(isinstance(end, str) for end in flat):
        if known is None:
            known = tuple(dict.fromkeys(str(end) for end in flat))
        numbers = {name: number for number, name in enumerate(known)}
        unknown = [end for end in flat if str(end) not in numbers]
        if unknown:
            raise ValueError(f"edges name unknown nodes: {', '.join(map(repr, dict.fromkeys(unknown[:5])))}")
        ends = np.array([numbers[str(end)] for end in flat], dtype=np.int64)
    else:
        if any(end != int(end) for end in flat):
            raise ValueError("edges must hold node numbers or node names, got a fraction")
        ends = np.array(flat, dtype=np.int64)
    ends = ends.reshape(-1, 2)
    return ends[:, 0], ends[:, 1], known


def read_edge_list(path: str | PathLike[str]) -> tuple[list[tuple[str, str]], np.ndarray, tuple[str, ...]]:
    """Read a CSV file with the header ``source,target[,weight]``; whole numbers are sorted, names keep their order."""
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        header = [cell.strip().lower() for cell in next(reader, [])]
        if header not in (["source", "target"], ["source", "target", "weight"]):
            raise ValueError(f"{path}: the header must be source,target[,weight], got {','.join(header) or 'nothing'}")
        edges, weights = [], []
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise ValueError(f"{path}, line {reader.line_num}: expected {len(header)} cells, got {len(row)}")
            edges.append((row[0].strip(), row[1].strip()))
            try:
                weights.append(float(row[2]) if len(row) == 3 else 1.0)
            except ValueError:
                raise ValueError(f"{path}, line {reader.line_num}: weight {row[2]!r} is not a number") from None
    if not edges:
        raise ValueError(f"{path}: no edges after the header")
    names = dict.fromkeys(end for edge in edges for end in edge)
    if all(name.isdecimal() for name in names):
        return edges, np.array(weights), tuple(sorted(names, key=int))
    return edges, np.array(weights), tuple(names)
