"""Room ``design``: the optimal NVGF in place of an activation function (section 4 of the paper)."""

from nvgf.design.activations import ACTIVATIONS
from nvgf.design.module import DesignedActivation
from nvgf.design.moments import Moments
from nvgf.design.optimal import optimal_taps
from nvgf.design.regression import NodeMoments
from nvgf.design.result import Design, gains

__all__ = ["ACTIVATIONS", "Design", "DesignedActivation", "Moments", "NodeMoments", "gains", "optimal_taps"]
