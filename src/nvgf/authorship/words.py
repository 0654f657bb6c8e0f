"""Function words: the nodes of a word adjacency network, read from a plain text file."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

WORD = r"[^\W\d_]+(?:['-][^\W\d_]+)*"
"""A word: a run of letters, with inner apostrophes and hyphens (``don't`` and ``to-day`` are one word each)."""

_PLAIN = (("’", "'"), ("‘", "'"), ("\u2010", "-"), ("\u2011", "-"))
_MAX_WORDS = 65_000  # symbols of a skeleton are stored in at most 16 bits


def normalized(text: str) -> str:
    """Return ``text`` as words are compared: in lower case, composed (NFC), with plain apostrophes and hyphens.

    Example:
        >>> normalized("Don’t"), normalized("to‑day")
        ("don't", 'to-day')
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        for fancy, plain in _PLAIN:
            text = text.replace(fancy, plain)
    return text.lower()


@dataclass(frozen=True)
class FunctionWords:
    """An ordered list of function words with their categories.

    Example:
        >>> words = FunctionWords(("the", "of"), ("determiners", "prepositions"))
        >>> len(words), words.words
        (2, ('the', 'of'))
    """

    words: tuple[str, ...]
    categories: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.words) != len(self.categories):
            raise ValueError(f"{len(self.words)} words have {len(self.categories)} categories: one each is needed")
        if not self.words:
            raise ValueError("the list of function words is empty")
        if len(self.words) > _MAX_WORDS:
            raise ValueError(f"at most {_MAX_WORDS} function words are possible, got {len(self.words)}")
        seen: set[str] = set()
        for word in self.words:
            if not re.fullmatch(WORD, word) or word != normalized(word) or any(map(str.isdigit, word)):
                raise ValueError(
                    f"{word!r} is not a function word: it must be one run of lower-case letters, with inner "
                    "apostrophes or hyphens at most"
                )
            if word in seen:
                raise ValueError(f"the function word {word!r} occurs more than once")
            seen.add(word)

    def __len__(self) -> int:
        return len(self.words)

    def by_category(self) -> dict[str, tuple[str, ...]]:
        """Return the words of each category, in the order of the list."""
        groups: dict[str, list[str]] = {}
        for word, category in zip(self.words, self.categories, strict=True):
            groups.setdefault(category, []).append(word)
        return {category: tuple(members) for category, members in groups.items()}


def parse_words(text: str) -> FunctionWords:
    """Read a word list: words separated by white space, ``[category]`` lines, ``#`` comments.

    Example:
        >>> parse_words("[modals]  # verbs\\nmay must\\n").by_category()
        {'modals': ('may', 'must')}
    """
    words: list[str] = []
    categories: list[str] = []
    category = ""
    for line in text.lstrip("\ufeff").splitlines():
        content = line.partition("#")[0].strip()
        if content.startswith("[") and content.endswith("]"):
            category = content[1:-1].strip()
            continue
        found = [normalized(word) for word in content.split()]
        words += found
        categories += [category] * len(found)
    return FunctionWords(tuple(words), tuple(categories))


def load_words(path: str | Path) -> FunctionWords:
    """Read a word list from a UTF-8 text file; see :func:`parse_words` for the format."""
    path = Path(path)
    try:
        return parse_words(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: a word list must be UTF-8 text ({error})") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


@lru_cache(maxsize=1)
def default_words() -> FunctionWords:
    """Return the English function words that come with the package.

    Example:
        >>> words = default_words()
        >>> "upon" in words.words, "she" in words.words
        (True, False)
    """
    file = resources.files("nvgf.authorship") / "data" / "function-words.txt"
    return parse_words(file.read_text(encoding="utf-8"))
