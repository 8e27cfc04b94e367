"""Pyomo's special ordered sets on their way to :mod:`gpu_bridge.adapters.sos`."""

from __future__ import annotations

from typing import Any

from gpu_bridge.adapters.pyomo.errors import IncompatiblePyomoModelError
from gpu_bridge.adapters.sos import FixedMember, OrderedSet, add_ordered_sets
from solvers.core.errors import ProblemError, UnsupportedModelError
from solvers.core.problem import Problem


def add_special_ordered_sets(problem: Problem, sets: list[Any], columns: list[Any]) -> Problem:
    """Return the problem with the rows and binary columns of all ``sets`` at its ends.

    ``columns`` are the variables of the problem's columns; a member that is not among them is
    fixed and enters as a number.

    Raises
    ------
    IncompatiblePyomoModelError
        A set of level three or more, or a member without finite bounds, declared or implied.
    """
    number = {id(variable): j for j, variable in enumerate(columns)}
    ordered = [_ordered_set(item, number) for item in sets]
    try:
        return add_ordered_sets(problem, ordered)
    except UnsupportedModelError as error:
        raise IncompatiblePyomoModelError(str(error)) from error


def _ordered_set(item: Any, number: dict[int, int]) -> OrderedSet:
    by_weight = sorted(item.get_items(), key=lambda pair: pair[1])
    members = tuple(_member(variable, number) for variable, _ in by_weight)
    return OrderedSet(item.name, item.level, members)


def _member(variable: Any, number: dict[int, int]) -> int | FixedMember:
    column = number.get(id(variable))
    if column is not None:
        return column
    if variable.value is None:
        raise ProblemError(f"Variable '{variable.name}' is fixed but has no value.")
    return FixedMember(variable.name, float(variable.value))
