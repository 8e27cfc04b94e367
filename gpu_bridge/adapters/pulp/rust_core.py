"""PuLP 4, whose models live in a compiled core: reading them, and putting answers back.

Wrappers of variables and constraints are made anew at each access there, so columns and rows are
told by the core's own numbers, and values are written back in bulk.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from pulp._rustcore import Sense

from gpu_bridge.adapters.pulp.reading import ModelArrays
from gpu_bridge.adapters.sos import OrderedSet
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import FloatArray

Int32Array = npt.NDArray[np.int32]

_SENSES = {Sense.LessEqual: -1, Sense.Equal: 0, Sense.GreaterEqual: 1}


def read_rust_model(lp: Any) -> ModelArrays:
    """Read an ``LpProblem`` of PuLP 4."""
    core = lp.toRustModel()
    numbers = core.used_variable_ids()
    variables = core.list_variables_by_ids(numbers)
    position = np.zeros(core.num_variables, dtype=np.int32)
    position[numbers] = np.arange(len(numbers))
    constraints = core.list_constraints()
    senses = np.array([_SENSES[constraint.sense] for constraint in constraints], dtype=np.int8)
    sides = np.array([constraint.rhs for constraint in constraints], dtype=np.float64)
    cost, offset = _objective(core, position, len(variables))
    return ModelArrays(
        variables=variables,
        constraints=constraints,
        column_names=[variable.name for variable in variables],
        row_names=[constraint.name for constraint in constraints],
        cost=cost,
        offset=offset,
        matrix=_matrix(constraints, position, len(variables)),
        row_lower=np.where(senses >= 0, sides, -np.inf),
        row_upper=np.where(senses <= 0, sides, np.inf),
        lower=np.array([variable.lb for variable in variables], dtype=np.float64),
        upper=np.array([variable.ub for variable in variables], dtype=np.float64),
        integrality=np.array([variable.is_integer() for variable in variables], dtype=np.bool_),
        sets=_ordered_sets(core, position),
    )


def _matrix(constraints: list[Any], position: Int32Array, width: int) -> SparseRows:
    terms = [constraint.items() for constraint in constraints]
    pointers = np.zeros(len(terms) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in terms], out=pointers[1:])
    numbers = [variable.id() for row in terms for variable, _ in row]
    values = [value for row in terms for _, value in row]
    columns = position[np.array(numbers, dtype=np.int64)]
    shape = (len(constraints), width)
    return SparseRows(np.array(values, dtype=np.float64), columns, pointers, shape)


def set_rust_values(
    lp: Any,
    arrays: ModelArrays,
    x: FloatArray,
    slacks: FloatArray,
    reduced_costs: FloatArray | None,
    duals: FloatArray | None,
) -> None:
    """Put values, slacks and, for linear programs, duals into the core.

    The core cannot forget a dual, so those of an earlier solve become NaN where there are none.
    """
    core = lp.toRustModel()
    columns = [variable.id() for variable in arrays.variables]
    rows = [constraint.id() for constraint in arrays.constraints]
    core.set_variable_values(list(zip(columns, x.tolist(), strict=True)))
    core.set_constraint_slacks(list(zip(rows, slacks.tolist(), strict=True)))
    if reduced_costs is None:
        stale = [variable.id() for variable in arrays.variables if variable.dj is not None]
        core.set_variable_djs([(number, math.nan) for number in stale])
    else:
        core.set_variable_djs(list(zip(columns, reduced_costs.tolist(), strict=True)))
    if duals is None:
        stale = [row.id() for row in arrays.constraints if row.pi is not None]
        core.set_constraint_pis([(number, math.nan) for number in stale])
    else:
        core.set_constraint_pis(list(zip(rows, duals.tolist(), strict=True)))


def _objective(core: Any, position: Int32Array, size: int) -> tuple[FloatArray, float]:
    cost = np.zeros(size)
    objective = core.get_objective()
    if objective is None:
        return cost, 0.0
    terms = objective.items()
    cost[position[[variable.id() for variable, _ in terms]]] = [value for _, value in terms]
    return cost, float(objective.constant)


def _ordered_sets(core: Any, position: Int32Array) -> list[OrderedSet]:
    found: list[OrderedSet] = []
    for kind, name, members in core.sos_export():
        weights = sorted((float(weight), int(position[number])) for number, weight in members)
        label = f"sos{kind}_{len(found) + 1}" if name is None else str(name)
        found.append(OrderedSet(label, int(kind), tuple(column for _, column in weights)))
    return found
