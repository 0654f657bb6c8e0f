import pytest

from nvgf.authorship import FunctionWords, default_words, load_words
from nvgf.authorship.words import normalized, parse_words


def test_the_default_list_has_the_promised_categories_and_size():
    words = default_words()
    assert set(words.by_category()) == {
        "determiners", "quantifiers", "pronouns", "conjunctions", "prepositions", "modals",
    }  # fmt: skip
    assert 200 <= len(words) <= 225
    assert sum(map(len, words.by_category().values())) == len(words)
    assert not {"i", "he", "she", "him", "they", "you"} & set(words.words)


def test_an_own_list_is_read_with_its_categories(tmp_path):
    file = tmp_path / "deutsch.txt"
    file.write_text("\ufeff# Liste\n[Artikel]\nder die das # usw.\n\n[Bindewörter]\nUnd\nfür\n", encoding="utf-8")
    words = load_words(file)
    assert words.words == ("der", "die", "das", "und", "für")
    assert words.by_category() == {"Artikel": ("der", "die", "das"), "Bindewörter": ("und", "für")}


def test_normalized_composes_and_straightens():
    assert normalized("O’Clock") == "o'clock"
    assert normalized("cafe\u0301") == "café"
    assert normalized("To\u2011day") == normalized("to\u2010day") == "to-day"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the list of function words is empty"),
        ("# nothing\n[x]\n", "the list of function words is empty"),
        ("the of the", "the function word 'the' occurs more than once"),
        ("the 4th", "'4th' is not a function word"),
        ("the m²", "'m²' is not a function word"),
        ("the, of", "'the,' is not a function word"),
    ],
)
def test_bad_lists_are_refused(text, message, tmp_path):
    file = tmp_path / "words.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        load_words(file)
    assert str(file) in str(caught.value)


def test_a_list_in_another_encoding_is_refused(tmp_path):
    file = tmp_path / "words.txt"
    file.write_bytes("für".encode("latin-1"))
    with pytest.raises(ValueError, match="a word list must be UTF-8 text"):
        load_words(file)


def test_too_many_words_are_refused():
    letters = "abcdefghijklmnop"
    words = tuple(a + b + c + d + e for a in letters for b in letters for c in letters for d in letters for e in "a")
    with pytest.raises(ValueError, match="at most 65000 function words"):
        FunctionWords(words, ("",) * len(words))


def test_each_word_needs_a_category():
    with pytest.raises(ValueError, match="2 words have 1 categories"):
        FunctionWords(("a", "b"), ("x",))


def test_a_word_must_be_in_its_normal_form():
    with pytest.raises(ValueError, match="'The' is not a function word"):
        FunctionWords(("The",), ("x",))
    assert parse_words("The").words == ("the",)
