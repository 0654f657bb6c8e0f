import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvgf.authorship import FunctionWords, skeleton, split_excerpts
from nvgf.authorship.skeletons import _tokens, end_symbol, symbol_type
from nvgf.authorship.words import WORD, normalized

WORDS = FunctionWords(("the", "of", "don't", "within"), ("",) * 4)
END = end_symbol(len(WORDS))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The end.", [1, 0, END]),
        ("of the", [2, 1, END]),
        ("Of: the; of! the? of.", [2, END, 1, END, 2, END, 1, END, 2, END]),
        ("Of... the?! ", [2, END, 1, END]),
        ("... Of the.", [2, 1, END]),
        ("Don’t, DON'T, don‘t", [3, 3, 3, END]),
        ("_the_ th_e_", [1, 1, END]),
        ("‘the’ “of”", [1, 2, END]),
        ("with-\nin with-\n   in", [4, 4, END]),
        ("the--\nof the--of", [1, 2, 1, 2, END]),
        ("the-of of-day", [0, 0, END]),
        ("the\u00adof wi\u00adthin", [0, 4, END]),
        ("4 of 1842, the", [2, 1, END]),
        ("the² of³, the₂", [1, 2, 1, END]),
        ("the\u2010of of\u2011day with\u2010\nin", [0, 0, 4, END]),
        ("don\u2019t\u2011don't", [0, END]),
        ("", []),
        ("!!! ...", []),
    ],
)
def test_the_skeleton_of_small_texts(text, expected):
    assert skeleton(text, WORDS).tolist() == expected


def slow_tokens(text):
    """Words and marks, searched for by their pattern."""
    plain = normalized(text).replace("_", "").replace("\u00ad", "")
    plain = "".join(" " if character.isdigit() else character for character in plain)
    plain = re.sub(r"(?<=[^\W\d_])-\n[ \t]*(?=[^\W\d_])", "", plain)
    found = re.findall(rf"{WORD}|[.?!;:]", plain)
    return ["." if token in ".?!;:" else token for token in found]


@given(st.text(st.sampled_from("aBzé’‘'-—_.?!;: \n\t1²½\u00ad\u0301ßΩ…“\"\r#"), max_size=60) | st.text(max_size=40))
def test_tokens_are_those_of_the_pattern(text):
    assert [token.decode() for token in _tokens(text)] == slow_tokens(text)


def test_curly_and_straight_quotes_give_the_same_skeleton():
    straight = "\"The cat,\" said she, 'won't of the--'"
    assert np.array_equal(skeleton(straight, WORDS), skeleton("“The cat,” said she, ‘won’t of the--’", WORDS))


def test_long_lists_use_sixteen_bits():
    assert symbol_type(254) is np.uint8
    assert symbol_type(255) is np.uint16
    letters = "abcdefghijklmnopqrst"
    many = FunctionWords(tuple(a + b for a in letters for b in letters), ("",) * 400)
    found = skeleton("tt aa zz.", many)
    assert found.dtype == np.uint16
    assert found.tolist() == [400, 1, 0, 401]


def sentences(lengths: list[int]) -> np.ndarray:
    return np.array([symbol for n in lengths for symbol in [*[1] * n, END]], np.uint8)


def num_words(piece: np.ndarray) -> int:
    return int((piece != END).sum())


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.integers(9, 30))
def test_excerpts_partition_the_text_and_end_at_sentences(lengths, size):
    symbols = sentences(lengths)
    total = sum(lengths)
    if 2 * total < size:
        with pytest.raises(ValueError, match=f"the text has {total} words; one excerpt of {size} words needs at least"):
            split_excerpts(symbols, len(WORDS), size)
        return
    pieces, notes = split_excerpts(symbols, len(WORDS), size)
    assert np.array_equal(np.concatenate(pieces), symbols)
    assert all(piece[-1] == END for piece in pieces)
    assert notes == []
    assert len(pieces) <= int(total / size + 0.5)
    # A cut is off its even place by half the longest sentence at most.
    assert all(abs(num_words(piece) - total / int(total / size + 0.5)) <= max(lengths) for piece in pieces) or (
        len(pieces) < int(total / size + 0.5)
    )


def test_the_size_of_excerpts_is_kept():
    pieces, _ = split_excerpts(sentences([7] * 1000), len(WORDS), 100)
    assert len(pieces) == 70
    assert {num_words(piece) for piece in pieces} <= {98, 105}


def test_endless_sentences_are_dropped_and_reported():
    pieces, notes = split_excerpts(sentences([5] * 2000 + [1001] + [5] * 2000), len(WORDS), 100)
    assert notes == ["1 endless sentences (lists or an index): 1001 words dropped"]
    assert notes.warnings == []
    assert np.array_equal(np.concatenate(pieces), sentences([5] * 4000))


def test_many_words_in_endless_sentences_are_a_warning():
    _, notes = split_excerpts(sentences([5] * 20 + [1001] + [5] * 20), len(WORDS), 100)
    assert notes.warnings == ["1 endless sentences (lists or an index): 1001 words dropped"]


def test_small_excerpts_keep_long_sentences():
    pieces, notes = split_excerpts(sentences([5] * 20 + [900] + [5] * 20), len(WORDS), 100)
    assert np.array_equal(np.concatenate(pieces), sentences([5] * 20 + [900] + [5] * 20))
    assert notes == []
    assert len(pieces) <= 11
    assert max(map(num_words, pieces)) >= 900


def test_large_excerpts_keep_sentences_of_their_size():
    pieces, notes = split_excerpts(sentences([5] * 400 + [1500]), len(WORDS), 2000)
    assert notes == []
    assert sum(map(num_words, pieces)) == 3500


def test_excerpts_without_function_words_are_dropped_and_reported():
    foreign = np.where(sentences([5] * 20) == END, END, 0).astype(np.uint8)
    pieces, notes = split_excerpts(np.concatenate((sentences([5] * 20), foreign)), len(WORDS), 100)
    assert notes == ["1 excerpts without function words dropped"]
    assert len(pieces) == 1


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        (np.array([], np.uint8), "the text has 0 words but none of the 4 function words"),
        (np.array([0, 0, END], np.uint8), "the text has 2 words but none of the 4 function words"),
        (sentences([1001]), "the text is one endless sentence: 1001 words without any of"),
        (sentences([1001, 1300]), "the text is one endless sentence: 1300 words"),
        (sentences([5] * 9), "the text has 45 words; one excerpt of 100 words needs at least 50"),
    ],
)
def test_texts_that_give_no_excerpt(symbols, message):
    with pytest.raises(ValueError, match=message):
        split_excerpts(symbols, len(WORDS), 100)


def test_the_size_must_be_positive():
    with pytest.raises(ValueError, match="size must be at least 1 word, got 0"):
        split_excerpts(sentences([5]), len(WORDS), 0)
