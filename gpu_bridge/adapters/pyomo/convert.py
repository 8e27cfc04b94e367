"""From a Pyomo model to a :class:`~solvers.problem.Problem`, never through a file.

    components -> collected rows -> arrays -> matrix over free variables -> settled rows -> Problem

The objective travels as row 0 of the same matrix, so that it is read by the same code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any

import numpy as np
from pyomo.common.enums import ObjectiveSense
from pyomo.common.gc_manager import PauseGC

from gpu_bridge.adapters.pyomo.arrays import ComponentNames, ProblemArrays
from gpu_bridge.adapters.pyomo.collect import RowCollector
from gpu_bridge.adapters.pyomo.columns import column_bounds
from gpu_bridge.adapters.pyomo.components import (
    active_constraints,
    active_objective,
    active_sos,
    check_model,
)
from gpu_bridge.adapters.pyomo.matrix import FreeMatrix, free_matrix
from gpu_bridge.adapters.pyomo.rows import ModelRows, read_rows
from gpu_bridge.adapters.pyomo.sos import add_special_ordered_sets
from solvers.errors import CrossedBoundsError, ProblemError
from solvers.problem import BoolArray, FloatArray, Problem

CONSTANT_ROW_TOLERANCE = 1e-6
"""How far, relative to max(1, |body|), a constraint without variables may miss its side."""


@dataclass(frozen=True, eq=False)
class ConvertedModel:
    """A problem and the way back from its rows and columns to the model's components.

    Parameters
    ----------
    problem : Problem
        May have more rows and columns at its end than the lists here: those of reformulated
        special ordered sets.
    columns : list of VarData
        Variable of each column.
    rows : list of ConstraintData
        Constraint of each row.
    constant_rows : dict
        Constraints that hold no free variable but have a finite side, with their slacks.
    objective : ObjectiveData, optional
        The active objective.
    """

    problem: Problem
    columns: list[Any]
    rows: list[Any]
    constant_rows: dict[Any, float]
    objective: Any | None


def convert(model: Any) -> ConvertedModel:
    """Read a Pyomo model or block.

    Raises
    ------
    IncompatiblePyomoModelError
        A part of the model is not linear, or not understood; the message names it.
    ProblemError
        A coefficient, side or bound without a usable value.
    CrossedBoundsError
        Bounds or constraints without free variables that contradict each other: the model is
        infeasible as it stands.
    """
    check_model(model)
    with PauseGC():  # the pass makes many small objects and needs them all until its end
        objective = active_objective(model)
        sets = active_sos(model)
        collected = RowCollector()
        collected.add_objective(objective)
        for constraints in active_constraints(model):
            collected.add_constraints(constraints)
        rows = read_rows(collected)
        free = free_matrix(rows, chain.from_iterable(item.variables for item in sets))
        constant_rows, kept = _settle_rows(rows, free)
        arrays, constraints = _arrays(rows, free, kept)
        maximize = objective is not None and objective.sense == ObjectiveSense.maximize
        problem = arrays.problem(model.name or "", float(free.constants[0]), maximize)
        if sets:
            problem = add_special_ordered_sets(problem, sets, free.columns)
    return ConvertedModel(problem, free.columns, constraints, constant_rows, objective)


def _settle_rows(rows: ModelRows, free: FreeMatrix) -> tuple[dict[Any, float], BoolArray]:
    """Check rows without free variables and return their slacks, and the rows (m,) to keep.

    Rows without a finite side say nothing and are dropped, as Pyomo's compiler does.
    """
    # a side of infinite size on the wrong end is no free row but a contradiction
    bounded = (rows.lower != -np.inf) | (rows.upper != np.inf)
    empty = np.diff(free.matrix.indptr) == 0
    constant_rows = {}
    for i in np.flatnonzero(bounded & empty):
        if i > 0:
            sides = float(rows.lower[i]), float(rows.upper[i])
            constant_rows[rows.rows[i]] = _constant_row(rows.rows[i], *sides, free.constants[i])
    kept: BoolArray = bounded & ~empty
    kept[0] = False
    return constant_rows, kept


def _constant_row(row: Any, lower: float, upper: float, body: float) -> float:
    """Return the slack of a constraint that holds no free variable, or refuse it."""
    if math.isnan(body):
        raise ProblemError(f"Constraint '{row.name}' has a body that is not a number.")
    allowed = CONSTANT_ROW_TOLERANCE * max(1.0, abs(body))
    reaches_lower = lower - body <= allowed  # false for NaN
    if not (reaches_lower and body - upper <= allowed):
        wanted = f"at most {upper:g}" if reaches_lower else f"at least {lower:g}"
        raise CrossedBoundsError(
            f"Constraint '{row.name}' has no free variable: its body is {body:g}, but it must be "
            f"{wanted}, so the model is infeasible as it stands."
        )
    return float(row_slack(np.array([lower]), np.array([upper]), np.array([body]))[0])


def row_slack(lower: FloatArray, upper: FloatArray, body: FloatArray) -> FloatArray:
    """Return side - body: positive towards the upper side, negative towards the lower one.

    Of two finite sides the farther one counts, as in Pyomo's other solver interfaces.
    """
    above = upper - body
    below = lower - body
    return np.where(np.isinf(above) | (np.isfinite(below) & (-below > above)), below, above)


def _arrays(rows: ModelRows, free: FreeMatrix, kept: BoolArray) -> tuple[ProblemArrays, list[Any]]:
    constraints = list(compress(rows.rows, kept))
    lower, upper, integrality = column_bounds(free.columns)
    own = slice(0, free.matrix.indptr[1])  # the objective is the first row
    cost = np.zeros(len(free.columns))
    cost[free.matrix.indices[own]] = free.matrix.data[own]
    arrays = ProblemArrays(
        cost=cost,
        matrix=free.matrix.select(kept, np.ones(len(free.columns), dtype=bool)),
        row_lower=(rows.lower - free.constants)[kept],
        row_upper=(rows.upper - free.constants)[kept],
        lower=lower,
        upper=upper,
        integrality=integrality,
        column_names=ComponentNames(free.columns),
        row_names=ComponentNames(constraints),
    )
    return arrays, constraints
