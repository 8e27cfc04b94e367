"""The values in PuLP's objects: those to start from, and those of the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from gpu_bridge.adapters.arrays import PointValues
from gpu_bridge.adapters.pulp.reading import ModelArrays
from gpu_bridge.adapters.pulp.version import has_rust_core
from gpu_bridge.outcome import Outcome
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import FloatArray


def starting_point(arrays: ModelArrays, size: int) -> FloatArray | None:
    """Return the variables' values as a point of ``size`` columns, NaN where one has none.

    None if no variable has a value.
    """
    point = np.full(size, np.nan)
    attribute = "varValue" if all(hasattr(v, "varValue") for v in arrays.variables[:1]) else "value"
    held = [getattr(variable, attribute) for variable in arrays.variables]
    point[: len(held)] = held
    return None if np.isnan(point).all() else point


def set_values(
    lp: Any, arrays: ModelArrays, outcome: Outcome, *, approximate: bool = False
) -> None:
    """Set varValue, dj, pi and slack; without a point everything stays as it was.

    So it does with an approximate one, unless the caller wants that. An infeasible model gets some
    point without duals, as CBC and HiGHS leave one there: callers look at what it violates.
    """
    held = _point(arrays, outcome, approximate)
    if held is None:
        return
    size, height = len(arrays.variables), len(arrays.constraints)
    x = held[:size] + 0.0  # no negative zeros
    duals = reduced_costs = None
    if outcome.x is not None and outcome.problem is not None and not outcome.problem.is_mip:
        duals = None if outcome.row_dual is None else outcome.row_dual[:height]
        reduced_costs = None if outcome.reduced_cost is None else outcome.reduced_cost[:size]
    side = np.where(np.isfinite(arrays.row_upper), arrays.row_upper, arrays.row_lower)
    slacks = side - arrays.matrix.times(x)
    if has_rust_core(lp):
        from gpu_bridge.adapters.pulp.rust_core import set_rust_values  # imports PuLP 4's core

        set_rust_values(lp, arrays, x, slacks, reduced_costs, duals)
        return
    _set_columns(arrays, x, reduced_costs)
    _set_rows(arrays, slacks, duals)
    if lp.dummyVar is not None:
        lp.dummyVar.varValue = 0.0


def _point(arrays: ModelArrays, outcome: Outcome, approximate: bool) -> FloatArray | None:
    """Return what the variables shall hold, None where they keep what they have.

    For an infeasible model that is the least violated point if the solve left one, else zero moved
    to the bounds.
    """
    status = outcome.solution_status
    if status is SolutionStatus.INFEASIBLE:
        return _at_bounds(arrays) if outcome.candidate is None else outcome.candidate
    wanted = status.has_point or (approximate and status.has_values)
    return outcome.x if wanted else None


def _at_bounds(arrays: ModelArrays) -> FloatArray:
    """Return zero moved to the bounds; ones that no number meets are passed over."""
    lower = np.where(arrays.lower < np.inf, arrays.lower, -np.inf)
    upper = np.where(arrays.upper > -np.inf, arrays.upper, np.inf)
    moved: FloatArray = np.minimum(np.maximum(0.0, lower), upper)
    return moved


def _set_columns(arrays: ModelArrays, x: FloatArray, reduced_costs: FloatArray | None) -> None:
    costs = [None] * x.size if reduced_costs is None else reduced_costs.tolist()
    for variable, value, reduced_cost in zip(arrays.variables, x.tolist(), costs, strict=True):
        variable.varValue = value
        variable.dj = reduced_cost
        variable.modified = False


def _set_rows(arrays: ModelArrays, slacks: FloatArray, duals: FloatArray | None) -> None:
    prices = [None] * slacks.size if duals is None else duals.tolist()
    for constraint, slack, price in zip(arrays.constraints, slacks.tolist(), prices, strict=True):
        constraint.slack = slack
        constraint.pi = price
        constraint.modified = False


# The points of a solve by the names of PuLP's variables, one after the other.


class Columns:
    """Column numbers by name and by variable, worked out when somebody asks."""

    def __init__(self, arrays: ModelArrays) -> None:
        self._variables, self.names = arrays.variables, arrays.column_names

    @cached_property
    def keys(self) -> Sequence[str]:
        """Names of the variables, each once, in the order of the columns."""
        return list(dict.fromkeys(self.names))

    def absent(self, key: Any) -> str:
        """Return why there is no value for a variable."""
        return f"There is no variable '{key}' in the model that was solved."

    def number(self, key: Any) -> int | None:
        """Return the column of a variable or of a name; None where there is none."""
        if isinstance(key, str):
            return self._by_name.get(key)
        if not self._wrapped:
            return self._by_variable.get(id(key))
        number: Any = getattr(key, "id", None)
        found = self._by_variable.get(number() if callable(number) else number)
        # another model's variables count from zero, too
        return None if found is None or self.names[found] != key.name else found

    @cached_property
    def _by_name(self) -> dict[str, int]:
        # of several variables of one name, which PuLP lets be, the first is meant
        names = list(self.names)
        return dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))

    @cached_property
    def _by_variable(self) -> dict[int, int]:
        variables = self._variables
        keys = [one.id() for one in variables] if self._wrapped else map(id, variables)
        return dict(zip(keys, range(len(variables)), strict=True))

    @cached_property
    def _wrapped(self) -> bool:
        """Whether these are PuLP 4's variables, made anew at each access but numbered."""
        return any(callable(getattr(one, "id", None)) for one in self._variables[:1])


@dataclass(frozen=True, eq=False)
class PooledSolution:
    """One of the points of a solve."""

    objective: float
    """In the sense of the model."""
    seconds: float
    """When it was found."""
    source: str
    """Which heuristic or engine found it."""
    values: Mapping[Any, float]
    """From the names of variables, or the variables themselves, to values."""


def presenter(arrays: ModelArrays) -> Callable[[FloatArray], PointValues]:
    """Return what turns points (n,) into mappings from names or variables to values."""
    return partial(PointValues, Columns(arrays))


def pool_of(outcome: Outcome, arrays: ModelArrays) -> list[PooledSolution]:
    """Return the points of an answer, best first; the first is the answer itself."""
    from gpu_bridge.solution_pool import pool_solutions

    present = presenter(arrays)
    return [
        PooledSolution(entry.objective, entry.seconds, entry.source, present(entry.x))
        for entry in pool_solutions(outcome)
    ]
