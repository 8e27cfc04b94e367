"""Models that make trouble, through the door, by every engine: what the engines' own tests lack."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_bridge as gb
from gpu_bridge.classify import ProblemKind, classify
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from tests.cases import through

LP_METHODS = ("highs", "pdlp", "simplex")


def _covering(matrix: sp.csr_array, seed: int) -> Problem:
    """A feasible and bounded LP with these coefficients, whose optimum is unique as a rule."""
    rng = np.random.default_rng(seed)
    x = rng.random(matrix.shape[1])
    return Problem.from_arrays(
        rng.uniform(1.0, 2.0, matrix.shape[1]), matrix, row_lower=matrix @ x, upper=2.0
    )


def one_dense_column() -> Problem:
    rng = np.random.default_rng(1)
    rest = sp.random_array((300, 200), density=0.02, rng=rng, format="csr")
    return _covering(sp.csr_array(sp.hstack([np.ones((300, 1)), rest])), 1)


def one_long_row() -> Problem:
    rng = np.random.default_rng(2)
    n = 20_000
    long_row = sp.csr_array(rng.uniform(0.5, 1.5, (1, n)))
    short = sp.csr_array((np.ones(6), (np.repeat(np.arange(3), 2), np.arange(6))), shape=(3, n))
    return _covering(sp.csr_array(sp.vstack([short, long_row])), 2)


def duplicated_rows() -> Problem:
    rng = np.random.default_rng(3)
    block = sp.random_array((40, 30), density=0.2, rng=rng, format="csr")
    return _covering(sp.csr_array(sp.vstack([block, block, 3.0 * block])), 3)


def no_costs() -> Problem:
    problem = duplicated_rows()
    return problem.with_cost(np.zeros(problem.num_columns))


def twelve_decades() -> Problem:
    """Rows and columns in units that spread the coefficients over twelve decades."""
    rng = np.random.default_rng(4)
    n = 40
    rest = sp.random_array((60, n), density=0.2, rng=rng, format="csr")
    units = sp.diags_array(10.0 ** rng.uniform(-3.0, 3.0, n))
    rows = sp.diags_array(10.0 ** rng.uniform(-3.0, 3.0, 60))
    matrix = sp.csr_array(rows @ rest @ units)
    x = rng.random(n) / units.diagonal()
    cost = rng.uniform(1.0, 2.0, n) * units.diagonal()
    return Problem.from_arrays(cost, matrix, row_lower=matrix @ x, upper=2.0 / units.diagonal())


def mostly_empty() -> Problem:
    """Two hundred thousand rows and columns without coefficients around a few with some."""
    core = one_dense_column()
    more = 200_000
    matrix = sp.csr_array(sp.block_diag([core.matrix, sp.csr_array((more, more))]))
    return Problem.from_arrays(
        np.concatenate([core.cost, np.ones(more)]),
        matrix,
        row_lower=np.concatenate([core.row_lower, np.full(more, -1.0)]),
        upper=2.0,
    )


@pytest.mark.parametrize("method", LP_METHODS)
@through(
    "model",
    [one_dense_column, one_long_row, duplicated_rows, no_costs, twelve_decades, mostly_empty],
)
def test_awkward_structures(model: object, method: str) -> None:
    problem = model()  # type: ignore[operator]
    outcome = gb.solve(problem, method=method, device="cpu")
    reference = gb.solve(problem, method="highs", lp_algorithm="ipm")
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(reference.objective, rel=1e-6)


@pytest.mark.parametrize("method", LP_METHODS)
def test_an_iteration_limit_ends_a_solve_with_what_is_known(method: str) -> None:
    problem = one_dense_column()
    limited = {"iteration_limit": 1, "presolve": False, "crossover": "off"}
    outcome = gb.solve(problem, method=method, device="cpu", **limited)  # type: ignore[arg-type]
    assert outcome.solution_status in (SolutionStatus.NOTHING, SolutionStatus.FEASIBLE)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    full = gb.solve(problem, method="highs").objective
    if outcome.solution_status is SolutionStatus.FEASIBLE:
        assert outcome.objective >= full - 1e-6
    assert not outcome.bound > full + 1e-6


def _knapsack(profit: object, weight: object, capacity: float, upper: object = 1.0) -> Problem:
    return Problem.from_arrays(
        profit,  # type: ignore[arg-type]
        [weight],
        row_upper=capacity,
        upper=upper,  # type: ignore[arg-type]
        integrality=True,
        maximize=True,
    )


KNAPSACKS = {
    "capacity 0": (_knapsack([3, 2], [1, 0], 0.0), 2.0),
    "negative capacity": (_knapsack([3, 2], [1, 1], -1.0), None),
    "negative capacity met by a negative weight": (_knapsack([3, -2], [1, -3], -1.0), 1.0),
    "zero and negative profits": (_knapsack([0, -5, 4], [1, 1, 1], 2.0), 4.0),
    "an item heavier than the capacity": (_knapsack([100, 2], [10, 1], 5.0), 2.0),
    "none fits": (_knapsack([3, 2], [10, 20], 5.0), 0.0),
    "all fit": (_knapsack([3, 2], [1, 1], 5.0), 5.0),
    "equal items": (_knapsack([3] * 50, [7] * 50, 100.0), 42.0),
    "capacity 1e12": (_knapsack([3, 2, 4], [5e11, 5e11 - 1, 5e11 + 1], 1e12), 6.0),
    "capacity beyond 2^53": (_knapsack([3, 2], [2.0**52, 2.0**52], 2.0**53, 9.0), 6.0),
    "sums beyond 2^63": (_knapsack([3, 2], [2.0**52, 2.0**52], 2.0**62, 2.0**30), None),
    "fractional data": (_knapsack([0.3, 0.2, 0.25], [0.1, 0.2, 0.3], 0.3), 0.5),
    "a capacity that is a sum of decimals": (_knapsack([3, 2], [0.1, 0.2], 0.1 + 0.2), 5.0),
}


@through("name", [name for name in KNAPSACKS if "2^63" not in name])
@pytest.mark.parametrize("method", ["auto", "highs", "mip"])
def test_knapsacks(name: str, method: str) -> None:
    problem, best = KNAPSACKS[name]
    outcome = gb.solve(problem, method=method, device="cpu", rel_gap=0.0)
    if best is None:
        assert outcome.solution_status is SolutionStatus.INFEASIBLE
        return
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(best, abs=1e-9)


def test_sums_that_leave_whole_numbers_go_to_another_engine() -> None:
    problem, _ = KNAPSACKS["sums beyond 2^63"]
    assert classify(problem).kind is ProblemKind.MIP
    outcome = gb.solve(problem, device="cpu")
    assert outcome.solution_status.has_point
    assert outcome.objective <= 3.0 * 2.0**10 * (1 + 1e-9)
