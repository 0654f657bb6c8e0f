"""New texts are attributed to whom they are like."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from nvgf.authorship import Attributor, Corpus, build_corpus, scan_folder
from nvgf.cli.app import app

HABITS = {
    "ann": ("the", "of", "upon", "which"),
    "bob": ("a", "in", "and", "that"),
    "eve": ("for", "with", "but", "by"),
}


def text_of(author: str, seed: int, words: int = 1500) -> str:
    """Sentences in which the author's own words are frequent."""
    rng = np.random.default_rng(seed)
    every = [word for habit in HABITS.values() for word in habit]
    weights = np.array([4.0 if word in HABITS[author] else 1.0 for word in every])
    drawn = rng.choice(every, words // 2, p=weights / weights.sum())
    return " ".join(f"{word} house{'.' if place % 9 == 8 else ''}" for place, word in enumerate(drawn)) + "."


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("books")
    for number, author in enumerate(HABITS):
        for book in range(4):
            path = folder / author / f"{book}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text_of(author, 10 * number + book))
    built = build_corpus(folder, scan_folder(folder), size=50, jobs=1)
    built.corpus.save(folder / "corpus.npz")
    return folder / "corpus.npz"


@pytest.fixture(scope="module")
def attributor(file):
    from nvgf.authorship import load_corpus

    return Attributor(load_corpus(file), options={"features": 8, "order": 1}, learning_rate=0.01)


@pytest.mark.parametrize("author", HABITS)
def test_new_texts_are_attributed(attributor, author):
    found = attributor.judge(text_of(author, seed=99, words=600))
    assert found[0].author == author
    assert [one.author for one in found] == sorted((one.author for one in found), key=lambda a: -score(found, a))
    assert found[0].share > 0.8
    assert all(one.share < 0.5 for one in found[1:])
    assert len(found[0].log_odds) == 12


def score(found, author):
    return next(one.score for one in found if one.author == author)


def test_log_odds_are_the_models(attributor):
    text = text_of("bob", seed=7, words=300)
    candidate = next(one for one in attributor.judge(text) if one.author == "bob")
    place = attributor.authors.index("bob")
    data = attributor.datasets[place]
    outputs = attributor.models[place](data.signals(text), data.shift).log_softmax(-1).detach()
    np.testing.assert_allclose(candidate.log_odds, outputs[:, 1] - outputs[:, 0], rtol=1e-4, atol=1e-5)
    assert candidate.test_error == attributor.results[place].test_error


def test_candidates_that_are_not_there(attributor, file):
    from nvgf.authorship import load_corpus

    corpus = load_corpus(file)
    with pytest.raises(ValueError, match="author 'dickens' is not in the corpus"):
        Attributor(corpus, ["ann", "dickens"])
    with pytest.raises(ValueError, match="authors is empty"):
        Attributor(corpus, [])
    with pytest.raises(ValueError, match="the text has"):
        attributor.judge("too short.")


def test_a_corpus_without_some_books(file):
    from nvgf.authorship import load_corpus

    corpus = load_corpus(file)
    less = corpus.without(["ann/1.txt", *(f"eve/{book}.txt" for book in range(4))])
    assert isinstance(less, Corpus)
    assert less.authors == ("ann", "bob")
    assert [book.file for book in less.books] == [
        f"{place}.txt" for place in ("ann/0", "ann/2", "ann/3", "bob/0", "bob/1", "bob/2", "bob/3")
    ]
    kept = np.flatnonzero([corpus.books[book].file in {b.file for b in less.books} for book in corpus.book_of])
    assert np.array_equal(less.counts, corpus.counts[kept])
    with pytest.raises(ValueError, match=re.escape("files has books that are not in the corpus: ann/9.txt")):
        corpus.without(["ann/9.txt"])


def test_the_command(file, tmp_path):
    (tmp_path / "new.txt").write_text(text_of("eve", seed=5, words=400))
    (tmp_path / "short.txt").write_text("of the house.")
    texts = [str(tmp_path / name) for name in ("short.txt", "new.txt")]
    result = CliRunner().invoke(app, ["authorship", "attribute", "--corpus", str(file), *texts])
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].endswith("new.txt: most like eve")
    assert "short.txt: the text has" in result.stderr
