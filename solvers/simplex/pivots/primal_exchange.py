"""What a compiled primal pivot changes: bounds in the way, gradient, prices, the basis."""

from __future__ import annotations

from solvers.simplex.factor.arrays import FactorArrays
from solvers.simplex.factor.inner import inner
from solvers.simplex.pivots.arrays import (
    GO_ON,
    PHASE,
    REFACTOR,
    SHIFTED,
    STALLED,
    WORK,
    IntArray,
    Iterate,
    Matrix,
    Vectors,
)
from solvers.simplex.pivots.basis import btran
from solvers.simplex.pivots.compilation import spliced
from solvers.simplex.pivots.primal_step import (
    loosen_bounds,
    note_gradient,
    update_devex,
)
from solvers.simplex.pivots.products import clear, measure_violation
from solvers.simplex.state import BASIC, LOWER, UPPER

STALL = 50
"""Steps of length zero in a row from which bounds are shifted apart, plus one for 20 rows."""


@inner
def count_stalls(
    iterate: Iterate, vectors: Vectors, counts: IntArray, count: int, step: float, tolerance: float
) -> None:
    """Count steps of length zero, and move bounds apart when there have been too many."""
    counts[STALLED] = 0 if step > 1e-12 else counts[STALLED] + 1
    if counts[STALLED] > STALL + iterate.basic.size // 20:
        loosen_bounds(iterate, vectors, counts, count, 5.0 * tolerance, SHIFTED)


@inner
def let_go(iterate: Iterate, counts: IntArray, place: int, at_upper: bool, beyond: bool) -> None:
    """Put the leaving variable on its bound, or its bound where it is if that was beyond."""
    leaving = iterate.basic[place]
    value = iterate.value[place]
    if at_upper:
        if beyond:
            iterate.high[place] = iterate.upper[leaving] = value
            counts[SHIFTED] += 1
        iterate.x[leaving] = iterate.high[place]
    else:
        if beyond:
            iterate.low[place] = iterate.lower[leaving] = value
            counts[SHIFTED] += 1
        iterate.x[leaving] = iterate.low[place]
    fixed = iterate.low[place] == iterate.high[place]
    iterate.status[leaving] = UPPER if at_upper and not fixed else LOWER
    iterate.violation[place] = 0.0


@spliced
def follow_gradient(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    count: int,
) -> int:
    """Bring the first phase's reduced costs up to date; come back when it is over."""
    if counts[PHASE] == 2:
        return GO_ON
    changed = note_gradient(iterate, vectors, count)
    if changed > 0:
        price_change(factor, matrix, iterate, vectors, changed)
    counts[WORK] += iterate.basic.size
    violations = 0
    for i in range(iterate.gradient.size):
        violations += iterate.gradient[i] != 0.0
    return GO_ON if violations > 0 else REFACTOR


@spliced
def price_change(
    factor: FactorArrays, matrix: Matrix, iterate: Iterate, vectors: Vectors, changed: int
) -> None:
    """Subtract the prices that the change of gradient in ``tau`` makes."""
    count = btran(factor, vectors.tau, vectors.tau_pattern, changed)
    structurals = matrix.column_starts.size - 1
    for k in range(count):
        i = vectors.tau_pattern[k]
        dual = vectors.tau[i]
        for entry in range(matrix.row_starts[i], matrix.row_starts[i + 1]):
            j = matrix.row_indices[entry]
            iterate.reduced_cost[j] -= dual * matrix.row_values[entry]
        iterate.reduced_cost[structurals + i] += dual
    clear(vectors.tau, vectors.tau_pattern, count)


@inner
def exchange(
    iterate: Iterate,
    vectors: Vectors,
    place: int,
    entering: int,
    change: float,
    listed: int,
    count: int,
    tolerance: float,
) -> None:
    """Update reduced costs and weights, and put the entering variable in its place."""
    update_devex(iterate, vectors, listed, count, place, entering)
    leaving = iterate.basic[place]
    theta = iterate.reduced_cost[entering] / vectors.alpha[place]
    for k in range(listed):
        j = vectors.row_pattern[k]
        iterate.reduced_cost[j] -= theta * vectors.row[j]
    iterate.reduced_cost[leaving] = -theta
    iterate.reduced_cost[entering] = 0.0
    iterate.status[entering] = BASIC
    iterate.basic[place] = entering
    iterate.value[place] = iterate.x[entering] + change
    iterate.low[place] = iterate.lower[entering]
    iterate.high[place] = iterate.upper[entering]
    iterate.gradient[place] = 0.0
    measure_violation(iterate, place, tolerance)
