"""Taking the author's own text out of a Project Gutenberg file.

A file that has no Project Gutenberg marks at all passes through unchanged, so that any plain text is a book.
Every function notes what it dropped, in words that a person can read, and warns of what looks wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nvgf.authorship.notes import Notes

_PROJECT = r"(?:THE|THIS)\s+PROJECT\s+GUTENBERG"
_START = re.compile(rf"^[ \t]*\*{{3}}[ \t]*START OF {_PROJECT}", re.I | re.M)
_END = re.compile(rf"^[ \t]*\*{{3}}[ \t]*END OF {_PROJECT}", re.I | re.M)
_OLD_START = re.compile(r"^\*END\*?[ \t]*THE SMALL PRINT!.*\*END\*[ \t]*$", re.I | re.M)
_LAST_LINE = re.compile(r"^[ \t*]*End of (?:the )?Project Gutenberg(?:[’']s)?\b", re.I | re.M)

_NOTE_WORD = r"(?:(?:Original )?Transcriber(?:[’']?s[’']?)?|Project Gutenberg Editor[’']s)[’']? Notes?"
_BRACKETED = re.compile(
    rf"\[\s*(?:{_NOTE_WORD}|Illustrations?|Picture|Sidenote)\b[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]", re.I
)
_CAPTION = re.compile(r"\[\s*(?:Illustration|Picture|Sidenote)\b", re.I)
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

_BACK_HEADING = re.compile(rf"^[\W_]*(?:{_NOTE_WORD}\b|a note on the text[\W_]*$)", re.I)
_BOOKS_BY = re.compile(r"^[\W_]*(?:BOOKS BY|Books [Bb]y)(?:\s+(?:[A-Z]\S*|and|of|the|same|author\S*))+[\W_]*$")
_PRICES = re.compile(r"\b(?:12mo|16mo|18mo|8vo|cents|cts\.|vols?\.)|\$\s?\d")

_SENTENCE_END = re.compile(r"[.?!][\"'’”)\]_]*$")
_CREDITS, _FRONT_NOTES, _LISTS = "credits", "transcriber's notes at the front", "lists of contents and illustrations"
_FRONT_PARAGRAPHS = 60  # credits and transcriber's notes at the front stand before this paragraph
_BACK_SHARE = 0.85  # notes and lists at the back begin after this share of the text
_CAPTION_WORDS = 150  # a bracket that is longer was never closed
_NOTE_WORDS = 1000  # the same for notes and lists in brackets
_LIST_WORDS, _LIST_SHARE = 3000, 0.1  # a list of contents that is longer, in words and in its share, is none
_SHORT_LIST_SHARE = 0.5  # the same for the lists of short texts
_MUCH, _MUCH_SHARE = 2000, 0.15  # dropping more characters, and a greater share of them, deserves a look
_LONG_LINE = 200  # characters of a paragraph that is not broken into lines


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


def strip_gutenberg(text: str, cuts: Sequence[Cut] = ()) -> tuple[str, Notes]:
    """Return the body of a book and notes on what was dropped, with ``warnings`` about what looks wrong.

    Drops the licence before START and after END (old and new marks), credits, transcriber's notes, captions of
    illustrations, side notes, lists of contents and illustrations, advertisements, and the ``cuts`` asked for. Of a
    text without marks of Project Gutenberg nothing is dropped but the ``cuts``.

    Example:
        >>> text = "*** START OF THIS PROJECT GUTENBERG EBOOK X ***\\n\\nProduced by Y\\n\\nOnce upon a time.\\n\\n"
        >>> strip_gutenberg(text + "*** END OF THIS PROJECT GUTENBERG EBOOK X ***\\nlicence")[0].strip()
        'Once upon a time.'
    """
    notes = Notes()
    body, is_gutenberg = _between_marks(text.replace("\r\n", "\n").replace("\r", "\n"), notes)
    for cut in cuts:
        body = _without_cut(body, cut, notes)
    if not is_gutenberg:
        return body, notes
    whole = len(body)
    body = _without_brackets(body, notes)
    # The back first, so that notes at the back of a short text are not taken for front ones.
    body = _without_front(_without_back(body, notes), notes)
    lost = whole - len(body)
    if lost > max(_MUCH, _MUCH_SHARE * whole):
        notes.warn(f"{lost / whole:.0%} of the text was dropped as notes, lists, captions or advertisements")
    return body, notes


def _between_marks(text: str, notes: Notes) -> tuple[str, bool]:
    start = _START.search(text)
    old = None if start else _OLD_START.search(text)
    begin = start or old
    if begin is None:
        if end := _END.search(text):
            notes.warn("has an END mark of Project Gutenberg but no START mark: the text before END is kept")
            return text[: end.start()], True
        return text, False
    first = begin.end()
    if start:
        first = _end_of_mark(text, start.end())
    ends = [match.start() for match in _END.finditer(text, first)]
    if ends:
        last = ends[-1]
    elif start:
        notes.warn("has no END mark of Project Gutenberg (a truncated file?): the text to the end of the file is kept")
        last = len(text)
    else:
        last = len(text)
    for match in _LAST_LINE.finditer(text, first, last):
        # A line "End of Project Gutenberg's ..." closes the text; one far from END would be part of it.
        if old or last - match.start() < 400:
            last = match.start()
            break
    if old and last == len(text):
        notes.warn("has no closing line of Project Gutenberg: the text to the end of the file is kept")
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


def _without_cut(body: str, cut: Cut, notes: Notes) -> str:
    lines = body.split("\n")
    stripped = [line.strip() for line in lines]
    starts = [i for i, line in enumerate(stripped) if line == cut.start] if cut.start else [0]
    stops = [i for i, line in enumerate(stripped) if line == cut.stop] if cut.stop else [len(lines)]
    first = max((i for i in starts if stops and i < stops[-1]), default=-1)
    if first < 0:
        notes.warn(f"{cut.reason}: not found (from {cut.start!r} to {cut.stop!r}), nothing dropped")
        return body
    last = min(i for i in stops if i > first)
    notes.append(f"{cut.reason}: {count_words(' '.join(lines[first:last]))} words dropped")
    return "\n".join(lines[:first] + lines[last:])


def _without_brackets(body: str, notes: Notes) -> str:
    pieces = []
    kept = position = count = words = 0
    while match := _BRACKETED.search(body, position):
        length = count_words(match.group())
        limit = _CAPTION_WORDS if _CAPTION.match(match.group()) else _NOTE_WORDS
        if length > limit:
            opening = match.group()[:40].split("\n")[0]
            notes.warn(f"the bracket {opening!r} is not closed within {limit} words: it is kept")
            position = match.start() + 1
            continue
        pieces += [body[kept : match.start()], " "]
        kept = position = match.end()
        count, words = count + 1, words + length
    if count:
        notes.append(f"captions, side notes and bracketed transcriber's notes: {count}, {words} words dropped")
    return "".join(pieces) + body[kept:]


def _is_prose(paragraph: str) -> bool:
    """Tell running text from titles and lists: two long lines, mostly lower case, with the end of a sentence.

    A paragraph that is not broken into lines is one very long line that ends a sentence.
    """
    lines = [line.strip() for line in paragraph.strip().splitlines()]
    letters = [c for c in paragraph if c.isalpha()]
    if len(lines) == 1 and not (len(lines[0]) >= _LONG_LINE and _SENTENCE_END.search(lines[0])):
        return False
    if not letters or sum(map(len, lines)) < 45 * len(lines) or re.search(r"\s\d+$", lines[0]):
        return False
    return sum(c.islower() for c in letters) > 0.85 * len(letters) and bool(re.search(r"[.?!;:]", paragraph))


def _without_front(body: str, notes: Notes) -> str:
    paragraphs = re.split(r"(\n[ \t]*(?:\n[ \t]*)+)", body.strip("\n"))
    texts, gaps = paragraphs[::2], [*paragraphs[1::2], ""]
    kinds = _front_kinds(texts)
    dropped = dict.fromkeys((_CREDITS, _FRONT_NOTES, _LISTS), 0)
    for kind, paragraph in zip(kinds, texts, strict=True):
        if kind is not None:
            dropped[kind] += count_words(paragraph)
    listed = sum(len(paragraph) for kind, paragraph in zip(kinds, texts, strict=True) if kind == _LISTS)
    share = listed / max(sum(map(len, texts)), 1)
    if share > _SHORT_LIST_SHARE or (dropped[_LISTS] > _LIST_WORDS and share > _LIST_SHARE):
        notes.warn(
            f"what looks like a list of contents has {dropped[_LISTS]} words, {share:.0%} of the text (verse, a play?) "
            "and is kept"
        )
        kinds = [None if kind == _LISTS else kind for kind in kinds]
        dropped[_LISTS] = 0
    notes.extend(f"{kind}: {words} words dropped" for kind, words in dropped.items() if words)
    return "".join(text + gap for text, gap, kind in zip(texts, gaps, kinds, strict=True) if kind is None)


def _front_kinds(texts: Sequence[str]) -> list[str | None]:
    """Return, for each paragraph of a book, as what it is dropped from the front, or None."""
    kinds: list[str | None] = [None] * len(texts)
    in_note = in_list = False
    for i, paragraph in enumerate(texts):
        if i >= _FRONT_PARAGRAPHS and not in_list:
            break
        lines = paragraph.strip().splitlines()
        first = lines[0] if lines else ""
        if i < 20 and (_CREDIT.match(paragraph.strip()) or (i < 6 and _CREDIT_TAIL.search(paragraph))):
            kinds[i] = _CREDITS
        elif _NOTE_HEADING.match(first):
            kinds[i] = _FRONT_NOTES
            in_note = len(lines) == 1  # a heading alone: the note is in the paragraphs that follow
        elif _LIST_HEADING.match(first):
            kinds[i], in_list, in_note = _LISTS, True, False
        elif in_note and _is_prose(paragraph) and i < 20:
            kinds[i] = _FRONT_NOTES
        elif in_list and not _is_prose(paragraph):
            kinds[i], in_note = _LISTS, False
        else:
            in_note = in_list = False
    return kinds


def _is_back_heading(body: str, line: re.Match[str]) -> bool:
    if _BACK_HEADING.match(line.group()):
        return True
    # "Books by ..." may begin an ordinary line: a heading has capitals and follows a line without words.
    if not _BOOKS_BY.match(line.group()):
        return False
    before = body[: line.start()].removesuffix("\n").rsplit("\n", 1)[-1]
    return not any(character.isalnum() for character in before)


def _without_back(body: str, notes: Notes) -> str:
    floor = int(_BACK_SHARE * len(body))
    for match in re.finditer(r"^.*\S.*$", body, re.M):
        if match.start() >= floor and _is_back_heading(body, match):
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
