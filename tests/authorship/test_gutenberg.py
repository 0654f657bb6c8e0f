import pytest

from nvgf.authorship import Cut, strip_gutenberg
from nvgf.authorship.gutenberg import has_marks

PROSE = (
    "It was a bright cold day in the town, and the clocks were striking as they had always done before then.\n"
    "Nobody in the street had looked up; everybody was going about the business of the day without a word."
)
TAIL = "*** END OF THIS PROJECT GUTENBERG EBOOK X ***\n\n*** START: FULL LICENSE ***\nPLEASE READ THIS\n"
HEADS = {
    "with a space": "The Project Gutenberg EBook of X\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n\n",
    "without a space": "The Project Gutenberg EBook of X\n\n***START OF THE PROJECT GUTENBERG EBOOK X***\n\n",
    "over two lines": "Header\n\n*** START OF THIS PROJECT GUTENBERG EBOOK THE TRAGEDY OF X\nAND Y ***\n\n",
    "closed on its own line": "Header\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X\n***\n\n",
    "never closed": "Header\n\n*** START OF THIS PROJECT GUTENBERG EBOOK X\n\n",
    "indented, lower case": "Header\n\n  *** Start of the Project Gutenberg EBook X ***\n\n",
}
ENDS = {
    "this": "*** END OF THIS PROJECT GUTENBERG EBOOK X ***\nlicence",
    "the": "***END OF THE PROJECT GUTENBERG EBOOK X***\nlicence",
    "closing line": "End of the Project Gutenberg EBook of X, by\nA Writer\n\n" + TAIL,
    "closing line, curly": "End of Project Gutenberg’s X, by A Writer\n\n" + TAIL,
    "closing line, capital The": "End of The Project Gutenberg Etext of X\n\n" + TAIL,
    "small print": TAIL + "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN EBOOKS**START***\nmore licence",
    "over two lines": "*** END OF THIS PROJECT GUTENBERG EBOOK THE TRAGEDY OF X\n***\nlicence",
}


def book(front: str = "", back: str = "") -> str:
    return HEADS["with a space"] + front + PROSE + "\n\n" + back + "\n" + TAIL


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_header_and_licence_are_dropped(head, end):
    body, notes = strip_gutenberg(head + PROSE + "\n\n" + end)
    assert words(body) == words(PROSE)
    assert notes[0].startswith("header and licence of Project Gutenberg: ")


def test_the_old_header_is_dropped():
    text = (
        "Etext of X\n******This file should be named 2316.txt******\n"
        "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nmoney\n"
        "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n"
    )
    assert words(strip_gutenberg(text + PROSE + "\n\nEnd of Project Gutenberg Etext X, by Y\n")[0]) == words(PROSE)
    body, notes = strip_gutenberg(text + PROSE)
    assert words(body) == words(PROSE)
    assert any("no closing line" in note for note in notes)


def test_a_bare_start_is_no_mark():
    text = PROSE + "\n\n*** START: FULL LICENSE ***\n\n" + PROSE
    assert strip_gutenberg(text) == (text, [])


def test_a_plain_text_passes_unchanged():
    text = "Contents\n\nProduced by nobody.\n\n" + PROSE + "\n\nTHE END\n\n8vo. $1. 12mo. $2. cents"
    assert strip_gutenberg(text) == (text, [])


def test_nothing_in_brackets_is_dropped_from_a_plain_text():
    text = "He said [Illustration: of nothing] and [Sidenote: wrote] it.\n\n" + PROSE
    assert strip_gutenberg(text) == (text, [])


def test_a_truncated_book_is_reported():
    body, notes = strip_gutenberg(HEADS["with a space"] + PROSE)
    assert words(body) == words(PROSE)
    assert any("no END mark" in note for note in notes.warnings)
    assert strip_gutenberg(book())[1].warnings == []
    body, notes = strip_gutenberg(PROSE + "\n" + TAIL)
    assert words(body) == words(PROSE)
    assert any("no START mark" in note for note in notes.warnings)


def test_a_closing_line_inside_the_text_does_not_close_it():
    text = HEADS["with a space"] + "End of Project Gutenberg's story.\n\n" + (PROSE + "\n\n") * 4 + TAIL
    assert words(strip_gutenberg(text)[0]).endswith(words(PROSE))
    assert words(strip_gutenberg(text)[0]).count("bright cold day") == 4


@pytest.mark.parametrize(
    "credit",
    [
        "Produced by A. Volunteer and the Online\nDistributed Proofreading Team at http://www.pgdp.net",
        "E-text prepared by Al Haines",
        "This etext was produced by Charles Aldarondo.",
        "This eBook produced by Jared Fuller.",
        "Transcribed from the 1897 Service & Paton edition by David Price, email\nccx074@pglaf.org",
        "Digitized by Cardinalis Etext Press [C.E.K.]\nPrepared for Project Gutenberg by Andrew Sly",
        "Special thanks are due to Sharon Partridge for extensive\nproofreading and correction of this etext.",
        "Note: Project Gutenberg also has an HTML version of this\n      file.",
        "(This file was produced from images generously made available by The Internet Archive)",
    ],
)
def test_credits_are_dropped(credit):
    body, notes = strip_gutenberg(book(front=credit + "\n\n"))
    assert words(body) == words(PROSE)
    assert any(note.startswith("credits: ") for note in notes)


@pytest.mark.parametrize(
    "note",
    [
        "Transcriber's Note: Italics have been converted\nto capitals.",
        "Transcriber’s Note\n\n"
        + "Inconsistent spelling has been kept as it was printed in the book of that year;\n" * 2,
        "Transcribers Note:\n\n"
        + "Inconsistent spelling has been kept as it was printed in the book of that year;\n" * 2,
        "[Transcriber's note: Obvious errors [sic] have been corrected, all\nothers not.]",
        "     Original Transcriber’s Note: This etext is prepared directly\n     from an 1887 edition.",
        "[Project Gutenberg Editor's Note: There is also another version.]",
    ],
)
def test_transcribers_notes_at_the_front_are_dropped(note):
    assert words(strip_gutenberg(book(front=note + "\n\nA TITLE\n\n"))[0]) == "A TITLE " + words(PROSE)


@pytest.mark.parametrize(
    "note",
    [
        "TRANSCRIBER'S NOTES:\n\n1. Errors corrected.\n\n2. Summaries moved.",
        "                 Transcriber Notes:\n\nSmall caps were replaced.",
        "Transcriber's Note: This e-book was excerpted\n\nfrom a modern one.",
        "+----------------+\n| Transcriber's Note and Errata |\n| of to changed |\n+--------+",
        "A NOTE ON THE TEXT\n\nThe manuscript was revised.",
        "BOOKS BY THOMAS NELSON PAGE\n\nROBERT E. LEE",
        "Books by the Same Author\n\nROBERT E. LEE",
        "+-------------------------+\n|  BOOKS BY EDITH WHARTON |\n+-------------------------+",
    ],
)
def test_notes_and_lists_at_the_back_are_dropped(note):
    text = HEADS["with a space"] + (PROSE + "\n\n") * 20 + note + "\n\n" + TAIL
    body, notes = strip_gutenberg(text)
    assert words(body).rstrip(" +-") == words(" ".join([PROSE] * 20))
    assert any("at the back" in line for line in notes)


@pytest.mark.parametrize(
    "line",
    [
        "books by Dickens and others lay on the table, and nobody had opened them",
        "Books by Dickens and others lay on the table, and nobody had opened them",
        "BOOKS BY DICKENS",  # within a paragraph
    ],
)
def test_an_ordinary_line_about_books_cuts_nothing_off(line):
    text = (PROSE + "\n\n") * 20 + "Nobody had ever opened any of the old\n" + line + "\nfor many years.\n\n" + PROSE
    body, notes = strip_gutenberg(HEADS["with a space"] + text + "\n\n" + TAIL)
    assert words(body) == words(text)
    assert not any("at the back" in note for note in notes)
    alone = (PROSE + "\n\n") * 20 + "Books by Dickens lay on the table.\n\n" + PROSE
    assert words(strip_gutenberg(HEADS["with a space"] + alone + "\n\n" + TAIL)[0]) == words(alone)


def test_advertisements_after_the_end_are_dropped_but_not_a_last_piece():
    pieces = (PROSE + "\n\n") * 20 + "THE END\n\n"
    prices = "NEW WORKS. 12mo, cloth, $1.25. Another, 8vo, paper, 50 cents."
    body, notes = strip_gutenberg(HEADS["with a space"] + pieces + prices + "\n\n" + TAIL)
    assert words(body).endswith("without a word. THE END")
    assert any(note.startswith("advertisements after THE END") for note in notes)
    body, _ = strip_gutenberg(HEADS["with a space"] + pieces + PROSE + "\n\n" + TAIL)
    assert words(body).endswith(words(PROSE))


@pytest.mark.parametrize("heading", ["CONTENTS", "Table of Contents", "Contents:", "LIST OF ILLUSTRATIONS."])
def test_lists_of_contents_are_dropped(heading):
    listing = heading + "\n\n   CHAPTER I    The Beginning   3\n\n   CHAPTER II   The End of It   9\n\n"
    body, notes = strip_gutenberg(book(front=listing))
    assert words(body) == words(PROSE)
    assert any("lists of contents" in note for note in notes)


VERSE = "\n\n".join(f"Sweet bird {n}\nthat sings in {n} trees" for n in range(1000))


@pytest.mark.parametrize("rest", ["", "\n\n" + (PROSE + "\n\n") * 600], ids=["all of it", "a part of it"])
def test_a_list_of_contents_that_is_a_whole_book_of_verse_is_kept(rest):
    text = "CONTENTS\n\n" + VERSE + rest
    body, notes = strip_gutenberg(HEADS["with a space"] + text + "\n\n" + TAIL)
    assert words(body) == words(text)
    (warning,) = notes.warnings
    assert warning.startswith("what looks like a list of contents has 8001 words")


def test_a_short_play_is_kept():
    text = "CONTENTS\n\n" + "\n\n".join(f"KING. A line {n}." for n in range(100)) + "\n\n" + PROSE
    body, notes = strip_gutenberg(HEADS["with a space"] + text + "\n\n" + TAIL)
    assert words(body) == words(text)
    assert notes.warnings


def test_paragraphs_that_are_one_line_each_end_a_list_of_contents():
    text = "\n\n".join([words(PROSE)] * 30)
    body, notes = strip_gutenberg(HEADS["with a space"] + "CONTENTS\n\nChapter I\n\n" + text + "\n\n" + TAIL)
    assert words(body) == words(text)
    assert notes.warnings == []


@pytest.mark.parametrize(
    ("captions", "warnings"), [(8, []), (40, ["19% of the text was dropped as notes, lists, ..."])]
)
def test_much_that_is_dropped_is_a_warning(captions, warnings):
    caption = "[Sidenote: " + "a word " * 18 + "]\n\n"
    text = (PROSE + "\n\n") * (112 - captions) + (caption + PROSE + "\n\n") * captions
    found = strip_gutenberg(HEADS["with a space"] + text + TAIL)[1].warnings
    assert [warning.replace("captions or advertisements", "...") for warning in found] == warnings


@pytest.mark.parametrize(("opening", "limit"), [("[Illustration", 150), ("[Transcriber's Note:", 1000)])
def test_a_bracket_that_is_not_closed_swallows_nothing(opening, limit):
    front = PROSE + "\n\nA line "
    text = front + opening + " of\n\n" + (PROSE + "\n\n") * 40 + "a stray ] here [Sidenote: gone]\n\n"
    body, notes = strip_gutenberg(book(front=text))
    assert words(body).startswith(words(front + opening + " of " + PROSE))
    assert words(body).count("It was a bright cold day") == 42
    assert "gone" not in body
    assert notes.warnings == [f"the bracket {opening + ' of'!r} is not closed within {limit} words: it is kept"]
    closed = book(front=front + f"{opening} {'a ' * (limit - 5)}]\n\n")
    assert words(strip_gutenberg(closed)[0]) == words(front + " " + PROSE)


def test_captions_and_side_notes_are_dropped():
    inside = "[Illustration: THE FLUTE. [_See p. 8._ ]]\n\n[Sidenote: The scene.]\n\n[Picture: of a cat]\n\n"
    body, notes = strip_gutenberg(book(front="A TITLE\n\n" + inside + "[Footnote: kept] [a word of the author's]\n\n"))
    assert words(body).startswith("A TITLE [Footnote: kept] [a word of the author's] It was")
    assert any(": 3, " in note for note in notes)


def test_cuts_take_out_what_others_wrote():
    front = "INTRODUCTION\n\nby a friend.\n\nPREFACE\n\nMine.\n\n"
    text = book(front=front, back="INTRODUCTION\n\nMine too.\n\nAPPENDIX\n\nlists")
    cuts = (Cut("INTRODUCTION", "PREFACE", "introduction"), Cut("APPENDIX", "", "appendix"), Cut("GONE", "", "nowhere"))
    body, notes = strip_gutenberg(text, cuts)
    assert words(body) == "PREFACE Mine. " + words(PROSE) + " INTRODUCTION Mine too."
    assert "introduction: 4 words dropped" in notes
    assert notes.warnings == ["nowhere: not found (from 'GONE' to ''), nothing dropped"]


def test_a_cut_may_start_at_the_beginning():
    text = book(front="Praise of the author.\n\nCHAPTER I\n\n")
    assert words(strip_gutenberg(text, (Cut("", "CHAPTER I", "praise"),))[0]) == "CHAPTER I " + words(PROSE)


def test_has_marks():
    assert has_marks(book()) == (True, True)
    assert has_marks("<html>404 not found</html>") == (False, False)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_other_systems_change_nothing(end):
    text = book("CONTENTS\n\nI. One\nII. Two\n\n", "THE END\n")
    assert strip_gutenberg(text.replace("\n", end)) == strip_gutenberg(text)
