"""Exact solution of knapsack problems, in whole numbers.

``engine`` is the entry point. ``kinds`` says which kinds there are, how each is recognised among
models and what packs it. Of problems of one constraint ``items`` has the problem, its answer, and
the normal form that makes it smaller without changing it. ``efficiency`` orders items.
``exact_search`` goes from cheap to dear, by the ``rounds`` of one search: ``heuristics`` find
packings, ``relaxations`` bound them, and ``dp`` has the dynamic programmes, which end every search.

``multiple_choice``, ``multiple`` and ``multidimensional`` are the other kinds, and ``batch`` solves
thousands of small problems together.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solvers.knapsack.engine import solve
    from solvers.knapsack.exact_search import solve_knapsack
    from solvers.knapsack.items import Knapsack, Packing

__all__ = ["Knapsack", "Packing", "solve", "solve_knapsack"]

_WHERE = {
    "Knapsack": "items",
    "Packing": "items",
    "solve": "engine",
    "solve_knapsack": "exact_search",
}
"""Whoever only looks which kind a model is loads none of these."""


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"solvers.knapsack.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
