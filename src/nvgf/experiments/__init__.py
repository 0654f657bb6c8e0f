"""The experiments of the paper: studies, cells, the store of results, sweeps, tables and claims.

A :class:`Study` says what an application is; :func:`enumerate_cells` lists the models of an experiment;
:func:`nvgf.experiments.driver.sweep` trains those that a :class:`Store` does not hold yet. Everything after that reads
:class:`Row` objects alone.
"""

from nvgf.experiments.cells import Cell, cell_key, enumerate_cells
from nvgf.experiments.rows import Row
from nvgf.experiments.store import Store
from nvgf.experiments.study import Data, Hyper, Metric, Outcome, Study, make_study

__all__ = [
    "Cell",
    "Data",
    "Hyper",
    "Metric",
    "Outcome",
    "Row",
    "Store",
    "Study",
    "cell_key",
    "enumerate_cells",
    "make_study",
]
