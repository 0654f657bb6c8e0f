"""Geometric matrix completion: RMGCNN (Monti, Bronstein, Bresson 2017) and RMCayley (Levie et al. 2018)."""

from nvgf.movies.completion.filters import CayleyFilter, ChebyshevFilter, normalised_laplacian
from nvgf.movies.completion.fit import CompletionFit, CompletionProblem, fit_completion
from nvgf.movies.completion.model import (
    METHODS,
    CompletionConfig,
    RecurrentCompletion,
    initial_factors,
    rescaled,
)

__all__ = [
    "METHODS",
    "CayleyFilter",
    "ChebyshevFilter",
    "CompletionConfig",
    "CompletionFit",
    "CompletionProblem",
    "RecurrentCompletion",
    "fit_completion",
    "initial_factors",
    "normalised_laplacian",
    "rescaled",
]
