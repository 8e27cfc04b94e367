"""Linear programs solved from basis to basis, against SciPy's on the same numbers."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import linprog

from solvers.core.errors import EngineError
from solvers.core.outcome import Basis, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import in_process
from solvers.highs.model import as_it_stands
from solvers.highs.session import Session
from solvers.highs.warm_lp import WarmLp, for_seconds
from tests.highs.models import covering
from tests.locations import ROOT
from tests.soon import LONG

INF = np.inf


def packing(seed: int = 0) -> Problem:
    draw = np.random.default_rng(seed)
    A = draw.uniform(0.5, 2.0, (8, 20)) * (draw.random((8, 20)) < 0.6)
    return Problem.from_arrays(-draw.uniform(1.0, 5.0, 20), A, row_upper=10.0, upper=3.0)


def best(problem: Problem, **changed: np.ndarray) -> float | None:
    """Return the optimum of min c'x, A x <= row_upper, 0 <= x <= upper; None without one."""
    found = linprog(
        changed.get("cost", problem.cost),
        problem.matrix.toarray(),
        changed.get("row_upper", problem.row_upper),
        bounds=list(
            zip(problem.lower, changed.get("upper", problem.upper), strict=True),
        ),
    )
    return found.fun if found.status == 0 else None


def test_changes_are_seen_one_after_the_other_and_taken_from_the_last_basis() -> None:
    draw = np.random.default_rng(3)
    problem = packing()
    lp, anew = WarmLp(as_it_stands(problem)), 0
    for _ in range(12):
        vectors = {
            "cost": problem.cost * draw.uniform(0.8, 1.2, 20),
            "upper": np.where(draw.random(20) < 0.2, 0.0, 3.0),
            "row_upper": draw.choice([8.0, 10.0, 12.0], 8),
        }
        lp.change(**vectors)
        found = lp.solve_beside(Progress())
        assert found.solution_status is SolutionStatus.OPTIMAL
        assert found.stop_reason is StopReason.CONVERGED
        assert vectors["cost"] @ found.x == pytest.approx(best(problem, **vectors))
        reduced = vectors["cost"] - problem.matrix.T @ found.row_dual
        between = (found.x > 1e-9) & (found.x < vectors["upper"] - 1e-9)
        np.testing.assert_allclose(reduced[between], 0.0, atol=1e-7)
        fresh = WarmLp(as_it_stands(problem))
        fresh.change(**vectors)
        anew += fresh.solve_beside(Progress()).iterations
    assert 0 < lp.iterations < anew


def test_an_empty_and_an_unbounded_program_are_told_apart_and_left_again() -> None:
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 1.0], [1.0, -1.0]], [1.0, -1.0], [INF, 1.0])
    lp = WarmLp(as_it_stands(problem))
    lp.change(row_upper=np.array([0.5, 1.0]), row_lower=np.array([-INF, -1.0]))
    lp.change(lower=np.array([1.0, 1.0]))
    assert lp.solve_beside(Progress()).solution_status is SolutionStatus.INFEASIBLE
    ray = lp.dual_ray()
    assert ray is not None
    assert ray[0] != 0.0  # the row that cannot hold
    lp.change(lower=np.zeros(2), row_upper=np.full(2, INF), cost=np.array([-1.0, -1.0]))
    assert lp.solve_beside(Progress()).solution_status is SolutionStatus.UNBOUNDED
    lp.change(cost=np.ones(2))
    assert lp.solve_beside(Progress()).x == pytest.approx([0.0, 0.0])


def test_a_limit_of_iterations_ends_a_solve_and_the_next_goes_on() -> None:
    lp = WarmLp(as_it_stands(covering(60, 90)))
    whole = lp.solve_beside(Progress())
    lp.forget()
    part = lp.solve_beside(Progress(), whole.iterations // 2)
    assert part.solution_status is SolutionStatus.NOTHING
    assert part.stop_reason is StopReason.ITERATION_LIMIT
    rest = lp.solve_beside(Progress())
    assert rest.solution_status is SolutionStatus.OPTIMAL
    assert rest.iterations < whole.iterations
    assert lp.iterations == whole.iterations + part.iterations + rest.iterations


class StopsOnceBegun(Progress):
    """Says to stop whenever it is asked, but for the first time."""

    asked = False

    def should_stop(self) -> StopReason | None:
        before, self.asked = self.asked, True
        return StopReason.INTERRUPTED if before else None


def test_without_time_nothing_is_solved() -> None:
    lp = WarmLp(as_it_stands(packing()))
    progress = Progress()
    progress.interrupt()
    stopped = lp.solve_beside(progress)
    assert stopped.solution_status is SolutionStatus.NOTHING
    assert stopped.stop_reason is StopReason.INTERRUPTED
    assert lp.iterations == 0
    assert lp.solve_beside(Progress()).solution_status is SolutionStatus.OPTIMAL


def test_an_interruption_stops_simplex_and_the_next_solve_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_process, "LOOK_AGAIN", 1e-3)
    A = np.random.default_rng(4).uniform(1.0, 2.0, (300, 600))  # takes simplex 50 ms and more
    lp = WarmLp(as_it_stands(Problem.from_arrays(-A.mean(axis=0), A, row_upper=300.0)))
    stopped = lp.solve_beside(StopsOnceBegun())
    assert stopped.solution_status is SolutionStatus.NOTHING
    assert stopped.stop_reason is StopReason.TIME_LIMIT
    assert lp.solve_beside(Progress()).solution_status is SolutionStatus.OPTIMAL


def test_a_basis_of_fewer_columns_and_rows_is_one_to_begin_at() -> None:
    problem = packing()
    small = WarmLp(as_it_stands(problem))
    found = small.solve_beside(Progress())
    basis = small.basis()
    assert basis is not None
    more = Problem.from_arrays(
        np.append(problem.cost, 1.0),
        np.block([[problem.matrix.toarray(), np.ones((8, 1))], [np.ones((1, 21))]]),
        row_upper=np.append(problem.row_upper, 100.0),
        upper=3.0,
    )
    lp = WarmLp(as_it_stands(more))
    lp.begin_at(basis)
    assert isinstance(basis, Basis)
    again = lp.solve_beside(Progress())
    assert again.iterations == 0
    assert again.x[:20] == pytest.approx(found.x)


def test_entries_that_highs_cannot_hold_are_left_out() -> None:
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 1e-13], [0.0, 1.0]], [2.0, 1.0])
    assert WarmLp(as_it_stands(problem)).solve_beside(Progress()).x == pytest.approx([2.0, 1.0])


def test_vectors_that_highs_refuses_are_named() -> None:
    lp = WarmLp(as_it_stands(packing()))
    with pytest.raises(EngineError, match="new lower"):
        lp.change(lower=np.full(20, INF))


def test_interior_point_leaves_a_point_and_no_basis() -> None:
    problem = packing()
    lp = WarmLp(as_it_stands(problem))
    found = lp.solve_beside(Progress())
    lp.forget()
    with ThreadPoolExecutor(1) as thread:
        inside = thread.submit(lp.solve, for_seconds(LONG), interior=True).result()
    assert inside.solution_status is SolutionStatus.OPTIMAL
    assert problem.cost @ inside.x == pytest.approx(problem.cost @ found.x)
    assert lp.basis() is None


def test_it_is_freed_when_nobody_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made, begin = weakref.WeakSet(), Session.__init__

    def noted(self, *arguments):
        made.add(self)
        begin(self, *arguments)

    monkeypatch.setattr(Session, "__init__", noted)
    lp = WarmLp(as_it_stands(packing()))
    lp.solve_beside(Progress())
    assert made
    gc.disable()  # HiGHS's factors must not wait for the collector
    try:
        del lp
        assert not made
    finally:
        gc.enable()


OTHER_THREADS = """
import highspy
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.core.problem import Problem
from solvers.highs.model import as_it_stands
from solvers.highs.warm_lp import WarmLp

other = highspy.Highs()
other.setOptionValue("output_flag", False)
other.setOptionValue("threads", 2)
other.run()  # this thread's scheduler has two threads from now on
lp = WarmLp(as_it_stands(Problem.from_arrays([1.0], [[1.0]], [2.0])))
assert lp.solve_beside(Progress()).solution_status is SolutionStatus.OPTIMAL
"""


def test_a_caller_whose_highs_uses_more_threads_is_no_obstacle() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OTHER_THREADS], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
