import numpy as np
import pytest

from nvgf.movies import biased_factorisation, item_knn, mean_of_means, nearest_neighbours, planted_ratings
from nvgf.movies.anchors import baselines


@pytest.fixture(scope="module")
def planted():
    """Known ratings, and the places and values of 15 % hidden ones."""
    ratings, adjacency = planted_ratings(users=400, items=30, density=0.6, seed=21)
    full = ratings.matrix()
    hidden = (np.random.default_rng(0).random(full.shape) < 0.15) & (full > 0)
    known = np.where(hidden, 0.0, full)
    users, items = np.nonzero(hidden)
    return known, users, items, full[hidden], adjacency


def rmse(predictions, values):
    return float(np.sqrt(np.mean((predictions - values) ** 2)))


def test_mean_of_means_is_the_mean_of_the_two_means():
    known = np.array([[5.0, 3, 0, 0], [1, 0, 4, 0], [0, 0, 0, 0]])
    users, items = np.array([0, 1, 2, 2, 0]), np.array([2, 1, 0, 3, 3])
    overall = 13 / 4
    wanted = [(4 + 4) / 2, (2.5 + 3) / 2, (overall + 3) / 2, overall, (4 + overall) / 2]
    np.testing.assert_allclose(mean_of_means(known, users, items), wanted)


def test_nearest_neighbours_averages_the_rated_neighbours_only():
    graph = np.zeros((4, 4))
    graph[0, [1, 2]] = 0.7
    known = np.array([[0, 2.0, 5, 1], [0, 0, 4, 1], [0, 0, 0, 3], [0, 0, 0, 0], [4, 0, 0, 0]])
    predictions = nearest_neighbours(known, np.arange(4), np.zeros(4, dtype=int), graph)
    np.testing.assert_allclose(predictions, [3.5, 4.0, 3.0, 4.0])


def test_baselines_approach_the_additive_model_without_shrinkage():
    rows, columns = np.array([0.5, -0.5, 0.2, -0.2]), np.array([1.0, -1.0, 0.0])
    full = 3 + rows[:, None] + columns
    np.testing.assert_allclose(baselines(full, user_shrinkage=0, item_shrinkage=0), full, atol=1e-12)
    shrunk = baselines(full, user_shrinkage=1e9, item_shrinkage=1e9)
    np.testing.assert_allclose(shrunk, np.full(full.shape, 3.0), atol=1e-6)


def test_item_knn_with_all_neighbours_is_the_formula_written_out(planted):
    known, users, items, _, _ = planted
    base, rated = baselines(known), known > 0
    for user, item in zip(users[:20], items[:20], strict=True):
        top = bottom = 0.0
        for other in np.flatnonzero(rated[user]):
            both = rated[:, item] & rated[:, other]
            x, y = known[both, item], known[both, other]
            covariance = np.mean((x - x.mean()) * (y - y.mean()))
            spread = known[rated[:, item], item].std() * known[rated[:, other], other].std()
            weight = max(covariance / spread, 0) * both.sum() / (both.sum() + 100)
            top += weight * (known[user, other] - base[user, other])
            bottom += weight
        wanted = base[user, item] + (top / bottom if bottom else 0)
        assert item_knn(known, np.array([user]), np.array([item]))[0] == pytest.approx(wanted)


def test_item_knn_uses_the_nearest_only(planted):
    known, users, items, values, _ = planted
    few, many = (item_knn(known, users, items, neighbours=k) for k in (4, 30))
    assert (few != many).mean() > 0.9
    assert rmse(few, values) < rmse(mean_of_means(known, users, items), values)


def test_anchors_rank_as_they_should_on_planted_ratings(planted):
    known, users, items, values, adjacency = planted
    means = rmse(mean_of_means(known, users, items), values)
    assert rmse(biased_factorisation(known, users, items), values) < means
    assert rmse(item_knn(known, users, items), values) < means
    near = rmse(nearest_neighbours(known, users, items, adjacency), values)
    assert near < rmse(nearest_neighbours(known, users, items, np.ones_like(adjacency)), values)


def test_factorisation_finds_a_low_rank_matrix():
    rng = np.random.default_rng(1)
    full = 3 + rng.normal(size=(60, 1)) @ rng.normal(size=(1, 40)) * 0.5 + 0.3 * rng.normal(size=(60, 1))
    full = np.clip(full, 0.1, None)
    hidden = rng.random(full.shape) < 0.2
    users, items = np.nonzero(hidden)
    known = np.where(hidden, 0, full)
    found = biased_factorisation(known, users, items, rank=2, regularisation=1e-3)
    assert rmse(found, full[hidden]) < 0.1 * rmse(mean_of_means(known, users, items), full[hidden])


def test_factorisation_is_a_stationary_point_of_its_loss(planted):
    """With one sweep more, the ridge regressions change next to nothing."""
    known, users, items, _, _ = planted
    late, later = (biased_factorisation(known, users, items, sweeps=n, rank=3) for n in (200, 201))
    np.testing.assert_allclose(late, later, atol=2e-3)


def test_factorisation_seed(planted):
    known, users, items, _, _ = planted
    one, again, two = (biased_factorisation(known, users, items, sweeps=2, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != two).any()


PLACE = np.array([0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda known: mean_of_means(0 * known, PLACE, PLACE), "known holds no rating"),
        (lambda known: nearest_neighbours(known, PLACE, PLACE, np.eye(3)), r"weights must have shape \(30, 30\)"),
        (lambda known: item_knn(known, PLACE, PLACE, neighbours=0), "neighbours must be at least 1, got 0"),
        (lambda known: biased_factorisation(known, PLACE, PLACE, rank=0), "rank and sweeps must be at least 1"),
        (
            lambda known: biased_factorisation(known, PLACE, PLACE, regularisation=0),
            "regularisation must be positive, got 0",
        ),
    ],
)
def test_bad_input_is_named(planted, call, message):
    with pytest.raises(ValueError, match=message):
        call(planted[0])
