import numpy as np
import pytest
from scipy import stats

from nvgf.authorship.signals import fit_scaling, frequencies


def test_frequencies_are_shares_of_the_words_of_the_graph(make_corpus):
    corpus = make_corpus({"ann": [5]})
    nodes = np.array([0, 3, 4, 7])
    found = frequencies(corpus.counts[np.ix_([4, 1], nodes)])
    for row, index in enumerate([4, 1]):
        tally = [int((corpus.excerpt(index) == node + 1).sum()) for node in nodes]
        np.testing.assert_allclose(found[row], np.array(tally) / sum(tally))
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_an_excerpt_without_words_of_the_graph_has_the_signal_0():
    assert frequencies(np.array([[1, 1], [0, 0]])).tolist() == [[0.5, 0.5], [0.0, 0.0]]
    assert frequencies(np.zeros((0, 2), np.int64)).shape == (0, 2)
    with pytest.raises(ValueError, match="none of the 2 words of the graph is in the text"):
        frequencies(np.zeros((3, 2), np.int64))


def test_scalings():
    rng = np.random.default_rng(0)
    train, test = rng.random((20, 5)), rng.random((7, 5))
    train[:, 3] = test[:, 3] = 0.25
    assert np.array_equal(fit_scaling(train, "paper")(test), test)
    sums = test / test.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fit_scaling(train, "unit-mean")(sums).mean(axis=1), 1)
    scaled = fit_scaling(train, "standard")(train)
    keep = [0, 1, 2, 4]
    np.testing.assert_allclose(scaled[:, keep], stats.zscore(train[:, keep]), atol=1e-12)
    assert np.array_equal(scaled[:, 3], np.zeros(20))
    expected = (test[:, 0] - train[:, 0].mean()) / train[:, 0].std()
    np.testing.assert_allclose(fit_scaling(train, "standard")(test)[:, 0], expected)


def test_an_unknown_scaling():
    with pytest.raises(ValueError, match="scaling must be 'paper', 'unit-mean' or 'standard', got 'max'"):
        fit_scaling(np.ones((2, 2)), "max")
