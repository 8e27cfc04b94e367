"""Special ordered sets, rewritten with one binary column per member or neighbouring pair.

For members x_1, ..., x_k in the order of their weights, with bounds l and u, declared or implied:

    SOS1   l_j z_j <= x_j <= u_j z_j,                  sum z <= 1
    SOS2   l_j (z_j-1 + z_j) <= x_j <= u_j (z_j-1 + z_j),   sum z <= 1,   one z per neighbours

where l is at most and u at least zero (Beale and Tomlin, 1970, state the sets; this is the
textbook form of them). Fixed members enter as constants.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpu_bridge.adapters.pyomo.arrays import ProblemArrays
from gpu_bridge.adapters.pyomo.errors import IncompatiblePyomoModelError
from gpu_bridge.adapters.pyomo.implied_bounds import imply_bounds
from solvers.errors import ProblemError
from solvers.problem import FloatArray


class _NewRows:
    """Rows and binary columns to be added, as triplets."""

    def __init__(self, arrays: ProblemArrays) -> None:
        self.first_row: int = arrays.matrix.shape[0]
        self.first_column: int = arrays.matrix.shape[1]
        self.triplets: list[tuple[int, int, float]] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.row_names: list[str] = []
        self.column_names: list[str] = []

    def column(self, name: str) -> int:
        self.column_names.append(name)
        return self.first_column + len(self.column_names) - 1

    def row(self, name: str, terms: dict[int, float], lower: float, upper: float) -> None:
        row = len(self.row_names)
        self.triplets += [(row, column, factor) for column, factor in terms.items()]
        self.row_names.append(name)
        self.lower.append(lower)
        self.upper.append(upper)


def add_special_ordered_sets(
    arrays: ProblemArrays, sets: list[Any], columns: list[Any]
) -> ProblemArrays:
    """Return the arrays with the rows and binary columns of all ``sets`` at their ends.

    Raises
    ------
    IncompatiblePyomoModelError
        A set of level three or more, or a member without finite bounds, declared or implied.
    """
    number = {id(variable): j for j, variable in enumerate(columns)}
    new = _NewRows(arrays)
    members = {number[id(v)] for item in sets for v in item.variables if id(v) in number}
    bounds = imply_bounds(
        arrays.matrix,
        arrays.row_lower,
        arrays.row_upper,
        arrays.lower,
        arrays.upper,
        sorted(members),
    )
    for item in sets:
        _add_set(new, bounds, item, number)
    height, width = len(new.row_names), len(new.column_names)
    where = np.array([triplet[:2] for triplet in new.triplets], dtype=np.int64).reshape(-1, 2)
    factors = [triplet[2] for triplet in new.triplets]
    below = sp.coo_array(
        (factors, (where[:, 0], where[:, 1])), shape=(height, new.first_column + width)
    )
    wider = sp.csr_array(
        (arrays.matrix.data, arrays.matrix.indices, arrays.matrix.indptr),
        shape=(new.first_row, new.first_column + width),
    )
    return replace(
        arrays,
        cost=np.append(arrays.cost, np.zeros(width)),
        matrix=sp.vstack([wider, below], format="csr"),
        row_lower=np.append(arrays.row_lower, new.lower),
        row_upper=np.append(arrays.row_upper, new.upper),
        lower=np.append(arrays.lower, np.zeros(width)),
        upper=np.append(arrays.upper, np.ones(width)),
        integrality=np.append(arrays.integrality, np.ones(width, dtype=bool)),
        column_names=arrays.column_names.with_more(new.column_names),
        row_names=arrays.row_names.with_more(new.row_names),
    )


def _add_set(
    new: _NewRows, bounds: tuple[FloatArray, FloatArray], item: Any, number: dict[int, int]
) -> None:
    if item.level not in (1, 2):
        raise IncompatiblePyomoModelError(
            f"SOS constraint '{item.name}' has level {item.level}; gpuheur takes levels 1 and 2."
        )
    members = [variable for variable, _ in sorted(item.get_items(), key=lambda pair: pair[1])]
    if not members:
        return
    count = len(members) if item.level == 1 else max(len(members) - 1, 1)
    switches = [new.column(f"{item.name}.switch[{k + 1}]") for k in range(count)]
    for k, member in enumerate(members):
        around = {k} if item.level == 1 else {max(k - 1, 0), min(k, count - 1)}
        _add_member(new, bounds, item, member, number, [switches[j] for j in sorted(around)])
    new.row(f"{item.name}.one", dict.fromkeys(switches, 1.0), -np.inf, 1.0)


def _add_member(
    new: _NewRows,
    bounds: tuple[FloatArray, FloatArray],
    item: Any,
    member: Any,
    number: dict[int, int],
    switches: list[int],
) -> None:
    """Allow a member to leave zero only where one of its switches is on."""
    column = number.get(id(member))
    if column is None:  # fixed
        if member.value is None:
            raise ProblemError(f"Variable '{member.name}' is fixed but has no value.")
        constant, own, low, high = float(member.value), {}, float(member.value), float(member.value)
    else:
        constant, own = 0.0, {column: 1.0}
        low, high = float(bounds[0][column]), float(bounds[1][column])
    if not (np.isfinite(low) and np.isfinite(high)):
        raise IncompatiblePyomoModelError(
            f"Variable '{member.name}' of SOS constraint '{item.name}' has bounds "
            f"[{low:g}, {high:g}]; give it finite ones, so that the set can be written with "
            "binary variables."
        )
    name = f"{item.name}[{member.name}]"
    if high > 0:
        terms = own | dict.fromkeys(switches, -high)
        new.row(f"{name}.upper", terms, -np.inf, -constant)
    if low < 0:
        terms = own | dict.fromkeys(switches, -low)
        new.row(f"{name}.lower", terms, -constant, np.inf)
