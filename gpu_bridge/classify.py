"""What kind of problem this is, as far as the choice of an engine depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from solvers.core.problem import BoolArray, Problem

MOST_ROWS = 50
"""Rows up to which a model is looked at as a multidimensional knapsack problem."""

MOST_ENTRIES = 4
"""Entries for each column up to which a model is looked at as a multiple-choice or a multiple
knapsack problem, where a column has one in a capacity, one in a class or in an item's row, and
perhaps two in rows that are bounds."""


class ProblemKind(Enum):
    """The kinds that engines are chosen by."""

    EMPTY = "empty"
    LP = "linear program"
    MIP = "mixed-integer linear program"
    KNAPSACK = "knapsack problem"
    KNAPSACK_MULTIPLE_CHOICE = "multiple-choice knapsack problem"
    KNAPSACK_MULTIPLE = "multiple knapsack problem"
    KNAPSACK_MULTIDIMENSIONAL = "multidimensional knapsack problem"


KNAPSACKS = frozenset(
    {
        ProblemKind.KNAPSACK,
        ProblemKind.KNAPSACK_MULTIPLE_CHOICE,
        ProblemKind.KNAPSACK_MULTIPLE,
        ProblemKind.KNAPSACK_MULTIDIMENSIONAL,
    }
)


@dataclass(frozen=True)
class ProblemClass:
    """The kind of a problem and a sentence that says what was seen."""

    kind: ProblemKind
    sentence: str


def classify(problem: Problem) -> ProblemClass:
    """Recognise the kind of ``problem`` from its own data, before any reduction."""
    if problem.num_columns == 0:
        return ProblemClass(ProblemKind.EMPTY, "a model without variables")
    if not problem.is_mip:
        return ProblemClass(ProblemKind.LP, _describe_lp(problem))
    knapsack = _knapsack(problem)
    if knapsack is not None:
        return ProblemClass(ProblemKind.KNAPSACK, knapsack)
    choice = _multiple_choice(problem)
    if choice is not None:
        return ProblemClass(ProblemKind.KNAPSACK_MULTIPLE_CHOICE, choice)
    multiple = _knapsack_multiple(problem)
    if multiple is not None:
        return ProblemClass(ProblemKind.KNAPSACK_MULTIPLE, multiple)
    rows = _multidimensional(problem)
    if rows is not None:
        return ProblemClass(ProblemKind.KNAPSACK_MULTIDIMENSIONAL, rows)
    return ProblemClass(ProblemKind.MIP, _describe_mip(problem))


def _knapsack(problem: Problem) -> str | None:
    """Say which knapsack problem this is, if it is one; a look at the row counts settles most."""
    if count_long_rows(problem) != 1 or not problem.integrality.all():
        return None
    from solvers.knapsack.recognise import recognise  # loads engine libraries

    model = recognise(problem)
    return None if model is None else model.sentence


def _multiple_choice(problem: Problem) -> str | None:
    """Say which multiple-choice knapsack problem this is, if it is one."""
    if problem.num_nonzeros > MOST_ENTRIES * problem.num_columns or not problem.integrality.all():
        return None
    if count_long_rows(problem) < 2:
        return None
    from solvers.knapsack.multiple_choice.recognise import (
        recognise_multiple_choice,  # loads engine libraries
    )

    model = recognise_multiple_choice(problem)
    return None if model is None else model.sentence


def _knapsack_multiple(problem: Problem) -> str | None:
    """Say which multiple knapsack problem this is, if it is one."""
    if problem.num_nonzeros > MOST_ENTRIES * problem.num_columns or not problem.integrality.all():
        return None
    if count_long_rows(problem) < 2:
        return None
    from solvers.knapsack.multiple.recognise import recognise_multiple  # loads engine libraries

    model = recognise_multiple(problem)
    return None if model is None else model.sentence


def _multidimensional(problem: Problem) -> str | None:
    """Say which knapsack problem of several rows this is, if it is one."""
    if not 2 <= count_long_rows(problem) <= MOST_ROWS or not problem.integrality.all():
        return None
    from solvers.knapsack.multidimensional.recognise import (
        recognise_multidimensional,
    )  # loads engine libraries

    model = recognise_multidimensional(problem)
    return None if model is None else model.sentence


def count_long_rows(problem: Problem) -> int:
    """Return the number of rows with several entries; the others are bounds, or empty."""
    return int(np.count_nonzero(problem.entries.lengths > 1))


def is_binary(problem: Problem) -> BoolArray:
    """Return (n,) flags of the integer columns that can only be 0 or 1."""
    inside = (problem.lower > -1.0) & (problem.upper < 2.0)
    return problem.integrality & inside


def _describe_lp(problem: Problem) -> str:
    if not problem.cost.any():
        return "a linear feasibility problem"
    if problem.num_rows == 0:
        return "a linear program with bounds only"
    return "a linear program"


def _describe_mip(problem: Problem) -> str:
    integers = int(problem.integrality.sum())
    binaries = int(is_binary(problem).sum())
    if binaries == problem.num_columns:
        return "a pure binary program"
    if integers == problem.num_columns:
        return "a pure integer program"
    if binaries == integers:
        return "a mixed-binary linear program"
    return "a mixed-integer linear program"
