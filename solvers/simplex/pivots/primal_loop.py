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

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import FactorArrays
from solvers.simplex.factor.inner import inner, outer
from solvers.simplex.factor.updates import refactorisation_pays, update
from solvers.simplex.pivots.arrays import (
    BANNED,
    COLUMN,
    DISAGREEMENT,
    DONE,
    FLIPS,
    GO_ON,
    HOPELESS,
    ITERATIONS,
    LIMIT,
    NO_PIVOT,
    PHASE,
    REFACTOR,
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
from solvers.simplex.pivots.compilation import spliced
from solvers.simplex.pivots.primal_exchange import (
    count_stalls,
    exchange,
    follow_gradient,
    let_go,
)
from solvers.simplex.pivots.primal_step import (
    FLIP,
    add_break_point,
    choose_column,
    gather_break_points,
    move_basics,
)
from solvers.simplex.pivots.products import add_column, clear, price_row
from solvers.simplex.pivots.ratio import (
    choose_pivot,
    gather_near,
    pivot_error,
    pivot_tolerance,
    split_groups,
)
from solvers.simplex.state import LOWER, UPPER


@outer
def primal_slice(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    figures: FloatArray,
    most: int,
    most_work: int,
) -> int:
    """Pivot until there is a reason to come back: see ``arrays``."""
    end = counts[ITERATIONS] + most
    while True:
        if counts[ITERATIONS] >= end or counts[WORK] >= most_work:
            return SLICE
        if counts[UPDATES] >= counts[LIMIT] or refactorisation_pays(factor):
            return REFACTOR
        reason = primal_pivot(factor, matrix, iterate, vectors, counts, figures[TOLERANCE])
        if reason != GO_ON:
            return int(reason)


@spliced
def primal_pivot(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    tolerance: float,
) -> int:
    """Make one pivot or flip, or find a reason not to."""
    entering = choose_column(iterate, tolerance)
    counts[WORK] += iterate.status.size
    if entering < 0:
        return DONE if counts[UPDATES] == 0 else REFACTOR
    count = add_column(matrix, entering, 1.0, vectors.alpha, vectors.alpha_pattern, 0)
    count = ftran_entering(factor, vectors.alpha, vectors.alpha_pattern, count)
    counts[WORK] += 8 * count
    if price_is_wrong(iterate, vectors, counts, entering, count, tolerance):
        reason = REFACTOR if counts[UPDATES] > 0 else GO_ON
    else:
        sign = 1.0 if iterate.reduced_cost[entering] < 0.0 else -1.0
        at = ratio_test(iterate, vectors, counts, entering, sign, count, tolerance)
        if at < 0:
            counts[COLUMN] = entering
            reason = TROUBLE if counts[PHASE] == 1 else NO_PIVOT
            if counts[UPDATES] > 0:
                reason = REFACTOR
        elif vectors.chosen[at] == FLIP:
            change = sign * (iterate.upper[entering] - iterate.lower[entering])
            move_basics(iterate, vectors, count, change, tolerance)
            iterate.x[entering] += change
            iterate.status[entering] = UPPER if sign > 0.0 else LOWER
            counts[FLIPS] += 1
            counts[ITERATIONS] += 1
            counts[STALLED] = 0
            reason = follow_gradient(factor, matrix, iterate, vectors, counts, count)
        else:
            reason = leave_by_pivot(
                factor, matrix, iterate, vectors, counts, entering, at, sign, count, tolerance
            )
    clear(vectors.alpha, vectors.alpha_pattern, count)
    return reason


@spliced
def leave_by_pivot(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    entering: int,
    at: int,
    sign: float,
    count: int,
    tolerance: float,
) -> int:
    """Exchange the entering variable for the one that ends its step, unless that is inaccurate."""
    place = vectors.chosen[at] // 2
    at_upper = vectors.chosen[at] % 2 == 1
    vectors.rho[place] = 1.0
    vectors.rho_pattern[0] = place
    rho_count = btran(factor, vectors.rho, vectors.rho_pattern, 1)
    listed = price_row(matrix, iterate, vectors, rho_count)
    counts[WORK] += 4 * (rho_count + listed)
    error = pivot_error(vectors.row[entering], vectors.alpha[place])
    if error > DISAGREEMENT and counts[UPDATES] > 0:
        reason = REFACTOR
    elif error > HOPELESS:
        iterate.reduced_cost[entering] = 0.0
        counts[BANNED] += 1
        reason = GO_ON
    else:
        step = max(vectors.chosen_cost[at], 0.0) / vectors.chosen_size[at]
        count_stalls(iterate, vectors, counts, count, step, tolerance)
        move_basics(iterate, vectors, count, sign * step, tolerance)
        let_go(iterate, counts, place, at_upper, vectors.chosen_cost[at] < 0.0)
        reason = follow_gradient(factor, matrix, iterate, vectors, counts, count)
        exchange(iterate, vectors, place, entering, sign * step, listed, count, tolerance)
        refused = update(factor, place, vectors.alpha[place])
        counts[UPDATES] += 1
        counts[ITERATIONS] += 1
        if refused:
            reason = REFACTOR
    clear(vectors.rho, vectors.rho_pattern, rho_count)
    clear(vectors.row, vectors.row_pattern, listed)
    return reason


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
    return bool(price * kept < 0.0 or abs(price) <= tolerance)


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
    return int(at)
