"""What a compiled dual pivot changes: reduced costs, flipped and basic variables, weights."""

from __future__ import annotations

from solvers.simplex.factor.arrays import FactorArrays
from solvers.simplex.factor.inner import inner
from solvers.simplex.pivots.arrays import (
    FLIPS,
    STALLED,
    WORK,
    IntArray,
    Iterate,
    Matrix,
    Vectors,
)
from solvers.simplex.pivots.basis import ftran
from solvers.simplex.pivots.compilation import spliced
from solvers.simplex.pivots.products import add_column, clear, measure_violation
from solvers.simplex.state import BASIC, LOWER, UPPER

WEIGHT_FLOOR = 1e-4
"""Least weight of steepest edge."""

STALL = 50
"""Steps of length zero in a row from which costs are shifted apart, plus one for 20 rows."""

SHIFT = 5e-7
"""Size of such a shift, relative to 1 + |cost|: that of the perturbation."""


@inner
def step_duals(
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    listed: int,
    place: int,
    sign: float,
    at: int,
    first: int,
    near: int,
) -> None:
    """Take the dual step, and shift costs whose reduced costs would get the wrong sign."""
    d, cost, chosen = iterate.reduced_cost, iterate.cost, vectors.chosen
    entering = chosen[at]
    step = vectors.chosen_cost[at] / vectors.chosen_size[at]
    if step <= 0.0:
        cost[entering] -= d[entering]
        step = 0.0
    theta = sign * step
    for k in range(listed):
        j = vectors.row_pattern[k]
        d[j] -= theta * vectors.row[j]
    d[iterate.basic[place]] = -theta
    d[entering] = 0.0
    counts[STALLED] = 0 if step > 1e-12 else counts[STALLED] + 1
    stalled = counts[STALLED] > STALL + iterate.basic.size // 20
    for k in range(first, near):
        j = chosen[k]
        if j == entering:
            continue
        status = iterate.status[j]
        towards = 1.0 if status == LOWER else -1.0
        if status != LOWER and status != UPPER:
            cost[j] -= d[j]
            d[j] = 0.0
        elif towards * d[j] < 0.0 or (stalled and towards * d[j] <= 1e-12):
            apart = 0.0
            if stalled:
                apart = SHIFT * (1.0 + iterate.order[j] / d.size) * (1.0 + abs(cost[j]))
            cost[j] += towards * apart - d[j]
            d[j] = towards * apart


@spliced
def flip_passed(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    tolerance: float,
    first: int,
) -> None:
    """Send the variables that the step has passed to their other bounds."""
    if first == 0:
        return
    count = 0
    for k in range(first):
        j = vectors.chosen[k]
        if iterate.status[j] == LOWER:
            iterate.status[j] = UPPER
            goal = iterate.upper[j]
        else:
            iterate.status[j] = LOWER
            goal = iterate.lower[j]
        count = add_column(
            matrix, j, goal - iterate.x[j], vectors.flip, vectors.flip_pattern, count
        )
        iterate.x[j] = goal
    counts[FLIPS] += first
    count = ftran(factor, vectors.flip, vectors.flip_pattern, count)
    for k in range(count):
        i = vectors.flip_pattern[k]
        iterate.value[i] -= vectors.flip[i]
        measure_violation(iterate, i, tolerance)
    clear(vectors.flip, vectors.flip_pattern, count)
    counts[WORK] += 4 * (count + first)


@inner
def step_primals(
    iterate: Iterate,
    vectors: Vectors,
    tolerance: float,
    place: int,
    sign: float,
    entering: int,
    count: int,
) -> None:
    """Move the basic variables so that the leaving one reaches its bound; exchange the two."""
    leaving = iterate.basic[place]
    value = iterate.value[place]
    bound = iterate.high[place] if sign > 0.0 else iterate.low[place]
    step = (value - bound) / vectors.alpha[place]
    for k in range(count):
        i = vectors.alpha_pattern[k]
        iterate.value[i] -= step * vectors.alpha[i]
        measure_violation(iterate, i, tolerance)
    fixed = iterate.low[place] == iterate.high[place]
    iterate.status[leaving] = UPPER if sign > 0.0 and not fixed else LOWER
    iterate.x[leaving] = bound
    iterate.status[entering] = BASIC
    iterate.basic[place] = entering
    iterate.value[place] = iterate.x[entering] + step
    iterate.low[place] = iterate.lower[entering]
    iterate.high[place] = iterate.upper[entering]
    measure_violation(iterate, place, tolerance)


@spliced
def update_weights(
    factor: FactorArrays,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    place: int,
    count: int,
    rho_count: int,
) -> None:
    """Bring the weights of steepest edge up to date with the pivot."""
    for k in range(rho_count):
        i = vectors.rho_pattern[k]
        vectors.tau[i] = vectors.rho[i]
        vectors.tau_pattern[k] = i
    tau_count = ftran(factor, vectors.tau, vectors.tau_pattern, rho_count)
    counts[WORK] += 4 * tau_count
    pivot = vectors.alpha[place]
    norm = iterate.weight[place]
    for k in range(count):
        i = vectors.alpha_pattern[k]
        if i == place:
            continue
        ratio = vectors.alpha[i] / pivot
        weight = iterate.weight[i] + ratio * (ratio * norm - 2.0 * vectors.tau[i])
        iterate.weight[i] = max(weight, WEIGHT_FLOOR)
    iterate.weight[place] = max(norm / (pivot * pivot), WEIGHT_FLOOR)
    clear(vectors.tau, vectors.tau_pattern, tau_count)
