"""CVXPY's problems by GPUHEUR: values, duals, statuses, bounds, warm starts and options."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

cp = pytest.importorskip("cvxpy")

from cvxpy.error import SolverError  # noqa: E402
from cvxpy.reductions.solvers import defines  # noqa: E402

from gpu_bridge.adapters.cvxpy import GPUHEUR  # noqa: E402
from solvers.core.errors import OptionError  # noqa: E402
from solvers.core.outcome import SolutionStatus  # noqa: E402

SOLVERS = ("GPUHEUR", "gpuheur", GPUHEUR())


def mix(*, integer: bool = False, most: float = 1.5, room: float = 7.0) -> cp.Problem:
    """Return a maximisation with a range, an equation and bounds, optimal at (2, 0.5, 1.5).

    With ``room`` for 8 the optimum is (2, 1, 1), and only one vector of duals belongs to it.
    """
    x = cp.Variable(3, integer=integer, bounds=[0, np.array([2.0, 10.0, 10.0])])
    rows = [2 * x[0] + 3 * x[1] + x[2] <= room, x[0] + x[1] + x[2] == 4, x[2] <= most]
    return cp.Problem(cp.Maximize(5 * x[0] + 4 * x[1] + 3 * x[2] + 7), rows)


@pytest.mark.parametrize("solver", SOLVERS)
def test_values_and_duals_are_those_of_highs(solver):
    ours, theirs = mix(room=8.0), mix(room=8.0)
    assert ours.solve(solver=solver) == pytest.approx(theirs.solve(solver=cp.HIGHS))
    assert ours.status == cp.OPTIMAL
    np.testing.assert_allclose(ours.variables()[0].value, theirs.variables()[0].value, atol=1e-8)
    for mine, other in zip(ours.constraints, theirs.constraints, strict=True):
        np.testing.assert_allclose(mine.dual_value, other.dual_value, atol=1e-8)
    assert ours.solver_stats.solver_name == "GPUHEUR"
    assert ours.solver_stats.extra_stats.solution_status is SolutionStatus.OPTIMAL


def test_a_mixed_integer_problem_has_values_and_a_bound():
    problem = mix(integer=True, most=2)
    assert problem.solve(solver="GPUHEUR") == pytest.approx(23)
    np.testing.assert_allclose(problem.variables()[0].value, [2, 0, 2])
    outcome = problem.solver_stats.extra_stats
    assert outcome.gap == 0
    assert [row.dual_value for row in problem.constraints] == [None] * 3


def test_binary_variables_keep_their_own_bounds():
    z = cp.Variable(3, boolean=True)
    problem = cp.Problem(cp.Maximize(cp.sum(z) + z[0]), [z[0] + 2 * z[1] <= 2.5, -z[2] <= 4])
    assert problem.solve(solver="GPUHEUR") == pytest.approx(3)
    np.testing.assert_allclose(z.value, [1, 0, 1])


def test_an_infeasible_problem_comes_with_a_certificate():
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(x[0]), [x >= 1, 2 * cp.sum(x) <= 3])
    assert problem.solve(solver="GPUHEUR") == np.inf
    assert problem.status == cp.INFEASIBLE
    at_least, at_most = (row.dual_value for row in problem.constraints)
    assert at_most > 0
    np.testing.assert_allclose(at_least, 2 * at_most)  # sum the rows: no x is left, and 4 <= 3
    assert x.value is None


@pytest.mark.parametrize(
    ("problem", "status", "value"),
    [
        (lambda x: cp.Problem(cp.Maximize(x), [x >= 1]), cp.UNBOUNDED, np.inf),
        (lambda x: cp.Problem(cp.Minimize(x), [x <= 1]), cp.UNBOUNDED, -np.inf),
        (lambda x: cp.Problem(cp.Maximize(x), [x >= 1, x <= 0]), cp.INFEASIBLE, -np.inf),
    ],
)
def test_without_an_optimum(problem, status, value):
    made = problem(cp.Variable())
    assert made.solve(solver="GPUHEUR") == value
    assert made.status == status


def test_crossed_bounds_are_infeasible():
    most = cp.Parameter(2, value=[3, -1])
    problem = cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, bounds=[0, most]))))
    problem.solve(solver="GPUHEUR")
    assert problem.status == cp.INFEASIBLE


def test_a_limit_without_a_point_raises_and_says_why():
    with pytest.raises(SolverError, match="the time limit was reached"):
        mix(integer=True).solve(solver="GPUHEUR", time_limit=0)


def test_a_limit_with_a_point_is_a_user_limit():
    rng = np.random.default_rng(3)
    z = cp.Variable(60, boolean=True)
    weights = rng.integers(10, 100, (5, 60)).astype(float)
    problem = cp.Problem(cp.Maximize(weights[0] @ z), [weights @ z <= weights.sum(axis=1) / 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some versions say that it may be inaccurate
        problem.solve(solver="GPUHEUR", heuristics_only=True, work_limit=0.01)
    assert problem.status in (cp.USER_LIMIT, cp.OPTIMAL_INACCURATE)
    assert (weights @ z.value <= weights.sum(axis=1) / 2 + 1e-6).all()


def test_a_second_solve_starts_from_the_last_basis():
    rng = np.random.default_rng(5)
    demand = cp.Parameter(20, value=rng.uniform(1, 2, 20))
    x = cp.Variable((20, 30), nonneg=True)
    cost = rng.uniform(1, 3, (20, 30))
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(cost, x))),
        [cp.sum(x, axis=1) >= demand, cp.sum(x, axis=0) <= 2],
    )
    options = {"solver": "GPUHEUR", "gpuheur_options": {"method": "simplex", "presolve": False}}
    problem.solve(**options)
    first = problem.solver_stats.num_iters
    demand.value = demand.value * 1.01
    problem.solve(**options)
    warm = problem.solver_stats.num_iters
    x.value = None
    problem.solve(**options, warm_start=False)
    assert warm < first
    assert warm < problem.solver_stats.num_iters


def test_options_are_those_of_the_table(capsys):
    with pytest.raises(OptionError, match="'spam'"):
        mix().solve(solver="GPUHEUR", spam=1)
    mix().solve(solver="GPUHEUR", verbose=True, TimeLimit=60, gpuheur_options={"method": "pdlp"})
    assert "pdlp" in capsys.readouterr().out
    mix().solve(solver="GPUHEUR", time_limit_sec=60, highs_options={"method": "pdlp", "log": True})
    assert "pdlp" in capsys.readouterr().out


def test_what_is_not_linear_is_refused_by_cvxpy():
    x = cp.Variable()
    with pytest.raises(SolverError, match=r"cannot solve|do not support"):
        cp.Problem(cp.Minimize(cp.square(x))).solve(solver="GPUHEUR")


def test_the_solver_is_never_cvxpys_own_choice():
    problem = mix()
    problem.solve()
    assert problem.solver_stats.solver_name != "GPUHEUR"
    assert "GPUHEUR" in cp.installed_solvers()
    assert list(defines.SOLVER_MAP_CONIC)[-1] == "GPUHEUR"
