from pathlib import Path

import numpy as np
import pytest
import torch

from nvgf.authorship import (
    AuthorshipDataset,
    Corpus,
    FunctionWords,
    build_corpus,
    load_corpus,
    network,
    scan_folder,
    support,
)

AUTHORS = {"ann": [30, 25, 20, 25], "bob": [40, 30, 30], "cy": [40, 40]}
SETTINGS = [
    {"scaling": scaling, "split_by": split_by, "graph_from": graph_from}
    for scaling in ("paper", "unit-mean", "standard")
    for split_by in ("excerpt", "book")
    for graph_from in ("train", "train+valid")
]


def with_new_texts(corpus, excerpts):
    """The same corpus with other texts, of the same length, in some excerpts."""
    symbols = corpus.symbols.copy()
    rng = np.random.default_rng(99)
    for index in excerpts:
        where = slice(corpus.starts[index], corpus.starts[index + 1] - 1)
        symbols[where] = rng.integers(1, len(corpus.words) + 1, symbols[where].shape)
    return Corpus(corpus.words, corpus.books, corpus.full_names, corpus.excerpt_size, symbols, corpus.sizes.copy())


@pytest.mark.parametrize("options", SETTINGS)
def test_a_changed_test_text_changes_nothing_in_training(make_corpus, options):
    corpus = make_corpus(AUTHORS)
    before = AuthorshipDataset(corpus, "ann", split=4, **options)
    changed = with_new_texts(corpus, before.excerpts["test"])
    after = AuthorshipDataset(changed, "ann", split=4, **options)
    assert not torch.equal(before.test.x, after.test.x)
    assert torch.equal(before.shift.matrix, after.shift.matrix)
    assert before.words == after.words
    for name in ("train", "valid"):
        assert torch.equal(getattr(before, name).x, getattr(after, name).x)
        assert torch.equal(getattr(before, name).y, getattr(after, name).y)


@pytest.mark.parametrize("scaling", ["paper", "unit-mean", "standard"])
def test_a_changed_validation_text_changes_no_training_signal_and_no_graph(make_corpus, scaling):
    corpus = make_corpus(AUTHORS)
    before = AuthorshipDataset(corpus, "ann", split=4, scaling=scaling)
    after = AuthorshipDataset(with_new_texts(corpus, before.excerpts["valid"]), "ann", split=4, scaling=scaling)
    assert not torch.equal(before.valid.x, after.valid.x)
    assert torch.equal(before.shift.matrix, after.shift.matrix)
    assert torch.equal(before.train.x, after.train.x)
    assert torch.equal(before.test.x, after.test.x)


def test_a_changed_negative_text_does_not_change_the_graph(make_corpus):
    corpus = make_corpus(AUTHORS)
    before = AuthorshipDataset(corpus, "ann")
    negatives = [i for i in before.excerpts["train"] if i not in set(corpus.excerpts("ann"))]
    after = AuthorshipDataset(with_new_texts(corpus, negatives), "ann")
    assert torch.equal(before.shift.matrix, after.shift.matrix)
    assert not torch.equal(before.train.x, after.train.x)


def test_the_parts_are_what_they_say(make_corpus):
    corpus = make_corpus(AUTHORS)
    data = AuthorshipDataset(corpus, "ann", split=2, discount=0.5, window=4)
    train = data.excerpts["train"]
    own = train[corpus.author_of[train] == corpus.authors.index("ann")]
    weights = network(corpus.take(own), len(corpus.words), discount=0.5, window=4)
    expected = support(weights, corpus.words.words)
    assert data.words == expected.names
    assert torch.equal(data.shift.matrix, expected.matrix)
    for name in ("train", "valid", "test"):
        signals = getattr(data, name)
        assert signals.x.shape == (len(data.excerpts[name]), len(data.words), 1)
        assert signals.x.dtype == torch.float32
        assert signals.y.dtype == torch.int64
        assert getattr(data.task, name) is signals
        is_own = torch.from_numpy(corpus.author_of[data.excerpts[name]] == corpus.authors.index("ann"))
        assert torch.equal(signals.y == 1, is_own)
        torch.testing.assert_close(signals.x.sum(dim=1), torch.ones(len(signals), 1))
    assert data.task.shift is data.shift
    assert data.task.loss == "cross-entropy"
    assert data.task.node is None
    assert repr(data).startswith("AuthorshipDataset('ann', split=2, nodes=")


TEXTS = {
    "ann": "The {a} of the house, which had {b} all of it, went to the door and {c} upon the step; but not before. ",
    "bob": "And if the {a} should {b}, then with the {c} of many another, or for want of any, it must be so: perhaps! ",
}


def made_up_book(author, number):
    rng = np.random.default_rng([ord(author[0]), number])
    fill = ("cat", "with it", "in this", "such", "than the other", "under these", "from both", "none")
    sentences = [TEXTS[author].format(**dict(zip("abc", rng.choice(fill, 3), strict=True))) for _ in range(100)]
    return "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n" + "".join(sentences)


@pytest.fixture(scope="module")
def own_corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("books")
    for author in TEXTS:
        (folder / author).mkdir()
        for number in range(3):
            (folder / author / f"{number}.txt").write_text(made_up_book(author, number))
    return build_corpus(folder, scan_folder(folder), size=100).corpus


@pytest.mark.parametrize("scaling", ["paper", "unit-mean", "standard"])
@pytest.mark.parametrize("size", [None, 100])
def test_signals_of_a_text_are_those_of_its_excerpts_in_the_data_set(own_corpus, scaling, size):
    data = AuthorshipDataset(own_corpus, "ann", split=1, scaling=scaling)
    held = {int(index): x for name, excerpts in data.excerpts.items()
            for index, x in zip(excerpts, getattr(data, name).x, strict=True)}  # fmt: skip
    compared = 0
    for number, book in enumerate(own_corpus.books):
        signals = data.signals(made_up_book(book.author, int(book.title)), **({"size": size} if size else {}))
        assert signals.shape == (book.num_excerpts, len(data.words), 1)
        assert signals.dtype == torch.float32
        for index, signal in zip(np.flatnonzero(own_corpus.book_of == number), signals, strict=True):
            if int(index) in held:
                assert torch.equal(signal, held[int(index)])
                compared += 1
    assert compared == len(held) > 80


def test_signals_of_a_text_use_the_word_list_of_the_corpus(tmp_path):
    words = FunctionWords(("house", "door", "step", "cat"), ("",) * 4)
    for author in TEXTS:
        (tmp_path / author).mkdir()
        text = made_up_book(author, 0).replace("want", "house").replace("many", "door")
        (tmp_path / author / "0.txt").write_text(text)
    corpus = build_corpus(tmp_path, scan_folder(tmp_path), words=words, size=50).corpus
    data = AuthorshipDataset(corpus, "ann")
    signals = data.signals("House, house door. " * 20, size=30)
    assert signals.shape == (2, len(data.words), 1)
    expected = {"house": 2 / 3, "door": 1 / 3}
    np.testing.assert_allclose(signals[0, :, 0], [expected.get(word, 0) for word in data.words], rtol=1e-6)


def test_texts_that_have_no_signal(own_corpus):
    data = AuthorshipDataset(own_corpus, "ann")
    with pytest.raises(ValueError, match="the text has 3 words; one excerpt of 100 words needs at least 50"):
        data.signals("Only the end.")
    absent = next(word for word in own_corpus.words.words if word not in data.words)
    with pytest.raises(ValueError, match=f"none of the {len(data.words)} words of the graph is in the text"):
        data.signals(f"{absent} house. " * 100)
    with pytest.raises(TypeError, match="text must be a str, the text itself, got "):
        data.signals(Path("a.txt"))


def test_an_excerpt_without_words_of_the_graph_has_the_signal_0(make_corpus):
    corpus = make_corpus(AUTHORS)
    index = AuthorshipDataset(corpus, "ann").excerpts["train"][-1]
    symbols = corpus.symbols.copy()
    symbols[corpus.starts[index] : corpus.starts[index + 1] - 1] = 0
    blank = Corpus(corpus.words, corpus.books, corpus.full_names, 50, symbols, corpus.sizes.copy())
    train = AuthorshipDataset(blank, "ann").train
    assert not train.x[-1].any()
    torch.testing.assert_close(train.x[:-1].sum(dim=1), torch.ones(len(train) - 1, 1))
    assert AuthorshipDataset(blank, "ann", scaling="standard").train.x.isfinite().all()


def test_signals_of_the_nodes_only():
    corpus = load_corpus()
    data = AuthorshipDataset(corpus, "austen", split=1)
    columns = [corpus.words.words.index(word) for word in data.words]
    counts = corpus.counts[data.excerpts["test"]][:, columns].astype(float)
    expected = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(data.test.x[:, :, 0].numpy(), expected, rtol=1e-6)


def test_standard_signals_have_zero_mean_and_unit_deviation_in_training():
    data = AuthorshipDataset(load_corpus(), "poe", scaling="standard")
    x = data.train.x[:, :, 0].double()
    torch.testing.assert_close(x.mean(dim=0), torch.zeros(x.shape[1]).double(), atol=1e-5, rtol=0)
    torch.testing.assert_close(x.std(dim=0, correction=0), torch.ones(x.shape[1]).double(), atol=1e-5, rtol=0)
    assert AuthorshipDataset(load_corpus(), "poe", scaling="unit-mean").train.x.mean() == pytest.approx(1, abs=1e-6)


def test_the_austen_graph_is_near_the_paper_s():
    # "A WAN consisting of 189 nodes (function words) and 9812 edges": their list and texts differ from ours.
    data = AuthorshipDataset(load_corpus(), "austen", graph_from="train+valid")
    edges = int(torch.count_nonzero(torch.triu(data.shift.to_dense())))
    assert data.shift.num_nodes == pytest.approx(189, rel=0.05)
    assert edges == pytest.approx(9812, rel=0.05)
    assert data.shift.spectral_norm() == pytest.approx(1, abs=1e-5)


def test_the_author_can_be_told_from_the_others():
    """A plain classifier on the signals: the data set carries what the experiments are about."""
    from sklearn.linear_model import LogisticRegression

    errors = []
    for split in range(3):
        data = AuthorshipDataset(load_corpus(), "austen", split=split, scaling="standard")
        model = LogisticRegression(C=0.01, max_iter=500).fit(data.train.x[:, :, 0], data.train.y)
        errors.append(1 - model.score(data.test.x[:, :, 0], data.test.y))
    assert np.mean(errors) < 0.08


def test_fingerprints_tell_data_sets_apart(make_corpus):
    corpus, other = make_corpus(AUTHORS), make_corpus(AUTHORS, seed=1)
    base = AuthorshipDataset(corpus, "ann")
    assert AuthorshipDataset(make_corpus(AUTHORS), "ann").fingerprint == base.fingerprint
    prints = {
        base.fingerprint,
        AuthorshipDataset(other, "ann").fingerprint,
        AuthorshipDataset(corpus, "bob").fingerprint,
        AuthorshipDataset(corpus, "ann", split=1).fingerprint,
        AuthorshipDataset(corpus, "ann", scaling="standard").fingerprint,
        AuthorshipDataset(corpus, "ann", split_by="book").fingerprint,
        AuthorshipDataset(corpus, "ann", negatives="balanced").fingerprint,
        AuthorshipDataset(corpus, "ann", discount=0.7).fingerprint,
        AuthorshipDataset(corpus, "ann", window=5).fingerprint,
        AuthorshipDataset(corpus, "ann", graph_from="train+valid").fingerprint,
    }
    assert len(prints) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"graph_from": "all"}, "graph_from must be 'train' or 'train\\+valid', got 'all'"),
        ({"scaling": "max"}, "scaling must be 'paper', 'unit-mean' or 'standard', got 'max'"),
        ({"window": 0}, "window must be a whole number"),
        ({"split": -3}, "split must be a seed"),
    ],
)
def test_bad_options(make_corpus, options, message):
    with pytest.raises(ValueError, match=message):
        AuthorshipDataset(make_corpus(AUTHORS), "ann", **options)
