"""The new solver interface: results, options, loading, warm start and trouble."""

from __future__ import annotations

import io
import logging
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.util import (
    NoDualsError,
    NoFeasibleSolutionError,
    NoOptimalSolutionError,
    NoReducedCostsError,
    NoSolutionError,
)

import gpu_bridge.adapters.pyomo.solve_model as solve_model
from gpu_bridge.adapters.pyomo import GpuHeur
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome, PoolSolution, StopReason
from solvers.core.errors import DeviceError, OptionError
from solvers.core.outcome import SolutionStatus as Status
from tests.adapters.pyomo.models import Dispatch, infeasible, knapsack, production


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Dispatch:
    """Let every solve end at the time limit with the point (1, 2) and a bound."""
    outcome = Outcome(
        Status.FEASIBLE, StopReason.TIME_LIMIT, objective=7.0, bound=16.0, x=np.array([1.0, 2.0])
    )
    fake = Dispatch(outcome)
    monkeypatch.setattr(solve_model, "dispatch", fake)
    return fake


def test_every_field_is_filled() -> None:
    m = production()
    results = SolverFactory("gpuheur").solve(m)
    assert results.termination_condition == TerminationCondition.convergenceCriteriaSatisfied
    assert results.solution_status == SolutionStatus.optimal
    assert (results.incumbent_objective, results.objective_bound) == pytest.approx((16, 16))
    assert results.solver_name == "gpuheur"
    assert all(isinstance(part, int) for part in results.solver_version)
    assert results.timing_info.wall_time > 0
    assert set(results.timing_info.timer.timers) >= {"convert", "solve", "load"}
    assert results.extra_info.gap == pytest.approx(0, abs=1e-9)
    assert results.extra_info.engine == "highs"
    assert results.extra_info.device == "cpu"
    assert results.extra_info.residuals.primal <= 1e-6
    assert results.extra_info.solve_seconds > 0
    assert results.extra_info.conflict is None
    assert "Objective   16" in results.solver_log
    assert results.solution_loader.outcome.problem.num_columns == 2
    assert (m.x.value, m.y.value) == pytest.approx((4, 2))


def test_values_can_be_taken_without_loading() -> None:
    m = production()
    loader = GpuHeur().solve(m, load_solutions=False).solution_loader
    assert m.x.value is None
    assert dict(zip("xy", loader.get_vars().values(), strict=True)) == {"x": 4, "y": 2}
    assert list(loader.get_vars([m.y]).items()) == [(m.y, 2)]
    assert loader.get_duals() == {m.limit: pytest.approx(2)}
    assert loader.get_duals([m.limit]) == {m.limit: pytest.approx(2)}
    assert loader.get_reduced_costs([m.x])[m.x] == pytest.approx(1)
    assert loader.get_slacks() == {m.limit: pytest.approx(0)}
    loader.load_vars([m.x])
    assert (m.x.value, m.y.value) == (4, None)
    m.other = pyo.Var()
    with pytest.raises(KeyError, match="'other' took no part"):
        loader.get_vars([m.other])


def test_infeasible_raises_with_the_conflict_and_keeps_the_values() -> None:
    m = infeasible()
    with pytest.raises(NoOptimalSolutionError, match=r"(?s)at_least.*at_most|at_most.*at_least"):
        GpuHeur().solve(m)
    with pytest.raises(NoFeasibleSolutionError):
        GpuHeur().solve(m, raise_exception_on_nonoptimal_result=False)
    results = GpuHeur().solve(m, raise_exception_on_nonoptimal_result=False, load_solutions=False)
    assert results.termination_condition == TerminationCondition.provenInfeasible
    assert results.solution_status == SolutionStatus.noSolution
    assert results.incumbent_objective is None
    assert results.objective_bound is None
    assert results.solution_loader.get_number_of_solutions() == 0
    assert results.solution_loader.get_solution_ids() == []
    assert {"at_least", "at_most"} <= {
        results.solution_loader.converted.problem.row_label(row)
        for row in results.extra_info.conflict.rows
    }
    assert (m.x.value, m.y.value) == (1.5, 2.5)
    for read, error in (
        (results.solution_loader.get_vars, NoSolutionError),
        (results.solution_loader.get_duals, NoDualsError),
        (results.solution_loader.get_reduced_costs, NoReducedCostsError),
        (results.solution_loader.get_slacks, NoSolutionError),
    ):
        with pytest.raises(error):
            read()


@pytest.mark.parametrize("crossing", [1e-3, 1.0])
def test_crossed_bounds_are_infeasible_not_an_error(crossing: float) -> None:
    m = production()
    m.x.bounds = (2 + crossing, 2)
    results = GpuHeur().solve(m, raise_exception_on_nonoptimal_result=False, load_solutions=False)
    assert results.termination_condition == TerminationCondition.provenInfeasible
    assert "'x'" in results.extra_info.message


def test_bounds_crossed_by_rounding_are_closed() -> None:
    m = production()
    m.x.bounds = (2 + 1e-9, 2)
    GpuHeur().solve(m)
    assert m.x.value == pytest.approx(2)


def test_constant_row_that_fails_is_infeasible_without_a_solve() -> None:
    m = production()
    m.x.fix(4)
    m.y.fix(3)
    results = GpuHeur().solve(m, raise_exception_on_nonoptimal_result=False, load_solutions=False)
    assert results.termination_condition == TerminationCondition.provenInfeasible
    assert "'limit'" in results.extra_info.message


def test_unbounded() -> None:
    m = production()
    m.limit.deactivate()
    results = GpuHeur().solve(m, raise_exception_on_nonoptimal_result=False, load_solutions=False)
    assert results.termination_condition == TerminationCondition.unbounded


def test_time_limit_zero() -> None:
    m = knapsack()
    results = GpuHeur().solve(
        m, time_limit=0, raise_exception_on_nonoptimal_result=False, load_solutions=False
    )
    assert results.termination_condition == TerminationCondition.maxTimeLimit
    with pytest.raises(NoOptimalSolutionError, match="time limit"):
        GpuHeur().solve(m, time_limit=0)


def test_no_objective() -> None:
    m = production()
    m.profit.deactivate()
    results = GpuHeur().solve(m)
    assert results.solution_status == SolutionStatus.optimal
    assert results.incumbent_objective is results.objective_bound is None
    assert results.solution_loader.get_duals() == {m.limit: 0}


def test_empty_model_is_optimal_at_its_constant() -> None:
    m = pyo.ConcreteModel()
    m.obj = pyo.Objective(expr=7.0)
    results = GpuHeur().solve(m)
    assert results.solution_status == SolutionStatus.optimal
    assert results.incumbent_objective == 7


def test_unproven_point_is_feasible_not_optimal(stopped: Dispatch) -> None:
    m = production()
    results = GpuHeur().solve(m, raise_exception_on_nonoptimal_result=False)
    assert results.solution_status == SolutionStatus.feasible
    assert results.termination_condition == TerminationCondition.maxTimeLimit
    assert (results.incumbent_objective, results.objective_bound) == (7, 16)
    assert results.extra_info.gap == pytest.approx(9 / 7)
    assert not pyo.check_optimal_termination(results)
    assert (m.x.value, m.y.value) == (1, 2)
    m.x.value = 0.5
    with pytest.raises(NoOptimalSolutionError):
        GpuHeur().solve(m)
    assert m.x.value == 0.5


def test_what_is_left_of_the_time_limit_is_passed_on(stopped: Dispatch) -> None:
    GpuHeur().solve(production(), time_limit=100, raise_exception_on_nonoptimal_result=False)
    assert stopped.options is not None
    assert stopped.options.time_limit is not None
    assert 0 < stopped.options.time_limit < 100


def test_options_by_pyomo_and_bridge_names(stopped: Dispatch) -> None:
    solver = GpuHeur(threads=2)
    solver.config.rel_gap = 0.5
    more = {"raise_exception_on_nonoptimal_result": False}
    solver.solve(production(), abs_gap=3, solver_options={"seed": 4, "tolerance": 1e-7}, **more)
    assert stopped.options is not None
    given = stopped.options
    assert (given.threads, given.rel_gap, given.abs_gap) == (2, 0.5, 3)
    assert (given.seed, given.tolerance) == (4, 1e-7)
    solver.solve(production(), **more)
    assert stopped.options.abs_gap == Options().abs_gap
    assert stopped.options.seed == 0
    solver.solve(production(), threads=3, solver_options={"threads": 5}, **more)
    assert stopped.options.threads == 5


def test_bad_options_are_refused_before_anything_else() -> None:
    m = production()
    with pytest.raises(OptionError, match="did you mean 'tolerance'"):
        GpuHeur().solve(m, solver_options={"tolerence": 1e-6})
    with pytest.raises(OptionError, match="threads"):
        GpuHeur().solve(m, solver_options={"threads": "many"})
    with pytest.raises(ValueError, match="time_limit"):
        GpuHeur().solve(m, time_limit=-1)
    with pytest.raises(ValueError, match="timelimits"):
        GpuHeur().solve(m, timelimits=1)


def test_a_gpu_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(DeviceError):
        GpuHeur().solve(production(), solver_options={"device": "cuda"})


def test_warm_start_takes_what_values_there_are(stopped: Dispatch) -> None:
    m = production()
    m.y.domain = pyo.NonNegativeIntegers
    m.x.value = 1.5
    quiet = {"raise_exception_on_nonoptimal_result": False, "load_solutions": False}
    for config, expected in (
        ({}, None),
        ({"warmstart": True}, [1.5, np.nan]),
        ({"warmstart_discrete_vars": True}, None),
    ):
        GpuHeur().solve(m, **config, **quiet)
        start = None if stopped.start is None else stopped.start.x
        assert (start is None) == (expected is None)
        np.testing.assert_equal(start, None if expected is None else np.array(expected))
    m.y.value = 3
    GpuHeur().solve(m, warmstart_discrete_vars=True, **quiet)
    assert stopped.start is not None
    np.testing.assert_equal(stopped.start.x, [np.nan, 3])


def test_warm_start_is_used() -> None:
    m = knapsack()
    GpuHeur().solve(m)
    best = pyo.value(m.value)
    quiet = {"raise_exception_on_nonoptimal_result": False, "load_solutions": False}
    few = {"node_limit": 0, "presolve": False}
    results = GpuHeur().solve(m, warmstart=True, solver_options=few, **quiet)
    assert results.incumbent_objective == pytest.approx(best)


def test_tee_goes_to_streams_and_loggers(capsys: pytest.CaptureFixture[str], caplog: Any) -> None:
    stream = io.StringIO()
    with caplog.at_level(logging.INFO):
        GpuHeur().solve(production(), tee=[stream, logging.getLogger("solves")])
    assert "Objective   16" in stream.getvalue()
    assert "Objective   16" in caplog.text
    assert capsys.readouterr().out == ""
    GpuHeur().solve(production(), tee=True)
    assert "Objective   16" in capsys.readouterr().out
    GpuHeur().solve(production())
    assert capsys.readouterr() == ("", "")


def test_solution_pool(stopped: Dispatch) -> None:
    best, other = np.array([4.0, 2.0]), np.array([3.0, 3.0])
    stopped.outcome = Outcome(
        Status.OPTIMAL,
        StopReason.CONVERGED,
        objective=16.0,
        bound=16.0,
        x=best,
        row_dual=np.array([2.0]),
        pool=(PoolSolution(best, 16.0, 0.1, "a"), PoolSolution(other, 15.0, 0.2, "b")),
    )
    m = production()
    loader = GpuHeur().solve(m).solution_loader
    assert loader.get_solution_ids() == [0, 1]
    loader.solution(1).load_vars()
    assert (m.x.value, m.y.value) == (3, 3)
    with pytest.raises(NoDualsError):
        loader.solution(1).get_duals()
    with loader.solution(1):
        assert loader.get_slacks() == {m.limit: 0}
    loader.load_vars()
    assert (m.x.value, m.y.value) == (4, 2)
    assert loader.get_duals() == {m.limit: 2}
    with pytest.raises(ValueError, match="no solution 2"):
        loader.solution(2).load_vars()


def test_old_results_outlive_new_solves() -> None:
    m = production()
    first = GpuHeur().solve(m)
    m.x.setub(1)
    GpuHeur().solve(m)
    first.solution_loader.load_vars()
    assert m.x.value == pytest.approx(4)


def test_unused_and_fixed_variables_stay_untouched() -> None:
    m = production()
    m.unused = pyo.Var(initialize=3)
    m.y.fix(1)
    GpuHeur().solve(m)
    assert (m.unused.value, m.y.value, m.x.value) == (3, 1, 4)
    assert m.unused.stale
    assert m.y.stale
    assert not m.x.stale


def test_relaxation_gives_duals_of_an_integer_model() -> None:
    m = knapsack()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    GpuHeur().solve(m, solver_options={"relax": True})
    assert m.dual[m.room] > 0


def test_all_options_are_documented() -> None:
    assert GpuHeur.__doc__ is not None
    for name in ("tolerance", "crossover", "device", "seed"):
        assert f"\n{name} : " in GpuHeur.__doc__
