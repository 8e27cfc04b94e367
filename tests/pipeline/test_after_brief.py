"""What a brief solve does not settle goes on: point, bound and basis are taken over."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.options import Options
from gpu_bridge.pipeline import brief, engines
from gpu_bridge.pipeline.registry import ENGINES
from gpu_bridge.pipeline.routes import Choice
from gpu_bridge.report.improvement import Improvement
from solvers.core.errors import EngineError
from solvers.core.outcome import Basis, Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import engine, under_way
from solvers.mip import proof_stage
from tests.highs.models import covering, packing
from tests.pipeline.small_models import INF, INFEASIBLE, LP, MIP, NOTHING, as_integer
from tests.soon import LONG, soon


class Long:
    """Stands in for the engines that take over, and remembers where they began."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: Outcome | None = None) -> None:
        self.starts: list[Start | None] = []
        self._answer = answer
        for name in ("mip", "highs"):
            monkeypatch.setitem(ENGINES, name, replace(ENGINES[name], run=self._solve))
        monkeypatch.setattr(engines, "run_highs", self._solve)

    def _solve(
        self,
        problem: Problem,
        options: Options,
        choice: Choice,
        progress: Progress,
        start: Start | None,
    ) -> Outcome:
        self.starts.append(start)
        if self._answer is not None:
            return self._answer
        return engine.solve(problem, options, progress, start)


def finds(monkeypatch: pytest.MonkeyPatch, x: list[float], bound: float, **more: object) -> None:
    """Let the reference engine come to a point and a bound in its moments."""

    def solve_briefly(problem: Problem, *more_arguments: object) -> Outcome:
        return Outcome(
            SolutionStatus.FEASIBLE,
            StopReason.TIME_LIMIT,
            objective=problem.objective_at(np.array(x)),
            bound=bound,
            x=np.array(x),
            engine="highs",
            **more,  # type: ignore[arg-type]
        )

    monkeypatch.setattr(engine, "solve_briefly", solve_briefly)
    monkeypatch.setattr(engine, "search_briefly", lambda *given: (solve_briefly(*given), None))


@pytest.mark.parametrize("given", [None, Start(x=np.zeros(3)), Start(row_dual=np.ones(2))])
def test_others_go_on_from_the_point_found(
    given: Start | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    finds(monkeypatch, [1.0, 0.0, 0.0], -9.0)
    others = Long(monkeypatch)
    told: list[Improvement] = []
    outcome = gb.solve(MIP, start=given, on_solution=told.append)
    assert outcome.objective == 5.0
    (start,) = others.starts
    assert start is not None
    assert start.x is not None
    assert start.x.tolist() == [1.0, 0.0, 0.0]
    if given is not None:
        assert start.row_dual is given.row_dual
    assert told[0].objective == 3.0
    assert outcome.history[0].incumbent == 3.0
    assert "heuristics beside branch and bound" in outcome.log


def test_a_basis_goes_on_with_the_point_of_a_linear_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    basis = Basis(np.array([1, 1], dtype=np.int8), np.array([0, 0], dtype=np.int8))
    finds(monkeypatch, [0.0, 0.0], -INF, basis=basis)
    others = Long(monkeypatch)
    assert gb.solve(LP).objective == pytest.approx(-7.0)
    (start,) = others.starts
    assert start is not None
    assert start.basis is basis


@pytest.mark.parametrize("given", [None, Start(row_dual=np.ones(2))])
def test_a_basis_goes_on_without_a_point_and_is_none_of_the_answer(
    given: Start | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    basis = Basis(np.array([1, 1], dtype=np.int8), np.array([0, 0], dtype=np.int8))
    stopped = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT, basis=basis, engine="highs")
    monkeypatch.setattr(engine, "solve_briefly", lambda *given: stopped)
    others = Long(monkeypatch, NOTHING)
    assert gb.solve(LP, start=given).basis is None
    (start,) = others.starts
    assert start is not None
    assert start.basis is basis
    assert start.x is None
    if given is not None:
        assert start.row_dual is given.row_dual


def test_point_and_bound_are_not_lost_where_others_find_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finds(monkeypatch, [1.0, 0.0, 0.0], -9.0)
    mine = Outcome(
        SolutionStatus.FEASIBLE,
        StopReason.ITERATION_LIMIT,
        objective=-3.0,
        x=np.array([1.0, 0.0, 0.0]),
        engine="mip",
    )
    Long(monkeypatch, mine)
    outcome = gb.solve(MIP, time_limit=LONG)
    assert (outcome.objective, outcome.bound) == (3.0, 9.0)
    assert outcome.solution_status is SolutionStatus.FEASIBLE


@pytest.mark.parametrize("failure", [EngineError("it crashed"), MemoryError()], ids=str)
def test_a_failure_is_left_to_others(failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise failure

    monkeypatch.setattr(under_way, "run", fails)
    others = Long(monkeypatch)
    assert gb.solve(MIP).solution_status is SolutionStatus.OPTIMAL
    assert others.starts == [None]


def test_who_does_not_hear_of_the_time_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def deaf(*given: object) -> None:
        release.wait(LONG)

    monkeypatch.setattr(under_way, "run", deaf)
    monkeypatch.setattr(engine, "OVERSTAY", 0.01)
    others = Long(monkeypatch)
    outcome = gb.solve(MIP)
    release.set()
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert others.starts == [None]


@pytest.mark.parametrize("problem", [LP, MIP], ids=["LP", "MIP"])
def test_without_time_nothing_is_settled_and_nothing_lost(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brief, "SECONDS", 0.0)
    others = Long(monkeypatch)
    outcome = gb.solve(problem)
    assert len(others.starts) == 1
    assert outcome.solution_status is SolutionStatus.OPTIMAL


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("problem", [LP, MIP, INFEASIBLE], ids=["LP", "MIP", "infeasible"])
def test_no_time_at_all_is_no_answer(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "begin", None)  # nobody calls it
    monkeypatch.setattr(under_way, "run", None)
    outcome = gb.solve(problem, time_limit=0)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.TIME_LIMIT


@pytest.mark.usefixtures("patient")
def test_limits_on_iterations_and_nodes_hold() -> None:
    problem = packing(40, 60)
    outcome = gb.solve(problem, iteration_limit=0, presolve=False)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    limited = gb.solve(as_integer(problem), node_limit=0, presolve=False, device="cpu")
    assert int(limited.statistics.get("nodes", 0)) <= 1


@pytest.mark.parametrize("threads", [1, 2])
def test_branch_and_bound_goes_on_and_nothing_begins_again(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brief, "SECONDS", 0.0)
    begun = []
    run = under_way.run

    def counted(*given: object) -> object:
        begun.append(given)
        return run(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(under_way, "run", counted)
    monkeypatch.setattr(proof_stage, "highs", None)  # who solves a problem anew comes here
    problem = covering(30, 40, integer=True)
    outcome = gb.solve(problem, threads=threads, device="cpu")
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.engine == "mip"
    assert "heuristics beside branch and bound" in outcome.log
    assert len(begun) == 1


def test_branch_and_bound_ends_where_an_exact_engine_takes_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(brief, "SECONDS", 0.0)
    stopped = []
    abandon = under_way.UnderWay.abandon

    def counted(self: under_way.UnderWay) -> None:
        abandon(self)
        stopped.append(self)

    monkeypatch.setattr(under_way.UnderWay, "abandon", counted)
    problem = Problem.from_arrays(
        np.arange(1.0, 41.0),
        np.vstack([np.arange(1.0, 41.0) % 7 + 3.0, np.eye(40)[0]]),
        -INF,
        [90.0, 1.0],
        upper=1.0,
        integrality=True,
        maximize=True,
    )
    outcome = gb.solve(problem, device="cpu")
    assert outcome.engine == "knapsack"
    (one,) = stopped
    assert soon(lambda: one.wait(0.0))


def test_a_knapsack_problem_is_solved_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(10, 1000, 60).astype(float)
    profits = 1000.0 * weights + rng.integers(-5000, 5000, 60)
    table = np.vstack([weights, np.eye(60)[0]])  # a capacity, and a bound that is written as a row
    problem = Problem.from_arrays(
        profits, table, -INF, [weights.sum() // 2, 1.0], upper=1.0, integrality=True, maximize=True
    )
    exact = gb.solve(problem, method="knapsack", device="cpu")
    assert exact.x is not None
    finds(monkeypatch, exact.x.tolist(), -exact.bound - 100.0)  # well within the gap asked for
    outcome = gb.solve(problem, device="cpu")
    assert (outcome.objective, outcome.gap) == (exact.objective, 0.0)
    assert outcome.engine == "knapsack"
    fruitless = replace(ENGINES["knapsack"], run=lambda *_: replace(NOTHING, engine="knapsack"))
    monkeypatch.setitem(ENGINES, "knapsack", fruitless)
    within = gb.solve(problem, device="cpu")  # the exact engine comes to nothing
    assert within.solution_status is SolutionStatus.OPTIMAL
    assert (within.objective, within.bound) == (exact.objective, exact.objective + 100.0)
