"""Exact solution of knapsack problems with several capacities.

``recognise`` finds them among models, ``items`` has the problem, what can be left out of it, and
its answer. ``node`` and ``relaxation.h`` are linear programs with few rows, ``tree.cpp`` the search
below one node, ``trees``, ``crew`` and ``search`` many of them side by side, ``subproblems`` the
cases by number of items, ``greedy`` a packing to begin with. ``scouts`` are searches for packings
beside the trees: ``tabu.cpp`` and ``walk``, ``ladders`` of walkers in the numbers of ``scaled``, on
a GPU or the CPU, and ``breeding``, which combines ``elites`` by exact searches in each
``neighbourhood``. ``engine`` is the front door.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solvers.knapsack.multidimensional.items import RowsKnapsack, RowsPacking
from solvers.knapsack.multidimensional.recognise import recognise_rows

if TYPE_CHECKING:
    from solvers.knapsack.multidimensional.engine import solve
    from solvers.knapsack.multidimensional.tree_search import solve_rows

__all__ = ["RowsKnapsack", "RowsPacking", "recognise_rows", "solve", "solve_rows"]

_ENGINE = {
    "solve": "solvers.knapsack.multidimensional.engine",
    "solve_rows": "solvers.knapsack.multidimensional.tree_search",
}
"""Names that load the engine; whoever only recognises a model needs none of it."""


def __getattr__(name: str) -> Any:
    if name in _ENGINE:
        return getattr(import_module(_ENGINE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
