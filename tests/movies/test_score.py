from dataclasses import replace

import numpy as np
import pytest

from nvgf.movies import (
    CompletionConfig,
    MovieDataset,
    completion_problem,
    planted_ratings,
    score_completion,
    score_simple,
)
from nvgf.movies.anchors import mean_of_means
from nvgf.movies.score import METHODS, RIVALS, SIMPLE

RATINGS = planted_ratings(users=100, items=20, density=0.7, seed=31).ratings
SMALL = CompletionConfig(rank=3, hidden=8, steps=3, order=2)


@pytest.fixture(scope="module")
def datasets():
    return [MovieDataset(RATINGS, target, split=s, neighbours=4) for target, s in ((1, 0), (1, 1), (5, 0))]


def test_rivals_are_the_completions_and_the_simple_ones():
    assert set(RIVALS) == {*METHODS, *SIMPLE}


@pytest.mark.parametrize("method", SIMPLE)
def test_simple_rivals_predict_the_test_users(datasets, method):
    score = score_simple(datasets[0], method)
    np.testing.assert_array_equal(score.users, datasets[0].users["test"])
    np.testing.assert_array_equal(score.ratings, RATINGS.matrix()[score.users, 0])
    assert score.predictions.shape == score.ratings.shape
    assert ((score.predictions >= 1) & (score.predictions <= 5)).all()
    assert score.rmse == pytest.approx(np.sqrt(((score.predictions - score.ratings) ** 2).mean()))
    assert (score.method, score.target, score.split) == (method, "Movie 1", 0)


def test_the_validation_error_is_that_of_the_same_predictions(datasets):
    data = datasets[0]
    users = data.users["valid"]
    predicted = mean_of_means(data.known, users, np.full(len(users), data.node))
    wanted = np.sqrt(((predicted - RATINGS.matrix()[users, data.node]) ** 2).mean())
    assert score_simple(data, "mean-of-means").valid_rmse == pytest.approx(wanted)


def test_means_see_the_known_ratings_alone(datasets):
    data = datasets[0]
    users = data.users["test"]
    wanted = mean_of_means(data.known, users, np.zeros(len(users), dtype=int))
    np.testing.assert_array_equal(score_simple(data, "mean-of-means").predictions, wanted)


def test_the_problem_hides_the_held_out_ratings(datasets):
    data = datasets[0]
    problem = completion_problem(data)
    matrix = RATINGS.matrix()
    assert (problem.known.astype(int) + problem.valid + problem.test == (matrix > 0)).all()
    np.testing.assert_array_equal(problem.ratings, matrix)
    assert not problem.known[problem.valid | problem.test].any()
    assert (np.nonzero(problem.valid)[1] == data.node).all()
    assert np.array_equal(np.flatnonzero(problem.test[:, data.node]), data.users["test"])
    assert set(np.unique(problem.item_graph)) == {0.0, 1.0}
    np.testing.assert_array_equal(problem.item_graph > 0, data.graph.weights > 0)


@pytest.mark.parametrize("method", METHODS)
def test_completions_are_the_same_however_they_are_stacked(datasets, method):
    together = score_completion(datasets, method, iterations=20, config=SMALL)
    one_by_one = score_completion(datasets, method, iterations=20, config=SMALL, stack=1)
    assert [(s.target, s.split) for s in together] == [("Movie 1", 0), ("Movie 1", 1), ("Movie 5", 0)]
    for one, other in zip(together, one_by_one, strict=True):
        assert one.method == method
        np.testing.assert_allclose(one.predictions, other.predictions, atol=5e-3)
        assert 0 <= one.best_iteration < 20


def test_seeds_are_the_splits_unless_given(datasets):
    by_default, given, other = (
        score_completion(datasets[1:2], iterations=3, config=SMALL, seeds=seeds)[0] for seeds in (None, [1], [2])
    )
    np.testing.assert_array_equal(by_default.predictions, given.predictions)
    assert by_default.seed == 1
    assert (given.predictions != other.predictions).any()


def test_fewer_movies_than_the_rank():
    ratings = planted_ratings(users=40, items=6, seed=1).ratings
    (score,) = score_completion([MovieDataset(ratings, 1, neighbours=2)], iterations=2)
    assert np.isfinite(score.predictions).all()


def test_datasets_of_other_ratings_are_refused(datasets):
    other = planted_ratings(users=100, items=20, density=0.7, seed=32).ratings
    wider = replace(RATINGS, scale=(0.5, 5.0))
    for ratings in (other, wider):
        with pytest.raises(ValueError, match="datasets must be of the same ratings, of one scale"):
            score_completion([datasets[0], MovieDataset(ratings, 1, neighbours=4)], stack=1)


def test_bad_arguments_are_named(datasets):
    with pytest.raises(ValueError, match=r"method must be one of nearest-neighbour, .*, got 'magic'"):
        score_simple(datasets[0], "magic")
    with pytest.raises(ValueError, match="datasets must hold at least one dataset"):
        score_completion([])
    with pytest.raises(ValueError, match="stack must be at least 1, got 0"):
        score_completion(datasets, stack=0)
    with pytest.raises(ValueError, match="one seed for each of the 3 datasets, got 1"):
        score_completion(datasets, seeds=[1])
    with pytest.raises(ValueError, match="method must be one of rmgcnn, rmcayley, got 'magic'"):
        score_completion(datasets, "magic")


def test_predictions_that_are_not_finite_have_an_infinite_error(datasets):
    score = score_simple(datasets[0], "mean-of-means")
    predictions = score.predictions.copy()
    predictions[0] = np.nan
    assert np.isfinite(score.rmse)
    assert replace(score, predictions=predictions).rmse == np.inf
