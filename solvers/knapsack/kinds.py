"""The kinds of knapsack problems, a row each: how it is recognised, and what packs it.

Nothing of an engine is loaded before a model looks like a problem of its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.core.outcome import StopReason
from solvers.core.problem import Problem

if TYPE_CHECKING:
    from solvers.knapsack.items import Model, Packing

MOST_ROWS = 50
"""Rows of a multidimensional knapsack problem, up to which a dense basis inverse for every node is
worth it."""

MOST_ENTRIES = 4
"""Entries for each column up to which a model is looked at as a multiple-choice or a multiple
knapsack problem, where a column has one in a capacity, one in a class or in an item's row, and
perhaps two in rows that are bounds."""


@dataclass(frozen=True)
class Kind:
    """A kind of knapsack problems."""

    engine: str
    """Name of its engine."""
    may_be: Callable[[Problem, int], bool]
    """From a model and its number of rows with several entries to whether to look closer."""
    recognise: Callable[[Problem], Model[Any] | None]
    """From a model to a :class:`~solvers.knapsack.items.Model`, or None."""
    solve: Callable[..., Packing]
    """From a problem and progress to a ``Packing``; takes ``tell``, which is told profits and
    bounds, and the options that it reads."""
    reads: tuple[str, ...]
    """Names of these."""
    counted: str
    """What the engine's work is counted in."""
    gives_up: StopReason
    """Why a search ended that proved nothing and had time left."""


def _later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that loads its module when it is called."""

    def call(*arguments: Any, **named: Any) -> Any:
        return getattr(import_module(f"solvers.knapsack.{module}"), name)(*arguments, **named)

    return call


def _is_sparse(problem: Problem, rows: int) -> bool:
    return rows > 1 and problem.num_nonzeros <= MOST_ENTRIES * problem.num_columns


KINDS = (
    Kind(
        "knapsack",
        lambda _, rows: rows == 1,
        _later("recognise", "recognise"),
        _later("exact_search", "solve_knapsack"),
        ("device",),
        "states",
        StopReason.OUT_OF_MEMORY,
    ),
    Kind(
        "knapsack-multiple-choice",
        _is_sparse,
        _later("multiple_choice.recognise", "recognise"),
        _later("multiple_choice.engine", "solve_multiple_choice"),
        (),
        "states",
        StopReason.OUT_OF_MEMORY,
    ),
    Kind(
        "knapsack-multiple",
        _is_sparse,
        _later("multiple.recognise", "recognise"),
        _later("multiple.engine", "solve_multiple"),
        (),
        "nodes",
        StopReason.NUMERICAL_TROUBLE,
    ),
    Kind(
        "knapsack-multidimensional",
        lambda _, rows: 1 < rows <= MOST_ROWS,
        _later("multidimensional.recognise", "recognise"),
        _later("multidimensional.engine", "solve_multidimensional"),
        ("device", "threads"),
        "nodes",
        StopReason.NUMERICAL_TROUBLE,
    ),
)
"""In the order in which a model is looked at."""


def find_kind(problem: Problem) -> tuple[Kind, Model[Any]] | None:
    """Return which knapsack problem a model is, if any; a look at row counts settles most."""
    if not problem.num_columns or not problem.integrality.all():
        return None
    rows = int(np.count_nonzero(problem.entries.lengths > 1))
    for kind in KINDS:
        model = kind.recognise(problem) if kind.may_be(problem, rows) else None
        if model is not None:
            return kind, model
    return None
