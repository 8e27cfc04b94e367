"""The old solver interface does what old solvers do."""

from __future__ import annotations

import copy
import logging
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.opt import SolverStatus, TerminationCondition
from pyomo.opt.results.container import ListContainer
from pyomo.opt.results.solution import SolutionStatus as OldSolutionStatus

import gpu_bridge  # noqa: F401 - registers the solver
import gpu_bridge.adapters.pyomo.solve_model as solve_model
from gpu_bridge.adapters.pyomo.interface import IncompatibleModelError, NoOptimalSolutionError
from gpu_bridge.outcome import Outcome, StopReason
from solvers.core.errors import OptionError
from solvers.core.outcome import SolutionStatus
from tests.adapters.pyomo.models import Dispatch, infeasible, knapsack, production


@pytest.fixture
def solver() -> Any:
    return pyo.SolverFactory("gpuheur")


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Dispatch:
    outcome = Outcome(
        SolutionStatus.FEASIBLE,
        StopReason.TIME_LIMIT,
        objective=7.0,
        bound=16.0,
        x=np.array([1.0, 2.0]),
    )
    fake = Dispatch(outcome)
    monkeypatch.setattr(solve_model, "dispatch", fake)
    return fake


def test_optimal(solver: Any) -> None:
    m = production()
    results = solver.solve(m)
    pyo.assert_optimal_termination(results)
    assert results.solver.status == SolverStatus.ok
    assert (results.problem.lower_bound, results.problem.upper_bound) == (16, 16)
    assert results.problem.number_of_constraints == 1
    assert results.problem.number_of_variables == 2
    assert results.problem.sense == pyo.maximize
    assert len(results.solution) == 0
    assert (m.x.value, m.y.value) == pytest.approx((4, 2))
    assert results.timing_info["wall_time"] > 0


def test_infeasible_returns_results_and_keeps_the_values(
    solver: Any, caplog: pytest.LogCaptureFixture
) -> None:
    m = infeasible()
    with caplog.at_level(logging.WARNING):
        results = solver.solve(m)
    assert results.solver.termination_condition == TerminationCondition.infeasible
    assert results.solver.status == SolverStatus.warning
    assert "at_least" in str(results.solver.message)
    assert "No solution is available for model 'contradiction'" in caplog.text
    assert (m.x.value, m.y.value) == (1.5, 2.5)
    with pytest.raises(NoOptimalSolutionError):
        solver.solve(m, raise_exception_on_nonoptimal_result=True)


def test_unbounded_and_crossed_bounds_return_results(solver: Any) -> None:
    m = production()
    m.limit.deactivate()
    results = solver.solve(m)
    assert results.solver.termination_condition == TerminationCondition.unbounded
    m.x.bounds = (3, 2)
    results = solver.solve(m)
    assert results.solver.termination_condition == TerminationCondition.infeasible


def test_unproven_point_is_never_optimal(solver: Any, stopped: Dispatch) -> None:
    m = production()
    results = solver.solve(m)
    assert not pyo.check_optimal_termination(results)
    assert results.solver.status == SolverStatus.aborted
    assert results.solver.termination_condition == TerminationCondition.maxTimeLimit
    assert (results.problem.lower_bound, results.problem.upper_bound) == (7, 16)
    assert (m.x.value, m.y.value) == (1, 2)
    stored = solver.solve(m, load_solutions=False).solution(0)
    assert stored.status == OldSolutionStatus.stoppedByLimit
    assert stored.gap == 9


def test_options_do_not_stick(solver: Any, stopped: Dispatch) -> None:
    solver.options["seed"] = 7
    solver.solve(
        production(),
        timelimit=50,
        threads=2,
        rel_gap=0.3,
        options={"tolerance": 1e-4, "seed": 8},
        warmstart=True,
        tee=False,
    )
    assert stopped.options is not None
    given = stopped.options
    assert (given.threads, given.rel_gap, given.tolerance, given.seed) == (2, 0.3, 1e-4, 8)
    assert given.time_limit is not None
    solver.solve(production())
    plain = stopped.options
    assert (plain.threads, plain.rel_gap, plain.tolerance, plain.seed) == (0, 1e-4, 1e-6, 7)
    assert plain.time_limit is None
    assert dict(solver.options.items()) == {"seed": 7}
    assert not solver.config.warmstart


@pytest.mark.parametrize(
    "arguments",
    [
        {"options": {"tolerance": 1e-5}},
        {"solver_options": {"tolerance": 1e-5}},
        {"options_string": "tolerance=1e-5"},
        {"options": "tolerance=1e-5 seed=0"},
    ],
)
def test_options_in_every_form(solver: Any, stopped: Dispatch, arguments: Any) -> None:
    solver.solve(production(), **arguments)
    assert stopped.options is not None
    assert stopped.options.tolerance == 1e-5


def test_options_set_on_the_object_stay(solver: Any, stopped: Dispatch) -> None:
    solver.set_options("rel_gap=0.2 timelimit=9")
    solver.options.update({"seed": 3})
    solver.solve(production())
    assert stopped.options is not None
    assert (stopped.options.rel_gap, stopped.options.seed) == (0.2, 3)
    assert 0 < stopped.options.time_limit <= 9
    other = pyo.SolverFactory("gpuheur", options={"seed": 5})
    other.solve(production())
    assert stopped.options.seed == 5


def test_wrong_names_are_refused_with_the_nearest(solver: Any) -> None:
    with pytest.raises(OptionError, match="did you mean 'timelimit'"):
        solver.solve(production(), timelimits=3)
    with pytest.raises(OptionError, match="no argument 'quickly'"):
        solver.solve(production(), quickly=True)
    with pytest.raises(OptionError, match="did you mean 'rel_gap'"):
        solver.solve(production(), options={"rel_gapp": 1e-5})
    with pytest.raises(OptionError, match="has no '='"):
        solver.solve(production(), options="tolerance")
    with pytest.raises(OptionError, match="no suffix 'lrc'"):
        solver.solve(production(), suffixes=["lrc"])
    with pytest.raises(OptionError, match="did you mean 'rel_gap'"):
        pyo.SolverFactory("gpuheur", rel_gapp=1e-5).solve(production())


def test_what_frameworks_pass_is_accepted(solver: Any) -> None:
    solver.solve(
        production(), solver_io=None, keepfiles=False, symbolic_solver_labels=True, tee=False
    )
    framework = pyo.SolverFactory("gpuheur", solver_io="python")
    framework.solve(production(), keepfiles=True, warmstart=True, suffixes=[".*"])
    framework.solve(production(), suffixes="dual")
    assert framework.available()
    assert framework.license_is_valid()
    assert framework.warm_start_capable()
    with framework as entered:
        assert entered is framework


def test_results_have_what_other_solvers_give(solver: Any) -> None:
    results = solver.solve(knapsack())
    about = results.solver
    assert about.time == about.wallclock_time == results.timing_info["wall_time"]
    assert about.user_time >= 0
    assert about.system_time >= 0
    assert (about.return_code, about.error_rc) == (0, 0)
    assert about.statistics.branch_and_bound.number_of_bounded_subproblems >= 0
    assert about.statistics.black_box.number_of_iterations >= 0
    assert results.json_repn()["Solver"][0]["Error rc"] == 0
    linear = solver.solve(production())
    assert linear.solver.statistics.black_box.number_of_iterations >= 0
    assert linear.problem.number_of_binary_variables == 0
    m = knapsack()
    m.whole = pyo.Var(domain=pyo.Integers, bounds=(0, 3))
    m.more = pyo.Constraint(expr=m.whole <= 2)
    problem = solver.solve(m).problem
    binaries = sum(v.is_binary() for v in m.component_data_objects(pyo.Var))
    assert problem.number_of_binary_variables == binaries
    assert problem.number_of_integer_variables == binaries + 1
    assert problem.number_of_solutions >= 1


def test_an_error_has_a_return_code(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trouble = Outcome(SolutionStatus.NOTHING, StopReason.OUT_OF_MEMORY)
    monkeypatch.setattr(solve_model, "dispatch", Dispatch(trouble))
    results = solver.solve(production())
    assert results.solver.status == SolverStatus.error
    assert (results.solver.return_code, results.solver.error_rc) == (1, 1)


@pytest.mark.parametrize("name", ["gpuheur_direct", "appsi_gpuheur"])
def test_names_that_frameworks_make_up(name: str) -> None:
    m = production()
    pyo.assert_optimal_termination(pyo.SolverFactory(name).solve(m, timelimit=60))
    assert m.x.value == 4


def test_capabilities(solver: Any) -> None:
    has = {
        cap: solver.has_capability(cap)
        for cap in ("linear", "integer", "sos1", "sos2", "quadratic_objective", "flying")
    }
    assert has == {
        **dict.fromkeys(("linear", "integer", "sos1", "sos2"), True),
        **dict.fromkeys(("quadratic_objective", "flying"), False),
    }
    with pytest.raises(TypeError, match="text"):
        solver.has_capability(3)


def test_arguments_for_programs_are_taken(solver: Any) -> None:
    results = solver.solve(
        knapsack(),
        use_signal_handling=False,
        warmstart=True,
        warmstart_file="w.soln",
        io_options={"symbolic_solver_labels": True},
        timer=None,
    )
    pyo.assert_optimal_termination(results)
    for_programs = {"validate": False, "executable": "/usr/bin/cbc", "keepfiles": True}
    made = pyo.SolverFactory("gpuheur", **for_programs, manage_env=True)
    pyo.assert_optimal_termination(made.solve(knapsack(), timelimit=math.inf))


def test_an_option_that_is_none_is_not_given() -> None:
    made = pyo.SolverFactory("gpuheur", mip_gap=None, timelimit=None)
    pyo.assert_optimal_termination(made.solve(knapsack(), seed=None))


def test_logfile_and_tee(solver: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "solve.log"
    solver.solve(production(), logfile=str(log))
    assert "Objective   16" in log.read_text()
    assert capsys.readouterr().out == ""
    solver.solve(production(), tee=True)
    assert "Objective   16" in capsys.readouterr().out


def test_solution_in_the_results(solver: Any) -> None:
    m = production()
    m.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    results = solver.solve(m, load_solutions=False, suffixes=["dual"])
    assert m.x.value is None
    assert len(results.solution) == 1
    values = [entry["Value"] for entry in results.solution(0).variable.values()]
    assert sorted(values) == [2, 4]
    assert [entry["Rc"] for entry in results.solution(0).variable.values()] == [1, 0]
    assert [entry["Dual"] for entry in results.solution(0).constraint.values()] == [2]
    m.solutions.load_from(results)
    assert (m.x.value, m.y.value, m.rc[m.x]) == (4, 2, 1)


def test_results_and_model_can_be_pickled(solver: Any) -> None:
    m = production()
    results = solver.solve(m, load_solutions=False)
    again = pickle.loads(pickle.dumps(results))
    assert again.solver.termination_condition == TerminationCondition.optimal
    solver.solve(m)
    assert pickle.loads(pickle.dumps(m)).x.value == 4


def test_parts_of_results_are_the_same_whenever_they_are_looked_at(solver: Any) -> None:
    m = production()
    m.name = "then"
    early, late = (solver.solve(m) for _ in range(2))
    assert early.problem.sense == pyo.maximize
    copied = copy.deepcopy(late)
    m.name, m.profit.sense = "now", pyo.minimize
    compared_by_content = "__eq__" in vars(ListContainer)  # not by Pyomo's oldest versions
    assert (late.problem == early.problem) is compared_by_content
    assert (late.problem == copied.problem) is compared_by_content
    assert (len(late.solver), late.problem.name) == (1, "then")


def test_dual_suffix_on_a_mip_does_not_fail_the_solve(solver: Any) -> None:
    m = knapsack()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    pyo.assert_optimal_termination(solver.solve(m))
    assert len(m.dual) == 0
    results = solver.solve(m, load_solutions=False)
    assert len(results.solution(0).constraint) == 0


def test_time_limit_zero(solver: Any) -> None:
    results = solver.solve(knapsack(), timelimit=0)
    assert results.solver.status == SolverStatus.aborted
    assert results.solver.termination_condition == TerminationCondition.maxTimeLimit


def test_models_it_cannot_solve_still_raise(solver: Any) -> None:
    m = production()
    m.round = pyo.Constraint(expr=m.x**2 + m.y**2 <= 9)
    with pytest.raises(IncompatibleModelError, match="'round'"):
        solver.solve(m)


def test_report_timing(solver: Any, capsys: pytest.CaptureFixture[str]) -> None:
    solver.solve(production(), report_timing=True)
    assert "convert" in capsys.readouterr().out


def test_solution_note_for_the_report_of_pyomo_solve(solver: Any) -> None:
    m = production()
    results = solver.solve(m)
    m.solutions.store_to(results)
    assert results.solution(0).variable["x"]["Value"] == 4
    m.unused = pyo.Var()
    solver.solve(m)
    assert len(m.solutions) == 0
