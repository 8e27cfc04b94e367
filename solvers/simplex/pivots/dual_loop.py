"""Compiled dual pivots: steepest edge, bound flips, cost shifts, updates of everything.

One pivot, with B the basis and the variable at place p leaving because it violates a bound:

    rho = B^-T e_p,  row = rho'[A -I],  entering q by the ratio test,  alpha = B^-1 a_q
    d -= theta row,  x_B -= B^-1 (flipped columns),  x_B -= step alpha
    w_i = max(w_i - 2 (alpha_i/alpha_p) tau_i + (alpha_i/alpha_p)^2 w_p, floor),  tau = B^-1 rho

(Forrest and Goldfarb 1992; w_p is the exact norm of rho.) Every pivot compares the pivot element
from the row with that from the column, and asks for a factorisation where they disagree.
"""

from __future__ import annotations

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import FactorArrays
from solvers.simplex.factor.inner import inner, outer
from solvers.simplex.factor.updates import refactorisation_pays, update
from solvers.simplex.pivots.arrays import (
    BANNED,
    DISAGREEMENT,
    DONE,
    GO_ON,
    HOPELESS,
    ITERATIONS,
    LIMIT,
    NO_PIVOT,
    REFACTOR,
    ROW,
    SLICE,
    TOLERANCE,
    UPDATES,
    WORK,
    IntArray,
    Iterate,
    Matrix,
    Vectors,
)
from solvers.simplex.pivots.basis import btran, ftran_entering
from solvers.simplex.pivots.compilation import spliced
from solvers.simplex.pivots.dual_ratio import gather_candidates
from solvers.simplex.pivots.dual_step import (
    WEIGHT_FLOOR,
    flip_passed,
    step_duals,
    step_primals,
    update_weights,
)
from solvers.simplex.pivots.products import add_column, clear, price_row
from solvers.simplex.pivots.ratio import (
    choose_pivot,
    gather_near,
    pivot_error,
    pivot_tolerance,
    split_groups,
)

HARRIS = 1e-7
"""Reduced costs may pass zero by this much before they end a step; their costs are then shifted."""

WEIGHT_ERROR = 0.25
"""A row chosen by a weight below this part of the true one is chosen anew."""


@outer
def dual_slice(
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
        place = choose_row(iterate)
        counts[WORK] += iterate.basic.size
        if place < 0:
            return DONE if counts[UPDATES] == 0 else REFACTOR
        listed = row_of_inverse(factor, matrix, iterate, vectors, counts, place)
        if listed < 0:  # its weight was wrong
            continue
        reason = dual_pivot(
            factor, matrix, iterate, vectors, counts, figures[TOLERANCE], place, listed
        )
        if reason != GO_ON:
            return int(reason)


@spliced
def dual_pivot(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    tolerance: float,
    place: int,
    listed: int,
) -> int:
    """Exchange the variable at a place, unless no ratio is bounded or the pivot is inaccurate."""
    rho_count = counts[ROW]
    above = iterate.value[place] - iterate.high[place]
    below = iterate.low[place] - iterate.value[place]
    sign = 1.0 if above > below else -1.0
    at, first, near = ratio_test(iterate, vectors, counts, listed, sign, max(above, below))
    count = 0
    if at < 0:
        counts[ROW] = place
        reason = REFACTOR if counts[UPDATES] > 0 else NO_PIVOT
    else:
        entering = vectors.chosen[at]
        count = add_column(matrix, entering, 1.0, vectors.alpha, vectors.alpha_pattern, 0)
        count = ftran_entering(factor, vectors.alpha, vectors.alpha_pattern, count)
        error = pivot_error(vectors.row[entering], vectors.alpha[place])
        if error > DISAGREEMENT and counts[UPDATES] > 0:
            reason = REFACTOR
        elif error > HOPELESS:
            iterate.violation[place] = 0.0
            counts[BANNED] += 1
            reason = GO_ON
        else:
            step_duals(iterate, vectors, counts, listed, place, sign, at, first, near)
            flip_passed(factor, matrix, iterate, vectors, counts, tolerance, first)
            step_primals(iterate, vectors, tolerance, place, sign, entering, count)
            update_weights(factor, iterate, vectors, counts, place, count, rho_count)
            reason = REFACTOR if update(factor, place, vectors.alpha[place]) else GO_ON
            counts[UPDATES] += 1
            counts[ITERATIONS] += 1
            counts[WORK] += 4 * count
    clear(vectors.rho, vectors.rho_pattern, rho_count)
    clear(vectors.row, vectors.row_pattern, listed)
    clear(vectors.alpha, vectors.alpha_pattern, count)
    return reason


@inner
def choose_row(iterate: Iterate) -> int:
    """Return the place of the largest violation measured by its weight, -1 if there is none."""
    best, place = 0.0, -1
    for i in range(iterate.violation.size):
        if iterate.violation[i] > best * iterate.weight[i]:
            best = iterate.violation[i] / iterate.weight[i]
            place = i
    return place


@spliced
def row_of_inverse(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    place: int,
) -> int:
    """Compute rho and the pivot row; return the row's count, or -1 if the weight was too wrong.

    ``rho``'s own count is left at ``counts[ROW]``.
    """
    vectors.rho[place] = 1.0
    vectors.rho_pattern[0] = place
    count = btran(factor, vectors.rho, vectors.rho_pattern, 1)
    norm = 0.0
    for k in range(count):
        norm += vectors.rho[vectors.rho_pattern[k]] ** 2
    weight = iterate.weight[place]
    iterate.weight[place] = max(norm, WEIGHT_FLOOR)
    counts[WORK] += 4 * count
    if weight < WEIGHT_ERROR * norm:
        clear(vectors.rho, vectors.rho_pattern, count)
        return -1
    counts[ROW] = count
    listed = price_row(matrix, iterate, vectors, count)
    counts[WORK] += 4 * listed
    return int(listed)


@inner
def ratio_test(
    iterate: Iterate, vectors: Vectors, counts: IntArray, listed: int, sign: float, slope: float
) -> tuple[int, int, int]:
    """Return the candidate to enter, how many before it flip, and how many were near; or -1."""
    smallest = pivot_tolerance(counts[UPDATES])
    count = gather_candidates(iterate, vectors, listed, sign, smallest)
    if count == 0:
        return -1, 0, 0
    near = gather_near(vectors, count, slope)
    groups, left = split_groups(vectors, near, slope, HARRIS)
    if left > 1e-9 * (1.0 + slope):
        return -1, 0, 0
    at, first = choose_pivot(iterate.order, vectors, groups)
    return at, first, near
