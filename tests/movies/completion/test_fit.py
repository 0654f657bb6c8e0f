from dataclasses import replace

import numpy as np
import pytest
import torch

from nvgf.movies import nearest_neighbour_graph, planted_ratings, similarity
from nvgf.movies.anchors import mean_of_means
from nvgf.movies.completion import CompletionConfig, CompletionProblem, fit_completion


def planted_problem(seed=0, users=120, items=24, valid=True):
    ratings, adjacency = planted_ratings(users=users, items=items, density=0.6, noise=0.1, seed=seed)
    full = ratings.matrix()
    lot = np.random.default_rng(seed).random(full.shape)
    given = full > 0
    held, shown = given & (lot < 0.15), given & (lot >= 0.3)
    known = np.where(shown, full, 0)
    user_graph = nearest_neighbour_graph(similarity(known.T, min_common=4).normalised, 8) > 0
    return CompletionProblem(
        ratings=full,
        known=shown,
        user_graph=user_graph.astype(float),
        item_graph=adjacency,
        valid=given & (lot >= 0.15) & (lot < 0.3) if valid else None,
        test=held,
    )


SMALL = {"rank": 4, "hidden": 16, "steps": 4}


@pytest.mark.parametrize("method", ["rmgcnn", "rmcayley"])
def test_learns_planted_ratings_and_beats_the_means(method):
    problem = planted_problem(seed=1)
    config = CompletionConfig(method=method, learning_rate=5e-3, order=2, **SMALL)
    fit = fit_completion([problem], config, iterations=500, seeds=[0])
    loss, _, test = fit.curves[:, :, 0].T
    assert loss[-1] < 0.5 * loss[0]
    users, items = np.nonzero(problem.test)
    known = np.where(problem.known, problem.ratings, 0)
    means = np.sqrt(np.mean((mean_of_means(known, users, items) - problem.ratings[problem.test]) ** 2))
    assert test[fit.best_iteration[0]] < 0.9 * means


def test_the_best_iteration_is_kept():
    problem = planted_problem(seed=2)
    fit = fit_completion([problem], CompletionConfig(learning_rate=0.02, **SMALL), iterations=60, seeds=[4])
    best = fit.best_iteration[0]
    assert best == np.nanargmin(fit.curves[:, 1, 0])
    error = fit.completion[0] - problem.ratings
    for row, mask in ((1, problem.valid), (2, problem.test)):
        assert np.sqrt(np.mean(error[mask] ** 2)) == pytest.approx(fit.curves[best, row, 0], rel=1e-5)
    assert fit.completion.min() == pytest.approx(1, abs=1e-5)
    assert fit.completion.max() == pytest.approx(5, abs=1e-5)


def test_without_validation_the_training_loss_decides():
    fit = fit_completion([planted_problem(seed=3, valid=False)], CompletionConfig(**SMALL), iterations=20, seeds=[0])
    assert fit.best_iteration[0] == np.argmin(fit.curves[:, 0, 0])
    assert np.isnan(fit.curves[:, 1, 0]).all()


def test_loss_is_the_mean_squared_error_plus_the_dirichlet_energies():
    problem = planted_problem(seed=4, valid=False)
    plain, smooth = (
        fit_completion([problem], CompletionConfig(gamma=g, **SMALL), iterations=1, seeds=[0]) for g in (0.0, 1e-3)
    )
    error = (plain.completion[0] - problem.ratings)[problem.known]
    assert plain.curves[0, 0, 0] == pytest.approx(np.mean(error**2), rel=1e-5)
    assert smooth.curves[0, 0, 0] > plain.curves[0, 0, 0]


@pytest.mark.parametrize("method", ["rmgcnn", "rmcayley"])
def test_stacked_trainings_are_those_one_by_one(method):
    problems = [planted_problem(seed=s, users=40, items=12) for s in (5, 6, 7)]
    config = CompletionConfig(method=method, order=2, **SMALL)
    stacked = fit_completion(problems, config, iterations=30, seeds=[1, 2, 3])
    for place, problem in enumerate(problems):
        alone = fit_completion([problem], config, iterations=30, seeds=[place + 1])
        np.testing.assert_allclose(alone.curves[..., 0], stacked.curves[..., place], rtol=2e-3)


def test_layouts_agree():
    problem = planted_problem(seed=8, users=40, items=12)
    fits = [
        fit_completion([problem], CompletionConfig(**SMALL), iterations=20, seeds=[0], layout=layout)
        for layout in ("dense", "csr")
    ]
    np.testing.assert_allclose(fits[0].curves, fits[1].curves, rtol=2e-3)


def test_the_seed_decides():
    problem = planted_problem(seed=9, users=40, items=12)
    one, again, other = (
        fit_completion([problem], CompletionConfig(**SMALL), iterations=5, seeds=[s]).curves for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


@pytest.mark.parametrize("part", ["valid", "test"])
def test_held_out_ratings_do_not_reach_training(part):
    problem = planted_problem(seed=10, users=40, items=12)
    spoiled = problem.ratings.copy()
    spoiled[getattr(problem, part)] = 6 - spoiled[getattr(problem, part)]
    other = CompletionProblem(
        spoiled, problem.known, problem.user_graph, problem.item_graph, problem.valid, problem.test
    )
    one, two = (fit_completion([p], CompletionConfig(**SMALL), iterations=10, seeds=[0]) for p in (problem, other))
    np.testing.assert_array_equal(one.curves[:, 0], two.curves[:, 0])
    if part == "test":
        np.testing.assert_array_equal(one.completion, two.completion)


def test_what_no_mask_marks_may_be_anything():
    problem = planted_problem(seed=12, users=40, items=12)
    unmarked = ~(problem.known | problem.valid | problem.test)
    ratings = np.where(unmarked, np.nan, problem.ratings)
    one, two = (
        fit_completion([p], CompletionConfig(**SMALL), iterations=5, seeds=[0])
        for p in (problem, replace(problem, ratings=ratings))
    )
    np.testing.assert_array_equal(one.curves, two.curves)
    assert np.isnan(ratings[unmarked]).all()
    ratings[problem.test] = np.inf
    with pytest.raises(ValueError, match="ratings must be finite where known, valid or test marks them"):
        replace(problem, ratings=ratings)


def test_ratings_that_are_all_alike_are_completed():
    problem = CompletionProblem(np.full((3, 2), 5.0), ONES > 0, *GRAPHS)
    config = CompletionConfig(rank=1, hidden=4, steps=2, input_fraction=1.0)
    fit = fit_completion([problem], config, iterations=3, seeds=[0])
    assert np.isfinite(fit.curves[:, 0]).all()
    assert ((fit.completion >= 1) & (fit.completion <= 5)).all()


def test_a_training_that_is_never_finite_completes_nothing_and_leaves_others_alone():
    good = planted_problem(seed=13, users=40, items=12)
    bad = replace(good, ratings=good.ratings * 1e30)
    both = fit_completion([good, bad], CompletionConfig(**SMALL), iterations=2, seeds=[0, 1])
    alone = fit_completion([good], CompletionConfig(**SMALL), iterations=2, seeds=[0])
    np.testing.assert_allclose(both.completion[0], alone.completion[0], rtol=1e-5)
    assert np.isnan(both.completion[1]).all()


def test_progress_is_told():
    told = []
    fit = fit_completion(
        [planted_problem(seed=11, users=40, items=12)],
        CompletionConfig(**SMALL),
        iterations=7,
        seeds=[0],
        progress=lambda done, latest: told.append((done, latest)),
        progress_every=3,
    )
    assert [done for done, _ in told] == [3, 6, 7]
    np.testing.assert_array_equal(told[0][1], fit.curves[2])


ONES = np.ones((3, 2))
GRAPHS = (np.ones((3, 3)), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("error", "arguments", "message"),
    [
        (
            ValueError,
            (ONES, np.ones((2, 3), bool), *GRAPHS),
            r"known must have the ratings' shape \(3, 2\), got \(2, 3\)",
        ),
        (TypeError, (ONES, ONES, *GRAPHS), "known must be a boolean mask, got dtype float64"),
        (ValueError, (ONES, ONES < 0, *GRAPHS), "known marks no rating"),
        (ValueError, (ONES, ONES > 0, *reversed(GRAPHS)), r"user_graph must have shape \(3, 3\), got \(2, 2\)"),
        (ValueError, (ONES, ONES > 0, *GRAPHS, ONES < 0), "valid marks no rating"),
    ],
)
def test_bad_problems_are_named(error, arguments, message):
    with pytest.raises(error, match=message):
        CompletionProblem(*arguments)


PROBLEM = CompletionProblem(ONES, ONES > 0, *GRAPHS)
WATCHED = CompletionProblem(ONES, ONES > 0, *GRAPHS, valid=ONES > 0)
LARGER = CompletionProblem(np.ones((3, 3)), np.ones((3, 3)) > 0, GRAPHS[0], GRAPHS[0])


@pytest.mark.parametrize(
    ("problems", "options", "message"),
    [
        ([], {"seeds": []}, "problems must hold at least one problem"),
        ([PROBLEM], {"seeds": [1, 2]}, "one seed for each of the 1 problems, got 2"),
        ([PROBLEM], {"seeds": [1], "iterations": 0}, "iterations must be at least 1, got 0"),
        ([PROBLEM], {"seeds": [1], "scale": (5, 1)}, r"scale must be \(smallest, largest\) rating, got \(5, 1\)"),
        ([PROBLEM, LARGER], {"seeds": [1, 2]}, "ratings of one shape"),
        ([PROBLEM, WATCHED], {"seeds": [1, 2]}, "either all problems or none must have valid ratings"),
    ],
)
def test_bad_arguments_are_named(problems, options, message):
    with pytest.raises(ValueError, match=message):
        fit_completion(problems, **options)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("method", ["rmgcnn", "rmcayley"])
@pytest.mark.parametrize("cuda_graph", [False, True])
def test_cuda_equals_cpu(method, cuda_graph):
    problems = [planted_problem(seed=seed) for seed in (1, 2)]
    config = CompletionConfig(method=method, order=2, **SMALL)
    options = {"iterations": 20, "seeds": [0, 1]}
    here = fit_completion(problems, config, **options)
    there = fit_completion(problems, config, **options, device="cuda", cuda_graph=cuda_graph)
    np.testing.assert_allclose(there.curves, here.curves, atol=1e-3)
    np.testing.assert_allclose(there.completion, here.completion, atol=2e-2)
