"""The engine against HiGHS and known answers: optima, proofs, limits."""

from __future__ import annotations

import dataclasses
import threading
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import gpu_bridge
from benchmarks.families.design import truss
from solvers import highs, interior_point
from solvers.core.errors import DeviceError
from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.interior_point import analysis, directions, loop, on_host
from solvers.interior_point.on_host import OnHost
from solvers.interior_point.standard_form import Outline
from tests.cases import through
from tests.interior_point.lps import of_every_kind
from tests.locations import DATA

TIGHT = EngineOptions(tolerance=1e-8)


def solved(problem: Problem, options: EngineOptions = TIGHT) -> Outcome:
    return interior_point.solve(problem, options, Progress())


def reference(problem: Problem) -> float:
    found = highs.solve(problem, EngineOptions(), Progress())
    assert found.solution_status is SolutionStatus.OPTIMAL
    return found.objective


@through("seed", range(20))
def test_optima_of_random_problems_are_those_of_highs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = of_every_kind(rng, rows=int(rng.integers(1, 40)), columns=int(rng.integers(1, 60)))
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(reference(problem), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "optimum"),
    [("adlittle", 225494.963162), ("afiro", -464.753142857), ("forplan", -664.218961272)],
)
def test_netlib(name: str, optimum: float) -> None:
    outcome = solved(gpu_bridge.read(DATA / f"{name}.mps.gz"))
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(optimum, rel=1e-7)
    assert outcome.statistics["factorisations"] == int(outcome.statistics["iterations"]) + 1


@pytest.mark.parametrize("most", [4.0, np.inf], ids=["equation", "inequality"])
@pytest.mark.parametrize(
    ("side", "status"), [(4.0, SolutionStatus.OPTIMAL), (5.0, SolutionStatus.INFEASIBLE)]
)
def test_rows_of_fixed_columns_are_looked_at_once(
    side: float, status: SolutionStatus, most: float
) -> None:
    fixed = np.array([1.0, 2.0])
    matrix = np.array([[1.0, 1.0], [0.0, 2.0]])
    sides = [3.0, side], [3.0, max(side, most)]
    problem = Problem.from_arrays([5.0, -1.0], matrix, *sides, lower=fixed, upper=fixed)
    outcome = solved(problem)
    assert outcome.solution_status is status
    assert outcome.statistics["iterations"] == 0
    if status is SolutionStatus.OPTIMAL:
        assert outcome.objective == 3.0
    else:
        assert outcome.dual_ray is not None
        assert proves_infeasible(problem, outcome.dual_ray)


def test_a_direction_that_is_divided_by_zero_ends_in_trouble(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(directions.Newton, "direction", lambda *_, **__: 1.0 / 0.0)
    outcome = solved(of_every_kind(np.random.default_rng(0), rows=10, columns=20))
    assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE


def test_an_iterate_that_breaks_down_warns_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: OnHost, right: FloatArray) -> FloatArray:
        return np.full_like(right, 1e200)

    monkeypatch.setattr(OnHost, "solve", broken)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = solved(of_every_kind(np.random.default_rng(0), rows=10, columns=20))
    assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE


@pytest.mark.parametrize("seed", range(5))
def test_equations_that_depend_on_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(6, 25))
    mixed = np.vstack([rows, rng.normal(size=(4, 6)) @ rows])
    sides = mixed @ rng.uniform(0.5, 1.5, 25)
    problem = Problem.from_arrays(rng.uniform(0.1, 1.0, 25), mixed, sides, sides)
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(reference(problem), rel=1e-6)


def test_an_empty_interior() -> None:
    # x + y >= 2 and x + y <= 2 leave no point inside, and x = y is all there is of the rest
    problem = Problem.from_arrays(
        [1, 2, 1], [[1, 1, 0], [1, 1, 0], [1, -1, 0]], [2, -np.inf, 0], [np.inf, 2, 0]
    )
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.x == pytest.approx([1, 1, 0], abs=1e-6)


def test_an_optimal_face_without_end() -> None:
    problem = Problem.from_arrays([1, 1, 0, 0], [[1, 1, 1, -1]], [2], [2])
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_free_columns_that_depend_on_each_other(seed: int) -> None:
    # the least sum of deviations of a line from points, with two columns for the same slope
    rng = np.random.default_rng(seed)
    points = 12
    slope = rng.normal(size=(points, 1))
    matrix = np.hstack([np.ones((points, 1)), slope, slope, np.eye(points), -np.eye(points)])
    cost = np.concatenate([np.zeros(3), np.ones(2 * points)])
    lower = np.concatenate([np.full(3, -np.inf), np.zeros(2 * points)])
    sides = rng.normal(size=points)
    problem = Problem.from_arrays(cost, matrix, sides, sides, lower=lower)
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(reference(problem), rel=1e-6)


@pytest.mark.parametrize("size", [2_000, 16_000])
def test_a_start_that_satisfies_the_equations(size: int) -> None:
    lp = truss(size, seed=0)
    problem = Problem.from_arrays(
        lp.cost, lp.matrix, lp.row_lower, lp.row_upper, lower=lp.lower, upper=lp.upper
    )
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(reference(problem), rel=1e-7)


def test_rows_of_one_entry() -> None:
    # bounds written as rows: an equation, a range, and one side twice
    matrix = [[2, 0, 0], [0, -3, 0], [0, 0, 1], [0, 0, 4], [1, 1, 1]]
    row_lower, row_upper = [4, -9, -np.inf, -np.inf, -20], [4, 3, 5, 12, 20]
    free = [-np.inf] * 3
    problem = Problem.from_arrays([1, -1, -1], matrix, row_lower, row_upper, lower=free)
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.x == pytest.approx([2, 3, 3], abs=1e-6)
    apart = Problem.from_arrays([1, 0], [[1, 0], [3, 0], [1, 1]], [-np.inf, 6, 0], [1, 9, 9])
    assert solved(apart).solution_status is SolutionStatus.INFEASIBLE


@pytest.mark.parametrize("seed", range(4))
def test_coefficients_over_ten_decades(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plain = of_every_kind(rng, rows=15, columns=25)
    row, column = 10.0 ** rng.uniform(-5, 5, 15), 10.0 ** rng.uniform(-5, 5, 25)
    problem = Problem.from_arrays(
        plain.cost * column,
        row[:, None] * plain.matrix.toarray() * column,
        plain.row_lower * row,
        plain.row_upper * row,
        lower=plain.lower / column,
        upper=plain.upper / column,
    )
    outcome = solved(problem)
    assert outcome.objective == pytest.approx(reference(plain), rel=1e-5, abs=1e-5)


def test_a_long_column_stays_in_the_system() -> None:
    rng = np.random.default_rng(3)
    rows = 80
    matrix = np.hstack([np.eye(rows), np.eye(rows), rng.uniform(0.5, 1.0, (rows, 1))])
    cost = np.concatenate([rng.uniform(1, 2, 2 * rows), [30.0]])
    problem = Problem.from_arrays(cost, matrix, np.ones(rows))
    outcome = solved(problem)
    assert outcome.statistics["kept_columns"] == 1
    assert outcome.objective == pytest.approx(reference(problem), rel=1e-6)


def test_columns_stay_in_the_system_where_rows_outnumber_them_by_far() -> None:
    rng = np.random.default_rng(4)
    rows, columns = 400, 20
    matrix = rng.uniform(0.5, 1.0, (rows, columns)) * (rng.uniform(size=(rows, columns)) < 0.3)
    matrix[:, 0] = 1.0
    problem = Problem.from_arrays(np.ones(columns), matrix, rng.uniform(0.1, 1.0, rows))
    outcome = solved(problem)
    assert outcome.statistics["kept_columns"] == columns
    triangle = columns * (columns + 1) // 2
    assert float(outcome.statistics["factor_entries"]) <= np.count_nonzero(matrix) + triangle + rows
    assert outcome.objective == pytest.approx(reference(problem), rel=1e-6)


def test_a_system_that_does_not_fit_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "free_memory", lambda: 1e4)
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    with pytest.raises(DeviceError, match=r"needs about .* GB"):
        solved(problem)
    outcome = gpu_bridge.solve(problem, method="ipm")
    assert "HiGHS's interior point takes over" in outcome.log
    assert outcome.objective == pytest.approx(225494.963162)


def test_highs_takes_over_without_what_the_refused_method_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, structure_of, by_highs = list[weakref.ref[Outline]](), analysis.structure_of, highs.solve

    def seen(outline: Outline, place: str) -> bytes:
        made.append(weakref.ref(outline))
        return structure_of(outline, place)

    def solve(*given: Any) -> Outcome:
        assert made[0]() is None
        return by_highs(*given)

    monkeypatch.setattr(interior_point, "structure_of", seen)
    monkeypatch.setattr(analysis, "free_memory", lambda: 1e4)
    monkeypatch.setattr(highs, "solve", solve)
    outcome = gpu_bridge.solve(gpu_bridge.read(DATA / "adlittle.mps.gz"), method="ipm")
    assert outcome.objective == pytest.approx(225494.963162)
    assert len(made) == 1


def test_factorisations_that_outlast_the_limit_are_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(on_host, "OPERATIONS_PER_SECOND", 1.0)
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    assert solved(problem).solution_status is SolutionStatus.OPTIMAL  # without a limit
    with pytest.raises(DeviceError, match=r"for its factorisations, of [\d,]+ entries each"):
        interior_point.solve(problem, TIGHT, Progress(time_limit=60.0))
    over = interior_point.solve(problem, TIGHT, Progress(time_limit=0.0))
    assert over.stop_reason is StopReason.TIME_LIMIT
    outcome = gpu_bridge.solve(problem, method="ipm", time_limit=60)
    assert "HiGHS's interior point takes over" in outcome.log
    assert outcome.objective == pytest.approx(225494.963162)


def test_infeasibility_is_proven() -> None:
    problem = gpu_bridge.read(DATA / "klein1.mps.gz")
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None
    assert proves_infeasible(problem, outcome.dual_ray)


@pytest.mark.parametrize("seed", range(5))
def test_unboundedness_is_proven_with_a_feasible_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    feasible = of_every_kind(rng, rows=10, columns=20)
    matrix = np.hstack([feasible.matrix.toarray(), np.zeros((10, 1))])
    problem = Problem.from_arrays(
        np.append(feasible.cost, -1.0),
        matrix,
        feasible.row_lower,
        feasible.row_upper,
        lower=np.append(feasible.lower, 0.0),
        upper=np.append(feasible.upper, np.inf),
    )
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert outcome.primal_ray is not None
    assert proves_unbounded(problem, outcome.primal_ray)
    assert outcome.x is not None


class Hasty(Progress):
    """A clock on which every look takes a second."""

    looks = 0

    @property
    def seconds(self) -> float:
        self.looks += 1
        return float(self.looks)


def test_an_iteration_that_would_outlast_the_limit_is_not_begun() -> None:
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    progress = Hasty(time_limit=25.0)
    outcome = interior_point.solve(problem, TIGHT, progress)
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert 0 < int(outcome.statistics["iterations"]) < 9
    assert progress.looks <= 27  # those that find it out, and the one that stamps the outcome
    assert outcome.candidate is not None


def test_limits_hold() -> None:
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    few = solved(problem, EngineOptions(tolerance=1e-8, iteration_limit=3))
    assert few.stop_reason is StopReason.ITERATION_LIMIT
    assert few.statistics["iterations"] == 3
    assert few.row_dual is not None
    stopped = Progress()
    stopped.interrupt()
    outcome = interior_point.solve(problem, TIGHT, stopped)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    late = interior_point.solve(problem, TIGHT, Progress(time_limit=0.0))
    assert late.stop_reason is StopReason.TIME_LIMIT


def test_a_limit_in_the_middle_of_a_factorisation_lets_the_caller_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_end = threading.Event()
    before = OnHost.factorise

    def lasting(self: OnHost, values: FloatArray) -> None:
        may_end.wait()
        before(self, values)

    monkeypatch.setattr(OnHost, "factorise", lasting)
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    try:
        outcome = gpu_bridge.solve(problem, method="ipm", device="cpu", time_limit=0.1)
        assert outcome.stop_reason is StopReason.TIME_LIMIT
        assert "while ipm was busy" in outcome.log
    finally:
        may_end.set()


def test_a_point_near_the_optimum_shortens_the_way() -> None:
    problem = of_every_kind(np.random.default_rng(11), rows=40, columns=60)
    cold = solved(problem)
    assert cold.solution_status is SolutionStatus.OPTIMAL
    near = Start(cold.x, cold.row_dual)
    warm = interior_point.solve(problem, EngineOptions(tolerance=1e-8), Progress(), near)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.statistics["iterations"] < cold.statistics["iterations"]


@pytest.mark.parametrize("wrong", [np.nan, 1e9])
def test_a_point_that_is_far_off_is_no_start(wrong: float) -> None:
    problem = of_every_kind(np.random.default_rng(11), rows=40, columns=60)
    cold = solved(problem)
    far = Start(np.full(problem.num_columns, wrong), np.zeros(problem.num_rows))
    warm = interior_point.solve(problem, EngineOptions(tolerance=1e-8), Progress(), far)
    assert warm.statistics["iterations"] == cold.statistics["iterations"]


def test_a_second_beginning_does_not_lose_the_nearer_point_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inner, begun = loop._iterate, list[Outcome]()

    def troubled(run: loop.Run) -> Outcome:
        few = dataclasses.replace(run.options, iteration_limit=0 if begun else 3)
        begun.append(inner(dataclasses.replace(run, options=few)))
        reason = StopReason.TIME_LIMIT if len(begun) > 1 else StopReason.NUMERICAL_TROUBLE
        return dataclasses.replace(begun[-1], stop_reason=reason)

    problem = of_every_kind(np.random.default_rng(11), rows=40, columns=60)
    cold = solved(problem)
    monkeypatch.setattr(loop, "_iterate", troubled)
    near = Start(None if cold.x is None else 1.01 * cold.x, cold.row_dual)
    outcome = interior_point.solve(problem, TIGHT, Progress(), near)
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.row_dual is begun[0].row_dual
    assert len(begun) == 2
