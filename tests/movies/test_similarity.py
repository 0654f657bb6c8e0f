import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nvgf.movies import movie_graph, nearest_neighbour_graph, planted_ratings, similarity

TABLES = arrays(np.int64, st.tuples(st.integers(2, 9), st.integers(2, 6)), elements=st.integers(0, 5))


def naive(known):
    """The formula of the appendix, one pair at a time, with the printed mean in both factors."""
    items = known.shape[1]
    result = np.zeros((items, items))
    for i in range(items):
        for j in range(items):
            both = [x for x in known if x[i] > 0 and x[j] > 0]
            if both:
                mean = sum(x[i] for x in both) / len(both)
                result[i, j] = sum((x[i] - mean) * (x[j] - mean) for x in both) / len(both)
    return result


@given(TABLES)
def test_covariance_is_the_papers_double_loop(table):
    np.testing.assert_allclose(similarity(table.astype(float)).covariance, naive(table.astype(float)), atol=1e-12)


@given(TABLES)
def test_normalised_divides_by_the_diagonal_and_drops_it(table):
    near = similarity(table.astype(float))
    variance = np.diag(naive(table.astype(float)))
    assert set(near.constant) == set(np.flatnonzero(variance < 1e-9))
    for i in range(len(variance)):
        for j in range(len(variance)):
            wanted = 0.0
            if i != j and min(variance[i], variance[j]) > 1e-9:
                wanted = near.covariance[i, j] / np.sqrt(variance[i] * variance[j])
            assert near.normalised[i, j] == pytest.approx(wanted, abs=1e-9)


def test_fully_rated_items_have_the_usual_correlation():
    known = np.random.default_rng(3).integers(1, 6, size=(40, 5)).astype(float)
    np.testing.assert_allclose(similarity(known).normalised, np.corrcoef(known.T) - np.eye(5), atol=1e-12)


def test_constant_ratings_off_the_integers_have_no_variance():
    known = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])
    near = similarity(known)
    assert near.constant.tolist() == [0]
    assert near.normalised[0, 1] == 0.0


def test_min_common_leaves_out_rare_pairs():
    known = np.array([[5.0, 4, 0], [1, 2, 3], [3, 3, 1], [2, 0, 5]])
    near = similarity(known, min_common=3)
    assert near.common.tolist() == [[4, 3, 3], [3, 3, 2], [3, 2, 3]]
    assert near.covariance[1, 2] == 0.0
    assert near.covariance[0, 1] == pytest.approx(naive(known)[0, 1])


def test_neighbours_are_the_largest_and_an_edge_needs_one_end():
    weights = np.random.default_rng(0).normal(size=(12, 12))
    weights = weights + weights.T
    graph = nearest_neighbour_graph(weights, 3)
    picks = set()
    for i in range(12):
        others = sorted((j for j in range(12) if j != i), key=lambda j: -weights[i, j])
        picks |= {frozenset((i, j)) for j in others[:3] if weights[i, j] > 0}
    assert {frozenset(edge) for edge in zip(*np.nonzero(graph), strict=True)} == picks
    np.testing.assert_array_equal(graph, graph.T)
    np.testing.assert_array_equal(graph[graph > 0], weights[graph > 0])


def test_graph_has_unit_norm_names_and_a_report():
    ratings = planted_ratings(users=60, items=15, seed=2).ratings
    known = ratings.matrix()
    known[:, 4] = np.where(known[:, 4] > 0, 3.0, 0.0)
    known[:, 5] = 0.0
    known[0, 5] = 2.0
    known[0, 6] = 0.0
    graph = movie_graph(known, ratings.titles, neighbours=3)
    dense = graph.shift.to_dense().numpy()
    assert np.linalg.norm(dense, 2) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(dense, graph.weights / np.linalg.norm(graph.weights, 2), atol=1e-6)
    assert graph.constant == ("Movie 5", "Movie 6")
    assert graph.isolated == ("Movie 5", "Movie 6")
    assert graph.shift.names == ratings.titles
    assert graph.pairs_without_common == sum(
        not ((known[:, i] > 0) & (known[:, j] > 0)).any() for i in range(15) for j in range(i)
    )
    text = graph.summary()
    assert "15 movies" in text
    assert "pairs without common raters" in text
    assert "2 without variance (Movie 5, Movie 6)" in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: similarity(np.ones(3)), r"known must be a \(users, items\) matrix, got shape \(3,\)"),
        (lambda: similarity(np.array([[1, -1.0]])), "known must hold finite ratings"),
        (lambda: similarity(np.array([[1, np.nan]])), "known must hold finite ratings"),
        (lambda: similarity(np.ones((2, 2)), min_common=0), "min_common must be at least 1, got 0"),
        (lambda: nearest_neighbour_graph(np.ones((2, 2)), 0), "neighbours must be at least 1, got 0"),
        (lambda: movie_graph(np.eye(3) + 1), "the movie graph has no edge"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.data
def test_movielens_graph(nvgf_data):
    from nvgf.movies import read_ratings

    top = read_ratings(nvgf_data / "ml-100k").most_rated(250)
    graph = movie_graph(top.matrix(), top.titles)
    assert graph.shift.num_nodes == 250
    assert (np.count_nonzero(graph.weights, axis=1) >= 10).all()
    assert graph.constant == ()
    near = similarity(top.matrix())
    star_wars, empire = top.item("Star Wars"), top.item("Empire Strikes Back, The")
    jedi = top.item("Return of the Jedi")
    assert {empire, jedi} == set(np.argsort(-near.normalised[star_wars])[:2])
    assert (near.normalised <= 1.2).all()
