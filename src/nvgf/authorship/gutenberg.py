"""Taking the author's own text out of a Project Gutenberg file.

A file that has no Project Gutenberg marks at all passes through unchanged, so that any plain text is a book.
Every function returns what it dropped, in words that a person can read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PROJECT = r"(?:THE|THIS)\s+PROJECT\s+GUTENBERG"
_START = re.compile(rf"^[ \t]*\*{{3}}[ \t]*START OF {_PROJECT}", re.I | re.M)
_END = re.compile(rf"^[ \t]*\*{{3}}[ \t]*END OF {_PROJECT}", re.I | re.M)
_OLD_START = re.compile(r"^\*END\*?[ \t]*THE SMALL PRINT!.*\*END\*[ \t]*$", re.I | re.M)
_LAST_LINE = re.compile(r"^[ \t*]*End of (?:the )?Project Gutenberg(?:[’']s)?\b", re.I | re.M)

_NOTE_WORD = r"(?:(?:Original )?Transcriber(?:[’']?s[’']?)?|Project Gutenberg Editor[’']s)[’']? Notes?"
_BRACKETED = re.compile(
    rf"\[\s*(?:{_NOTE_WORD}|Illustrations?|Picture|Sidenote)\b[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]", re.I
)
_NOTE_HEADING = re.compile(rf"^[\W_]*{_NOTE_WORD}\b", re.I)
_LIST_HEADING = re.compile(
    r"^[\W_]*(?:(?:table of )?contents|(?:list of )?illustrations|the illustrations in this volume.*)[\W_]*$",
    re.I,
)
_CREDIT = re.compile(
    r"^[\[(]?\s*(?:Produced by|E-?text (?:was )?(?:prepared|produced)"
    r"|This (?:e-?text|e-?book) (?:was )?(?:prepared|produced)|Transcribed (?:from|by)|Digitized by"
    r"|Prepared (?:for|by)|Modified for Project|Scanned (?:and|by)|Special thanks|Proofed by|HTML version"
    r"|Note:\s+(?:Project Gutenberg|Images of))",
    re.I,
)
_CREDIT_TAIL = re.compile(
    r"Project Gutenberg|Distributed Proofread|images generously made available|archive\.org|pglaf\.org"
    r"|scanned images of public domain"
)
_FINIS = re.compile(r"\n[ \t]*\n[ \t_*]*(?:THE END|The End|FINIS|Finis)[ \t_.*!]*\n(?=[ \t]*\n|$)")

_BACK_HEADING = re.compile(rf"^[\W_]*(?:{_NOTE_WORD}\b|books by [A-Z]|a note on the text[\W_]*$)", re.I)
_PRICES = re.compile(r"\b(?:12mo|16mo|18mo|8vo|cents|cts\.|vols?\.)|\$\s?\d")

_FRONT_PARAGRAPHS = 60  # credits and transcriber's notes at the front stand before this paragraph
_BACK_SHARE = 0.85  # notes and lists at the back begin after this share of the text


def count_words(text: str) -> int:
    """Return the number of words between white space, the unit in which dropped text is reported."""
    return len(text.split())


def has_marks(text: str) -> tuple[bool, bool]:
    """Return whether a text has the START and the END mark of Project Gutenberg, new or old.

    Example:
        >>> has_marks("*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***")
        (True, False)
    """
    return bool(_START.search(text) or _OLD_START.search(text)), bool(_END.search(text) or _LAST_LINE.search(text))


@dataclass(frozen=True)
class Cut:
    """A passage that is not the author's: from the last line ``start`` that has a line ``stop`` after it, up to that.

    Lines are compared without the white space around them; an empty ``start`` is the beginning of the book, an
    empty ``stop`` its end.
    """

    start: str
    stop: str
    reason: str


def strip_gutenberg(text: str, cuts: Sequence[Cut] = ()) -> tuple[str, list[str]]:
    """Return the body of a book and notes on what was dropped.

    Drops the licence before START and after END (old and new marks), credits, transcriber's notes, captions of
    illustrations, side notes, lists of contents and illustrations, advertisements, and the ``cuts`` asked for.

    Example:
        >>> text = "*** START OF THIS PROJECT GUTENBERG EBOOK X ***\\n\\nProduced by Y\\n\\nOnce upon a time.\\n\\n"
        >>> strip_gutenberg(text + "*** END OF THIS PROJECT GUTENBERG EBOOK X ***\\nlicence")[0].strip()
        'Once upon a time.'
    """
    notes: list[str] = []
    body, is_gutenberg = _between_marks(text, notes)
    for cut in cuts:
        body = _without_cut(body, cut, notes)
    body = _without_brackets(body, notes)
    if is_gutenberg:
        body = _without_back(
            body, notes
        )  # first, so that notes at the back of a short text are not taken for front ones
        body = _without_front(body, notes)
    return body, notes


def _between_marks(text: str, notes: list[str]) -> tuple[str, bool]:
    start = _START.search(text)
    old = None if start else _OLD_START.search(text)
    begin = start or old
    if begin is None:
        if end := _END.search(text):
            notes.append("has an END mark of Project Gutenberg but no START mark: the text before END is kept")
            return text[: end.start()], True
        return text, False
    first = begin.end()
    if start:
        first = _end_of_mark(text, start.end())
    ends = [match.start() for match in _END.finditer(text, first)]
    if ends:
        last = ends[-1]
    elif start:
        notes.append(
            "has no END mark of Project Gutenberg (a truncated file?): the text to the end of the file is kept"
        )
        last = len(text)
    else:
        last = len(text)
    for match in _LAST_LINE.finditer(text, first, last):
        # A line "End of Project Gutenberg's ..." closes the text; one far from END would be part of it.
        if old or last - match.start() < 400:
            last = match.start()
            break
    if old and last == len(text):
        notes.append("has no closing line of Project Gutenberg: the text to the end of the file is kept")
    dropped = count_words(text[:first]) + count_words(text[last:])
    notes.append(f"header and licence of Project Gutenberg: {dropped} words dropped")
    return text[first:last], True


def _end_of_mark(text: str, position: int) -> int:
    """Return where the START mark ends: at its closing asterisks, which may stand on one of the next two lines."""
    end = position
    for _ in range(3):
        newline = text.find("\n", end)
        line_end = len(text) if newline < 0 else newline
        if "***" in text[position:line_end]:
            return line_end
        if newline < 0:
            break
        end = newline + 1
    newline = text.find("\n", position)
    return len(text) if newline < 0 else newline


def _without_cut(body: str, cut: Cut, notes: list[str]) -> str:
    lines = body.split("\n")
    stripped = [line.strip() for line in lines]
    starts = [i for i, line in enumerate(stripped) if line == cut.start] if cut.start else [0]
    stops = [i for i, line in enumerate(stripped) if line == cut.stop] if cut.stop else [len(lines)]
    first = max((i for i in starts if stops and i < stops[-1]), default=-1)
    if first < 0:
        notes.append(f"{cut.reason}: not found (from {cut.start!r} to {cut.stop!r}), nothing dropped")
        return body
    last = min(i for i in stops if i > first)
    notes.append(f"{cut.reason}: {count_words(' '.join(lines[first:last]))} words dropped")
    return "\n".join(lines[:first] + lines[last:])


def _without_brackets(body: str, notes: list[str]) -> str:
    removed = _BRACKETED.findall(body)
    if removed:
        words = sum(count_words(passage) for passage in removed)
        notes.append(f"captions, side notes and bracketed transcriber's notes: {len(removed)}, {words} words dropped")
        body = _BRACKETED.sub(" ", body)
    return body


def _is_prose(paragraph: str) -> bool:
    """Tell running text from titles and lists: two long lines, mostly lower case, with the end of a sentence."""
    lines = [line.strip() for line in paragraph.strip().splitlines()]
    letters = [c for c in paragraph if c.isalpha()]
    if len(lines) < 2 or not letters or sum(map(len, lines)) < 45 * len(lines) or re.search(r"\s\d+$", lines[0]):
        return False
    return sum(c.islower() for c in letters) > 0.85 * len(letters) and bool(re.search(r"[.?!;:]", paragraph))


def _without_front(body: str, notes: list[str]) -> str:
    paragraphs = re.split(r"(\n[ \t]*(?:\n[ \t]*)+)", body.strip("\n"))
    texts, gaps = paragraphs[::2], [*paragraphs[1::2], ""]
    drop = [False] * len(texts)
    in_note = in_list = False
    dropped = {"credits": 0, "transcriber's notes at the front": 0, "lists of contents and illustrations": 0}
    for i, paragraph in enumerate(texts):
        if i >= _FRONT_PARAGRAPHS and not in_list:
            break
        lines = paragraph.strip().splitlines()
        first = lines[0] if lines else ""
        if i < 20 and (_CREDIT.match(paragraph.strip()) or (i < 6 and _CREDIT_TAIL.search(paragraph))):
            kind = "credits"
        elif _NOTE_HEADING.match(first):
            kind = "transcriber's notes at the front"
            in_note = len(lines) == 1  # a heading alone: the note is in the paragraphs that follow
        elif _LIST_HEADING.match(first):
            kind, in_list, in_note = "lists of contents and illustrations", True, False
        elif in_note and _is_prose(paragraph) and i < 20:
            kind = "transcriber's notes at the front"
        elif in_list and not _is_prose(paragraph):
            kind, in_note = "lists of contents and illustrations", False
        else:
            in_note = in_list = False
            continue
        drop[i] = True
        dropped[kind] += count_words(paragraph)
    notes.extend(f"{kind}: {words} words dropped" for kind, words in dropped.items() if words)
    return "".join(text + gap for text, gap, out in zip(texts, gaps, drop, strict=True) if not out)


def _without_back(body: str, notes: list[str]) -> str:
    floor = int(_BACK_SHARE * len(body))
    for match in re.finditer(r"^.*\S.*$", body, re.M):
        if match.start() >= floor and _BACK_HEADING.match(match.group()):
            heading, words = match.group().strip(), count_words(body[match.start() :])
            notes.append(f"notes or a publisher's list at the back ({heading!r}): {words} words dropped")
            body = body[: match.start()]
            break
    last = None
    for match in _FINIS.finditer(body, min(floor, len(body))):
        last = match
    # The end of one piece of a collection looks like the end of the book, so only advertisements are dropped.
    if last is not None and len(_PRICES.findall(body[last.end() :])) > 2:
        notes.append(f"advertisements after THE END: {count_words(body[last.end() :])} words dropped")
        body = body[: last.end()]
    return body
