"""PuLP 4, whose models live in a compiled core: reading them, and putting answers back.

Wrappers of variables and constraints are made anew at each access there, so columns and rows are
told by the core's own numbers, and values are written back in bulk. Made for 4.0.0a11.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpu_bridge.adapters.pulp.arrays import ModelArrays
from gpu_bridge.adapters.sos import OrderedSet
from solvers.problem import FloatArray


def has_rust_core(lp: Any) -> bool:
    """Whether ``lp`` is a model of PuLP 4."""
    return not hasattr(lp, "_constraints")


def read_rust_model(lp: Any) -> ModelArrays:
    """Read an ``LpProblem`` of PuLP 4."""
    core = lp._model
    numbers = core.used_variable_ids()
    variables = core.list_variables_by_ids(numbers)
    position = {number: j for j, number in enumerate(numbers)}
    constraints = core.list_constraints()
    terms = [constraint.items() for constraint in constraints]
    pointers = np.concatenate([[0], np.cumsum([len(row) for row in terms], dtype=np.int64)])
    columns = [position[variable.id()] for row in terms for variable, _ in row]
    values = [value for row in terms for _, value in row]
    shape = (len(constraints), len(variables))
    senses = [str(constraint.sense) for constraint in constraints]
    sides = np.array([constraint.rhs for constraint in constraints], dtype=np.float64)
    cost, offset = _objective(core, position)
    return ModelArrays(
        variables=variables,
        constraints=constraints,
        column_names=[variable.name for variable in variables],
        row_names=[str(constraint.name) for constraint in constraints],
        cost=cost,
        offset=offset,
        matrix=sp.csr_array((np.array(values, dtype=np.float64), columns, pointers), shape=shape),
        row_lower=np.where([not sense.endswith("LessEqual") for sense in senses], sides, -np.inf),
        row_upper=np.where([not sense.endswith("GreaterEqual") for sense in senses], sides, np.inf),
        lower=np.array([variable.lb for variable in variables], dtype=np.float64),
        upper=np.array([variable.ub for variable in variables], dtype=np.float64),
        integrality=np.array([variable.is_integer() for variable in variables], dtype=np.bool_),
        sets=_ordered_sets(core, position),
    )


def set_rust_values(
    lp: Any,
    arrays: ModelArrays,
    x: FloatArray,
    slacks: FloatArray,
    reduced_costs: FloatArray | None,
    duals: FloatArray | None,
) -> None:
    """Put values, slacks and, for linear programs, duals into the core."""
    core = lp._model
    columns = [variable.id() for variable in arrays.variables]
    rows = [constraint.id() for constraint in arrays.constraints]
    core.set_variable_values(list(zip(columns, x.tolist(), strict=True)))
    core.set_constraint_slacks(list(zip(rows, slacks.tolist(), strict=True)))
    if reduced_costs is not None:
        core.set_variable_djs(list(zip(columns, reduced_costs.tolist(), strict=True)))
    if duals is not None:
        core.set_constraint_pis(list(zip(rows, duals.tolist(), strict=True)))


def _objective(core: Any, position: dict[int, int]) -> tuple[FloatArray, float]:
    cost = np.zeros(len(position))
    objective = core.get_objective()
    if objective is None:
        return cost, 0.0
    for variable, value in objective.items():
        cost[position[variable.id()]] += value
    return cost, float(objective.constant)


def _ordered_sets(core: Any, position: dict[int, int]) -> list[OrderedSet]:
    found: list[OrderedSet] = []
    for kind, name, members in core.sos_export():
        weights = sorted((float(weight), position[number]) for number, weight in members)
        label = f"sos{kind}_{len(found) + 1}" if name is None else str(name)
        found.append(OrderedSet(label, int(kind), tuple(column for _, column in weights)))
    return found
