"""Room ``graph``: the matrix S of a graph, dense or sparse, and nothing else."""

from nvgf.graph.kinds import KINDS
from nvgf.graph.shift import GraphShift

__all__ = ["KINDS", "GraphShift"]
