"""Room ``stability``: how a filter changes when its graph does (Theorem 3 of the paper)."""

from nvgf.stability.bounds import (
    TheoremBound,
    lipschitz_bound,
    lipschitz_constants,
    operator_change,
    signal_change,
    telescoping_bound,
    theorem_bound,
)
from nvgf.stability.study import StabilityRow, StabilityStudy, stability_study

__all__ = [
    "StabilityRow",
    "StabilityStudy",
    "TheoremBound",
    "lipschitz_bound",
    "lipschitz_constants",
    "operator_change",
    "signal_change",
    "stability_study",
    "telescoping_bound",
    "theorem_bound",
]
