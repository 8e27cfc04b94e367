"""Bounds of the variables that became columns, and names read only when needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.base.set import GlobalSets

from gpu_bridge.adapters.pyomo.entries import sides
from gpu_bridge.adapters.pyomo.interface import IncompatiblePyomoModelError
from gpu_bridge.lazy import MadeSequence
from solvers.core.errors import CrossedBoundsError
from solvers.core.problem import BoolArray, FloatArray


def component_names(components: list[Any]) -> Sequence[str]:
    """Return names of Pyomo components, put together at each look: few are ever asked for."""
    return MadeSequence(len(components), partial(_component_name, components))


def _component_name(components: list[Any], place: int) -> str:
    return str(components[place].name)


ROUNDING = 1e-6
"""Bounds of integer variables this close to an integer mean that integer."""


class ColumnBounds(NamedTuple):
    """Lower bounds, upper bounds and integrality, each (n,)."""

    lower: FloatArray
    upper: FloatArray
    integrality: BoolArray


class BoundsReader:
    """Reads domains and bounds of variables; those that are the same objects as before once."""

    def __init__(self) -> None:
        self._seen: tuple[list[Any], ...] = ()
        self._last: ColumnBounds | None = None

    def read(self, columns: list[Any]) -> ColumnBounds:
        """Return the bounds of all columns, of equal objects the very arrays of the last look.

        Raises
        ------
        IncompatiblePyomoModelError, CrossedBoundsError, ProblemError
            As :func:`column_bounds` says.
        """
        seen = (
            columns,
            [variable._domain for variable in columns],
            [variable._lb for variable in columns],
            [variable._ub for variable in columns],
        )
        last = self._last
        if last is not None and all(map(_are_same, self._seen, seen)):
            return last
        found = column_bounds(columns)
        self._seen, self._last = seen, found if _say_all(*seen[1:]) else None
        return found


def _are_same(these: list[Any], those: list[Any]) -> bool:
    return these is those or (len(these) == len(those) and all(map(is_, these, those)))


def _say_all(domains: list[Any], lower: list[Any], upper: list[Any]) -> bool:
    """Whether bounds are numbers and domains Pyomo's own: nothing that changes within."""
    kinds = {*map(type, lower), *map(type, upper)} - {type(None)}
    return kinds <= native_numeric_types and set(map(id, domains)) <= _GLOBAL


_GLOBAL = frozenset(map(id, GlobalSets.values()))


def column_bounds(columns: list[Any]) -> ColumnBounds:
    """Return lower bounds, upper bounds and integrality.

    Domains and declared bounds are intersected; bounds of integer variables are rounded inwards.

    Raises
    ------
    IncompatiblePyomoModelError
        A domain that is neither an interval nor all integers of one.
    CrossedBoundsError
        An integer variable with no integer between its bounds.
    ProblemError
        A bound without a value.
    """
    if not columns:
        return ColumnBounds(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_))
    domains = [variable._domain for variable in columns]
    kinds = {id(domain): k for k, domain in enumerate(domains)}
    numbers = {key: k for k, key in enumerate(kinds)}
    examples = [columns[k] for k in kinds.values()]
    domain_of = np.fromiter((numbers[id(domain)] for domain in domains), np.int64, len(domains))
    of_domains = [_domain_bounds(variable) for variable in examples]
    low, high, whole = (np.array(part) for part in zip(*of_domains, strict=True))
    integrality: BoolArray = whole.astype(bool)[domain_of]
    declared = sides([v._lb for v in columns], -np.inf, lambda k: _bound_of("lower", columns[k]))
    lower = np.maximum(declared.read(), low[domain_of])
    declared = sides([v._ub for v in columns], np.inf, lambda k: _bound_of("upper", columns[k]))
    upper = np.minimum(declared.read(), high[domain_of])
    if integrality.any():
        _round_inwards(columns, lower, upper, integrality)
    return ColumnBounds(lower, upper, integrality)


def _domain_bounds(variable: Any) -> tuple[float, float, bool]:
    integer = variable.is_integer()
    if not integer and not variable.is_continuous():
        raise IncompatiblePyomoModelError(
            f"Variable '{variable.name}' has the domain {variable.domain}, which is neither an "
            "interval nor all integers of one; model it with binary variables instead."
        )
    low, high = variable.domain.bounds()
    return (-np.inf if low is None else low), (np.inf if high is None else high), integer


def _bound_of(side: str, variable: Any) -> str:
    return f"The {side} bound of variable '{variable.name}'"


def _round_inwards(
    columns: list[Any], lower: FloatArray, upper: FloatArray, integrality: BoolArray
) -> None:
    low = np.ceil(lower[integrality] - ROUNDING)
    high = np.floor(upper[integrality] + ROUNDING)
    empty = np.flatnonzero((low > high) & (lower[integrality] <= upper[integrality]))
    if empty.size:
        column = int(np.flatnonzero(integrality)[empty[0]])
        raise CrossedBoundsError(
            f"There is no integer between the bounds {lower[column]:g} and {upper[column]:g} of "
            f"the integer variable '{columns[column].name}', so the model is infeasible."
        )
    lower[integrality] = low
    upper[integrality] = high
