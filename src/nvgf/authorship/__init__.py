"""From raw books to word adjacency networks, graph signals and data sets for authorship attribution.

The way of a text: :func:`read_text`, :func:`~nvgf.authorship.gutenberg.strip_gutenberg`,
:func:`skeleton` and :func:`split_excerpts` make excerpts; a :class:`Corpus` holds them; :func:`network` and
:func:`support` make a graph of some, and :class:`AuthorshipDataset` a learning problem.
"""

from __future__ import annotations

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
    from nvgf.authorship.dataset import AuthorshipDataset
    from nvgf.authorship.shift import support

__all__ = [
    "AuthorshipDataset",
    "Book",
    "BuildResult",
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


def __getattr__(name: str) -> Any:
    # These two need torch. Building a corpus does not, and each of its processes would pay for the import.
    if name == "AuthorshipDataset":
        from nvgf.authorship.dataset import AuthorshipDataset

        return AuthorshipDataset
    if name == "support":
        from nvgf.authorship.shift import support as function

        return function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
