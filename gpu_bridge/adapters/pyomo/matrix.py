"""Entries to a sparse matrix over the free variables, the fixed ones folded into constants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from gpu_bridge.adapters.pyomo.rows import ModelRows
from solvers.errors import ProblemError
from solvers.problem import FloatArray
from solvers.rows import SparseRows


@dataclass(frozen=True, eq=False)
class FreeMatrix:
    """Rows over free variables: (m, n) canonical, its n variables, and constants (m,)."""

    matrix: SparseRows
    columns: list[Any]
    constants: FloatArray


def free_matrix(rows: ModelRows, always: Iterable[Any] = ()) -> FreeMatrix:
    """Give variables numbers in order of appearance; fold the fixed ones into constants.

    Variables without a nonzero coefficient get no column (so their values stay untouched),
    except those in ``always`` that are not fixed.

    Raises
    ------
    ProblemError
        A variable is fixed but has no value.
    """
    variables = rows.variables
    keys = list(map(id, variables))
    known = dict(zip(keys, variables, strict=True))
    forced = {id(variable): variable for variable in always}
    known |= forced
    columns = list(known.values())
    number = dict(zip(known, range(len(known)), strict=True))
    indices = np.fromiter(map(number.__getitem__, keys), np.int32, len(keys))
    shape = len(rows.rows), len(columns)
    matrix = SparseRows.of_entries(rows.coefficients, rows.row_of, indices, shape).canonical()
    used = np.bincount(matrix.indices, minlength=len(columns)) > 0
    fixed = np.fromiter((variable._fixed for variable in columns), bool, len(columns))
    constants = rows.constants
    if fixed.any():
        settled = np.zeros(len(columns))
        settled[used & fixed] = _values(list(compress(columns, used & fixed)))
        constants = constants + matrix.times(settled)
    if forced:
        used[[number[key] for key in forced]] = True
    kept = used & ~fixed
    if not kept.all():
        matrix = matrix.select(np.ones(shape[0], dtype=bool), kept)
        columns = list(compress(columns, kept))
    return FreeMatrix(matrix, columns, constants)


def _values(fixed: list[Any]) -> FloatArray:
    for variable in fixed:
        if variable._value is None:
            raise ProblemError(
                f"Variable '{variable.name}' is fixed but has no value; give it one with "
                "fix(value), or unfix it."
            )
    return np.array([variable._value for variable in fixed], dtype=np.float64)
