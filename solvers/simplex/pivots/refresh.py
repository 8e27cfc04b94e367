"""Compiled recomputation of basic values and reduced costs from a factorisation."""

from __future__ import annotations

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import FactorArrays
from solvers.simplex.factor.inner import inner, outer
from solvers.simplex.pivots.arrays import (
    FOR_DUAL,
    FOR_PRIMAL,
    PHASE,
    IntArray,
    Iterate,
    Matrix,
    Vectors,
)
from solvers.simplex.pivots.basis import btran, ftran, list_nonzeros
from solvers.simplex.pivots.compilation import spliced
from solvers.simplex.pivots.primal_step import measure_gradient
from solvers.simplex.pivots.products import (
    basic_dual_residual,
    basic_residual,
    clear,
    gather_basics,
    nonbasic_activity,
    price_all,
    put_on_bounds,
)
from solvers.simplex.state import BASIC, LOWER, UPPER

REFINEMENTS = 1
"""Solves with what rounding has left, after the first."""


@spliced
def compute_values(
    factor: FactorArrays, matrix: Matrix, iterate: Iterate, vectors: Vectors
) -> None:
    """Put nonbasic variables on their bounds and solve for the basic ones, with refinement."""
    put_on_bounds(iterate)
    iterate.value[:] = 0.0
    for _ in range(1 + REFINEMENTS):
        nonbasic_activity(matrix, iterate, vectors.tau)
        basic_residual(matrix, iterate, vectors.tau)
        count = list_nonzeros(vectors.tau, vectors.tau_pattern)
        count = ftran(factor, vectors.tau, vectors.tau_pattern, count)
        for k in range(count):
            i = vectors.tau_pattern[k]
            iterate.value[i] += vectors.tau[i]
        clear(vectors.tau, vectors.tau_pattern, count)


@spliced
def compute_duals(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    cost: FloatArray,
) -> None:
    """Solve B'dual = c_B with refinement, and price all variables with it."""
    dual = vectors.dual
    dual[:] = 0.0
    for _ in range(1 + REFINEMENTS):
        basic_dual_residual(matrix, iterate, cost, dual, vectors.tau)
        count = list_nonzeros(vectors.tau, vectors.tau_pattern)
        count = btran(factor, vectors.tau, vectors.tau_pattern, count)
        for k in range(count):
            i = vectors.tau_pattern[k]
            dual[i] += vectors.tau[i]
        clear(vectors.tau, vectors.tau_pattern, count)
    price_all(matrix, iterate, cost, dual, iterate.reduced_cost)


@inner
def correct_duals(iterate: Iterate, tolerance: float) -> None:
    """Make reduced costs of the wrong sign right: flip boxed variables, shift costs of others."""
    d = iterate.reduced_cost
    for j in range(d.size):
        status = iterate.status[j]
        if status == BASIC or iterate.lower[j] == iterate.upper[j]:
            continue
        if status == LOWER:
            wrong = d[j] < -tolerance
        elif status == UPPER:
            wrong = d[j] > tolerance
        else:
            wrong = abs(d[j]) > tolerance
        if not wrong:
            continue
        if iterate.upper[j] - iterate.lower[j] < float("inf"):
            iterate.status[j] = UPPER if status == LOWER else LOWER
        else:
            iterate.cost[j] -= d[j]
            d[j] = 0.0


@outer
def recompute(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    counts: IntArray,
    tolerance: float,
    purpose: int,
) -> None:
    """Compute values and reduced costs for dual pivots, for primal ones, or for who looks on.

    Before dual pivots the duals are made feasible; before primal ones the phase is chosen, and
    the reduced costs are those of its objective.
    """
    if purpose == FOR_PRIMAL:
        compute_values(factor, matrix, iterate, vectors)
        gather_basics(iterate, tolerance)
        counts[PHASE] = 1 if measure_gradient(iterate) > 0 else 2
        if counts[PHASE] == 2:
            compute_duals(factor, matrix, iterate, vectors, iterate.cost)
            return
        for place in range(iterate.basic.size):
            vectors.row[iterate.basic[place]] = iterate.gradient[place]
        compute_duals(factor, matrix, iterate, vectors, vectors.row)
        vectors.row[:] = 0.0
        return
    compute_duals(factor, matrix, iterate, vectors, iterate.cost)
    if purpose == FOR_DUAL:
        correct_duals(iterate, tolerance)
    compute_values(factor, matrix, iterate, vectors)
    gather_basics(iterate, tolerance)
    for place in range(iterate.basic.size):
        iterate.x[iterate.basic[place]] = iterate.value[place]
