"""Small models are settled by the reference engine alone; what it does not settle goes on."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.options import Options, make_options
from gpu_bridge.pipeline import brief, dispatch, engines
from gpu_bridge.pipeline.brief import is_worth_a_try
from gpu_bridge.pipeline.registry import ENGINES
from gpu_bridge.pipeline.routes import Choice
from gpu_bridge.report.improvement import Improvement
from solvers.core.errors import EngineError
from solvers.core.outcome import Basis, Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import engine, under_way
from solvers.highs.live import Live
from solvers.mip import prover
from tests.cases import through
from tests.highs.models import covering, packing
from tests.locations import ROOT
from tests.soon import LONG, soon

INF = np.inf

LP = Problem.from_arrays([-1.0, -2.0], [[1.0, 1.0], [1.0, -1.0]], -INF, [4.0, 2.0], upper=3.0)
MIP = Problem.from_arrays(
    [3.0, 4.0, 2.0],
    [[2.0, 3.0, 1.0], [1.0, -2.0, 0.0]],
    [-INF, 0.0],
    [4.0, INF],
    upper=1.0,
    integrality=True,
    maximize=True,
)
INFEASIBLE = Problem.from_arrays(
    [1.0, 1.0], [[1.0, 1.0], [1.0, -1.0]], [9.0, 0.0], [INF, 0.0], upper=3.0
)
UNBOUNDED = Problem.from_arrays([-1.0, 0.0], [[1.0, -1.0], [0.0, 1.0]], [-INF, 1.0], [4.0, INF])
NOTHING = Outcome(SolutionStatus.NOTHING, StopReason.ITERATION_LIMIT)


def as_integer(problem: Problem) -> Problem:
    """Return the same problem with whole columns."""
    return replace(problem, integrality=np.ones(problem.num_columns, dtype=bool))


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reference engine end, however busy this machine is."""
    monkeypatch.setattr(brief, "SECONDS", LONG)


BEGIN = """
import sys
import gpu_bridge as gb
from gpu_bridge.pipeline import brief as at_once
at_once.SECONDS = 60.0
"""
BY_MATRICES = """
import numpy as np
from solvers.core.problem import Problem
outcome = gb.solve(Problem.from_arrays(
    [3.0, 4.0, 2.0], [[2.0, 3.0, 1.0], [1.0, -2.0, 0.0]], [-np.inf, 0.0], [4.0, np.inf],
    upper=1.0, integrality={integer}, maximize=True))
print(outcome.objective, outcome.engine)
"""
BY_PULP = """
import pulp
model = pulp.LpProblem("small", pulp.LpMaximize)
x = [model.add_variable(f"x{{j}}", 0, 1, cat="Integer" if {integer} else "Continuous")
     for j in range(3)]
model += 3 * x[0] + 4 * x[1] + 2 * x[2]
model += 2 * x[0] + 3 * x[1] + x[2] <= 4
model += x[0] - 2 * x[1] >= 0
solver = gb.GPUHEUR(msg=False)
model.solve(solver)
print(pulp.value(model.objective), solver.outcome.engine)
"""
END = """
heavy = ("scipy", "numba", "cupy", "solvers.mip", "solvers.pdlp", "solvers.simplex",
         "solvers.highs.child", "solvers.knapsack", "solvers.native",
         "gpu_bridge.pipeline.engines", "solvers.presolve")
print([name for name in heavy if name in sys.modules])
"""


@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("program", [BY_MATRICES, BY_PULP], ids=["matrices", "PuLP"])
def test_a_process_loads_nothing_that_a_small_model_has_no_use_for(
    program: str, integer: bool
) -> None:
    code = BEGIN + program.format(integer=integer) + END
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.splitlines() == [f"{5.0 if integer else 19 / 3} highs", "[]"]


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("problem", [LP, MIP], ids=["LP", "MIP"])
def test_a_small_model_is_settled(problem: Problem) -> None:
    outcome = gb.solve(problem)
    assert outcome.engine == "highs"
    assert brief.DECISION in outcome.log
    assert outcome.log.count("Engine  ") == 2  # who was chosen, and who answered
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(gb.solve(problem, method="highs").objective)
    assert outcome.history[-1].incumbent == outcome.objective
    assert outcome.history[-1].bound == outcome.bound
    assert "simplex_iterations" in outcome.statistics
    if not problem.is_mip:
        assert outcome.basis is not None
        assert outcome.row_dual is not None


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("integer", [False, True])
def test_infeasible_and_unbounded_models_are_settled(integer: bool) -> None:
    for problem, status in (
        (INFEASIBLE, SolutionStatus.INFEASIBLE),
        (UNBOUNDED, SolutionStatus.UNBOUNDED),
    ):
        outcome = gb.solve(as_integer(problem) if integer else problem)
        assert outcome.engine == "highs"
        assert outcome.log.count("Engine  ") == 2
        assert (outcome.solution_status, outcome.stop_reason) == (status, StopReason.CONVERGED)
        assert (outcome.conflict is not None) == (status is SolutionStatus.INFEASIBLE)
        assert not outcome.pool
    assert gb.solve(INFEASIBLE, explain=False).conflict is None


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("pool_size", [1, 2, 10])
def test_points_on_the_way_are_told_and_kept(maximize: bool, pool_size: int) -> None:
    problem = covering(30, 40, integer=True)
    if maximize:
        problem = replace(problem, maximize=True)
    sign = -1.0 if maximize else 1.0
    told: list[Improvement] = []
    outcome = gb.solve(problem, on_solution=told.append, pool_size=pool_size)
    assert outcome.engine == "highs"
    pool = outcome.pool
    assert 1 <= len(pool) <= pool_size
    assert len(pool) > 1 or pool_size == 1
    assert outcome.x is not None
    np.testing.assert_array_equal(pool[0].x, outcome.x)
    assert pool[0].objective == outcome.objective
    objectives = [sign * entry.objective for entry in pool]
    assert objectives == sorted(objectives)
    assert len({entry.x.tobytes() for entry in pool}) == len(pool)
    for entry in pool:
        assert entry.source == "highs"
        assert entry.objective == pytest.approx(sign * problem.objective_at(entry.x))
        activity = problem.matrix @ entry.x
        assert (activity >= problem.row_lower - 1e-6).all()
        np.testing.assert_array_equal(entry.x, np.rint(entry.x))
    assert [one.objective for one in told] == [entry.objective for entry in reversed(pool)]
    points = dict.fromkeys(event.incumbent for event in outcome.history)
    assert list(points) == [entry.objective for entry in reversed(pool)]


@pytest.mark.usefixtures("patient")
def test_a_callback_that_wants_an_end_takes_nothing_from_the_answer() -> None:
    told: list[Improvement] = []

    def first(improvement: Improvement) -> bool:
        told.append(improvement)
        return True

    outcome = gb.solve(covering(30, 40, integer=True), on_solution=first)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert len(told) == 1


@pytest.mark.usefixtures("patient")
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


def plain(table: list[list[float]], **more: object) -> Problem:
    """Return a problem of whole columns with these rows."""
    rows = np.array(table)
    values: dict[str, object] = {"upper": 5.0, "integrality": True, **more}
    return Problem.from_arrays(np.ones(rows.shape[1]), rows, 1.0, **values)  # type: ignore[arg-type]


TWO_ROWS = [[1.0, 2.0], [3.0, 1.0]]


@through(
    ("problem", "options", "worth"),
    [
        (LP, {}, True),
        (MIP, {}, True),
        (MIP, {"device": "cpu"}, True),
        (MIP, {"method": "highs"}, False),
        (MIP, {"method": "mip"}, False),
        (MIP, {"device": "cuda"}, False),
        (MIP, {"device": "cuda:1"}, False),
        (MIP, {"heuristics_only": True}, False),
        (MIP, {"deterministic": True}, False),
        (LP, {"deterministic": True}, True),
        (plain(TWO_ROWS), {}, True),
        (plain([[1.0, 2.0]]), {}, False),
        (plain([[1.0, 2.0]], integrality=False), {}, True),
        (plain([[0.0, 0.0], [0.0, 0.0]]), {}, False),
        (plain([[1e-4, 1e5], [3.0, 1.0]]), {}, False),
        (plain(TWO_ROWS, upper=1e9), {}, False),
        (plain(TWO_ROWS, upper=1e13, integrality=[True, False]), {}, False),
        (packing(100, 1100), {}, False),
        (Problem.from_arrays(np.zeros(0)), {}, False),
    ],
)
def test_who_is_tried(problem: Problem, options: dict[str, object], worth: bool) -> None:
    assert is_worth_a_try(problem, make_options(options)) is worth


def test_a_larger_linear_program_is_tried_from_its_last_basis() -> None:
    larger = packing(100, 1100)
    basis = Basis(np.zeros(larger.num_columns, np.int8), np.ones(larger.num_rows, np.int8))
    start, live = Start(basis=basis), Live()
    assert brief.MOST < larger.num_nonzeros < brief.MOST_AGAIN
    assert is_worth_a_try(larger, make_options(), start, live)
    assert not is_worth_a_try(larger, make_options(), Start(x=np.zeros(1100)), live)
    assert not is_worth_a_try(larger, make_options(), start)
    assert not is_worth_a_try(larger, make_options({"deterministic": True}), start, live)
    whole = replace(larger, integrality=np.ones(larger.num_columns, dtype=bool))
    assert not is_worth_a_try(whole, make_options(), start, live)
    live.was_brief(False)
    assert not is_worth_a_try(larger, make_options(), start, live)


def test_what_took_longer_is_tried_again_after_ever_more_solves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(brief, "MOST", 0)
    live, options, tried = Live(), make_options({"device": "cpu"}), []
    start = Start(basis=dispatch.solve(LP, options).basis)
    for k in range(16):
        monkeypatch.setattr(dispatch, "is_settled", lambda *about, end=k >= 12: end)
        answer = dispatch.solve(LP, options, start=start, live=live)
        assert answer.solution_status is SolutionStatus.OPTIMAL
        tried += [k] * (brief.DECISION in answer.log)
    assert tried == [0, 2, 6, 14, 15]


@pytest.mark.parametrize("problem", [plain(TWO_ROWS, upper=1e9), plain([[1e-4, 1e5], [3.0, 1.0]])])
def test_doubtful_magnitudes_go_the_long_way(problem: Problem) -> None:
    outcome = gb.solve(problem, device="cpu")
    assert brief.DECISION not in outcome.log
    assert outcome.solution_status is SolutionStatus.OPTIMAL


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
    monkeypatch.setattr(prover, "highs", None)  # who solves a problem anew comes here
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
