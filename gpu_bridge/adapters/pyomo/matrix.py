"""Entries to a sparse matrix over the free variables, the fixed ones folded into constants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpu_bridge.adapters.pyomo.rows import ModelRows
from solvers.errors import ProblemError
from solvers.problem import FloatArray


@dataclass(frozen=True, eq=False)
class FreeMatrix:
    """Rows over free variables: (m, n) canonical CSR, its n variables, and constants (m,)."""

    matrix: sp.csr_array
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
    matrix = _canonical(rows, indices, len(columns))
    used = np.bincount(matrix.indices, minlength=len(columns)) > 0
    fixed = np.fromiter((variable._fixed for variable in columns), bool, len(columns))
    constants = rows.constants
    if fixed.any():
        constants = constants + matrix[:, used & fixed] @ _values(
            list(compress(columns, used & fixed))
        )
    if forced:
        used[[number[key] for key in forced]] = True
    kept = used & ~fixed
    if not kept.all():
        matrix = matrix[:, kept]
        columns = list(compress(columns, kept))
    return FreeMatrix(matrix, columns, constants)


def _canonical(rows: ModelRows, indices: np.ndarray[Any, Any], width: int) -> sp.csr_array:
    """Return CSR with sorted indices, duplicates summed and zeros gone."""
    height = len(rows.rows)
    if (np.diff(rows.row_of) >= 0).all():
        pointers = np.zeros(height + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows.row_of, minlength=height), out=pointers[1:])
        matrix = sp.csr_array((rows.coefficients, indices, pointers), shape=(height, width))
    else:
        shape = (height, width)
        matrix = sp.coo_array((rows.coefficients, (rows.row_of, indices)), shape=shape).tocsr()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _values(fixed: list[Any]) -> FloatArray:
    for variable in fixed:
        if variable._value is None:
            raise ProblemError(
                f"Variable '{variable.name}' is fixed but has no value; give it one with "
                "fix(value), or unfix it."
            )
    return np.array([variable._value for variable in fixed], dtype=np.float64)
