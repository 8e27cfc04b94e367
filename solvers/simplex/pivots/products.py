"""Compiled products with the columns of [A -I], and the values and duals that follow from them."""

from __future__ import annotations

from solvers.problem import FloatArray
from solvers.simplex.factor.inner import inner
from solvers.simplex.pivots.arrays import Int32Array, Iterate, Matrix, Vectors
from solvers.simplex.state import BASIC, LOWER, UPPER

DROP = 1e-14
"""Entries of computed rows and columns below this are rounding and left out."""

TINY = 1e-100
"""Stands for an entry that cancelled to zero, so that its place is listed once."""

DENSE_ROW = 0.2
"""From this share of nonzeros on, a row of the inverse is priced column by column."""


@inner
def add_column(
    matrix: Matrix,
    variable: int,
    factor: float,
    vector: FloatArray,
    pattern: Int32Array,
    count: int,
) -> int:
    """Add a multiple of a column of [A -I] to a sparse vector by rows; return its new count."""
    structurals = matrix.column_starts.size - 1
    if variable >= structurals:
        row = variable - structurals
        if vector[row] == 0.0:
            pattern[count] = row
            count += 1
        vector[row] -= factor
        if vector[row] == 0.0:
            vector[row] = TINY
        return count
    for k in range(matrix.column_starts[variable], matrix.column_starts[variable + 1]):
        row = matrix.column_indices[k]
        before = vector[row]
        if before == 0.0:
            pattern[count] = row
            count += 1
        after = before + factor * matrix.column_values[k]
        vector[row] = after if after != 0.0 else TINY
    return count


@inner
def price_by_rows(
    matrix: Matrix, iterate: Iterate, vectors: Vectors, count: int, listed: int
) -> int:
    """Add rho's part in the nonbasic structurals to the pivot row, row of A by row."""
    rho, row, pattern = vectors.rho, vectors.row, vectors.row_pattern
    first = listed
    for k in range(count):
        i = vectors.rho_pattern[k]
        factor = rho[i]
        if abs(factor) <= DROP:
            continue
        for entry in range(matrix.row_starts[i], matrix.row_starts[i + 1]):
            j = matrix.row_indices[entry]
            if iterate.status[j] == BASIC:
                continue
            before = row[j]
            if before == 0.0:
                pattern[listed] = j
                listed += 1
            after = before + factor * matrix.row_values[entry]
            row[j] = after if after != 0.0 else TINY
    kept = first
    for k in range(first, listed):
        j = pattern[k]
        if abs(row[j]) > DROP:
            pattern[kept] = j
            kept += 1
        else:
            row[j] = 0.0
    return kept


@inner
def price_row(matrix: Matrix, iterate: Iterate, vectors: Vectors, count: int) -> int:
    """Compute the pivot row rho'[A -I] of the nonbasic variables; return how many are listed.

    By rows of A where rho is sparse, by columns where it is not.
    """
    structurals = matrix.column_starts.size - 1
    rho, row, pattern = vectors.rho, vectors.row, vectors.row_pattern
    status = iterate.status
    listed = 0
    for k in range(count):
        i = vectors.rho_pattern[k]
        j = structurals + i
        if status[j] != BASIC and abs(rho[i]) > DROP:
            row[j] = -rho[i]
            pattern[listed] = j
            listed += 1
    if count < DENSE_ROW * rho.size:
        return int(price_by_rows(matrix, iterate, vectors, count, listed))
    for j in range(structurals):
        if status[j] == BASIC:
            continue
        total = 0.0
        for entry in range(matrix.column_starts[j], matrix.column_starts[j + 1]):
            total += rho[matrix.column_indices[entry]] * matrix.column_values[entry]
        if abs(total) > DROP:
            row[j] = total
            pattern[listed] = j
            listed += 1
    return listed


@inner
def clear(vector: FloatArray, pattern: Int32Array, count: int) -> None:
    """Set a sparse vector to zero again."""
    for k in range(count):
        vector[pattern[k]] = 0.0


@inner
def put_on_bounds(iterate: Iterate) -> None:
    """Set nonbasic variables on the bound that their status names."""
    for j in range(iterate.status.size):
        status = iterate.status[j]
        if status == LOWER:
            iterate.x[j] = iterate.lower[j]
        elif status == UPPER:
            iterate.x[j] = iterate.upper[j]
        elif status != BASIC:
            iterate.x[j] = 0.0


@inner
def nonbasic_activity(matrix: Matrix, iterate: Iterate, out: FloatArray) -> None:
    """Fill ``out`` (m,) with minus the nonbasic columns times their values, the basics' side."""
    structurals = matrix.column_starts.size - 1
    for i in range(out.size):
        j = structurals + i
        out[i] = iterate.x[j] if iterate.status[j] != BASIC else 0.0
    for j in range(structurals):
        value = iterate.x[j]
        if iterate.status[j] == BASIC or value == 0.0:
            continue
        for entry in range(matrix.column_starts[j], matrix.column_starts[j + 1]):
            out[matrix.column_indices[entry]] -= value * matrix.column_values[entry]


@inner
def basic_residual(matrix: Matrix, iterate: Iterate, out: FloatArray) -> None:
    """Subtract the basic columns times ``value`` from ``out`` (m,)."""
    structurals = matrix.column_starts.size - 1
    for place in range(iterate.basic.size):
        j = iterate.basic[place]
        value = iterate.value[place]
        if value == 0.0:
            continue
        if j >= structurals:
            out[j - structurals] += value
            continue
        for entry in range(matrix.column_starts[j], matrix.column_starts[j + 1]):
            out[matrix.column_indices[entry]] -= value * matrix.column_values[entry]


@inner
def price_all(
    matrix: Matrix, iterate: Iterate, cost: FloatArray, dual: FloatArray, out: FloatArray
) -> None:
    """Fill ``out`` (n + m,) with cost - [A -I]'dual, zero for basic variables."""
    structurals = matrix.column_starts.size - 1
    for j in range(structurals):
        if iterate.status[j] == BASIC:
            out[j] = 0.0
            continue
        total = cost[j]
        for entry in range(matrix.column_starts[j], matrix.column_starts[j + 1]):
            total -= dual[matrix.column_indices[entry]] * matrix.column_values[entry]
        out[j] = total
    for i in range(dual.size):
        j = structurals + i
        out[j] = 0.0 if iterate.status[j] == BASIC else cost[j] + dual[i]


@inner
def basic_dual_residual(
    matrix: Matrix, iterate: Iterate, cost: FloatArray, dual: FloatArray, out: FloatArray
) -> None:
    """Fill ``out`` (m,) by place with c_B - B'dual, what rounding has left."""
    structurals = matrix.column_starts.size - 1
    for place in range(iterate.basic.size):
        j = iterate.basic[place]
        total = cost[j]
        if j >= structurals:
            out[place] = total + dual[j - structurals]
            continue
        for entry in range(matrix.column_starts[j], matrix.column_starts[j + 1]):
            total -= dual[matrix.column_indices[entry]] * matrix.column_values[entry]
        out[place] = total


@inner
def measure_violation(iterate: Iterate, place: int, tolerance: float) -> None:
    """Record by how much a basic variable leaves its bounds, squared; zero within tolerance."""
    value = iterate.value[place]
    beyond = max(iterate.low[place] - value, value - iterate.high[place])
    iterate.violation[place] = beyond * beyond if beyond > tolerance else 0.0


@inner
def gather_basics(iterate: Iterate, tolerance: float) -> None:
    """Copy the basic variables' bounds to their places, and measure their violations."""
    for place in range(iterate.basic.size):
        j = iterate.basic[place]
        iterate.low[place] = iterate.lower[j]
        iterate.high[place] = iterate.upper[j]
        measure_violation(iterate, place, tolerance)
