from dataclasses import replace

import numpy as np
import pytest
import torch

from nvgf.movies import MovieDataset, Ratings, planted_ratings, read_ratings
from nvgf.movies.anchors import baselines
from nvgf.movies.dataset import split_users
from nvgf.movies.score import completion_problem, score_completion, score_simple
from nvgf.training import Job, Schedule, fit

RATINGS = planted_ratings(users=120, items=24, seed=11).ratings
TARGET = "Movie 7"


def dataset(ratings=RATINGS, **options):
    return MovieDataset(ratings, TARGET, **{"split": 3, "neighbours": 4, **options})


def test_signals_and_labels_are_the_ratings():
    data = dataset()
    matrix = RATINGS.matrix()
    assert data.node == 6
    for part in ("train", "valid", "test"):
        signals, users = getattr(data.task, part), data.users[part]
        wanted = matrix[users]
        np.testing.assert_array_equal(signals.y.numpy(), wanted[:, 6])
        wanted[:, 6] = 0
        np.testing.assert_array_equal(signals.x[..., 0].numpy(), wanted)
        assert (signals.y > 0).all()
    assert data.task.node == 6
    assert data.task.loss == "smooth-l1"
    assert data.task.shift is data.graph.shift


def test_parts_are_disjoint_and_hold_all_raters():
    data = dataset()
    parts = np.concatenate(list(data.users.values()))
    raters = np.flatnonzero(RATINGS.matrix()[:, 6])
    assert sorted(parts) == sorted(raters)
    assert len(data.users["test"]) == round(0.1 * len(raters))
    assert len(data.users["valid"]) == round(0.09 * len(raters))


def test_the_split_is_the_seed_alone():
    assert (dataset().users["test"] == dataset().users["test"]).all()
    assert set(dataset(split=4).users["test"]) != set(dataset().users["test"])
    changed = replace(RATINGS, values=6 - RATINGS.values)
    assert (dataset(changed).users["test"] == dataset().users["test"]).all()


@pytest.mark.parametrize("scaling", ["paper", "centred"])
@pytest.mark.parametrize("part", ["valid", "test"])
def test_a_held_out_rating_reaches_no_weight_no_signal_and_no_model(part, scaling):
    before = dataset(scaling=scaling)
    spoiled = RATINGS.values.copy()
    hidden = np.isin(RATINGS.users, before.users[part]) & (RATINGS.items == before.node)
    assert hidden.sum() == len(before.users[part])
    spoiled[hidden] = 6 - spoiled[hidden]
    after = dataset(replace(RATINGS, values=spoiled), scaling=scaling)
    assert not np.array_equal(before.labels(part), after.labels(part))
    np.testing.assert_array_equal(before.graph.weights, after.graph.weights)
    np.testing.assert_array_equal(before.known, after.known)
    for name in ("train", "valid", "test"):
        assert torch.equal(getattr(before.task, name).x, getattr(after.task, name).x)
    assert torch.equal(before.task.train.y, after.task.train.y)
    for method in ("nearest-neighbour", "mean-of-means", "item-knn", "biased-mf"):
        np.testing.assert_array_equal(score_simple(before, method).predictions, score_simple(after, method).predictions)
    problems = completion_problem(before), completion_problem(after)
    np.testing.assert_array_equal(problems[0].user_graph, problems[1].user_graph)
    np.testing.assert_array_equal(problems[0].item_graph, problems[1].item_graph)
    if part == "test":
        scores = [score_completion([data], iterations=5)[0] for data in (before, after)]
        np.testing.assert_array_equal(scores[0].predictions, scores[1].predictions)


def test_a_test_rating_reaches_no_trained_weight():
    before = dataset()
    spoiled = RATINGS.values.copy()
    hidden = np.isin(RATINGS.users, before.users["test"]) & (RATINGS.items == before.node)
    spoiled[hidden] = 6 - spoiled[hidden]
    after = dataset(replace(RATINGS, values=spoiled))
    schedule = Schedule(epochs=2, batch_size=5, dropout=0.0)
    options = {"features": 3, "order": 2}
    one, two = (fit(Job("learn-nvgf", data.task, options, 0.01, schedule=schedule)) for data in (before, after))
    assert one.curve == two.curve
    assert one.test_error != two.test_error
    for name, weights in one.state.items():
        assert torch.equal(weights, two.state[name])


def test_a_training_rating_does_reach_the_graph():
    before = dataset()
    spoiled = RATINGS.values.copy()
    seen = np.isin(RATINGS.users, before.users["train"]) & (RATINGS.items == before.node)
    spoiled[seen] = 6 - spoiled[seen]
    assert not np.array_equal(before.graph.weights, dataset(replace(RATINGS, values=spoiled)).graph.weights)


def test_only_the_most_rated_movies_make_the_graph():
    counts = RATINGS.counts()
    top = set(np.argsort(-counts, kind="stable")[:12] + 1)
    target = RATINGS.titles[int(np.argmax(counts))]
    data = MovieDataset(RATINGS, target, movies=12, neighbours=4)
    assert set(data.ratings.item_ids) == top
    assert data.title == target
    assert data.task.train.x.shape[1] == data.task.shift.num_nodes == 12
    rare = RATINGS.titles[int(np.argmin(counts))]
    with pytest.raises(ValueError, match=f"'{rare}' is not among the 12 most rated movies"):
        MovieDataset(RATINGS, rare, movies=12)


def test_all_movies_when_there_are_fewer_than_asked():
    assert dataset(movies=None).ratings.num_items == dataset().ratings.num_items == 24


def test_centred_signals_and_labels_are_ratings_less_baselines():
    data, plain = dataset(scaling="centred", dtype=torch.float64), dataset(dtype=torch.float64)
    others = data.known.copy()
    others[:, data.node] = 0
    expected = baselines(others)
    for part in ("train", "valid", "test"):
        users = data.users[part]
        signals, raw = getattr(data.task, part), getattr(plain.task, part)
        np.testing.assert_allclose(
            signals.x[..., 0].numpy(), np.where(others > 0, others - expected, 0)[users], atol=1e-12
        )
        np.testing.assert_allclose(signals.y.numpy() + data.offset[users], raw.y.numpy())
    users = data.users["train"]
    excess = (data.labels("train") - expected[users, data.node]).mean()
    assert data.task.train.y.mean().item() == pytest.approx(excess * 10 / (10 + len(users)))
    assert not plain.offset.any()


def test_a_users_own_rating_of_the_target_is_not_in_his_centred_signal():
    before = dataset(scaling="centred")
    user = before.users["train"][0]
    values = RATINGS.values.copy()
    place = (RATINGS.users == user) & (RATINGS.items == before.node)
    values[place] = 6 - values[place]
    after = dataset(replace(RATINGS, values=values), scaling="centred")
    assert torch.equal(before.task.train.x, after.task.train.x)


def test_scaling_is_checked():
    with pytest.raises(ValueError, match="scaling must be 'paper' or 'centred', got 'raw'"):
        dataset(scaling="raw")


def test_dtype():
    assert dataset(dtype=torch.float64).task.train.x.dtype == torch.float64


def test_numbers_of_the_wrong_kind_are_named():
    with pytest.raises(TypeError, match=r"named by its title or by its id, an integer, got 3\.0"):
        MovieDataset(RATINGS, 3.0)
    with pytest.raises(TypeError, match=r"neighbours must be an integer, got 2\.5"):
        dataset(neighbours=2.5)


def test_too_few_raters():
    few = Ratings.from_triples([1, 2, 3, 1, 2, 3], [1, 1, 1, 2, 2, 2], [1, 2, 3, 3, 2, 1])
    with pytest.raises(ValueError, match="1 has 3 ratings, a split needs at least 12"):
        MovieDataset(few, 1)


@pytest.mark.parametrize(("count", "options"), [(3, {}), (100, {"test": 0.001})])
def test_splits_that_leave_a_part_empty(count, options):
    with pytest.raises(ValueError, match=f"{count} raters are too few to split"):
        split_users(count, 0, **options)


def test_split_fractions_are_checked():
    with pytest.raises(ValueError, match="valid and test must be positive fractions"):
        split_users(100, 0, valid=0.5, test=0.6)


@pytest.mark.data
def test_star_wars(nvgf_data):
    data = MovieDataset(read_ratings(nvgf_data / "ml-100k"), "Star Wars", split=0)
    assert [len(users) for users in data.users.values()] == [473, 52, 58]
    assert data.title == "Star Wars (1977)"
    assert data.task.shift.num_nodes == 250
    assert data.graph.isolated == ()
    assert data.ratings.titles[int(np.argmax(data.graph.weights[data.node]))] in (
        "Empire Strikes Back, The (1980)",
        "Return of the Jedi (1983)",
    )
