"""Order and symbolic factorisation are found once for problems of one structure."""

from __future__ import annotations

import copy
import dataclasses
import gc
import weakref
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pulp
import pyomo.environ as pyo
import pytest
import scipy.sparse

import gpu_bridge
from gpu_bridge.adapters.pyomo.persistent import PersistentGpuHeur
from solvers import interior_point
from solvers.core.errors import DeviceError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import Progress
from solvers.interior_point import analysis, on_host
from solvers.interior_point.analysis import Analysis, smallest_system
from solvers.interior_point.on_host import OnHost
from solvers.interior_point.standard_form import StandardForm
from tests.adapters.pulp.models import pulp_3_only
from tests.energy import energy_system
from tests.interior_point.lps import of_every_kind

TIGHT = EngineOptions(tolerance=1e-8, device="cpu")


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count what is analysed."""
    sizes: list[int] = []
    before = OnHost.analyse

    def counting(self: OnHost, row: np.ndarray, column: np.ndarray, size: int, most: float) -> None:
        sizes.append(size)
        before(self, row, column, size, most)

    monkeypatch.setattr(OnHost, "analyse", counting)
    return sizes


def test_other_numbers_need_no_other_analysis(analysed: list[int]) -> None:
    rng = np.random.default_rng(1)
    problem = of_every_kind(rng, rows=20, columns=35)
    analyses = Analyses()
    for _ in range(4):
        outcome = interior_point.solve(problem, TIGHT, Progress(), analyses=analyses)
        once = len(analysed)
        alone = interior_point.solve(problem, TIGHT, Progress())
        del analysed[once:]
        assert outcome.solution_status is alone.solution_status is SolutionStatus.OPTIMAL
        assert outcome.objective == alone.objective
        problem = Problem.from_arrays(
            problem.cost * rng.uniform(0.5, 2.0),
            problem.matrix * 1.5,
            1.5 * problem.row_lower,
            1.5 * problem.row_upper,
            lower=problem.lower,
            upper=problem.upper,
        )
    first = interior_point.solve(problem, TIGHT, Progress(), analyses=Analyses())
    assert analysed[:-1] == analysed[-1:] * (len(analysed) - 1)
    assert float(first.statistics["seconds_analysing"]) > 0.0
    assert outcome.statistics["seconds_analysing"] == 0.0


def test_what_is_kept_does_not_hold_the_solve_that_it_is_of() -> None:
    analyses, progress = Analyses(), Progress()
    solve_is_about = weakref.ref(progress)
    problem = of_every_kind(np.random.default_rng(0), rows=10, columns=20)
    interior_point.solve(problem, TIGHT, progress, analyses=analyses)
    del progress
    gc.collect()
    assert solve_is_about() is None


def test_another_structure_is_analysed_anew(analysed: list[int]) -> None:
    analyses = Analyses()
    for seed in range(3):
        problem = of_every_kind(np.random.default_rng(seed), rows=10 + seed, columns=25)
        outcome = interior_point.solve(problem, TIGHT, Progress(), analyses=analyses)
        assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert len(analysed) == 3


def test_a_second_solve_at_the_same_time_finds_nothing() -> None:
    analyses = Analyses()
    analyses.keep(b"structure", "analysis")
    assert copy.deepcopy(analyses).take(b"structure") is None
    assert analyses.take(b"structure") == "analysis"
    assert analyses.take(b"structure") is None
    analyses.keep(b"structure", "analysis")
    assert analyses.take(b"another") is None


def test_whoever_is_abandoned_leaves_the_analysis(
    analysed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = of_every_kind(np.random.default_rng(1), rows=20, columns=35)
    analyses, is_abandoned = Analyses(), [False]

    class Abandoned(Progress):
        @property
        def abandoned(self) -> bool:
            return is_abandoned[0]

    def last(*arguments: object) -> Analysis:
        is_abandoned[0] = True
        return smallest_system(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(interior_point, "smallest_system", last)
    outcome = interior_point.solve(problem, TIGHT, Abandoned(), analyses=analyses)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    once = len(analysed)
    again = interior_point.solve(problem, TIGHT, Progress(), analyses=analyses)
    assert again.solution_status is SolutionStatus.OPTIMAL
    assert len(analysed) == once


def test_what_is_refused_for_lack_of_time_is_not_analysed_again(
    analysed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = of_every_kind(np.random.default_rng(1), rows=20, columns=35)
    analyses = Analyses()
    monkeypatch.setattr(on_host, "OPERATIONS_PER_SECOND", 1.0)
    with pytest.raises(DeviceError, match="for its factorisations"):
        interior_point.solve(problem, TIGHT, Progress(time_limit=60.0), analyses=analyses)
    once = len(analysed)
    assert once
    again = interior_point.solve(problem, TIGHT, Progress(), analyses=analyses)
    assert again.solution_status is SolutionStatus.OPTIMAL
    assert len(analysed) == once


def test_many_scenarios_are_analysed_once(analysed: list[int]) -> None:
    system = energy_system(24, 3)
    scenarios = [dataclasses.replace(system, cost=system.cost * k) for k in (1.0, 2.0, 4.0)]

    def solved(problems: list[Problem]) -> list[gpu_bridge.Outcome]:
        return list(gpu_bridge.solve_many(problems, method="ipm", device="cpu", tolerance=1e-8))

    solved(scenarios[:1])
    of_one = list(analysed)  # some layouts that are not taken may be among them
    outcomes = solved(scenarios)
    assert analysed == 2 * of_one
    objectives = [outcome.objective for outcome in outcomes]
    assert objectives == pytest.approx([k * objectives[0] for k in (1.0, 2.0, 4.0)], rel=1e-6)


def rolling(demand: float) -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.demand = pyo.Param(initialize=demand, mutable=True)
    model.x = pyo.Var(range(30), bounds=(0, 10))
    model.cost = pyo.Objective(expr=sum((k + 1) * model.x[k] for k in range(30)))
    model.meet = pyo.Constraint(expr=sum(model.x[k] for k in range(30)) >= model.demand)
    model.even = pyo.Constraint(
        range(29), rule=lambda m, k: pyo.inequality(-4, m.x[k] - m.x[k + 1], 4)
    )
    return model


def test_a_persistent_solver_analyses_once(analysed: list[int]) -> None:
    model = rolling(60.0)
    solver = PersistentGpuHeur()
    solver.set_instance(model)
    solver.config.solver_options.update(method="ipm", device="cpu")
    found = []
    for demand in (60.0, 70.0, 80.0):
        model.demand.set_value(demand)
        solver.solve(model)
        found.append(pyo.value(model.cost))
    assert len(analysed) == 1
    assert found == sorted(found)


def deliveries(capacity: np.ndarray, demand: np.ndarray) -> pyo.ConcreteModel:
    """Return the second stage: what plants deliver, and what a customer goes without."""
    model = pyo.ConcreteModel()
    plants, customers = range(len(capacity)), range(len(demand))
    model.capacity = pyo.Param(plants, initialize=dict(enumerate(capacity)), mutable=True)
    model.y = pyo.Var(plants, customers, bounds=(0, None))
    model.short = pyo.Var(customers, bounds=(0, None))
    model.cost = pyo.Objective(
        expr=sum((1 + abs(i - j)) * model.y[i, j] for i in plants for j in customers)
        + 20 * pyo.quicksum(model.short.values())
    )
    model.plant = pyo.Constraint(
        plants, rule=lambda m, i: sum(m.y[i, j] for j in customers) <= m.capacity[i]
    )
    model.customer = pyo.Constraint(
        customers, rule=lambda m, j: sum(m.y[i, j] for i in plants) + m.short[j] >= demand[j]
    )
    return model


def test_benders_cuts_come_from_one_analysis(analysed: list[int]) -> None:
    building, most = np.array([3.0, 2.0, 4.0]), 60.0
    demand = np.array([20.0, 35.0, 15.0, 30.0])
    second = deliveries(np.zeros(3), demand)
    solver = PersistentGpuHeur()
    solver.set_instance(second)
    solver.config.solver_options.update(method="ipm", device="cpu", tolerance=1e-8)
    cuts: list[np.ndarray] = []
    built = np.full(3, most / 2)
    for _ in range(60):
        for i, amount in enumerate(built):
            second.capacity[i].set_value(amount)
        duals = solver.solve(second).solution_loader.get_duals()
        slopes = np.array([duals[second.plant[i]] for i in range(3)])
        value = pyo.value(second.cost)
        cuts.append(np.append(slopes, value - slopes @ built))  # value >= slopes x + the last
        of_cuts = np.array(cuts)
        master = gpu_bridge.solve(
            Problem.from_arrays(
                np.append(building, 1.0),
                scipy.sparse.csr_array(np.column_stack([-of_cuts[:, :3], np.ones(len(cuts))])),
                of_cuts[:, 3],
                np.full(len(cuts), np.inf),
                lower=np.array([1.0, 1.0, 1.0, 0.0]),  # at 0 presolve leaves another structure
                upper=np.array([most, most, most, np.inf]),
            )
        )
        above = building @ built + value
        if above - master.objective <= 1e-6 * abs(above):
            break
        built = np.asarray(master.x)[:3]
    whole = deliveries(np.zeros(3), demand)
    whole.built = pyo.Var(range(3), bounds=(1, most))
    whole.limit = pyo.Constraint(
        range(3), rule=lambda m, i: sum(m.y[i, j] for j in range(4)) <= m.built[i]
    )
    whole.plant.deactivate()
    whole.cost.expr += sum(building[i] * whole.built[i] for i in range(3))
    pyo.SolverFactory("highs").solve(whole)
    assert above == pytest.approx(pyo.value(whole.cost), rel=1e-5)
    assert len(cuts) > 3
    assert len(analysed) == 1


@pulp_3_only
@pytest.mark.filterwarnings("ignore:.*PuLP 4:DeprecationWarning")
def test_pulp_analyses_once_where_a_model_is_solved_again(analysed: list[int]) -> None:
    model = pulp.LpProblem("again", pulp.LpMinimize)
    x = [pulp.LpVariable(f"x{k}", 0, 10) for k in range(30)]
    model += pulp.lpSum((k + 1) * x[k] for k in range(30))
    model += pulp.lpSum(x) >= 60, "demand"
    for k in range(29):
        model += x[k] - x[k + 1] <= 4
    model.solve(gpu_bridge.GPUHEUR(method="ipm", device="cpu", msg=False))
    for demand in (70, 80):
        model.constraints["demand"].changeRHS(demand)
        model.resolve()
        assert pulp.LpStatus[model.status] == "Optimal"
    assert len(analysed) == 1


@pytest.mark.parametrize("step", ["find_scaling", "Pattern.of", "elimination_order"])
def test_a_limit_ends_the_preparation_at_its_next_step(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = Progress()
    entered: list[str] = []
    steps = {
        "find_scaling": (import_module(StandardForm.__module__), "rescale_lines"),
        "Pattern.of": (analysis.Pattern, "of"),
        "elimination_order": (on_host, "elimination_order"),
        "the end": (OnHost, "factorise"),
    }

    def watched(name: str, inner: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            entered.append(name)
            if name == step:
                progress.time_limit = 0.0
            return inner(*arguments)

        return call

    for name, (place, attribute) in steps.items():
        monkeypatch.setattr(place, attribute, watched(name, getattr(place, attribute)))
    problem = of_every_kind(np.random.default_rng(0), rows=20, columns=30)
    outcome = interior_point.solve(problem, EngineOptions(), progress)
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert entered[-1] == step
