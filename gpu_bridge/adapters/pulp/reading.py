"""A PuLP model as arrays, from which a ``Problem`` is made, and the way there from PuLP 2 and 3.

Their dictionaries are read in one pass over the nonzeros, without a loop.

Variables are told apart by identity, so two of one name are two columns. What PuLP keeps and
the matrix does not want (zero coefficients) is dropped by :class:`~solvers.core.problem.Problem`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_bridge.adapters.pulp.version import constraints_of, expressions_of
from gpu_bridge.report.conversion import Tell, silent
from solvers.core.errors import ProblemError
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import BoolArray, FloatArray, Problem

if TYPE_CHECKING:
    from gpu_bridge.adapters.sos import OrderedSet

CATEGORIES = {"Continuous": False, "Integer": True, "Binary": True}


@dataclass(frozen=True, eq=False)
class ModelArrays:
    """A PuLP model as arrays, in its own sense.

    ``variables`` and ``constraints`` are PuLP's objects, in the order of columns and rows.
    """

    variables: Sequence[Any]
    constraints: Sequence[Any]
    column_names: list[str]
    row_names: list[str]
    cost: FloatArray
    offset: float
    matrix: SparseRows
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    integrality: BoolArray
    sets: Sequence[OrderedSet] = ()

    def to_problem(self, name: str, maximize: bool) -> Problem:
        """Return the model in the one form that engines take."""
        sign = -1.0 if maximize else 1.0
        problem = Problem(
            cost=sign * self.cost,
            matrix=self.matrix,
            row_lower=self.row_lower,
            row_upper=self.row_upper,
            lower=self.lower,
            upper=self.upper,
            integrality=self.integrality,
            offset=sign * self.offset,
            maximize=maximize,
            name=str(name),
            column_names=self.column_names,
            row_names=self.row_names,
        )
        if not self.sets:
            return problem
        from gpu_bridge.adapters.sos import add_ordered_sets

        return add_ordered_sets(problem, self.sets)

    def on(self, problem: Problem) -> ModelArrays:
        """Return the arrays with the matrix of their problem, so that there are not two of it."""
        if problem.entries.shape != self.matrix.shape:
            return self  # ordered sets have added rows
        return replace(self, matrix=problem.entries)


def read_model(lp: Any, tell: Tell = silent) -> ModelArrays:
    """Read an ``LpProblem`` of PuLP 2 or 3.

    Raises
    ------
    ProblemError
        A coefficient, bound or right-hand side that is not a number, or an unknown category.
    """
    named = constraints_of(lp)
    constraints, row_names = list(named.values()), list(map(str, named))
    expressions = expressions_of(constraints)
    pointers = np.zeros(len(expressions) + 1, dtype=np.int64)
    np.cumsum(list(map(len, expressions)), out=pointers[1:])
    objective = {} if lp.objective is None else lp.objective
    others = list(chain(objective, *lp.sos1.values(), *lp.sos2.values()))
    variables, position = _columns(lp._variables, others, lp.dummyVar)
    count = int(pointers[-1])
    tell(f"{count:,} entries of {len(constraints):,} constraints")
    keys = map(id, chain.from_iterable(expressions))
    try:
        columns = np.fromiter(map(position.__getitem__, keys), dtype=np.int32, count=count)
    except KeyError:
        # PuLP registers variables only when someone asks for them, so some may be new.
        found = {id(v): v for v in chain(lp._variables, *expressions)}.values()
        variables, position = _columns(found, others, lp.dummyVar)
        keys = map(id, chain.from_iterable(expressions))
        columns = np.fromiter(map(position.__getitem__, keys), dtype=np.int32, count=count)
    tell(f"{count:,} coefficients")
    values = _coefficients(expressions, row_names, count)
    tell(f"names and bounds of {len(variables):,} variables")
    column_names = [variable.name for variable in variables]
    lower, upper, integrality = _bounds(variables, column_names)
    tell(f"sides of {len(constraints):,} constraints")
    row_lower, row_upper = _sides(constraints, row_names)
    return ModelArrays(
        variables=variables,
        constraints=constraints,
        column_names=column_names,
        row_names=row_names,
        cost=_cost(objective, position, len(variables)),
        offset=_number(getattr(objective, "constant", 0.0), "The objective's constant"),
        matrix=SparseRows(values, columns, pointers, (len(constraints), len(variables))),
        row_lower=row_lower,
        row_upper=row_upper,
        lower=lower,
        upper=upper,
        integrality=integrality,
        sets=_ordered_sets(lp, position),
    )


def _columns(
    known: Iterable[Any], others: Sequence[Any], dummy: Any
) -> tuple[list[Any], dict[int, int]]:
    """Return the variables that become columns, and their numbers by ``id``."""
    variables = list(known)
    position = dict(zip(map(id, variables), range(len(variables)), strict=True))
    if position.keys() >= set(map(id, others)):  # as mostly
        return variables, position
    for variable in others:
        if id(variable) not in position and variable is not dummy:
            position[id(variable)] = len(variables)
            variables.append(variable)
    return variables, position


def _coefficients(expressions: Sequence[Any], row_names: Sequence[str], count: int) -> FloatArray:
    values = chain.from_iterable(map(methodcaller("values"), expressions))
    try:
        return np.fromiter(values, dtype=np.float64, count=count)
    except (TypeError, ValueError, OverflowError):
        for expression, row in zip(expressions, row_names, strict=True):
            for variable, value in expression.items():
                _number(value, f"The coefficient of '{variable.name}' in row '{row}'")
        raise


def _cost(objective: Any, position: dict[int, int], size: int) -> FloatArray:
    cost = np.zeros(size + 1)  # PuLP's own dummy variable of a constant objective goes last
    columns = list(map(position.get, map(id, objective), repeat(size)))
    try:
        cost[columns] = np.fromiter(objective.values(), dtype=np.float64, count=len(columns))
    except (TypeError, ValueError, OverflowError):
        for variable, value in objective.items():
            _number(value, f"The objective coefficient of '{variable.name}'")
        raise
    return cost[:size]


def _bounds(
    variables: Sequence[Any], names: Sequence[str]
) -> tuple[FloatArray, FloatArray, BoolArray]:
    lower = _bound(list(map(attrgetter("lowBound"), variables)), names, "lower", -np.inf)
    upper = _bound(list(map(attrgetter("upBound"), variables)), names, "upper", np.inf)
    categories = list(map(attrgetter("cat"), variables))
    kinds = set(categories)
    for category in kinds - CATEGORIES.keys():
        name = names[categories.index(category)]
        raise ProblemError(
            f"Variable '{name}' is of category {category!r}; PuLP knows {', '.join(CATEGORIES)}."
        )
    if kinds <= {"Continuous"}:
        return lower, upper, np.zeros(len(categories), dtype=np.bool_)
    integrality = np.fromiter(
        map(CATEGORIES.__getitem__, categories), dtype=np.bool_, count=len(categories)
    )
    if "Binary" in kinds:  # assigned after construction, which turns it into bounds
        binary = np.array([category == "Binary" for category in categories])
        lower[binary] = np.maximum(lower[binary], 0.0)
        upper[binary] = np.minimum(upper[binary], 1.0)
    return lower, upper, integrality


def _bound(values: list[Any], names: Sequence[str], side: str, infinity: float) -> FloatArray:
    try:
        if None in values:  # raises ValueError if one of them is an array
            values = [infinity if value is None else value for value in values]
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        for value, name in zip(values, names, strict=True):
            if value is not None:
                _number(value, f"The {side} bound of variable '{name}'")
        raise


def _sides(constraints: Sequence[Any], row_names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    size = len(constraints)
    senses = np.fromiter(map(attrgetter("sense"), constraints), dtype=np.int8, count=size)
    try:
        sides = np.fromiter(map(attrgetter("constant"), constraints), np.float64, count=size)
    except (TypeError, ValueError, OverflowError):
        for row, name in zip(constraints, row_names, strict=True):
            _number(row.constant, f"The constant of constraint '{name}'")
        raise
    sides = 0.0 - sides
    lower = np.where(senses >= 0, sides, -np.inf)
    upper = np.where(senses <= 0, sides, np.inf)
    return lower, upper


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"{what} is {value!r}, which is not a number; give one.") from error


def _ordered_sets(lp: Any, position: Mapping[int, int]) -> list[OrderedSet]:
    """Read ``lp.sos1`` and ``lp.sos2``: dictionaries {name: {variable: weight}}."""
    if not (lp.sos1 or lp.sos2):
        return []
    from gpu_bridge.adapters.sos import OrderedSet

    found = []
    for kind, sets in ((1, lp.sos1), (2, lp.sos2)):
        for name, members in sets.items():
            weights = [
                (float(weight), position[id(variable)]) for variable, weight in members.items()
            ]
            found.append(OrderedSet(str(name), kind, tuple(j for _, j in sorted(weights))))
    return found
