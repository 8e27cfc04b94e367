"""Callbacks, pools, starts and unproven points in PuLP's words."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pulp
import pytest

import gpu_bridge.pipeline.dispatch
from gpu_bridge.adapters.pulp import GPUHEUR
from gpu_bridge.outcome import Outcome, PoolSolution, StopReason
from gpu_bridge.report.improvement import Improvement
from solvers.core.errors import OptionError, ProblemError
from solvers.core.outcome import SolutionStatus, Start
from solvers.core.problem import Problem
from tests.adapters.pulp.models import PULP_4, rows_of, solve, solver, values


def knapsack(items: int = 30) -> pulp.LpProblem:
    """Return max c'x under three weights, with a continuous rest; hard enough for some steps."""
    generator = np.random.default_rng(3)
    lp = pulp.LpProblem("knapsack", pulp.LpMaximize)
    columns = [lp.add_variable(f"take_{j}", cat="Binary") for j in range(items)]
    rest = lp.add_variable("rest", 0, 5)
    lp += pulp.lpDot(generator.integers(10, 40, items).tolist(), columns) + 0.5 * rest
    for i in range(3):
        weights = generator.integers(5, 30, items).tolist()
        lp += pulp.lpDot(weights, columns) + rest <= sum(weights) // 3, f"weight_{i}"
    return lp


def pair() -> pulp.LpProblem:
    """Return max 3 a + 2 b + 1, a + b <= 1, both binary."""
    lp = pulp.LpProblem("pair", pulp.LpMaximize)
    a, b = lp.add_variable("a", cat="Binary"), lp.add_variable("b", cat="Binary")
    lp += 3 * a + 2 * b + 1
    lp += a + b <= 1, "one"
    return lp


def reference(**options: Any) -> GPUHEUR:
    """Return our solver with the reference engine, whose steps on a small model are quick."""
    return solver(**{"method": "highs", **options})


class Pipeline:
    """Stands in for the pipeline: returns an outcome with a pool, and keeps what it was given."""

    def __init__(self, status: SolutionStatus, reason: StopReason) -> None:
        self.status, self.reason = status, reason
        self.start: Start | None = None
        self.options: Any = None

    def __call__(
        self, problem: Problem, options: Any, *, start: Start | None, **more: Any
    ) -> Outcome:
        self.start, self.options = start, options
        points = [np.array([1.0, 0.0]), np.array([0.0, 1.0 - 1e-9]), np.array([0.0, 0.0])]
        return Outcome(
            self.status,
            self.reason,
            objective=4.0,
            bound=5.0,
            x=points[0],
            problem=problem,
            pool=tuple(
                PoolSolution(x, objective, seconds, source)
                for x, objective, seconds, source in zip(
                    points, (4.0, 3.0, 1.0), (0.5, 0.2, 0.1), ("dive", "walk", "start"), strict=True
                )
            ),
        )


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    fake = Pipeline(SolutionStatus.FEASIBLE, StopReason.TIME_LIMIT)
    monkeypatch.setattr(gpu_bridge.pipeline.dispatch, "solve", fake)
    return fake


def test_the_callback_sees_variables_and_names() -> None:
    lp, told = knapsack(), []
    take = {variable.name: variable for variable in lp.variables()}

    def look(improvement: Improvement) -> None:
        by_name = dict(improvement.values)
        assert by_name.keys() == take.keys()
        assert improvement.values[take["take_3"]] == by_name["take_3"]
        assert "take_99" not in improvement.values
        assert len(improvement.values) == len(take)
        told.append((improvement.objective, by_name))

    assert solve(lp, reference(on_solution=look, gapRel=0.0)) is SolutionStatus.OPTIMAL
    objectives = [objective for objective, _ in told]
    assert objectives == sorted(objectives)
    assert objectives[-1] == pytest.approx(pulp.value(lp.objective))
    assert told[-1][1] == pytest.approx(values(lp))


def test_an_unknown_name_is_named() -> None:
    def look(improvement: Improvement) -> None:
        improvement.values["take_99"]

    with pytest.raises(KeyError, match="take_99"):
        solve(knapsack(), reference(on_solution=look))


def test_true_stops_with_the_best_point() -> None:
    lp, told = knapsack(60), []

    def first(improvement: Improvement) -> bool:
        told.append(improvement.objective)
        return True

    mine = reference(on_solution=first, gapRel=0.0, presolve=False)
    status = solve(lp, mine)
    assert len(told) == 1
    if status is SolutionStatus.FEASIBLE:  # else the engine was done before it heard
        assert mine.outcome is not None
        assert mine.outcome.stop_reason is StopReason.INTERRUPTED
    assert pulp.value(lp.objective) >= told[0] - 1e-6


def test_an_error_is_raised_once_the_model_is_in_order() -> None:
    lp = knapsack()

    def fails(improvement: Improvement) -> None:
        raise RuntimeError("enough")

    mine = reference(on_solution=fails)
    with pytest.raises(RuntimeError, match="enough"):
        lp.solve(mine)
    assert mine.outcome is not None
    assert pulp.value(lp.objective) == pytest.approx(mine.outcome.objective)
    if not PULP_4:
        assert lp.status == pulp.LpStatusOptimal


def test_a_callback_of_one_call_goes_before_that_of_the_solver() -> None:
    first: list[Improvement] = []
    second: list[Improvement] = []
    knapsack().solve(reference(on_solution=first.append), on_solution=second.append)
    assert (bool(first), bool(second)) == (False, True)


def test_copies_keep_the_callback_and_texts_leave_it_out() -> None:
    mine = solver(on_solution=print)
    assert mine.copy().on_solution is print
    assert "on_solution" not in json.dumps(mine.toDict())
    with pytest.raises(OptionError, match="takes a function"):
        knapsack().solve(reference(on_solution="yes"))  # type: ignore[arg-type]


def test_variables_of_one_name_are_told_apart() -> None:
    lp = pulp.LpProblem("twins", pulp.LpMaximize)
    one, two = (lp.add_variable("x", 0, high, cat="Integer") for high in (3, 5))
    lp += one + two
    lp += one + 2 * two <= 12, "row"
    told: list[tuple[float, float, float]] = []

    def look(improvement: Improvement) -> None:
        found = improvement.values
        told.append((found[one], found[two], found["x"]))
        assert len(found) == 1

    lp.solve(reference(on_solution=look))
    assert told[-1] == (one.varValue, two.varValue, one.varValue)


def test_the_pool_has_every_point_best_first(pipeline: Pipeline) -> None:
    lp, mine = pair(), solver()
    assert mine.pool == []
    solve(lp, mine)
    assert [one.objective for one in mine.pool] == [4.0, 3.0, 1.0]
    assert [one.source for one in mine.pool] == ["dive", "walk", "start"]
    assert [one.seconds for one in mine.pool] == [0.5, 0.2, 0.1]
    assert dict(mine.pool[1].values) == {"a": 0.0, "b": 1.0}
    assert values(lp) == {"a": 1.0, "b": 0.0}


def test_a_point_of_the_pool_can_be_loaded(pipeline: Pipeline) -> None:
    lp, mine = pair(), solver()
    solve(lp, mine)
    mine.load_solution(lp, 2)
    assert values(lp) == {"a": 0.0, "b": 0.0}
    if not PULP_4:
        assert [row.slack for row in rows_of(lp)] == [1.0]
    mine.load_solution(lp, 1)
    assert values(lp) == {"a": 0.0, "b": 1.0}
    mine.load_solution(lp, 0)
    assert values(lp) == {"a": 1.0, "b": 0.0}
    with pytest.raises(IndexError, match="no solution 3; the pool has 3"):
        mine.load_solution(lp, 3)
    with pytest.raises(IndexError):
        mine.load_solution(lp, -1)
    with pytest.raises(ProblemError, match="'knapsack'"):
        mine.load_solution(knapsack(), 0)


def test_without_a_pool_the_answer_is_the_pool() -> None:
    lp, mine = knapsack(), solver(method="highs")
    solve(lp, mine)
    (only,) = mine.pool
    assert only.objective == pytest.approx(pulp.value(lp.objective))
    assert only.source == "highs"


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (StopReason.TIME_LIMIT, "TimeLimit"),
        (StopReason.EXHAUSTED, "Stopped"),
        (StopReason.INTERRUPTED, "Interrupted"),
    ],
)
def test_an_unproven_point_is_feasible_with_bound_and_gap(
    pipeline: Pipeline, reason: StopReason, name: str
) -> None:
    pipeline.reason = reason
    lp, mine = pair(), solver()
    answer = lp.solve(mine)
    assert mine.outcome is not None
    assert mine.outcome.gap == pytest.approx(0.25)
    if PULP_4:
        assert (answer.status.name, answer.has_solution) == (name, True)
        assert answer.best_bound == 5.0
    else:
        assert lp.sol_status == pulp.LpSolutionIntegerFeasible
        assert lp.bestBound == 5.0


def test_options_of_the_heuristics_go_by_their_names(pipeline: Pipeline) -> None:
    wanted = {"heuristics_only": True, "pool_size": 3, "deterministic": True, "work_limit": 2.5}
    solve(pair(), solver(**wanted))
    assert {name: getattr(pipeline.options, name) for name in wanted} == wanted
    solve(pair(), GPUHEUR(msg=False, options=["heuristics_only=true", "pool_size=4"]))
    assert (pipeline.options.heuristics_only, pipeline.options.pool_size) == (True, 4)
    with pytest.raises(OptionError, match="did you mean 'pool_size'"):
        solver(pools=3)


def test_a_partial_start_leaves_the_rest_open(pipeline: Pipeline) -> None:
    lp = pair()
    lp.variablesDict()["b"].setInitialValue(1)
    solve(lp, solver(warmStart=True))
    assert pipeline.start is not None
    np.testing.assert_equal(pipeline.start.x, [np.nan, 1.0])


@pytest.mark.parametrize("names", [["take_0", "take_1"], None])
def test_the_log_says_that_a_start_was_used(
    names: list[str] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    lp = knapsack()
    solve(lp, reference(gapRel=0.0))
    best = pulp.value(lp.objective)
    if names is not None:
        held = values(lp)
        lp = knapsack()
        for name in names:
            lp.variablesDict()[name].setInitialValue(held[name])
    solve(lp, solver(msg=True, warmStart=True, method="highs", gapRel=0.0))
    log = capsys.readouterr().out
    assert re.search("MIP start|The start has 2 of", log), log
    assert pulp.value(lp.objective) == pytest.approx(best)
