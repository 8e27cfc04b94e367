"""From collected terms to arrays: coefficients, variables, constants and rows, in bulk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any

import numpy as np
import numpy.typing as npt
from pyomo.common.numeric_types import native_numeric_types, value
from pyomo.core.base.var import ScalarVar, VarData
from pyomo.core.expr.numeric_expr import MonomialTermExpression

from solvers.errors import ProblemError
from solvers.problem import BoolArray, FloatArray

IndexArray = npt.NDArray[np.int64]
PLAIN_VARIABLES = frozenset({ScalarVar, VarData})


@dataclass
class Entries:
    """Matrix entries as parallel sequences, with the constants met among them.

    ``constants`` maps a row to the sum of its constant terms; ``unusual`` holds rows with a term
    that is not linear in the usual way, whose entries here do not count.
    """

    coefficients: FloatArray
    variables: list[Any]
    rows: IndexArray
    constants: dict[int, float] = field(default_factory=dict)
    unusual: set[int] = field(default_factory=set)

    def keep(self, kept: BoolArray) -> None:
        """Drop the entries (k,) that are not ``kept``."""
        self.coefficients = self.coefficients[kept]
        self.rows = self.rows[kept]
        self.variables = list(compress(self.variables, kept))

    def leave_out(self, rows: set[int]) -> None:
        """Drop everything that belongs to ``rows``."""
        if rows:
            self.keep(~np.isin(self.rows, list(rows)))
            for row in rows:
                self.constants.pop(row, None)


def read_terms(
    terms: list[Any], lengths: Sequence[int], rows: IndexArray, label: Callable[[int], str]
) -> Entries:
    """Split terms into coefficients and variables.

    Parameters
    ----------
    terms : list
        Terms of several rows one after the other.
    lengths : sequence of int
        How many of the terms belong to each of ``rows``.
    rows : (k,) array of int
        Row numbers.
    label : callable
        Name of a row, for messages.
    """
    row_of = np.repeat(rows, lengths)
    pairs = [
        term._args_ if term.__class__ is MonomialTermExpression else (1.0, term) for term in terms
    ]
    flat = list(chain.from_iterable(pairs))
    factors, variables = flat[0::2], flat[1::2]
    coefficients = to_numbers(factors, lambda k: f"A coefficient of {label(int(row_of[k]))}")
    entries = Entries(coefficients, variables, row_of)
    odd = {kind for kind in set(map(type, variables)) - PLAIN_VARIABLES if not _is_variable(kind)}
    if odd:
        _take_out_constants(entries, odd, label)
    return entries


def to_numbers(values: list[Any], what: Callable[[int], str]) -> FloatArray:
    """Evaluate parameters and return floats; ``what(k)`` names the k-th value in an error.

    Raises
    ------
    ProblemError
        A value that is not a real number, such as a parameter without a value.
    """
    if not set(map(type, values)) <= native_numeric_types:
        values = [
            item if item.__class__ in native_numeric_types else _evaluate(item, k, what)
            for k, item in enumerate(values)
        ]
    try:
        return np.fromiter(values, np.float64, len(values))
    except OverflowError as error:
        raise ProblemError(f"A number of the model is too large: {error}.") from error


def to_sides(values: list[Any], infinite: float, what: Callable[[int], str]) -> FloatArray:
    """Return sides or bounds as floats, None becoming ``infinite``."""
    return to_numbers([infinite if item is None else item for item in values], what)


def _evaluate(item: Any, position: int, what: Callable[[int], str]) -> float:
    try:
        number = value(item)
        return float(number)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ProblemError(
            f"{what(position)} is {item}, which has no usable value: {error}"
        ) from error


def _is_variable(kind: type) -> bool:
    return issubclass(kind, VarData)


def _take_out_constants(entries: Entries, odd: set[type], label: Callable[[int], str]) -> None:
    """Move numbers and parameters to the constants; mark rows with anything else as unusual."""
    keep = np.ones(len(entries.variables), dtype=bool)
    for k, term in enumerate(entries.variables):
        kind: type = type(term)
        if kind not in odd:
            continue
        keep[k] = False
        row = int(entries.rows[k])
        if kind in native_numeric_types:
            number = float(term)
        elif not term.is_potentially_variable():
            number = _evaluate(term, row, lambda row: f"A constant of {label(row)}")
        else:
            entries.unusual.add(row)
            continue
        entries.constants[row] = entries.constants.get(row, 0.0) + number
    entries.keep(keep)
