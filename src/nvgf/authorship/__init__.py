"""From raw books to word adjacency networks, graph signals and data sets for authorship attribution.

The way of a text: :func:`read_text`, :func:`~nvgf.authorship.gutenberg.strip_gutenberg`,
:func:`skeleton` and :func:`split_excerpts` make excerpts; a :class:`Corpus` holds them; :func:`network` and
:func:`support` make a graph of some, and :class:`AuthorshipDataset` a learning problem.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nvgf.authorship.build import BuildResult, FileReport, build_corpus
from nvgf.authorship.catalogue import Entry, read_catalogue, scan_folder
from nvgf.authorship.corpus import Book, Corpus, load_corpus
from nvgf.authorship.gutenberg import Cut, strip_gutenberg
from nvgf.authorship.networks import author_network, excerpt_networks, network, support_matrix
from nvgf.authorship.reading import read_text
from nvgf.authorship.skeletons import skeleton, split_excerpts
from nvgf.authorship.splits import Split, split_excerpts_of
from nvgf.authorship.words import FunctionWords, default_words, load_words

if TYPE_CHECKING:
    from nvgf.authorship.attribution import Attributor, Candidate
    from nvgf.authorship.dataset import AuthorshipDataset
    from nvgf.authorship.shift import support

__all__ = [
    "Attributor",
    "AuthorshipDataset",
    "Book",
    "BuildResult",
    "Candidate",
    "Corpus",
    "Cut",
    "Entry",
    "FileReport",
    "FunctionWords",
    "Split",
    "author_network",
    "build_corpus",
    "default_words",
    "excerpt_networks",
    "load_corpus",
    "load_words",
    "network",
    "read_catalogue",
    "read_text",
    "scan_folder",
    "skeleton",
    "split_excerpts",
    "split_excerpts_of",
    "strip_gutenberg",
    "support",
    "support_matrix",
]


_NEED_TORCH = {
    "Attributor": "attribution",
    "Candidate": "attribution",
    "AuthorshipDataset": "dataset",
    "support": "shift",
}


def __getattr__(name: str) -> Any:
    # Building a corpus needs no torch, and each of its processes would pay for the import.
    if name in _NEED_TORCH:
        return getattr(import_module(f"nvgf.authorship.{_NEED_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
