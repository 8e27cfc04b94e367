"""Linear programs for engine tests: random ones with a known kind of answer, and HiGHS's answer."""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem


def random_lp(seed: int, rows: int, columns: int, density: float = 0.3) -> Problem:
    """Return a feasible, bounded LP with every kind of row and column.

    A primal point with slack in places and dual values that fit it are drawn first; sides,
    bounds and costs are put around them, so that the optimum exists.
    """
    generator = np.random.default_rng(seed)
    A = sp.random_array((rows, columns), density=density, format="csr", rng=generator)
    A.data = generator.uniform(-1.0, 1.0, A.nnz)
    x = generator.uniform(-2.0, 2.0, columns)
    y = generator.standard_normal(rows)
    z = generator.standard_normal(columns)
    row_lower, row_upper, y = _sides_around(generator, A @ x, y)
    lower, upper, z = _sides_around(generator, x, z)
    return Problem(
        A.T @ y + z, A, row_lower, row_upper, lower, upper, np.zeros(columns, bool), offset=3.5
    )


def _sides_around(generator, value, multiplier):
    """Return sides for which the value is feasible and complementary to the multiplier."""
    size = value.size
    kind = generator.integers(0, 6, size)
    low, high = value - generator.uniform(0.5, 3.0, size), value + generator.uniform(0.5, 3.0, size)
    at_low, at_high = multiplier > 0, multiplier < 0
    low[at_low], high[at_high] = value[at_low], value[at_high]
    high[at_low & (kind < 3)] = np.inf
    low[at_high & (kind < 3)] = -np.inf
    equal = kind == 5
    low[equal], high[equal] = value[equal], value[equal]
    free = kind == 4
    low[free], high[free] = -np.inf, np.inf
    return low, high, np.where(free, 0.0, multiplier)


def solve_with_highs(problem: Problem) -> tuple[str, float]:
    """Return HiGHS's model status by name and its objective."""
    highs = highspy.Highs()
    highs.silent()
    lp = highspy.HighsLp()
    A = problem.matrix
    lp.num_row_, lp.num_col_ = problem.num_rows, problem.num_columns
    lp.col_cost_, lp.offset_ = problem.cost, problem.offset
    lp.col_lower_, lp.col_upper_ = problem.lower, problem.upper
    lp.row_lower_, lp.row_upper_ = problem.row_lower, problem.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
    lp.a_matrix_.value_ = A.data
    highs.passModel(lp)
    highs.run()
    return highs.getModelStatus().name, highs.getInfo().objective_function_value


def read_mps(path: str, presolve: bool = False) -> Problem:
    """Read an MPS file through HiGHS, after its presolve if asked for."""
    highs = highspy.Highs()
    highs.silent()
    assert highs.readModel(path) == highspy.HighsStatus.kOk
    if presolve:
        highs.presolve()
    lp = highs.getPresolvedLp() if presolve else highs.getLp()
    kind = sp.csc_array if lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise else sp.csr_array
    matrix = kind(
        (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_),
        shape=(lp.num_row_, lp.num_col_),
    )
    return Problem(
        np.array(lp.col_cost_),
        matrix,
        np.array(lp.row_lower_),
        np.array(lp.row_upper_),
        np.array(lp.col_lower_),
        np.array(lp.col_upper_),
        np.zeros(lp.num_col_, bool),
        offset=lp.offset_,
    )
