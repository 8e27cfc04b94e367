"""Compiled recomputation of basic values and reduced costs from a factorisation."""

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import FactorArrays
from solvers.simplex.pivots.arrays import Iterate, Matrix, Vectors
from solvers.simplex.pivots.basis import btran, ftran, list_nonzeros
from solvers.simplex.pivots.products import (
    basic_dual_residual,
    basic_residual,
    clear,
    nonbasic_activity,
    price_all,
    put_on_bounds,
)
from solvers.simplex.state import BASIC, LOWER, UPPER

REFINEMENTS = 1
"""Solves with what rounding has left, after the first."""


@compiled
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


@compiled
def compute_duals(
    factor: FactorArrays,
    matrix: Matrix,
    iterate: Iterate,
    vectors: Vectors,
    cost: FloatArray,
    dual: FloatArray,
) -> None:
    """Solve B'dual = c_B with refinement, and price all variables with it."""
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


@compiled
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
