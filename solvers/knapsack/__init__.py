"""Exact solution of knapsack problems, in whole numbers.

``recognise`` finds them among models, and ``items`` has the problem and its answer. ``search`` goes
from cheap to dear: ``normal_form`` makes a problem smaller without changing it, ``greedy``,
``exchanges`` and ``fill`` find packings, ``intercepts`` and ``surrogate`` bound them, and ``core``
with ``states`` is dynamic programming over undominated states, from the break item outwards, which
ends every argument, unless ``tables`` do so for less. ``engine`` is the front door.
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
