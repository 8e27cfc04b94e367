"""Small models are settled by the reference engine alone; what it does not settle goes on."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.options import make_options
from gpu_bridge.pipeline import brief, dispatch
from gpu_bridge.pipeline.brief import is_worth_a_try
from gpu_bridge.report.improvement import Improvement
from solvers.core.outcome import Basis, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs.live import Live
from tests.cases import through
from tests.highs.models import covering, packing
from tests.locations import ROOT
from tests.pipeline.small_models import INFEASIBLE, LP, MIP, UNBOUNDED, as_integer

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


KNAPSACK = """
import sys
import gpu_bridge as gb
import pulp
model = pulp.LpProblem("knapsack", pulp.LpMaximize)
x = [model.add_variable(f"x{j}", 0, 1, cat="Integer") for j in range(5)]
model += pulp.lpSum((2 * j + 1) * x[j] for j in range(5))
model += pulp.lpSum((j + 2) * x[j] for j in range(5)) <= 9
solver = gb.GPUHEUR(msg=False)
model.solve(solver)
print(pulp.value(model.objective), solver.outcome.engine, solver.outcome.row_activity)
print([name for name in ("scipy.sparse", "cupy", "solvers.mip") if name in sys.modules])
"""


def test_a_small_knapsack_loads_no_sparse_matrices() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KNAPSACK],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.splitlines() == ["12.0 knapsack [9.]", "[]"]


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


def test_rounding_of_large_numbers_keeps_no_model_from_going_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(brief, "SECONDS", 60.0)
    for seed in range(5):
        draw, live = np.random.default_rng(seed), Live()
        rows = draw.uniform(0.1, 3.0, (20, 60)) * (draw.random((20, 60)) < 0.3)
        sides = draw.uniform(1e6, 5e6, 20)
        problem = Problem.from_arrays(draw.uniform(1.0, 5.0, 60), rows, sides, upper=3e6)
        found, _ = brief.try_at_once(problem, make_options({}), Progress(), None, live)
        assert found is not None
        assert found.solution_status is SolutionStatus.OPTIMAL
        assert live._kept is not None


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
