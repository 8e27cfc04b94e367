"""Exact solution of knapsack problems with several capacities.

``engine`` is the entry point, and ``recognise`` finds these problems among models. ``items`` has
the problem, what can be left out of it, and its answer. ``node.h`` and ``relaxation.h`` are linear
programs with few rows, ``tree.cpp`` the search below one node, ``tree`` the cases by number of
items, and ``worker_pool`` many trees side by side.

``primal_heuristics`` are searches for packings beside the trees: tabu search (``tabu.cpp``),
parallel tempering on a GPU or the CPU (``parallel_tempering``), and a memetic search (``memetic``),
which combines good packings by exact searches in neighbourhoods of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solvers.knapsack.multidimensional.items import (
    MultidimensionalKnapsack,
    MultidimensionalPacking,
)
from solvers.knapsack.multidimensional.recognise import recognise_multidimensional

if TYPE_CHECKING:
    from solvers.knapsack.multidimensional.engine import solve, solve_multidimensional

__all__ = [
    "MultidimensionalKnapsack",
    "MultidimensionalPacking",
    "recognise_multidimensional",
    "solve",
    "solve_multidimensional",
]

_ENGINE = {
    "solve": "solvers.knapsack.multidimensional.engine",
    "solve_multidimensional": "solvers.knapsack.multidimensional.engine",
}
"""Names that load the engine; whoever only recognises a model needs none of it."""


def __getattr__(name: str) -> Any:
    if name in _ENGINE:
        return getattr(import_module(_ENGINE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
