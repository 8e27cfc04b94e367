"""Callbacks, pools and unproven points in the words of Pyomo's two interfaces."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.util import NoDualsError
from pyomo.opt import SolverStatus
from pyomo.opt import TerminationCondition as OldCondition

import gpu_bridge.adapters.pyomo.solve_model as solve_model
from gpu_bridge.adapters.pyomo import GpuHeur
from gpu_bridge.outcome import Outcome, PoolSolution, StopReason
from gpu_bridge.report.improvement import Improvement
from solvers.core.errors import OptionError
from solvers.core.outcome import SolutionStatus as Status
from solvers.core.problem import Problem

QUIET = {"raise_exception_on_nonoptimal_result": False}


def knapsack(items: int = 30) -> Any:
    """Return max c'x under three weights, hard enough for some steps."""
    generator = np.random.default_rng(3)
    m = pyo.ConcreteModel("knapsack")
    m.take = pyo.Var(range(items), domain=pyo.Binary)
    m.fixed = pyo.Var(initialize=1.0)
    m.fixed.fix()
    worth = generator.integers(10, 40, items).tolist()
    m.worth = pyo.Objective(
        expr=sum(worth[j] * m.take[j] for j in m.take) + m.fixed, sense=pyo.maximize
    )
    weights = generator.integers(5, 30, (3, items)).tolist()
    m.weight = pyo.Constraint(
        range(3), rule=lambda m, i: sum(w * m.take[j] for j, w in enumerate(weights[i])) <= 170
    )
    return m


def pair() -> Any:
    """Return max 3 a + 2 b + 1, a + b <= 1, both binary."""
    m = pyo.ConcreteModel("pair")
    m.a, m.b = pyo.Var(domain=pyo.Binary), pyo.Var(domain=pyo.Binary)
    m.worth = pyo.Objective(expr=3 * m.a + 2 * m.b + 1, sense=pyo.maximize)
    m.one = pyo.Constraint(expr=m.a + m.b <= 1)
    return m


class Pipeline:
    """Stands in for the pipeline: an outcome with a pool of three points of ``pair``."""

    reason = StopReason.TIME_LIMIT
    options: Any = None

    def __call__(self, problem: Problem, options: Any, **more: Any) -> Outcome:
        self.options = options
        points = [np.array([1.0, 0.0]), np.array([1e-9, 1.0]), np.array([0.0, 0.0])]
        facts = [(4.0, 0.5, "dive"), (3.0, 0.2, "walk"), (1.0, 0.1, "start")]
        return Outcome(
            Status.FEASIBLE,
            self.reason,
            objective=4.0,
            bound=5.0,
            x=points[0] + np.array([0.0, 1e-12]),  # moved by the check, and still the same point
            problem=problem,
            pool=tuple(PoolSolution(x, *fact) for x, fact in zip(points, facts, strict=True)),
        )


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    fake = Pipeline()
    monkeypatch.setattr(solve_model, "dispatch", fake)
    return fake


REFERENCE = {"method": "highs"}
"""The reference engine, whose steps on a small model are known and quick."""


def solve_new(m: Any, **config: Any) -> Any:
    return GpuHeur().solve(m, **{"solver_options": REFERENCE, **config})


def solve_old(m: Any, **config: Any) -> Any:
    return pyo.SolverFactory("gpuheur").solve(m, **{"options": REFERENCE, **config})


@pytest.mark.parametrize("solve", [solve_new, solve_old])
def test_the_callback_sees_the_models_variables(solve: Any) -> None:
    m, told = knapsack(), []

    def look(improvement: Improvement) -> None:
        found = improvement.values
        assert len(found) == len(m.take)
        assert m.take[3] in found
        assert found["take[3]"] == found[m.take[3]]
        assert m.fixed not in found
        told.append((improvement.objective, [found[v] for v in m.take.values()]))
        assert {v.name for v in found} == {v.name for v in m.take.values()}

    solve(m, on_solution=look, rel_gap=0.0)
    objectives = [objective for objective, _ in told]
    assert objectives == sorted(objectives)
    assert objectives[-1] == pytest.approx(pyo.value(m.worth))
    assert told[-1][1] == pytest.approx([v.value for v in m.take.values()])


def test_a_variable_without_a_column_is_named() -> None:
    m = knapsack()
    with pytest.raises(KeyError, match="'fixed' took no part"):
        solve_new(m, on_solution=lambda improvement: improvement.values[m.fixed])
    with pytest.raises(KeyError, match="'take' is no single variable"):
        solve_new(m, on_solution=lambda improvement: improvement.values[m.take])


@pytest.mark.parametrize("solve", [solve_new, solve_old])
def test_an_error_is_raised_once_the_best_point_is_loaded(solve: Any) -> None:
    m = knapsack()

    def fails(improvement: Improvement) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        solve(m, on_solution=fails)
    assert pyo.value(m.worth) > 1.0


def test_an_error_leaves_the_model_alone_if_nothing_is_to_be_loaded() -> None:
    m = knapsack()

    def fails(improvement: Improvement) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        solve_new(m, on_solution=fails, load_solutions=False)
    assert m.take[0].value is None


def test_true_stops_with_the_best_point() -> None:
    m, told = knapsack(60), []

    def first(improvement: Improvement) -> bool:
        told.append(improvement.objective)
        return True

    results = solve_new(m, on_solution=first, rel_gap=0.0, **QUIET)
    assert len(told) == 1
    assert results.incumbent_objective >= told[0]
    if results.solution_status == SolutionStatus.feasible:  # else it was done before it heard
        assert results.termination_condition == TerminationCondition.interrupted


def test_the_callback_can_stand_in_the_configuration_and_holds_for_one_call_else() -> None:
    told: list[Improvement] = []
    solver = GpuHeur(solver_options=REFERENCE)
    solver.solve(knapsack(), on_solution=told.append)
    count = len(told)
    assert count
    solver.solve(knapsack())
    assert len(told) == count
    solver.config.on_solution = told.append
    solver.solve(knapsack())
    assert len(told) > count
    old = pyo.SolverFactory("gpuheur")
    old.options.update(REFERENCE)
    old.solve(knapsack(), on_solution=told.append)
    assert old.config.on_solution is None
    with pytest.raises(OptionError, match="takes a function"):
        solve_new(knapsack(), on_solution=3)


def test_every_point_of_the_pool_can_be_loaded(pipeline: Pipeline) -> None:
    m = pair()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    results = solve_new(m, **QUIET)
    loader = results.solution_loader
    assert loader.get_number_of_solutions() == 3
    assert loader.get_solution_ids() == [0, 1, 2]
    assert [entry.objective for entry in loader.pool] == [4.0, 3.0, 1.0]
    assert [entry.source for entry in loader.pool] == ["dive", "walk", "start"]
    for number, expected in ((1, (0.0, 1.0)), (2, (0.0, 0.0)), (0, (1.0, 0.0))):
        loader.solution(number).load_vars()
        assert (m.a.value, m.b.value) == pytest.approx(expected, abs=1e-9)
    with loader.solution(1) as chosen:
        assert chosen.get_vars()[m.b] == 1.0
        assert chosen.get_vars([m.a])[m.a] == 0.0
        chosen.load_import_suffixes()
        assert not m.dual
        with pytest.raises(NoDualsError):
            chosen.get_duals()
    assert loader.get_vars()[m.a] == 1.0  # the best again


@pytest.mark.parametrize("load", [True, False])
def test_old_results_have_the_loader_too(pipeline: Pipeline, load: bool) -> None:
    m = pair()
    results = solve_old(m, load_solutions=load)
    assert (m.a.value is None) is not load
    loader = results.solution_loader
    assert [entry.source for entry in loader.pool] == ["dive", "walk", "start"]
    loader.solution(1).load_vars()
    assert (m.a.value, m.b.value) == (0.0, 1.0)
    assert "solution_loader" not in str(results)
    assert pickle.loads(pickle.dumps(results)).solver.status == SolverStatus.aborted


def test_old_results_load_the_best_point(
    pipeline: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    m = pair()
    results = solve_old(m, load_solutions=False)
    assert len(results.solution) == 1
    m.solutions.load_from(results)
    assert (m.a.value, m.b.value) == pytest.approx((1.0, 0.0), abs=1e-9)


@pytest.mark.parametrize(
    ("reason", "new", "status", "old"),
    [
        (
            StopReason.TIME_LIMIT,
            TerminationCondition.maxTimeLimit,
            SolverStatus.aborted,
            OldCondition.maxTimeLimit,
        ),
        (
            StopReason.EXHAUSTED,
            TerminationCondition.unknown,
            SolverStatus.ok,
            OldCondition.feasible,
        ),
        (
            StopReason.INTERRUPTED,
            TerminationCondition.interrupted,
            SolverStatus.aborted,
            OldCondition.userInterrupt,
        ),
    ],
)
def test_an_unproven_point_is_feasible_with_bound_and_gap(
    pipeline: Pipeline, reason: StopReason, new: Any, status: Any, old: Any
) -> None:
    pipeline.reason = reason
    results = solve_new(pair(), **QUIET)
    assert results.solution_status == SolutionStatus.feasible
    assert results.termination_condition == new
    assert (results.incumbent_objective, results.objective_bound) == (4.0, 5.0)
    assert results.extra_info.gap == pytest.approx(0.25)
    legacy = solve_old(pair())
    assert legacy.solver.status == status
    assert legacy.solver.termination_condition == old
    assert (legacy.problem.lower_bound, legacy.problem.upper_bound) == (4.0, 5.0)


def test_options_of_the_heuristics_go_by_their_names(pipeline: Pipeline) -> None:
    wanted = {"heuristics_only": True, "pool_size": 3, "deterministic": True, "work_limit": 2.5}
    solve_new(pair(), solver_options=wanted, **QUIET)
    assert {name: getattr(pipeline.options, name) for name in wanted} == wanted
    solve_old(pair(), options={**wanted, "pool_size": 4})
    assert pipeline.options.pool_size == 4
