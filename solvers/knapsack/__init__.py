"""Exact solution of knapsack problems, in whole numbers.

``engine`` is the entry point. ``recognise`` finds these problems among models, and ``items`` has
the problem, its answer, and the normal form that makes it smaller without changing it.
``efficiency`` orders items. ``exact_search`` goes from cheap to dear, by the ``rounds`` of one
search: ``heuristics`` find packings, ``relaxations`` bound them, and ``dp`` has the dynamic
programmes, which end every search.

``multiple_choice``, ``multiple`` and ``multidimensional`` are engines for the other kinds of
knapsack problem, and ``batch`` solves thousands of small ones together.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solvers.knapsack.items import Knapsack, Packing
from solvers.knapsack.recognise import recognise

if TYPE_CHECKING:
    from solvers.knapsack.engine import solve
    from solvers.knapsack.exact_search import solve_knapsack

__all__ = ["Knapsack", "Packing", "recognise", "solve", "solve_knapsack"]

_ENGINE = {"solve": "solvers.knapsack.engine", "solve_knapsack": "solvers.knapsack.exact_search"}
"""Names that load the engine, with its loops; whoever only recognises a model needs none of it."""


def __getattr__(name: str) -> Any:
    if name in _ENGINE:
        return getattr(import_module(_ENGINE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
