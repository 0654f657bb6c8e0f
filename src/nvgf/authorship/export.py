"""Writing a directed network for other programs: a CSV list of edges, or GraphML."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from nvgf.files import write_atomically

Weights = NDArray[np.float64]


def edges(weights: Weights, words: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Yield ``(source, target, weight)`` for each edge, row by row; the target follows the source in the text.

    Example:
        >>> list(edges(np.array([[0.0, 1.5], [0.0, 0.0]]), ["the", "of"]))
        [('the', 'of', 1.5)]
    """
    for source, target in zip(*np.nonzero(weights), strict=True):
        yield words[source], words[target], float(weights[source, target])


def to_csv(weights: Weights, words: Sequence[str]) -> str:
    """Return a CSV list of edges with the header ``source,target,weight``; weights keep all their digits."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("source", "target", "weight"))
    writer.writerows((source, target, repr(weight)) for source, target, weight in edges(weights, words))
    return buffer.getvalue()


def to_graphml(weights: Weights, words: Sequence[str]) -> str:
    """Return the network as a directed GraphML graph whose nodes are the words that have an edge."""
    linked = [word for word, degree in zip(words, weights.sum(0) + weights.sum(1), strict=True) if degree > 0]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '  <key id="weight" for="edge" attr.name="weight" attr.type="double"/>',
        '  <graph edgedefault="directed">',
        *(f"    <node id={quoteattr(word)}/>" for word in linked),
        *(
            f"    <edge source={quoteattr(source)} target={quoteattr(target)}>"
            f'<data key="weight">{weight!r}</data></edge>'
            for source, target, weight in edges(weights, words)
        ),
        "  </graph>",
        "</graphml>",
    ]
    return "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[Weights, Sequence[str]], str]] = {".csv": to_csv, ".graphml": to_graphml}
"""What can be written, by the end of the file name."""


def save_network(path: str | Path, weights: Weights, words: Sequence[str]) -> None:
    """Write a network to a ``.csv`` or ``.graphml`` file, whole or not at all."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ValueError(
            f"{path}: a network is written to {' or '.join(FORMATS)}, not to {path.suffix or 'no suffix'!r}"
        )
    write_atomically(path, FORMATS[path.suffix](weights, words).encode())
