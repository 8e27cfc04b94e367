"""Several branch and bounds beside each other: one that is through is enough."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import gpu_bridge as gb
from solvers import mip
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip import proof_stage
from solvers.mip.context import SolveContext
from solvers.mip.proof_stage import Prover, Proving


def solve_context_of(threads: int, **options) -> SolveContext:
    problem = Problem.from_arrays(
        -np.ones(3), np.array([[2.0, 3.0, 4.0]]), -np.inf, 5.0, upper=1.0, integrality=True
    )
    return SolveContext(
        problem, EngineOptions(device="cpu", threads=threads, **options), Progress(), None
    )


class Scripted(Prover):
    """Ends as it is told to, by its seed; those it says nothing of never do."""

    made: ClassVar[list[tuple[int, int]]] = []
    endings: ClassVar[dict[int, StopReason]] = {}
    stopped: ClassVar[list[int]] = []

    def __init__(self, problem, options, *more) -> None:
        super().__init__(problem, options, *more)
        self.seed = options.seed
        self.made.append((options.seed, options.threads))

    def start(self, begin, under_way=None) -> None:
        reason = self.endings.get(self.seed)
        if reason is not None:
            self.outcome = Outcome(SolutionStatus.OPTIMAL, reason, engine="highs", device="cpu")
            self._ended.set()

    def stop(self) -> None:
        self.stopped.append(self.seed)


@pytest.fixture
def scripted(monkeypatch):
    monkeypatch.setattr(proof_stage, "Prover", Scripted)
    monkeypatch.setattr(proof_stage, "BEFORE_OTHERS", 0.0)
    monkeypatch.setattr(Proving, "_is_small", lambda self: False)
    for name, empty in (("made", []), ("endings", {}), ("stopped", [])):
        monkeypatch.setattr(Scripted, name, empty)
    return Scripted


def begun(solve: SolveContext) -> Proving:
    """Return a proving whose threads have begun what they begin."""
    one = Proving(solve, lambda x: None)
    assert not one.begin()
    deadline = time.monotonic() + 60.0
    while solve.anybody_works():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return one


def test_rivals_take_the_other_threads(scripted):
    one = begun(solve_context_of(16))
    assert one.threads == 4
    assert [threads for _, threads in scripted.made] == [1, 1, 1, 1]
    assert len({seed for seed, _ in scripted.made}) == 4
    assert scripted.made[0][0] == 0
    assert one.is_running
    assert not one.has_proven()
    one.stop()
    assert sorted(scripted.stopped) == sorted(seed for seed, _ in scripted.made)


def test_the_first_proof_is_believed_and_all_others_are_stopped(scripted):
    scripted.endings = {2 * proof_stage.RIVAL_SEED: StopReason.CONVERGED}
    one = begun(solve_context_of(16))
    assert one.has_proven()
    assert one.outcome is not None
    assert one.outcome.stop_reason is StopReason.CONVERGED
    one.stop()
    assert {0, proof_stage.RIVAL_SEED, 3 * proof_stage.RIVAL_SEED} <= set(scripted.stopped)


def test_a_rival_in_trouble_says_nothing(scripted):
    scripted.endings = {proof_stage.RIVAL_SEED: StopReason.NUMERICAL_TROUBLE}
    one = begun(solve_context_of(8))
    assert not one.has_proven()
    assert one.is_running


@pytest.mark.parametrize("reason", ["cores", "nodes", "size"])
def test_one_branch_and_bound_runs_alone(scripted, monkeypatch, reason):
    if reason == "size":
        monkeypatch.setattr(proof_stage, "LARGE_MODEL", 1)
    solve = solve_context_of(
        4 if reason == "cores" else 16, **({"node_limit": 9} if reason == "nodes" else {})
    )
    begun(solve)
    assert len(scripted.made) == 1


def test_points_of_one_are_offered_to_the_others():
    solve = solve_context_of(16)
    first = Prover(solve.problem, solve.options, solve.progress, solve.incumbents, lambda x: None)
    other = Prover(solve.problem, solve.options, solve.progress, solve.incumbents, lambda x: None)
    point = np.array([1.0, 1.0, 0.0])
    assert first._deputy.incumbent(-2.0, "highs", point)
    assert first._submit() is None
    np.testing.assert_array_equal(other._submit(), point)
    assert other._submit() is None  # it is not new any more


def test_rivals_solve_a_model(monkeypatch):
    monkeypatch.setattr(proof_stage, "BEFORE_OTHERS", 0.0)
    monkeypatch.setattr(Proving, "_is_small", lambda self: False)
    solve = solve_context_of(8)
    one = Proving(solve, lambda x: None)
    one.begin()
    deadline = time.monotonic() + 60.0
    while not one.has_proven(within=0.05):
        assert time.monotonic() < deadline
    assert solve.incumbents.pool.objective == -2.0
    solve.over.set()
    one.stop()
    solve.wait_for_threads()


@pytest.fixture
def head_start(scripted, monkeypatch):
    monkeypatch.setattr(proof_stage, "ALONE", 0.0)
    monkeypatch.setattr(proof_stage, "HEAD_START", np.inf)
    monkeypatch.setattr(Proving, "_is_small", lambda self: True)
    return scripted


def test_what_is_proven_in_its_head_start_is_over(head_start):
    solve = solve_context_of(4)
    one = Proving(solve, lambda x: None)
    assert not one.begin()
    head_start.endings = {0: StopReason.CONVERGED}
    one._prover.start(None)
    assert one.end_head_start()
    assert one.outcome is not None


def test_heuristics_begin_within_the_head_start(head_start):
    class UntilAPoint(Progress):
        def incumbent(self, objective, source, x=None) -> bool:
            self.interrupt()
            return True

    problem = solve_context_of(4).problem
    found = mip.solve(problem, EngineOptions(device="cpu", threads=4), UntilAPoint(60.0))
    assert found.solution_status.has_point
    assert found.stop_reason is StopReason.INTERRUPTED


FIRST_POINT = """
import os, sys
import numpy as np
import gpu_bridge as gb
from solvers.mip.solutions import incumbents

def end(*given):
    heavy = ("scipy", "cupy", "solvers.pdlp", "solvers.simplex", "solvers.presolve")
    print(*(name for name in heavy if name in sys.modules), flush=True)
    os._exit(0)

incumbents.IncumbentStore.record = incumbents.InfeasiblePoints.add = end
rows, upper = np.random.default_rng(1).integers(1, 9, (30, 40)).astype(float), np.ones(40)
{change}
problem = gb.Problem.from_arrays(
    -np.ones(40), rows, -np.inf, 60.0, upper=upper, integrality=np.arange(40) >= {continuous}
)
gb.solve(problem, method="mip")
"""


@pytest.mark.parametrize(
    ("change", "continuous"),
    [
        ("rows *= np.arange(30)[:, None] % 10 == np.arange(40) % 10", 0),
        ("rows *= np.arange(30)[:, None] % 20 == np.arange(40) % 20", 0),
        ("rows[3, 3] = 1e7", 0),
        ("upper[0] = 1e13", 1),
    ],
    ids=["three in a column", "knapsacks side by side", "a wide span", "a far limit"],
)
def test_the_first_heuristic_waits_for_no_library_or_engine_to_be_imported(change, continuous):
    program = FIRST_POINT.format(change=change, continuous=continuous)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.split()


FAILURES = [
    OSError(28, "No space left on device"),
    EngineError("no thanks"),
    MemoryError(),
    RuntimeError("can't start new thread"),
]


@pytest.fixture(params=FAILURES, ids=lambda failure: type(failure).__name__)
def failing(request, monkeypatch):
    """Let branch and bound beside heuristics raise something."""

    def fail(*_, **__):
        raise request.param

    monkeypatch.setattr(proof_stage, "highs", SimpleNamespace(solve=fail))
    return request.param


@pytest.fixture
def tracebacks(monkeypatch):
    """What threads have left to Python to print."""
    found = []
    monkeypatch.setattr(threading, "excepthook", found.append)
    return found


@pytest.mark.parametrize("threads", [1, 4])
def test_an_answer_without_a_bound_says_why(failing, tracebacks, threads):
    lines = []
    solve = solve_context_of(threads)
    progress = Progress(30.0)
    progress.log = lines.append
    options = EngineOptions(device="cpu", threads=threads, work_limit=0.01, presolve=False)
    found = mip.solve(solve.problem, options, progress)
    assert found.solution_status.has_point
    assert found.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "Branch and bound ended without an answer" in found.message
    assert (str(failing) or type(failing).__name__) in found.message
    assert found.message in lines
    assert not tracebacks


def test_a_bound_that_failed_is_asked_for_again(failing, tracebacks):
    outcome = gb.solve(solve_context_of(4).problem, method="mip", device="cpu", threads=4)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert not tracebacks


def test_without_threads_left_there_is_a_word_and_no_traceback(monkeypatch, tracebacks):
    start = threading.Thread.start

    def none_left(self):
        if self.name == "prover":
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", none_left)
    outcome = gb.solve(solve_context_of(4).problem, method="mip", device="cpu", threads=4)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert "can't start new thread" in outcome.log
    assert not tracebacks
