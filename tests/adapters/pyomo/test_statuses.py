"""Every answer and reason to stop has statuses in both interfaces, and none overstates."""

from __future__ import annotations

from itertools import product

import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.results import SolutionStatus as NewStatus
from pyomo.contrib.solver.common.results import TerminationCondition as NewCondition
from pyomo.opt import SolverResults, SolverStatus, TerminationCondition

from gpu_bridge.adapters.pyomo.statuses import new_condition, new_status, old_statuses
from solvers.core.outcome import SolutionStatus, StopReason
from tests.cases import through

PAIRS = list(product(SolutionStatus, StopReason))


@through(("status", "reason"), PAIRS)
def test_only_a_proven_optimum_reads_as_optimal(status: SolutionStatus, reason: StopReason) -> None:
    optimal = status is SolutionStatus.OPTIMAL
    converged = NewCondition.convergenceCriteriaSatisfied
    assert (new_condition(status, reason) == converged) is optimal
    assert (new_status(status) == NewStatus.optimal) is optimal
    old = SolverResults()
    old.solver.status, old.solver.termination_condition, _ = old_statuses(status, reason)
    assert pyo.check_optimal_termination(old) is optimal


@pytest.mark.parametrize("reason", StopReason)
def test_proofs_keep_their_names(reason: StopReason) -> None:
    infeasible, unbounded = SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED
    assert new_condition(infeasible, reason) == NewCondition.provenInfeasible
    assert old_statuses(infeasible, reason)[:2] == (
        SolverStatus.warning,
        TerminationCondition.infeasible,
    )
    assert new_condition(unbounded, reason) == NewCondition.unbounded
    assert old_statuses(unbounded, reason)[1] == TerminationCondition.unbounded
    assert new_status(infeasible) == new_status(unbounded) == NewStatus.noSolution


@through("status", [SolutionStatus.FEASIBLE, SolutionStatus.APPROXIMATE, SolutionStatus.NOTHING])
@through(
    ("reason", "new", "old"),
    [
        (StopReason.TIME_LIMIT, NewCondition.maxTimeLimit, TerminationCondition.maxTimeLimit),
        (
            StopReason.ITERATION_LIMIT,
            NewCondition.iterationLimit,
            TerminationCondition.maxIterations,
        ),
        (StopReason.INTERRUPTED, NewCondition.interrupted, TerminationCondition.userInterrupt),
    ],
)
def test_limits_keep_their_names(
    status: SolutionStatus, reason: StopReason, new: NewCondition, old: TerminationCondition
) -> None:
    assert new_condition(status, reason) == new
    assert old_statuses(status, reason)[:2] == (SolverStatus.aborted, old)


def test_an_unproven_point_without_limit_is_feasible() -> None:
    found = old_statuses(SolutionStatus.FEASIBLE, StopReason.EXHAUSTED)
    assert found[:2] == (SolverStatus.ok, TerminationCondition.feasible)
    assert new_status(SolutionStatus.FEASIBLE) == NewStatus.feasible


def test_an_approximate_point_is_not_called_feasible_nor_an_error() -> None:
    found = old_statuses(SolutionStatus.APPROXIMATE, StopReason.NUMERICAL_TROUBLE)
    assert found[:2] == (SolverStatus.warning, TerminationCondition.unknown)
    trouble = new_condition(SolutionStatus.APPROXIMATE, StopReason.NUMERICAL_TROUBLE)
    assert trouble == NewCondition.unknown
    assert new_status(SolutionStatus.APPROXIMATE) == NewStatus.infeasible
