import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from nvgf.movies import RatingRegressor, planted_ratings
from nvgf.movies.anchors import mean_of_means

FAST = {"features": 2, "order": 1, "epochs": 2, "min_ratings": 4, "batch_size": 20}


@parametrize_with_checks([RatingRegressor(**FAST)])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def planted():
    """Pairs and ratings to fit on, and hidden ones."""
    ratings = planted_ratings(users=300, items=15, density=0.8, noise=0.1, seed=41).ratings
    X = np.column_stack([np.take(ratings.user_ids, ratings.users), np.take(ratings.item_ids, ratings.items)])
    hidden = np.random.default_rng(0).random(len(X)) < 0.2
    return X[~hidden], ratings.values[~hidden], X[hidden], ratings.values[hidden]


@pytest.fixture(scope="module")
def fitted(planted):
    X, y, _, _ = planted
    return RatingRegressor(features=8, order=2, epochs=20, batch_size=10, neighbours=4).fit(X, y)


def rmse(predictions, values):
    return float(np.sqrt(np.mean((predictions - values) ** 2)))


def test_hidden_ratings_are_predicted_better_than_by_means(planted, fitted):
    X, y, unseen, values = planted
    known = np.zeros((300, 15))
    known[X[:, 0] - 1, X[:, 1] - 1] = y
    means = mean_of_means(known, unseen[:, 0] - 1, unseen[:, 1] - 1)
    assert rmse(fitted.predict(unseen), values) < 0.9 * rmse(means, values)
    assert set(fitted.models_) == set(range(15))


def test_further_columns_and_the_order_of_rows_do_not_matter(planted, fitted):
    X, y, unseen, _ = planted
    order = np.random.default_rng(1).permutation(len(X))
    dated = RatingRegressor(**fitted.get_params()).fit(np.column_stack([X, np.arange(len(X))])[order], y[order])
    stamps = np.zeros((len(unseen), 1))
    np.testing.assert_allclose(dated.predict(np.hstack([unseen, stamps])), fitted.predict(unseen), atol=1e-4)


def test_unknown_users_and_items_get_the_biases(fitted):
    known_item, known_user, nothing = fitted.predict([[9999, 3], [5, 9999], [9999, 9999]])
    assert known_item == pytest.approx(fitted._baselines[:, 2].mean() - fitted._offset)
    assert known_user == pytest.approx(fitted._baselines[4].mean() - fitted._offset)
    assert nothing == pytest.approx(fitted._baselines.mean() - fitted._offset)


def test_a_prediction_feels_the_users_own_rating_in_the_items_bias_alone(planted, fitted):
    X, _, _, _ = planted
    before = fitted.predict(X[:1])
    place = X[0, 0] - 1, X[0, 1] - 1
    rating = fitted._known[place]
    fitted._known[place] += 0.5
    after = fitted.predict(X[:1])
    fitted._known[place] = rating
    raters = np.count_nonzero(fitted._known[:, place[1]])
    assert after - before == pytest.approx(0.5 / (10 + raters), abs=1e-9)


def test_no_signal_to_train_on_feels_the_users_own_rating(planted, monkeypatch):
    X, y, _, _ = planted
    seen = []
    monkeypatch.setattr("nvgf.movies.regressor.fit_many", lambda jobs, device: seen.append(jobs) or [])
    other = y.copy()
    other[0] = 1 if y[0] > 2 else 5
    for values in (y, other):
        RatingRegressor(**FAST).fit(X, values)
    item = X[0, 1] - 1
    before, after = (next(job.task for job in jobs if job.tag == item) for jobs in seen)
    for part in ("train", "valid"):
        assert getattr(before, part).x.equal(getattr(after, part).x)
    assert not before.train.y.equal(after.train.y)


def test_random_states_of_scikit_learn(planted):
    X, y, unseen, _ = planted
    one, again, other = (
        RatingRegressor(**FAST, random_state=np.random.RandomState(seed)).fit(X, y).predict(unseen)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    assert np.isfinite(RatingRegressor(**FAST, random_state=None).fit(X, y).predict(unseen)).all()


def test_items_with_few_ratings_get_no_model(planted):
    X, y, unseen, _ = planted
    rare = X[:, 1] != 2
    rare[np.flatnonzero(X[:, 1] == 2)[:5]] = True
    model = RatingRegressor(**{**FAST, "min_ratings": 20}).fit(X[rare], y[rare])
    assert 1 not in model.models_
    assert 0 in model.models_
    assert np.isfinite(model.predict(unseen)).all()


def test_repeated_pairs_are_averaged(planted):
    X, y, _, _ = planted
    plain = RatingRegressor(**FAST).fit(X, y)
    twice = RatingRegressor(**FAST).fit(np.vstack([X, X]), np.concatenate([y - 0.25, y + 0.25]))
    rated = plain._known > 0
    np.testing.assert_array_equal(twice._known > 0, rated)
    np.testing.assert_allclose((twice._known - twice._offset)[rated], (plain._known - plain._offset)[rated])


def test_predictions_move_with_the_scale(planted):
    X, y, unseen, _ = planted
    here, there = (RatingRegressor(**FAST).fit(X, y + shift).predict(unseen) for shift in (0, -7))
    np.testing.assert_allclose(there, here - 7, atol=1e-5)


def test_pickle_and_grid_search(planted, fitted):
    X, y, unseen, _ = planted
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(unseen), fitted.predict(unseen))
    search = GridSearchCV(RatingRegressor(**FAST), {"architecture": ["lsigf", "learn-nvgf"]}, cv=2).fit(X, y)
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("architecture", ["lsigf", "gcnn", "design-nvgf"])
def test_the_other_architectures(planted, architecture):
    X, y, unseen, _ = planted
    model = RatingRegressor(architecture, **FAST).fit(X, y)
    assert len(model.models_) == 15
    assert np.isfinite(model.predict(unseen)).all()


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"architecture": "gat"}, None, "architecture must be one of lsigf, gcnn, learn-nvgf, design-nvgf, got 'gat'"),
        ({"validation_fraction": 1.0}, None, "validation_fraction must lie between 0 and 1, got 1.0"),
        ({"min_ratings": 3}, None, "min_ratings must be at least 4, got 3"),
        ({}, [[1.0], [2.0]], r"X must have the columns user and item, got 1 feature\(s\)"),
        ({}, [[1.0, 2.5], [2.0, 1.0]], "X must hold integer ids of users and items, got 2.5"),
        ({}, [[1, 2**53 + 1], [2, 1]], "ids must be smaller than .* got 9007199254740992"),
    ],
)
def test_bad_input_is_named(options, X, message):
    with pytest.raises(ValueError, match=message):
        RatingRegressor(**options).fit([[1, 1], [2, 1]] if X is None else X, [1.0, 2.0])
