"""What kind of problem this is, as far as the choice of an engine depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from solvers.core.problem import BoolArray, Problem
from solvers.knapsack.kinds import find_kind


class ProblemKind(Enum):
    """The kinds that engines are chosen by; knapsack problems by the names of their engines."""

    EMPTY = "empty"
    LP = "linear program"
    MIP = "mixed-integer linear program"
    KNAPSACK = "knapsack"
    KNAPSACK_MULTIPLE_CHOICE = "knapsack-multiple-choice"
    KNAPSACK_MULTIPLE = "knapsack-multiple"
    KNAPSACK_MULTIDIMENSIONAL = "knapsack-multidimensional"


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
    found = find_kind(problem)
    if found is not None:
        kind, model = found
        return ProblemClass(ProblemKind(kind.engine), model.sentence)
    return ProblemClass(ProblemKind.MIP, _describe_mip(problem))


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
