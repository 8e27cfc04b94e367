"""Compiled primal pivots: Devex pricing, Harris's ratio test, composite first phase.

While basic variables violate bounds, the sum of their violations is minimised: a piecewise linear
function whose slope changes where a variable reaches a bound. Its ratio test passes such break
points while the sum still falls; the gradient then changes at several places of the basis, and the
reduced costs follow by one more solve. Once all are feasible the loop comes back for the reduced
costs of the true objective.

Basic variables may go beyond bounds by the tolerance before they end a step (Harris 1973). One
that is beyond its bound when it leaves the basis has its bound shifted to where it is, so that no
step is negative; the driver undoes the shifts.
"""

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.problem import FloatArray
from solvers.simplex.factor.inner import inner
from solvers.simplex.factor.updates import update
from solvers.simplex.pivots.arrays import (
    BANNED,
    COLUMN,
    DONE,
    FLIPS,
    ITERATIONS,
    LIMIT,
    NO_PIVOT,
    PHASE,
    REFACTOR,
    SHIFTED,
    SLICE,
    STALLED,
    TOLERANCE,
    TROUBLE,
    UPDATES,
    WORK,
    IntArray,
    Iterate,
    Matrix,
    Vectors,
)
from solvers.simplex.pivots.basis import btran, ftran_entering
from solvers.simplex.pivots.primal_step import (
    FLIP,
    add_break_point,
    choose_column,
    gather_break_points,
    loosen_bounds,
    move_basics,
    note_gradient,
    update_devex,
)
from solvers.simplex.pivots.products import add_column, clear, measure_violation, price_row
from solvers.simplex.pivots.ratio import (
    choose_pivot,
    gather_near,
    pivot_tolerance,
    split_groups,
)
from solvers.simplex.state import BASIC, LOWER, UPPER

DISAGREEMENT = 1e-7
"""Relative difference of the two pivot elements from which the basis is factorised anew."""

HOPELESS = 1e-4
"""Relative difference that even after a new factorisation rules a pivot out."""

STALL = 50
"""Steps of length zero in a row from which bounds are shifted apart, plus one for 20 rows."""


@compiled
def primal_slice(
    factor: object,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    figures: FloatArray,
    most: int,
    most_work: int,
) -> int:
    """Pivot until there is a reason to come back: see ``arrays``."""
    tolerance = figures[TOLERANCE]
    done = 0
    while True:
        if done >= most or counts[WORK] >= most_work:
            return SLICE
        if counts[UPDATES] >= counts[LIMIT]:
            return REFACTOR
        entering = choose_column(iterate, tolerance)
        counts[WORK] += iterate.status.size
        if entering < 0:
            return DONE if counts[UPDATES] == 0 else REFACTOR
        count = add_column(matrix, entering, 1.0, vectors.alpha, vectors.alpha_pattern, 0)
        count = ftran_entering(factor, vectors.alpha, vectors.alpha_pattern, count)
        counts[WORK] += 8 * count
        if price_is_wrong(iterate, vectors, counts, entering, count, tolerance):
            clear(vectors.alpha, vectors.alpha_pattern, count)
            if counts[UPDATES] > 0:
                return REFACTOR
            continue
        sign = 1.0 if iterate.reduced_cost[entering] < 0.0 else -1.0
        at = ratio_test(iterate, vectors, counts, entering, sign, count, tolerance)
        if at < 0:
            clear(vectors.alpha, vectors.alpha_pattern, count)
            if counts[UPDATES] > 0:
                return REFACTOR
            if counts[PHASE] == 1:
                return TROUBLE
            counts[COLUMN] = entering
            return NO_PIVOT
        candidate = vectors.chosen[at]
        if candidate == FLIP:
            change = sign * (iterate.upper[entering] - iterate.lower[entering])
            move_basics(iterate, vectors, count, change, tolerance)
            iterate.x[entering] += change
            iterate.status[entering] = UPPER if sign > 0.0 else LOWER
            infeasible = follow_gradient(factor, matrix, iterate, vectors, counts, count)
            clear(vectors.alpha, vectors.alpha_pattern, count)
            counts[FLIPS] += 1
            counts[ITERATIONS] += 1
            counts[STALLED] = 0
            done += 1
            if counts[PHASE] == 1 and not infeasible:
                return REFACTOR
            continue
        place = candidate // 2
        vectors.rho[place] = 1.0
        vectors.rho_pattern[0] = place
        rho_count = btran(factor, vectors.rho, vectors.rho_pattern, 1)
        listed = price_row(matrix, iterate, vectors, rho_count)
        counts[WORK] += 4 * (rho_count + listed)
        by_row, by_column = vectors.row[entering], vectors.alpha[place]
        error = abs(by_row - by_column) / min(abs(by_row) + 1e-300, abs(by_column) + 1e-300)
        again = error > DISAGREEMENT and counts[UPDATES] > 0
        if again or error > HOPELESS:
            clear(vectors.rho, vectors.rho_pattern, rho_count)
            clear(vectors.row, vectors.row_pattern, listed)
            clear(vectors.alpha, vectors.alpha_pattern, count)
            if again:
                return REFACTOR
            iterate.reduced_cost[entering] = 0.0
            counts[BANNED] += 1
            continue
        step = max(vectors.chosen_cost[at], 0.0) / vectors.chosen_size[at]
        count_stalls(iterate, vectors, counts, count, step, tolerance)
        move_basics(iterate, vectors, count, sign * step, tolerance)
        let_go(iterate, counts, place, candidate % 2 == 1, vectors.chosen_cost[at] < 0.0)
        infeasible = follow_gradient(factor, matrix, iterate, vectors, counts, count)
        exchange(iterate, vectors, place, entering, sign * step, listed, count, tolerance)
        refused = update(factor, place, vectors.alpha[place])
        counts[UPDATES] += 1
        counts[ITERATIONS] += 1
        clear(vectors.rho, vectors.rho_pattern, rho_count)
        clear(vectors.row, vectors.row_pattern, listed)
        clear(vectors.alpha, vectors.alpha_pattern, count)
        done += 1
        if refused or (counts[PHASE] == 1 and not infeasible):
            return REFACTOR


@inner
def price_is_wrong(
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    entering: int,
    count: int,
    tolerance: float,
) -> bool:
    """Set the entering variable's reduced cost by its column; return whether that is news."""
    first = counts[PHASE] == 1
    price = 0.0 if first else iterate.cost[entering]
    for k in range(count):
        i = vectors.alpha_pattern[k]
        slope = iterate.gradient[i] if first else iterate.cost[iterate.basic[i]]
        price -= slope * vectors.alpha[i]
    kept = iterate.reduced_cost[entering]
    iterate.reduced_cost[entering] = price
    return price * kept < 0.0 or abs(price) <= tolerance


@inner
def ratio_test(
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    entering: int,
    sign: float,
    count: int,
    tolerance: float,
) -> int:
    """Return the candidate at which the step ends, or -1 if nothing ends it."""
    smallest = pivot_tolerance(counts[UPDATES])
    found = gather_break_points(iterate, vectors, count, sign, smallest, counts[PHASE])
    far = iterate.upper[entering] - iterate.lower[entering]
    if far < float("inf"):
        found = add_break_point(vectors, found, FLIP, 1.0, far)
    if found == 0:
        return -1
    slope = abs(iterate.reduced_cost[entering])
    near = gather_near(vectors, found, slope)
    groups, _ = split_groups(vectors, near, slope, tolerance)
    at, _ = choose_pivot(iterate.order, vectors, groups)
    return at


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


@inner
def follow_gradient(
    factor: object,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    count: int,
) -> bool:
    """Bring the first phase's reduced costs up to date; return whether violations are left."""
    if counts[PHASE] == 2:
        return False
    changed = note_gradient(iterate, vectors, count)
    if changed > 0:
        price_change(factor, matrix, iterate, vectors, changed)
    counts[WORK] += iterate.basic.size
    for i in range(iterate.gradient.size):
        if iterate.gradient[i] != 0.0:
            return True
    return False


@inner
def price_change(
    factor: object, matrix: Matrix, iterate: Iterate, vectors: Vectors, changed: int
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
