"""Room ``design``: the optimal NVGF in place of an activation function (section 4 of the paper)."""

from nvgf.design.activations import ACTIVATIONS
from nvgf.design.closed_forms import iid_design, stationary_design
from nvgf.design.expectations import gaussian_moments
from nvgf.design.module import DesignedActivation
from nvgf.design.moments import Moments
from nvgf.design.operator import OperatorApproximation, approximate_operator
from nvgf.design.optimal import design_from_moments, optimal_taps
from nvgf.design.regression import NodeMoments
from nvgf.design.result import Design, gains

__all__ = [
    "ACTIVATIONS",
    "Design",
    "DesignedActivation",
    "Moments",
    "NodeMoments",
    "OperatorApproximation",
    "approximate_operator",
    "design_from_moments",
    "gains",
    "gaussian_moments",
    "iid_design",
    "optimal_taps",
    "stationary_design",
]
