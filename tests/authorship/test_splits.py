import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvgf.authorship import load_corpus, split_excerpts_of

AUTHORS = {"ann": [30, 25, 20, 25], "bob": [20, 20, 20], "cy": [40], "dora": [15, 30]}


def parts(split):
    return {"train": split.train, "valid": split.valid, "test": split.test}


@pytest.mark.parametrize("split_by", ["excerpt", "book"])
@pytest.mark.parametrize("negatives", ["paper", "balanced"])
@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_no_excerpt_is_in_two_sets_and_negatives_are_by_others(make_corpus, split_by, negatives, seed):
    corpus = make_corpus(AUTHORS)
    for author in corpus.authors if split_by == "excerpt" else ("ann", "bob", "dora"):
        split = split_excerpts_of(corpus, author, seed, split_by=split_by, negatives=negatives)
        everything = np.concatenate([part.excerpts for part in parts(split).values()])
        assert len(set(everything)) == len(everything)
        index = corpus.authors.index(author)
        for part in parts(split).values():
            assert (corpus.author_of[part.positive] == index).all()
            assert (corpus.author_of[part.negative] != index).all()
            assert len(part.positive) == len(part.negative) > 0
            assert np.array_equal(part.labels, (corpus.author_of[part.excerpts] == index).astype(int))
        positives = np.concatenate([part.positive for part in parts(split).values()])
        assert np.array_equal(np.sort(positives), corpus.excerpts(author))


def test_equal_names_of_different_objects_are_the_same_author(make_corpus):
    corpus = make_corpus({"ann": [30], "bob": [40]})
    name = "".join(["a", "n", "n"])  # equal to "ann", another object
    split = split_excerpts_of(corpus, name, 0)
    assert not set(corpus.excerpts("ann")) & {int(i) for part in parts(split).values() for i in part.negative}


def test_the_sizes_are_those_of_the_paper(make_corpus):
    corpus = make_corpus({"ann": [771], "bob": [800]})
    split = split_excerpts_of(corpus, "ann", 0)
    # "1464 ... of which 118 are left aside for validation ... totaling 78"
    assert 2 * len(split.valid.positive) == 118
    assert 2 * (len(split.train.positive) + len(split.valid.positive)) == 1464
    assert 2 * len(split.test.positive) == 78


@pytest.mark.parametrize("seed", range(6))
def test_books_are_not_split_over_test_and_training(make_corpus, seed):
    works = {("ann", 0): "novel", ("ann", 2): "novel"}
    corpus = make_corpus(AUTHORS, works=works)
    split = split_excerpts_of(corpus, "ann", seed, split_by="book")

    def works_of(excerpts):
        return {(corpus.books[b].author, corpus.books[b].work) for b in corpus.book_of[excerpts]}

    assert not works_of(split.test.excerpts) & works_of(np.concatenate((split.train.excerpts, split.valid.excerpts)))
    assert len(split.test.positive) >= 0.05 * 100


def test_balanced_negatives_come_evenly_from_the_others(make_corpus):
    corpus = make_corpus({"ann": [41], "bob": [100], "cy": [100], "dora": [100]})
    split = split_excerpts_of(corpus, "ann", 3, negatives="balanced")
    for part in parts(split).values():
        tally = np.bincount(corpus.author_of[part.negative], minlength=4)[1:]
        assert tally.max() - tally.min() <= 1
    drawn = np.concatenate([part.negative for part in parts(split).values()])
    tally = np.bincount(corpus.author_of[drawn], minlength=4)[1:]
    assert tally.max() - tally.min() <= 1


def test_balanced_negatives_go_on_when_an_author_runs_out(make_corpus):
    corpus = make_corpus({"ann": [60], "bob": [5], "cy": [100]})
    split = split_excerpts_of(corpus, "ann", 3, negatives="balanced")
    drawn = np.concatenate([part.negative for part in parts(split).values()])
    assert np.bincount(corpus.author_of[drawn]).tolist() == [0, 5, 55]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_the_seed_decides(first, second):
    corpus = load_corpus()
    one, two, again = (split_excerpts_of(corpus, "poe", seed) for seed in (first, second, first))
    assert np.array_equal(one.train.excerpts, again.train.excerpts)
    assert np.array_equal(one.test.excerpts, again.test.excerpts)
    assert (first == second) == np.array_equal(one.train.excerpts, two.train.excerpts)


def test_paper_and_balanced_share_the_positives(make_corpus):
    corpus = make_corpus(AUTHORS)
    one = split_excerpts_of(corpus, "ann", 5, negatives="paper")
    two = split_excerpts_of(corpus, "ann", 5, negatives="balanced")
    assert np.array_equal(one.train.positive, two.train.positive)


@pytest.mark.parametrize(
    ("author", "options", "message"),
    [
        ("eve", {}, "author 'eve' is not in the corpus; it has ann, bob, cy, dora"),
        ("ann", {"seed": -1}, "split must be a seed: a whole number of at least 0, got -1"),
        ("ann", {"seed": 1.5}, "split must be a seed"),
        ("ann", {"seed": True}, "split must be a seed"),
        ("ann", {"split_by": "page"}, "split_by must be 'excerpt' or 'book', got 'page'"),
        ("ann", {"negatives": "few"}, "negatives must be 'paper' or 'balanced', got 'few'"),
        ("ann", {"test_share": 0.0}, "test_share must lie between 0 and 1, got 0.0"),
        ("ann", {"valid_share": 1.0}, "valid_share must lie between 0 and 1, got 1.0"),
        ("cy", {"split_by": "book"}, "author 'cy' has one work only: a split by book needs at least two"),
        ("ann", {"valid_share": 0.001}, "which split into 95 to train, 0 to validate and 5 to test"),
    ],
)
def test_bad_requests(make_corpus, author, options, message):
    seed = options.pop("seed", 0)
    with pytest.raises(ValueError, match=message):
        split_excerpts_of(make_corpus(AUTHORS), author, seed, **options)


def test_too_few_excerpts(make_corpus):
    with pytest.raises(ValueError, match="author 'ann' has 5 excerpts, which split into 5 to train"):
        split_excerpts_of(make_corpus({"ann": [5], "bob": [9]}), "ann", 0)
    with pytest.raises(ValueError, match=r"40 excerpts by others than 'ann' are needed, .* but there are 9"):
        split_excerpts_of(make_corpus({"ann": [40], "bob": [9]}), "ann", 0)
    with pytest.raises(ValueError, match="but there are 0"):
        split_excerpts_of(make_corpus({"ann": [40]}), "ann", 0, negatives="balanced")


def test_splits_of_the_embedded_corpus_are_pinned():
    split = split_excerpts_of(load_corpus(), "austen", 0)
    assert split.test.positive[:6].tolist() == [3248, 2567, 3201, 2824, 2878, 2531]
    assert split.test.negative[:6].tolist() == [381, 13901, 1895, 11841, 6870, 12265]
    split = split_excerpts_of(load_corpus(), "austen", 7, split_by="book", negatives="balanced")
    assert split.test.positive[:3].tolist() == [3111, 3112, 3113]
    assert split.test.negative[:3].tolist() == [10571, 406, 13202]
