"""What an answer of the batched simplex method has to be, by HiGHS and by its own data."""

from __future__ import annotations

import highspy
import numpy as np

from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.outcome import BasisStatus
from solvers.core.problem import Problem
from solvers.simplex.batch import BatchAnswer, BatchData, Ending
from tests.simplex.batch.cases import member

STATUSES = {
    highspy.HighsModelStatus.kOptimal: Ending.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Ending.INFEASIBLE,
    highspy.HighsModelStatus.kUnbounded: Ending.UNBOUNDED,
}


def by_highs(problem: Problem) -> tuple[Ending, float]:
    """Return what HiGHS says of an LP with at least one column."""
    lp = highspy.HighsLp()
    A = problem.matrix
    lp.num_row_, lp.num_col_ = A.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = problem.cost, problem.lower, problem.upper
    lp.row_lower_, lp.row_upper_ = problem.row_lower, problem.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
    lp.a_matrix_.value_ = A.data
    highs = highspy.Highs()
    highs.silent()
    highs.setOptionValue("presolve", "off")
    highs.passModel(lp)
    highs.run()
    return STATUSES[highs.getModelStatus()], highs.getInfo().objective_function_value


def assert_right(data: BatchData, answer: BatchAnswer, k: int, tolerance: float = 1e-7) -> None:
    """Compare one LP's ending with HiGHS, and prove what is said by its own data."""
    problem = member(data, k)
    ending, objective = by_highs(problem)
    assert answer.ending[k] == ending
    if ending == Ending.INFEASIBLE:
        assert proves_infeasible(problem, answer.row_dual[k])
        return
    assert_feasible(problem, answer.x[k], tolerance)
    if ending == Ending.UNBOUNDED:
        assert proves_unbounded(problem, answer.rays[k])
        return
    found = problem.objective_at(answer.x[k])
    assert abs(found - objective) <= tolerance * (1.0 + abs(objective))
    assert_optimal(problem, answer, k, tolerance)


def assert_feasible(problem: Problem, x: np.ndarray, tolerance: float) -> None:
    assert (problem.lower <= x).all()
    assert (x <= problem.upper).all()
    activity = problem.matrix @ x
    size = tolerance * (1.0 + np.abs(activity))
    assert (problem.row_lower - size <= activity).all()
    assert (activity <= problem.row_upper + size).all()


def assert_optimal(problem: Problem, answer: BatchAnswer, k: int, tolerance: float) -> None:
    """Check signs of duals by the statuses, and that variables stand where these say."""
    x, y, status = answer.x[k], answer.row_dual[k], answer.basis[k]
    price = np.concatenate([problem.cost - problem.matrix.T @ y, y])
    at = np.concatenate([x, problem.matrix @ x])
    lower = np.concatenate([problem.lower, problem.row_lower])
    upper = np.concatenate([problem.upper, problem.row_upper])
    size = tolerance * (1.0 + np.abs(problem.cost).max(initial=0.0))
    movable = lower < upper
    assert (np.abs(price[status == BasisStatus.BASIC]) <= size).all()
    assert (price[(status == BasisStatus.LOWER) & movable] >= -size).all()
    assert (price[(status == BasisStatus.UPPER) & movable] <= size).all()
    assert (np.abs(price[status == BasisStatus.ZERO]) <= size).all()
    for name, bound in (("LOWER", lower), ("UPPER", upper)):
        there = status == BasisStatus[name]
        np.testing.assert_allclose(at[there], bound[there], rtol=tolerance, atol=tolerance)
    assert np.count_nonzero(status == BasisStatus.BASIC) == problem.num_rows
