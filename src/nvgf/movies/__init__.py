"""From ratings to a graph of movies, signals on it, and the rivals that predict the same ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvgf.movies.anchors import biased_factorisation, item_knn, mean_of_means, nearest_neighbours
from nvgf.movies.completion import CompletionConfig, CompletionFit, CompletionProblem, fit_completion
from nvgf.movies.dataset import MovieDataset
from nvgf.movies.fetch import fetch_movielens, find_movielens
from nvgf.movies.formats import read_ratings
from nvgf.movies.planted import PlantedRatings, planted_ratings
from nvgf.movies.ratings import Ratings
from nvgf.movies.score import RIVALS, RivalScore, completion_problem, score_completion, score_simple
from nvgf.movies.similarity import MovieGraph, Similarity, movie_graph, nearest_neighbour_graph, similarity

if TYPE_CHECKING:
    from nvgf.movies.regressor import RatingRegressor

__all__ = [
    "RIVALS",
    "CompletionConfig",
    "CompletionFit",
    "CompletionProblem",
    "MovieDataset",
    "MovieGraph",
    "PlantedRatings",
    "RatingRegressor",
    "Ratings",
    "RivalScore",
    "Similarity",
    "biased_factorisation",
    "completion_problem",
    "fetch_movielens",
    "find_movielens",
    "fit_completion",
    "item_knn",
    "mean_of_means",
    "movie_graph",
    "nearest_neighbour_graph",
    "nearest_neighbours",
    "planted_ratings",
    "read_ratings",
    "score_completion",
    "score_simple",
    "similarity",
]


def __getattr__(name: str) -> Any:
    # Only the estimator needs scikit-learn, whose import takes a second.
    if name == "RatingRegressor":
        from nvgf.movies.regressor import RatingRegressor

        return RatingRegressor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
