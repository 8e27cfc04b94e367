"""Solves with the factorised basis whose results always list their nonzeros."""

from __future__ import annotations

from solvers.problem import FloatArray
from solvers.simplex.factor import solves
from solvers.simplex.factor.arrays import FactorArrays
from solvers.simplex.factor.inner import inner
from solvers.simplex.pivots.arrays import Int32Array
from solvers.simplex.pivots.compilation import spliced

_ftran, _ftran_entering, _btran = solves.ftran, solves.ftran_entering, solves.btran


@inner
def list_nonzeros(vector: FloatArray, pattern: Int32Array) -> int:
    """List the nonzeros of a dense vector; return how many there are."""
    count = 0
    for i in range(vector.size):
        if vector[i] != 0.0:
            pattern[count] = i
            count += 1
    return count


@spliced
def ftran(factor: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int) -> int:
    """Solve B v = ``vector``, from rows to places in the basis; return how many are listed."""
    found = _ftran(factor, vector, pattern, count)
    return int(list_nonzeros(vector, pattern) if found < 0 else found)


@spliced
def ftran_entering(
    factor: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int
) -> int:
    """Solve as ``ftran`` for the column whose variable is about to enter."""
    found = _ftran_entering(factor, vector, pattern, count)
    return int(list_nonzeros(vector, pattern) if found < 0 else found)


@spliced
def btran(factor: FactorArrays, vector: FloatArray, pattern: Int32Array, count: int) -> int:
    """Solve B'y = ``vector``, from places in the basis to rows; return how many are listed."""
    found = _btran(factor, vector, pattern, count)
    return int(list_nonzeros(vector, pattern) if found < 0 else found)
