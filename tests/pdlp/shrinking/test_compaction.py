"""Solves that leave idle columns and rows out: the same answers, whatever had to come back."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.lp_answer import judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import loop_state
from solvers.pdlp.control import Control
from solvers.pdlp.execution.on_cpu import BlocksOnCpu
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.shrinking import compaction
from solvers.pdlp.shrinking.part import ANSWER, STANDING
from tests.pdlp.lps import solve_with_highs
from tests.pdlp.matrices import PRETENDED_GPU
from tests.pdlp.shrinking.wide_lps import covering, mixed

TOLERANCE = 1e-7
OFTEN = DEFAULT.changed(
    shrinking={"from_nonzeros": 1, "first_look": 20, "growth": 1.2}, restart={"check_interval": 20}
)
"""Looks at small models as often as is possible."""

RASH = OFTEN.changed(shrinking={"margin": 0.0, "share": 0.99, "returns": 1000})
"""Leaves out whatever is at a bound for the moment, most of which has to come back."""

GROWING = RASH.changed(shrinking={"share_of_part": 0.0})
"""Makes no part smaller, so that every part but the first one is due to something's return."""

FREE = {"from_nonzeros_on_gpu": 1, "entries_of_part": 0.0, "wait_on_gpu": 1.0}
ON_GPU = OFTEN.changed(shrinking=FREE)
RASH_ON_GPU = RASH.changed(shrinking=FREE)


class Listener(Progress):
    """Keeps the log, and stops a solve when a number of parts have been made."""

    def __init__(self, parts: int = 10**9) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._parts = parts

    def log(self, message: str) -> None:
        self.lines.append(message)
        if self.parts >= self._parts:
            self.interrupt()

    @property
    def parts(self) -> int:
        """Parts made so far."""
        return sum(line.startswith("Leaving out") for line in self.lines)


def solve(problem: Problem, settings: Settings, progress: Progress | None = None, **options):
    chosen = EngineOptions(**{"device": "cpu", "tolerance": TOLERANCE, **options})
    return pdlp.solve(problem, chosen, progress or Listener(), settings=settings)


def assert_optimal(problem: Problem, outcome: Outcome, tolerance: float = TOLERANCE) -> None:
    """Check status, point and duals on the whole problem, and the objective against HiGHS."""
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    figures = judge(problem, outcome.x, outcome.row_dual).statistics
    assert figures.worst <= tolerance * (1.0 + 1e-9)
    status, objective = solve_with_highs(problem)
    assert status == "kOptimal"
    assert outcome.objective == pytest.approx(objective, rel=20 * tolerance, abs=20 * tolerance)
    reduced = problem.cost - problem.matrix.T @ outcome.row_dual
    np.testing.assert_allclose(outcome.reduced_cost, reduced, atol=1e-12)
    np.testing.assert_allclose(outcome.row_activity, problem.matrix @ outcome.x, atol=1e-12)


def test_columns_are_left_out_and_the_answer_is_the_same() -> None:
    problem, progress = covering(1), Listener()
    outcome = solve(problem, OFTEN, progress)
    assert progress.parts >= 1
    assert_optimal(problem, outcome)
    without = Listener()
    plain = solve(problem, OFTEN.changed(shrinking={"enabled": False}), without)
    assert without.parts == 0
    assert plain.objective == pytest.approx(outcome.objective, rel=1e-5)


@examples(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([covering, mixed]))
def test_answers_are_optimal_on_the_whole_problem(seed: int, make) -> None:
    problem = make(seed)
    assert_optimal(problem, solve(problem, OFTEN))


@examples(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([covering, mixed]))
def test_answers_are_optimal_however_rashly_columns_are_left_out(seed: int, make) -> None:
    problem = make(seed)
    assert_optimal(problem, solve(problem, RASH))


@pytest.mark.parametrize("seed", [0, 1, 7, 8])
def test_what_was_left_out_wrongly_comes_back(seed: int) -> None:
    problem, progress = mixed(seed), Listener()
    assert_optimal(problem, solve(problem, GROWING, progress))
    assert progress.parts >= 2
    entries = [
        int(re.findall(r"([\d,]+) of", line)[-1].replace(",", "")) for line in progress.lines
    ]
    assert entries == sorted(set(entries))


def test_after_too_many_returns_the_whole_problem_takes_over() -> None:
    problem, progress = mixed(0), Listener()
    outcome = solve(problem, GROWING.changed(shrinking={"returns": 0}), progress)
    assert_optimal(problem, outcome)
    assert progress.parts == 1
    assert sum("keeps coming back" in line for line in progress.lines) == 1


def test_two_runs_are_equal() -> None:
    first, second = (solve(covering(2), RASH) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert np.array_equal(first.row_dual, second.row_dual)
    assert first.statistics["iterations"] == second.statistics["iterations"]


class Ahead(BlocksOnCpu):
    """Runs a block further than what is read about, as a GPU does."""

    depth = 2


@pytest.mark.parametrize("seed", [0, 1, 7, 8])
@pytest.mark.parametrize("settings", [ON_GPU, RASH_ON_GPU], ids=["often", "rash"])
def test_the_layout_and_the_queue_of_a_gpu_lead_to_the_same_optimum(
    seed: int, settings: Settings, monkeypatch
) -> None:
    monkeypatch.setattr(loop_state, "iteration_blocks", Ahead)
    problem, progress = mixed(seed, rows=40, columns=300), Listener()
    options = EngineOptions(tolerance=TOLERANCE)
    state = pdlp.prepare(problem, options, PRETENDED_GPU, progress, settings=settings)
    columns = state.problem.coefficients.column_order
    assert not np.array_equal(columns, np.arange(columns.size)), "columns are permuted"
    assert_optimal(problem, pdlp.run(state, options, progress))
    assert progress.parts >= 1


def test_on_a_gpu_iterations_first_have_to_cost_what_a_part_does(monkeypatch) -> None:
    monkeypatch.setattr(loop_state, "iteration_blocks", Ahead)
    problem = mixed(0)
    each = ON_GPU.shrinking.entries_of_launch + problem.num_nonzeros
    begun = []
    for iterations in (20, 100):
        settings = ON_GPU.changed(shrinking={"entries_of_part": float(each * iterations)})
        progress = Listener(parts=1)
        options = EngineOptions(tolerance=TOLERANCE)
        state = pdlp.prepare(problem, options, PRETENDED_GPU, progress, settings=settings)
        begun.append(pdlp.run(state, options, progress).statistics["iterations"])
        assert begun[-1] >= iterations
    assert begun[0] < begun[1]


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_on_a_gpu_everything_returns_where_another_part_would_not_pay(
    seed: int, monkeypatch
) -> None:
    monkeypatch.setattr(loop_state, "iteration_blocks", Ahead)
    problem, progress = mixed(seed), Listener()
    each = ON_GPU.shrinking.entries_of_launch + problem.num_nonzeros
    dear = {**FREE, "entries_of_part": float(each * 40), "progress": 0.0}
    options = EngineOptions(tolerance=TOLERANCE)
    settings = GROWING.changed(shrinking=dear)
    state = pdlp.prepare(problem, options, PRETENDED_GPU, progress, settings=settings)
    outcome = pdlp.run(state, options, progress)
    assert_optimal(problem, outcome)
    assert any("and with it everything" in line for line in progress.lines)
    assert progress.parts <= outcome.statistics["iterations"] / 40


def infeasible() -> Problem:
    """Return rows that ask for more than the boxed columns can give together."""
    wide = covering(3)
    return replace(wide, upper=np.full(wide.num_columns, 1e-3))


def unbounded() -> Problem:
    """Return a covering LP in which one column earns without end."""
    wide = covering(4)
    cost = wide.cost.copy()
    cost[17] = -1.0
    return replace(wide, cost=cost)


@pytest.mark.parametrize("settings", [OFTEN, RASH], ids=["often", "rash"])
def test_certificates_are_those_of_the_whole_problem(settings: Settings) -> None:
    assert solve(infeasible(), settings).solution_status is SolutionStatus.INFEASIBLE
    assert solve(unbounded(), settings).solution_status is SolutionStatus.UNBOUNDED


def test_nothing_is_left_out_where_everything_takes_part() -> None:
    generator = np.random.default_rng(6)
    matrix = generator.uniform(-1.0, 1.0, (8, 20))
    free = Problem.from_arrays(
        matrix.T @ generator.uniform(1.0, 2.0, 8), matrix, np.ones(8), np.ones(8), lower=-np.inf
    )
    progress = Listener()
    assert_optimal(free, solve(free, RASH, progress))
    assert progress.parts == 0


def test_a_part_without_entries_is_not_made() -> None:
    idle = Problem.from_arrays(np.ones(30), np.ones((2, 30)), -np.inf, [5.0, 6.0])
    progress = Listener()
    assert_optimal(idle, solve(idle, RASH, progress))
    assert progress.parts == 0


@pytest.mark.parametrize("limit", [40, 100, 260])
def test_an_iteration_limit_counts_all_iterations(limit: int) -> None:
    problem, progress = covering(7), Listener()
    outcome = solve(problem, RASH, progress, iteration_limit=limit, tolerance=1e-10)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit
    assert (progress.parts > 0) == (limit > 20)
    best = outcome.x if outcome.x is not None else outcome.candidate
    assert best.shape == (problem.num_columns,)
    assert outcome.row_dual.shape == (problem.num_rows,)
    found = judge(problem, best, outcome.row_dual).statistics
    assert outcome.statistics["relative_primal_residual"] <= found.relative_primal + 1e-12


def test_an_interrupted_solve_returns_a_point_of_the_whole_problem() -> None:
    problem, progress = covering(8), Listener(parts=2)
    outcome = solve(problem, RASH, progress, tolerance=1e-10)
    assert progress.parts == 2
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.row_dual.shape == (problem.num_rows,)


def test_a_milestone_inside_a_part_hands_out_a_point_of_the_whole_problem() -> None:
    problem, progress = covering(9), Listener()
    handed: list[Outcome] = []
    options = EngineOptions(device="cpu", tolerance=1e-9)
    milestone = pdlp.Milestone(1e-4, handed.append)
    outcome = pdlp.solve(problem, options, progress, settings=OFTEN, milestone=milestone)
    assert_optimal(problem, outcome, 1e-9)
    assert progress.parts >= 1
    assert len(handed) == 1
    assert_optimal(problem, handed[0], 1e-4)


def test_a_milestone_missed_on_the_whole_problem_is_not_tried_in_every_block(monkeypatch) -> None:
    real, errors = loop_state.is_optimal, []

    def missing_the_milestone(statistics, criteria):
        if criteria.gap == 1e-1:
            errors.append(statistics.worst)
            return False
        return real(statistics, criteria)

    monkeypatch.setattr(loop_state, "is_optimal", missing_the_milestone)
    handed: list[Outcome] = []
    settings = RASH.changed(shrinking={"first_look": 20}, restart={"check_interval": 4})
    options = EngineOptions(device="cpu", tolerance=1e-9)
    milestone = pdlp.Milestone(1e-1, handed.append)
    problem, progress = covering(9), Listener()
    outcome = pdlp.solve(problem, options, progress, settings=settings, milestone=milestone)
    assert_optimal(problem, outcome, 1e-9)
    assert progress.parts >= 1
    assert handed == []
    blocks = outcome.statistics["iterations"] / 4
    assert 1 < len(errors) < 2 * blocks / 3


def test_a_state_run_again_goes_on_with_the_whole_problem() -> None:
    problem, progress = covering(10), Listener()
    options = EngineOptions(device="cpu", tolerance=1e-9)
    state = pdlp.prepare(problem, options, cpu(), progress, settings=RASH)
    first = pdlp.run(state, replace(options, iteration_limit=100), progress)
    assert first.stop_reason is StopReason.ITERATION_LIMIT
    assert progress.parts >= 1
    assert state.read_control()[Control.ITERATIONS] == 100
    outcome = pdlp.run(state, options, progress)
    assert_optimal(problem, outcome, 1e-9)
    assert outcome.statistics["iterations"] > 100


def test_numbers_that_cease_to_be_finite_in_a_part_end_it(monkeypatch) -> None:
    from solvers.pdlp.shrinking import compaction

    original = compaction.enter

    def poisoned(*arguments):
        state = original(*arguments)
        state.y.point[0] = np.nan
        return state

    monkeypatch.setattr(compaction, "enter", poisoned)
    problem, progress = covering(11), Listener()
    assert_optimal(problem, solve(problem, OFTEN, progress))
    assert progress.parts == 1
    assert any("broke down" in line for line in progress.lines)


def test_exhausted_memory_means_going_on_with_the_whole_problem(monkeypatch) -> None:
    from solvers.core.device import Device
    from solvers.pdlp.shrinking import compaction

    def exhausted(*arguments):
        raise MemoryError("pretended")

    monkeypatch.setattr(compaction, "enter", exhausted)
    monkeypatch.setattr(Device, "is_out_of_memory", lambda self, error: True)
    problem, progress = covering(12), Listener()
    assert_optimal(problem, solve(problem, OFTEN, progress))
    assert progress.parts == 0


def test_nothing_is_written_back_twice(monkeypatch) -> None:
    control, written = np.zeros(3), []
    state = SimpleNamespace(read_control=control.copy)
    inside = compaction._Inside(None, state, 1.0)  # type: ignore[arg-type]
    monkeypatch.setattr(compaction, "write_back", lambda *given: written.append(given[-1]))
    for names in (ANSWER, STANDING, ANSWER):
        inside.write_back(None, names)  # type: ignore[arg-type]
    control[0] = np.nan  # a block has been
    inside.write_back(None, ANSWER)  # type: ignore[arg-type]
    inside.write_back(None, ANSWER)  # type: ignore[arg-type]
    rest = tuple(name for name in STANDING if name not in ANSWER)
    assert written == [ANSWER, rest, (), ANSWER, ()]
