"""The skeleton of a text: which function word stands where, and where sentences end. None of the text remains.

A skeleton is an array of symbols: 0 for any other word, i + 1 for function word i, and ``len(words) + 1`` for the
end of a sentence (one of ``. ? ! ; :``, or several in a row). It is the sequence omega of the paper's appendix.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvgf.authorship.notes import Notes
from nvgf.authorship.words import FunctionWords, normalized

Symbols = NDArray[np.unsignedinteger[Any]]

OTHER = 0
"""The symbol of a word that is no function word."""
ENDLESS = 1000
"""A sentence of more words is no prose."""

_LETTER = rb"[a-z\x80-\xff]"  # of a text in lower case whose characters beyond ASCII are all letters, as UTF-8
_LINE_HYPHEN = re.compile(rb"-\n[ \t]*(?=" + _LETTER + rb")")
_LOOSE = re.compile(rb"['-](?!" + _LETTER + rb")")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_MARKS = b".?!;:"
_TABLE = bytes(
    code if code >= 128 or chr(code) in "abcdefghijklmnopqrstuvwxyz'-" else ord("." if code in _MARKS else " ")
    for code in range(256)
)


def end_symbol(num_words: int) -> int:
    """Return the symbol of a sentence end for a list of ``num_words`` function words."""
    return num_words + 1


def symbol_type(num_words: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type that holds all symbols of a list of ``num_words`` function words."""
    return np.uint8 if end_symbol(num_words) < 256 else np.uint16


def skeleton(text: str, words: FunctionWords) -> Symbols:
    """Return the skeleton of a text, shape ``(symbols,)``; it ends with a sentence end unless it is empty.

    Case and the shape of apostrophes do not matter; underscores (italics) and soft hyphens are dropped; a word
    broken by a hyphen at the end of a line is joined.

    Example:
        >>> from nvgf.authorship.words import FunctionWords
        >>> words = FunctionWords(("the", "of"), ("", ""))
        >>> skeleton("The end _of_ it. Of course!", words).tolist()
        [1, 0, 2, 0, 3, 2, 0, 3]
    """
    end = end_symbol(len(words))
    symbols = {word.encode(): index + 1 for index, word in enumerate(words.words)}
    symbols[b"."] = end
    tokens = _tokens(text)
    found = np.fromiter((symbols.get(token, OTHER) for token in tokens), symbol_type(len(words)), len(tokens))
    if found.size == 0:
        return found
    is_end = found == end
    keep = ~is_end
    keep[1:] |= ~is_end[:-1]
    keep[0] = not is_end[0]
    found = found[keep]
    return found if found.size == 0 or found[-1] == end else np.append(found, found.dtype.type(end))


def count_words(symbols: Symbols, sizes: NDArray[np.int64], num_words: int) -> NDArray[np.int32]:
    """Count each function word in each of several skeletons.

    Shapes:
        - ``symbols``: ``(sizes.sum(),)``, the skeletons one after the other
        - ``sizes``: ``(skeletons,)``, the number of symbols of each
        - result: ``(skeletons, num_words)``

    Example:
        >>> count_words(np.array([1, 0, 2, 3, 2, 3], np.uint8), np.array([4, 2]), 2).tolist()
        [[1, 1], [0, 1]]
    """
    width = end_symbol(num_words) + 1
    which = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    table = np.bincount(which * width + symbols, minlength=len(sizes) * width)
    return table.reshape(len(sizes), width)[:, OTHER + 1 : -1].astype(np.int32)


def _tokens(text: str) -> list[bytes]:
    """Return the words, as UTF-8, and ``.`` for each mark that ends a sentence.

    This is the pattern ``WORD`` or a mark, found by replacing bytes: several times faster than searching for it.
    """
    text = normalized(text).replace("_", "").replace("\u00ad", "")
    for character in set(_BEYOND_ASCII.findall(text)):
        if not character.isalnum() or character.isdigit():  # a superscript digit is one, and is no decimal
            text = text.replace(character, " ")
    data = _LINE_HYPHEN.sub(_join_after_letter, text.encode())
    data = _LOOSE.sub(b" ", b" " + data.translate(_TABLE)).replace(b".", b" . ")
    # An apostrophe or hyphen that now follows a space has no letter before it.
    return data.replace(b" '", b" ").replace(b" -", b" ").split()


def _join_after_letter(match: re.Match[bytes]) -> bytes:
    before = match.string[match.start() - 1 : match.start()]
    return b"" if before >= b"\x80" or before.isalpha() else match.group()


def split_excerpts(symbols: Symbols, num_words: int, size: int = 1000) -> tuple[list[Symbols], Notes]:
    """Cut a skeleton into excerpts of about ``size`` words that end at sentence ends, and say what was dropped.

    A text of n words gives round(n / size) excerpts of nearly equal length; each cut is made at the sentence end
    that is nearest to its even place. A sentence of more than 1,000 words, and more than ``size``, is no prose (a
    list, an index) and is dropped; so is an excerpt without function words. Of excerpts shorter than that, some may
    be a single long sentence, and there are then fewer.

    Raises:
        ValueError: if the text has no function words, is one endless sentence, or is too short for one excerpt.
    """
    if size < 1:
        raise ValueError(f"size must be at least 1 word, got {size}")
    end = end_symbol(num_words)
    notes = Notes()
    words_before = np.cumsum(symbols != end)
    ends = np.flatnonzero(symbols == end)
    total = int(words_before[-1]) if symbols.size else 0
    if not np.any((symbols > OTHER) & (symbols < end)):
        raise ValueError(f"the text has {total} words but none of the {num_words} function words")
    lengths = np.diff(words_before[ends], prepend=0)
    endless = lengths > max(size, ENDLESS)
    if endless.any():
        if endless.all():
            raise ValueError(
                f"the text is one endless sentence: {int(lengths.max())} words without any of . ? ! ; : "
                "where an excerpt must end at a sentence end"
            )
        dropped = int(lengths[endless].sum())
        tell = notes.warn if dropped > 0.1 * total else notes.append
        tell(f"{int(endless.sum())} endless sentences (lists or an index): {dropped} words dropped")
        symbols = symbols[~np.repeat(endless, np.diff(ends, prepend=-1))]
        words_before = np.cumsum(symbols != end)
        ends = np.flatnonzero(symbols == end)
        total = int(words_before[-1])
    count = (2 * total + size) // (2 * size)
    if count == 0:
        raise ValueError(f"the text has {total} words; one excerpt of {size} words needs at least {(size + 1) // 2}")
    reached = words_before[ends]
    targets = np.arange(1, count) * (total / count)
    after = np.minimum(np.searchsorted(reached, targets), len(reached) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(targets - reached[before] <= reached[after] - targets, before, after)
    cuts = np.unique(ends[np.append(nearest, len(ends) - 1)]) + 1
    pieces = np.split(symbols, cuts[:-1])
    kept = [piece for piece in pieces if np.any((piece > OTHER) & (piece < end))]
    if len(kept) < len(pieces):
        notes.append(f"{len(pieces) - len(kept)} excerpts without function words dropped")
    return kept, notes
