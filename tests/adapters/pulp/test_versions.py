"""What is said in PuLP 3's words, and what in PuLP 4's."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pulp
import pytest

from gpu_bridge.adapters.pulp.statuses import pulp_3_statuses, pulp_4_status
from gpu_bridge.adapters.pulp.version import clocks, has_rust_core
from gpu_bridge.outcome import Outcome
from solvers.core.errors import ProblemError
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from tests.adapters.pulp.models import (
    PULP_4,
    pulp_3_only,
    pulp_4_only,
    small,
    solve,
    solver,
)
from tests.cases import through

from_pulp_4_2 = pytest.mark.skipif(
    not hasattr(pulp.LpProblem, "add_column"), reason="about methods that came with PuLP 4.2"
)

FEASIBLE, NOTHING = SolutionStatus.FEASIBLE, SolutionStatus.NOTHING


def test_the_version_is_told_by_the_model() -> None:
    assert has_rust_core(small()) is PULP_4
    assert (clocks() is not None) is PULP_4
    assert pulp.__version__ if PULP_4 else pulp.VERSION[0] in "23"


@pulp_3_only
def test_the_model_holds_status_and_bound() -> None:
    lp = small(pulp.LpMaximize)
    assert lp.solve(solver()) == pulp.LpStatusOptimal == lp.status
    assert lp.sol_status == pulp.LpSolutionOptimal
    assert lp.bestBound == pytest.approx(-54)
    assert lp.solutionTime >= 0
    lp.variablesDict()["z"].upBound = 1
    assert lp.solve(solver()) == pulp.LpStatusInfeasible == lp.status
    assert lp.sol_status == pulp.LpSolutionInfeasible
    assert lp.bestBound is None


@pulp_3_only
@pytest.mark.parametrize(
    ("status", "words"),
    [
        (SolutionStatus.OPTIMAL, ("Optimal", "Optimal Solution Found")),
        (FEASIBLE, ("Optimal", "Solution Found")),
        (SolutionStatus.INFEASIBLE, ("Infeasible", "No Solution Exists")),
        (SolutionStatus.UNBOUNDED, ("Unbounded", "Solution is Unbounded")),
        (NOTHING, ("Not Solved", "No Solution Found")),
    ],
)
def test_statuses_of_pulp_3(status: SolutionStatus, words: tuple[str, str]) -> None:
    held, solution = pulp_3_statuses(Outcome(status, StopReason.TIME_LIMIT))
    assert (pulp.LpStatus[held], pulp.LpSolution[solution]) == words


@pulp_4_only
@pytest.mark.parametrize("sense", [pulp.LpMinimize, pulp.LpMaximize])
def test_the_statistics(sense: int) -> None:
    sign = -1 if sense == pulp.LpMaximize else 1
    lp = small(sense)
    stats = lp.solve(solver(threads=1))
    assert stats.status is pulp.LpSolveStatus.Optimal
    assert stats.has_solution is True
    assert stats.objective == pytest.approx(sign * 54)
    assert stats.best_bound == pytest.approx(sign * 54)
    assert (stats.num_variables, stats.num_constraints, stats.is_mip) == (3, 3, False)
    assert stats.solver_options == solver(threads=1).toDict()
    assert stats.time > 0
    lp.variablesDict()["z"].upBound = 1
    stats = lp.solve(solver())
    assert stats.status is pulp.LpSolveStatus.Infeasible
    assert (stats.has_solution, stats.objective, stats.best_bound) == (False, None, None)


@pulp_4_only
@through(
    ("status", "reason", "integer", "expected"),
    [
        (SolutionStatus.OPTIMAL, StopReason.CONVERGED, True, "Optimal"),
        (SolutionStatus.INFEASIBLE, StopReason.CONVERGED, True, "Infeasible"),
        (SolutionStatus.UNBOUNDED, StopReason.CONVERGED, False, "Unbounded"),
        (FEASIBLE, StopReason.TIME_LIMIT, True, "TimeLimit"),
        (NOTHING, StopReason.TIME_LIMIT, False, "TimeLimit"),
        (FEASIBLE, StopReason.ITERATION_LIMIT, True, "NodeLimit"),
        (NOTHING, StopReason.ITERATION_LIMIT, False, "IterationLimit"),
        (FEASIBLE, StopReason.INTERRUPTED, True, "Interrupted"),
        (FEASIBLE, StopReason.EXHAUSTED, True, "Stopped"),
        (NOTHING, StopReason.NUMERICAL_TROUBLE, False, "NumericalError"),
        (NOTHING, StopReason.OUT_OF_MEMORY, False, "MemoryLimit"),
        (NOTHING, StopReason.CONVERGED, False, "Undefined"),
    ],
)
def test_statuses_of_pulp_4(
    status: SolutionStatus, reason: StopReason, integer: bool, expected: str
) -> None:
    problem = Problem.from_arrays([1.0], integrality=integer)
    answer = pulp_4_status(Outcome(status, reason, problem=problem))
    assert answer == (pulp.LpSolveStatus[expected], status.has_point)
    if status in (FEASIBLE, NOTHING):
        unknown = dataclasses.replace(Outcome(status, reason), problem=None)
        assert pulp_4_status(unknown)[1] is status.has_point


@pulp_4_only
def test_every_reason_has_a_status_of_pulp_4() -> None:
    for status in SolutionStatus:
        for reason in StopReason:
            answer, held = pulp_4_status(Outcome(status, reason))
            assert isinstance(answer, pulp.LpSolveStatus)
            assert held is status.has_point


@pulp_4_only
def test_limits_by_name() -> None:
    lp = pulp.LpProblem("knapsack", pulp.LpMaximize)
    random = np.random.default_rng(4)
    items = [lp.add_variable(f"x{j}", cat="Binary") for j in range(60)]
    lp += pulp.lpDot(random.integers(10, 99, 60).tolist(), items)
    for _ in range(20):
        lp += pulp.lpDot(random.integers(10, 99, 60).tolist(), items) <= 900
    for item in items:
        item.setInitialValue(0)
    stats = lp.solve(solver(warmStart=True, node_limit=0))
    assert (stats.status, stats.has_solution) == (pulp.LpSolveStatus.NodeLimit, True)
    assert stats.objective == pulp.value(lp.objective)
    assert stats.best_bound is None or stats.best_bound >= stats.objective
    assert small().solve(solver(timeLimit=0)).status is pulp.LpSolveStatus.TimeLimit


@from_pulp_4_2
def test_variables_that_are_used_nowhere_are_no_columns() -> None:
    lp = small()
    lp.add_variable("unused", 1, 2)
    y = lp.variablesDict()["y"]
    lp.remove_variables([y])
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert sorted(lp.solverModel.arrays.column_names) == ["x", "z"]
    assert y.varValue is None


@from_pulp_4_2
def test_a_column_added_between_solves() -> None:
    lp = small()
    assert solve(lp) is SolutionStatus.OPTIMAL
    row = lp.get_constraint_by_name("c2")
    w = lp.add_column("w", 0, 2, obj=1, coefficients={row: 1})
    lp.get_constraint_by_name("c3").changeRHS(4)
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert pulp.value(lp.objective) == pytest.approx(4 + 4 * 0 + 9 * 4 + 2)
    assert w.varValue == pytest.approx(2)


@pulp_4_only
def test_a_bound_that_is_no_number_is_named() -> None:
    lp = small()
    lp.variablesDict()["x"].upBound = math.nan
    with pytest.raises(ProblemError, match="'x' is NaN"):
        lp.solve(solver())
