"""Which columns may go out of a model, and which equations decide them.

A column may go if an equation decides it: an integer one where everything else in the equation is
a whole multiple of its coefficient, so that it is whole by itself. Binary columns stay: a value of
one of two is what a flip is for. Continuous columns go only where no integer can, and where their
coefficient is not small beside the others: walkers have an LP behind them, which knows better what
to do with such columns, and on models of flows they come further with them than without.
"""

from __future__ import annotations

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.model import ByteArray, IndexArray, MipModel

SMALLEST_PIVOT = 1e-2
"""Least coefficient of a continuous column that goes, beside the largest of its equation: rounding
errors grow by the inverse of it."""

WHOLE = 1e-9
"""How far a multiple may be from a whole number, relative."""


def may_go(model: MipModel, *, integers: bool) -> BoolArray:
    """Return which columns (n,) may go: those of more than two values, in some equation.

    ``integers`` says whether integer columns are asked for, or continuous ones.
    """
    equation = np.repeat(model.row_lower == model.row_upper, model.rows.lengths)
    in_equation = np.zeros(model.num_columns, dtype=bool)
    in_equation[model.rows.indices[equation]] = True
    least_range = 1.0 if integers else 0.0
    wide = model.upper - model.lower > least_range
    eligible: BoolArray = in_equation & wide & ((model.is_integer == 1) == integers)
    return eligible


def decides(
    is_integer: ByteArray, columns: IndexArray, values: FloatArray, right: float, place: int
) -> bool:
    """Whether an equation decides the column at a place of it, a whole one to be whole.

    Parameters
    ----------
    is_integer : (n,) uint8
    columns, values : (k,) int32, float64
        The equation's entries.
    right : float
        Its right side.
    place : int
        Whose column is asked about.
    """
    pivot = values[place]
    if is_integer[columns[place]] == 0:
        return bool(abs(pivot) >= SMALLEST_PIVOT * np.max(np.abs(values)))
    if not (is_integer[columns] == 1).all():
        return False
    multiples = np.append(values, right) / pivot
    distance = np.abs(multiples - np.round(multiples))
    return bool(np.all(distance <= WHOLE * np.maximum(1.0, np.abs(multiples))))
