"""Exact solution of multiple-choice knapsack problems: one item of each class, one capacity.

``recognise`` finds them among models, and ``items`` has the problem and its answer. ``relaxation``
drops what is dominated, bounds by the hulls of the classes and by what profits are possible at all,
and chooses a first selection. ``stages`` says in what order classes are decided, and has the lists
of undominated states; ``engine`` is the dynamic programme over them, class by class, and the entry
point.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solvers.knapsack.multiple_choice.items import MultipleChoice, Selection
from solvers.knapsack.multiple_choice.recognise import recognise_multiple_choice

if TYPE_CHECKING:
    from solvers.knapsack.multiple_choice.engine import solve_multiple_choice

__all__ = ["MultipleChoice", "Selection", "recognise_multiple_choice", "solve_multiple_choice"]

_ENGINE = {"solve_multiple_choice": "solvers.knapsack.multiple_choice.engine"}
"""Names that load the engine, with its loops; whoever only recognises a model needs none of it."""


def __getattr__(name: str) -> Any:
    if name in _ENGINE:
        return getattr(import_module(_ENGINE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
