import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvgf.authorship import (
    FunctionWords,
    author_network,
    excerpt_networks,
    network,
    skeleton,
    support,
    support_matrix,
)
from nvgf.authorship.networks import num_edges
from nvgf.authorship.skeletons import end_symbol

NUM_WORDS = 4
END = end_symbol(NUM_WORDS)


def naive_network(symbols, num_words, discount, window):
    """The appendix's formula, written out: sentence by sentence, position by position, step by step."""
    sentences, sentence = [], []
    for symbol in symbols:
        if symbol == end_symbol(num_words):
            sentences.append(sentence)
            sentence = []
        else:
            sentence.append(int(symbol))
    weights = np.zeros((num_words, num_words))
    for omega in sentences:
        for e in range(len(omega)):
            for d in range(1, window + 1):
                if e + d < len(omega) and omega[e] and omega[e + d]:
                    weights[omega[e] - 1, omega[e + d] - 1] += discount ** (d - 1)
    return weights


@given(
    st.lists(st.lists(st.integers(0, NUM_WORDS), max_size=15), min_size=1, max_size=8),
    st.floats(0.05, 1.0),
    st.integers(1, 16),
)
def test_the_network_is_the_formula(sentences, discount, window):
    symbols = np.array([s for sentence in sentences for s in [*sentence, END]], np.uint8)
    found = network(symbols, NUM_WORDS, discount=discount, window=window)
    np.testing.assert_allclose(found, naive_network(symbols, NUM_WORDS, discount, window), rtol=1e-12, atol=1e-12)


def test_a_text_whose_network_is_known():
    words = FunctionWords(("the", "of", "and"), ("",) * 3)
    symbols = skeleton("The end of the day. And of the night; and so on and on.", words)
    # "the . of the ." / "and of the ." / "and . . and ."
    expected = np.zeros((3, 3))
    expected[0, 1] = 0.8  # the -> of, two words on
    expected[0, 0] = 0.8**2  # the -> the, three words on
    expected[1, 0] = 1.0 + 1.0  # of -> the, twice the next word
    expected[2, 1] = 1.0  # and -> of
    expected[2, 0] = 0.8  # and -> the
    expected[2, 2] = 0.8**2  # and so on and
    np.testing.assert_allclose(network(symbols, 3), expected, rtol=1e-14)


def test_the_order_of_excerpts_does_not_matter_to_the_last_bit(make_corpus):
    corpus = make_corpus({"ann": [6, 5]})
    order = np.random.default_rng(0).permutation(len(corpus))
    forward = network(corpus.symbols, len(corpus.words))
    assert np.array_equal(forward, network(corpus.take(order), len(corpus.words)))


def test_excerpt_networks_are_the_networks_of_the_excerpts(make_corpus):
    corpus = make_corpus({"ann": [4], "bob": [3]})
    chosen = np.array([5, 0, 2])
    found = excerpt_networks(corpus, chosen, discount=0.5, window=3)
    n = len(corpus.words)
    assert found.shape == (3, n * n)
    for row, index in enumerate(chosen):
        expected = naive_network(corpus.excerpt(index), n, 0.5, 3)
        np.testing.assert_allclose(found[[row]].toarray().reshape(n, n), expected, rtol=1e-12)


def test_an_author_network_takes_all_excerpts_of_the_author_and_no_other(make_corpus):
    corpus = make_corpus({"ann": [2, 3], "bob": [4]})
    n = len(corpus.words)
    expected = sum(naive_network(corpus.excerpt(i), n, 0.8, 10) for i in corpus.excerpts("bob"))
    np.testing.assert_allclose(author_network(corpus, "bob"), expected, rtol=1e-12)


def test_a_wide_window_needs_no_more_memory():
    num_words = 300
    far = np.zeros(800, np.uint16)
    far[[0, 700, 799]] = 1, 2, end_symbol(num_words)
    tracemalloc.start()
    weights = network(far, num_words, discount=0.99, window=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert weights[0, 1] == pytest.approx(0.99**699)
    assert np.count_nonzero(weights) == 1
    assert peak < 10 * weights.nbytes  # one network for each distance would be 1000 of them


def test_texts_without_pairs_have_no_edges():
    for symbols in ([], [END], [1, END], [1, END, 2, END], [0, 0, END]):
        assert not network(np.array(symbols, np.uint8), NUM_WORDS).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discount": 0.0}, "discount must be above 0 and at most 1, got 0.0"),
        ({"discount": 1.5}, "discount must be above 0 and at most 1, got 1.5"),
        ({"discount": float("nan")}, "discount must be above 0"),
        ({"window": 0}, "window must be a whole number from 1 to 1000 words, got 0"),
        ({"window": 1001}, "window must be a whole number from 1 to 1000 words, got 1001"),
        ({"window": 2.5}, "window must be a whole number"),
        ({"window": 10.0}, "window must be a whole number from 1 to 1000 words, got 10.0"),
        ({"window": float("inf")}, "window must be a whole number from 1 to 1000 words, got inf"),
        ({"window": True}, "window must be a whole number from 1 to 1000 words, got True"),
        ({"window": "10"}, "window must be a whole number from 1 to 1000 words, got '10'"),
    ],
)
def test_bad_parameters(options, message, make_corpus):
    with pytest.raises(ValueError, match=message):
        network(np.array([1, END], np.uint8), NUM_WORDS, **options)
    with pytest.raises(ValueError, match=message):
        excerpt_networks(make_corpus({"ann": [1]}), np.array([0]), **options)


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_the_support_is_the_formula(seed):
    rng = np.random.default_rng(seed)
    weights = rng.random((7, 7)) * (rng.random((7, 7)) < 0.6)
    weights[rng.permutation(7), np.arange(7)] += 0.1  # every word leads somewhere
    weights += np.eye(7, k=1) * 0.1  # and all are connected
    matrix, nodes = support_matrix(weights)
    degree = np.diag(weights @ np.ones(7))
    expected = (np.linalg.inv(degree) @ weights + weights.T @ np.linalg.inv(degree)) / 2
    assert nodes.tolist() == list(range(7))
    np.testing.assert_allclose(matrix, expected / np.linalg.norm(expected, 2), atol=1e-12)
    assert np.array_equal(matrix, matrix.T)


def test_words_without_edges_and_small_components_are_dropped():
    weights = np.zeros((7, 7))
    weights[1, 2] = weights[2, 5] = weights[5, 1] = 2.0  # the largest component: 1, 2, 5
    weights[0, 4] = 9.0  # a smaller one: 0, 4
    weights[6, 6] = 1.0  # a word that only follows itself; word 3 has no edge at all
    matrix, nodes = support_matrix(weights)
    assert nodes.tolist() == [1, 2, 5]
    ring = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2
    np.testing.assert_allclose(matrix, ring, atol=1e-12)


def test_a_word_that_leads_nowhere_stays():
    weights = np.array([[0.0, 3.0], [0.0, 0.0]])
    matrix, nodes = support_matrix(weights)
    assert nodes.tolist() == [0, 1]
    np.testing.assert_allclose(matrix, [[0, 1], [1, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros((3, 3)), "the network has no edges"),
        (np.zeros((0, 0)), "the network has no edges"),
        (np.ones((2, 3)), r"weights must be a square matrix, got shape \(2, 3\)"),
        (np.array([[0.0, -1.0], [1.0, 0.0]]), "weights must be finite and not negative"),
        (np.array([[0.0, np.nan], [1.0, 0.0]]), "weights must be finite and not negative"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        support_matrix(weights)


def test_the_shift_of_a_network_has_names_and_unit_norm():
    weights = np.array([[0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    shift = support(weights, ["the", "of", "ere"])
    assert shift.names == ("the", "of")
    assert shift.layout == "dense"
    assert shift.is_symmetric
    assert shift.spectral_norm() == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(shift.to_dense().numpy(), support_matrix(weights)[0], rtol=1e-6)


def test_the_shift_needs_a_word_for_each_row():
    with pytest.raises(ValueError, match="there are 2 words for a network of 3"):
        support(np.ones((3, 3)), ["the", "of"])


def test_the_support_agrees_with_the_kind_of_the_graph_room():
    from nvgf.graph import GraphShift

    rng = np.random.default_rng(1)
    weights = rng.random((6, 6))
    theirs = GraphShift(weights, kind="symmetrized-walk", dtype=None).normalized()
    np.testing.assert_allclose(support_matrix(weights)[0], theirs.to_dense().numpy(), atol=1e-6)


def test_edges_are_pairs_with_loops():
    assert num_edges(np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 0.0], [0.0, 4.0, 0.0]])) == 3
