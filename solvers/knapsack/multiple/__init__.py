"""Exact solution of multiple knapsack problems: items that each go into one of several knapsacks.

``recognise`` finds them among models, ``items`` has the problem and its answer, and makes it
smaller. ``engine`` is the entry point and goes from cheap to dear: ``split.cpp`` and
``subset_sum.h`` divide a choice of items among the knapsacks, ``prices`` bounds the profit;
``patterns.cpp``, ``listed``, ``cover.cpp`` and ``narrow.h`` search among fillings of single
knapsacks, ``completion`` fills one after the other, ``tree.cpp`` goes item by item.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solvers.knapsack.multiple.items import MultipleKnapsack, MultiplePacking

if TYPE_CHECKING:
    from solvers.knapsack.multiple.engine import solve_multiple

__all__ = ["MultipleKnapsack", "MultiplePacking", "solve_multiple"]

_ENGINE = {"solve_multiple": "solvers.knapsack.multiple.engine"}
"""Names that load the engine; whoever only recognises a model needs none of it."""


def __getattr__(name: str) -> Any:
    if name in _ENGINE:
        return getattr(import_module(_ENGINE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
