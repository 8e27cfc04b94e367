"""Limits, interruption, threads and the log, in this process and in a child."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.highs import solve
from tests.highs.models import covering, market_split, packing, transport
from tests.locations import ROOT

SLOW = 60.0
"""Seconds by which the slowest machine may be late; a limit that is not kept is missed by more."""


class InterruptedAtFirstPoint(Progress):
    """Somebody presses Ctrl-C as soon as there is something to keep."""

    def on_event(self, event) -> None:
        if not np.isnan(event.incumbent):
            threading.Timer(0.2, self.interrupt).start()


class Listening(Progress):
    """Remembers the log and what HiGHS wrote in its own."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.lines: list[str] = []

    def log(self, message: str) -> None:
        self.lines.append(message)

    def engine_output(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture(params=["in_thread", "in_child"])
def anywhere(request):
    request.getfixturevalue(request.param)


def test_no_time_means_no_work(anywhere):
    progress = Listening(0.0)
    outcome = solve(market_split(), EngineOptions(), progress)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert progress.lines == []


def test_branch_and_bound_stops_in_time_with_its_best(anywhere):
    problem = market_split()
    for limit in (0.5, 2.5, 12.5, 60.0):  # until the machine is quick enough to find a point
        progress = Progress(limit)
        outcome = solve(problem, EngineOptions(), progress)
        assert outcome.stop_reason is StopReason.TIME_LIMIT
        assert progress.seconds < limit + SLOW
        if outcome.x is not None:
            break
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    np.testing.assert_allclose(problem.matrix @ outcome.x, problem.row_lower, atol=1e-5)
    assert outcome.objective == pytest.approx(problem.objective_at(outcome.x))
    assert outcome.bound == pytest.approx(0.0, abs=1e-6)
    assert progress.best_objective >= outcome.objective - 1e-9


def test_interruption_keeps_the_best_point(anywhere):
    problem = market_split()
    progress = InterruptedAtFirstPoint(100.0)
    outcome = solve(problem, EngineOptions(), progress)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    np.testing.assert_allclose(problem.matrix @ outcome.x, problem.row_lower, atol=1e-5)


class InterruptedWhileIterating(Progress):
    """Somebody presses Ctrl-C during simplex."""

    def iteration(self, count: int, **figures) -> None:
        if count > 0:
            self.interrupt()


def test_an_interrupted_linear_program_says_so(anywhere):
    options = EngineOptions(presolve=False, lp_algorithm="simplex")
    outcome = solve(packing(800, 2000), options, InterruptedWhileIterating(100.0))
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.solution_status is not SolutionStatus.OPTIMAL


def test_a_large_mixed_integer_model_stops_in_time():
    problem = covering(30_000, 20_000, integer=True)
    progress = Progress(0.5)
    outcome = solve(problem, EngineOptions(rel_gap=0.0), progress)
    assert progress.seconds < SLOW
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.solution_status in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING)


def test_iteration_limit():
    problem = transport(12, 12)
    options = EngineOptions(iteration_limit=5, presolve=False, lp_algorithm="simplex")
    outcome = solve(problem, options, Progress())
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.solution_status is not SolutionStatus.OPTIMAL
    assert outcome.statistics["simplex_iterations"] <= 5


def test_node_limit(anywhere):
    outcome = solve(market_split(), EngineOptions(node_limit=2), Progress())
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.statistics["nodes"] <= 10  # HiGHS looks at its limit between nodes


def test_gaps_end_the_search():
    problem = covering(60, 40, integer=True)
    options = EngineOptions(rel_gap=0.5)
    outcome = solve(problem, options, Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective - outcome.bound <= 0.5 * abs(outcome.objective)


def test_the_log_goes_to_progress_and_never_to_the_terminal(anywhere, capfd):
    progress = Listening()
    for algorithm in ("simplex", "pdlp"):
        solve(transport(4, 4), EngineOptions(lp_algorithm=algorithm), progress)
    solve(covering(20, 10, integer=True), EngineOptions(), progress)
    assert any("HiGHS" in line for line in progress.lines)
    assert not any("\n" in line for line in progress.lines)
    written = capfd.readouterr()
    assert written.out == ""
    assert written.err == ""


def test_thread_counts_may_change_from_solve_to_solve():
    problem = covering(60, 40, integer=True)
    found = [
        solve(problem, EngineOptions(threads=threads, rel_gap=0.0), Progress()).objective
        for threads in (1, 3, 2, 1)
    ]
    assert found == [pytest.approx(found[0])] * 4


def test_two_solves_at_once():
    problem = covering(60, 40, integer=True)
    expected = solve(problem, EngineOptions(rel_gap=0.0), Progress()).objective
    found = []

    def work(threads: int) -> None:
        options = EngineOptions(threads=threads, rel_gap=0.0)
        found.extend(solve(problem, options, Progress()).objective for _ in range(3))

    workers = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [pytest.approx(expected)] * 9


def test_the_same_seed_gives_the_same_answer():
    options = EngineOptions(node_limit=50, seed=5, threads=2)
    first, second = (solve(market_split(), options, Progress()) for _ in range(2))
    np.testing.assert_array_equal(first.x, second.x)
    assert first.statistics == second.statistics


IMPATIENT = """
import _thread, threading, time
import numpy as np
from solvers.highs import child, solve
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from tests.highs.models import market_split

class TwiceInterrupted(Progress):
    delays = [0.3, 0.31]

    def on_event(self, event):
        while self.delays:
            threading.Timer(self.delays.pop(), _thread.interrupt_main).start()

try:
    solve(market_split(), EngineOptions(), TwiceInterrupted(100))
except KeyboardInterrupt:
    pass
while threading.active_count() > 1:  # the second may come only now
    try:
        time.sleep(0.01)
    except KeyboardInterrupt:
        pass
print("left early")
"""


def test_an_impatient_user_leaves_without_a_crash():
    done = subprocess.run(
        [sys.executable, "-c", IMPATIENT],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "left early\n"
