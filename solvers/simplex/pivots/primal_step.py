"""Parts of a compiled primal pivot: pricing, ratio test, moves, updates of prices."""

from __future__ import annotations

from solvers.simplex.factor.inner import inner
from solvers.simplex.pivots.arrays import IntArray, Iterate, Vectors
from solvers.simplex.pivots.products import measure_violation
from solvers.simplex.state import BASIC, LOWER, UPPER

FLIP = -1
"""Candidate of the primal ratio test that stands for the entering variable's other bound."""

RESET_ERROR = 3.0
"""Devex weights begin anew when the entering one is this many times its true value."""


@inner
def measure_gradient(iterate: Iterate) -> int:
    """Fill ``gradient`` with the slope of the sum of violations; return how many there are."""
    count = 0
    for i in range(iterate.gradient.size):
        iterate.gradient[i] = slope_at(iterate, i)
        if iterate.gradient[i] != 0.0:
            count += 1
    return count


@inner
def slope_at(iterate: Iterate, place: int) -> float:
    """Return -1 for a basic variable below its bounds, 1 above, 0 within."""
    if iterate.violation[place] == 0.0:
        return 0.0
    return -1.0 if iterate.value[place] < iterate.low[place] else 1.0


@inner
def choose_column(iterate: Iterate, tolerance: float) -> int:
    """Return the variable of the largest weighted reduced cost of a wrong sign, or -1."""
    d = iterate.reduced_cost
    best, column = 0.0, -1
    for j in range(d.size):
        size = d[j]
        status = iterate.status[j]
        if status == BASIC or abs(size) <= tolerance:
            continue
        if status == LOWER:
            if size > 0.0 or iterate.lower[j] == iterate.upper[j]:
                continue
        elif status == UPPER and size < 0.0:
            continue
        square = size * size
        if square > best * iterate.devex[j]:
            best = square / iterate.devex[j]
            column = j
    return column


@inner
def add_break_point(vectors: Vectors, count: int, which: int, size: float, distance: float) -> int:
    """Add a candidate that ends the step; return the new count."""
    vectors.chosen[count] = which
    vectors.chosen_size[count] = size
    vectors.chosen_cost[count] = distance
    vectors.chosen_loss[count] = float("inf")
    return count + 1


@inner
def gather_break_points(
    iterate: Iterate, vectors: Vectors, listed: int, sign: float, smallest: float, phase: int
) -> int:
    """List where basic variables meet a bound as the entering one goes in direction ``sign``.

    A candidate is twice the place, plus one if the bound is the upper one. In the first phase one
    that is passed costs its velocity of the slope of the sum of violations.
    """
    count = 0
    for k in range(listed):
        i = vectors.alpha_pattern[k]
        velocity = -sign * vectors.alpha[i]
        size = abs(velocity)
        if size <= smallest:
            continue
        value, low, high = iterate.value[i], iterate.low[i], iterate.high[i]
        gradient = iterate.gradient[i] if phase == 1 else 0.0
        before = count
        if velocity > 0.0:
            if gradient < 0.0:
                count = add_break_point(vectors, count, 2 * i, size, low - value)
            if gradient <= 0.0 and high < float("inf"):
                count = add_break_point(vectors, count, 2 * i + 1, size, high - value)
        else:
            if gradient > 0.0:
                count = add_break_point(vectors, count, 2 * i + 1, size, value - high)
            if gradient >= 0.0 and low > -float("inf"):
                count = add_break_point(vectors, count, 2 * i, size, value - low)
        if phase == 1:
            for c in range(before, count):
                vectors.chosen_loss[c] = size
    return count


@inner
def move_basics(
    iterate: Iterate, vectors: Vectors, listed: int, change: float, tolerance: float
) -> None:
    """Move basic variables by minus ``change`` times alpha."""
    for k in range(listed):
        i = vectors.alpha_pattern[k]
        iterate.value[i] -= change * vectors.alpha[i]
        measure_violation(iterate, i, tolerance)


@inner
def note_gradient(iterate: Iterate, vectors: Vectors, listed: int) -> int:
    """Put changes of ``gradient`` along alpha into ``tau``, by place; return their count."""
    count = 0
    for k in range(listed):
        i = vectors.alpha_pattern[k]
        slope = slope_at(iterate, i)
        if slope != iterate.gradient[i]:
            vectors.tau[i] = slope - iterate.gradient[i]
            vectors.tau_pattern[count] = i
            count += 1
            iterate.gradient[i] = slope
    return count


@inner
def update_devex(
    iterate: Iterate, vectors: Vectors, row_count: int, listed: int, place: int, entering: int
) -> None:
    """Update the reference weights of primal Devex pricing (Harris 1973)."""
    pivot = vectors.alpha[place]
    true = 1.0 * iterate.reference[entering]
    for k in range(listed):
        i = vectors.alpha_pattern[k]
        if iterate.reference[iterate.basic[i]] != 0:
            true += vectors.alpha[i] ** 2
    true = max(true, 1.0)
    if iterate.devex[entering] > RESET_ERROR * true:
        iterate.devex[:] = 1.0
        for j in range(iterate.status.size):
            iterate.reference[j] = iterate.status[j] != BASIC
        true = 1.0
    for k in range(row_count):
        j = vectors.row_pattern[k]
        ratio = vectors.row[j] / pivot
        iterate.devex[j] = max(iterate.devex[j], ratio * ratio * true)
    iterate.devex[iterate.basic[place]] = max(true / (pivot * pivot), 1.0)
    iterate.devex[entering] = 1.0


@inner
def loosen_bounds(
    iterate: Iterate, vectors: Vectors, counts: IntArray, listed: int, size: float, shifted: int
) -> None:
    """Move bounds at which basic variables block the step apart at random, out of the way."""
    for k in range(listed):
        i = vectors.alpha_pattern[k]
        j = iterate.basic[i]
        if iterate.violation[i] != 0.0:
            continue
        apart = size * (1.0 + iterate.order[j] / iterate.status.size)
        value = iterate.value[i]
        if value - iterate.low[i] < size:
            iterate.low[i] = min(iterate.low[i], value) - apart * (1.0 + abs(value))
            iterate.lower[j] = iterate.low[i]
            counts[shifted] += 1
        if iterate.high[i] - value < size:
            iterate.high[i] = max(iterate.high[i], value) + apart * (1.0 + abs(value))
            iterate.upper[j] = iterate.high[i]
            counts[shifted] += 1
