import numpy as np
import pytest

from nvgf.movies import nearest_neighbour_graph, planted_ratings, similarity


def test_the_graph_can_be_recovered_from_the_ratings():
    ratings, adjacency = planted_ratings(users=1500, items=30, neighbours=4, density=0.6, seed=5)
    found = nearest_neighbour_graph(similarity(ratings.matrix()).normalised, 4) > 0
    hits = (found & (adjacency > 0)).sum() / (adjacency > 0).sum()
    misses = (found & (adjacency == 0)).sum() / found.sum()
    assert hits > 0.95
    assert misses < 0.1


def test_the_planted_graph_is_a_ring_in_random_order():
    adjacency = planted_ratings(items=20, neighbours=6, seed=1).adjacency
    np.testing.assert_array_equal(adjacency, adjacency.T)
    assert (adjacency.sum(1) == 6).all()
    assert np.diag(adjacency).sum() == 0
    assert (adjacency != planted_ratings(items=20, neighbours=6, seed=2).adjacency).any()


def test_everything_is_rated_from_1_to_5():
    ratings = planted_ratings(users=200, items=25, density=0.05, seed=3).ratings
    assert set(np.unique(ratings.values)) == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert (ratings.num_users, ratings.num_items) == (200, 25)
    assert (ratings.counts() >= 2).all()
    assert ratings.titles[0] == "Movie 1"


def test_density_is_about_what_was_asked():
    dense, sparse = (len(planted_ratings(density=d, seed=4).ratings) / 12_000 for d in (0.5, 0.2))
    assert dense == pytest.approx(0.5, rel=0.1)
    assert sparse == pytest.approx(0.2, rel=0.15)


def test_the_seed_decides():
    first, again, other = (planted_ratings(seed=s).ratings.matrix() for s in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"users": 1}, "users must be at least 2, got 1"),
        ({"neighbours": 3}, "neighbours must be even and at least 2"),
        ({"items": 4}, "items must be more than the 4 neighbours of each, got 4"),
        ({"density": 0}, r"density must lie in \(0, 1\], got 0"),
        ({"smoothness": 0}, "smoothness must be positive"),
        ({"noise": -1}, "noise not negative"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        planted_ratings(**options)
