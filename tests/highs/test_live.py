"""A linear program that stays in HiGHS between solves has the answers of one that does not."""

from __future__ import annotations

import os
import pickle
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_bridge.options import make_options
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Basis, BasisStatus, Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import in_process
from solvers.highs.engine import solve_briefly
from solvers.highs.live import Live
from tests.scripts import in_a_process
from tests.soon import LONG

INF = np.inf
OPTIONS = make_options()


def transport(seed: int = 0, **changes: Any) -> Problem:
    """Return a linear program of 12 columns and 7 rows, feasible and bounded."""
    draw = np.random.default_rng(seed)
    A = np.zeros((7, 12))
    for i in range(4):
        A[i, 3 * i : 3 * i + 3] = 1.0
    for j in range(3):
        A[4 + j, j::3] = draw.uniform(0.5, 2.0, 4)
    sides = {
        "row_lower": np.r_[np.full(4, -INF), draw.uniform(1.0, 4.0, 3)],
        "row_upper": np.r_[np.full(4, 10.0), np.full(3, INF)],
        "lower": 0.0,
        "upper": 8.0,
        **changes,
    }
    return Problem.from_arrays(draw.uniform(1.0, 5.0, 12), A, **sides)


def is_taken(outcome: Outcome) -> bool:
    return True


def solved(problem: Problem, live: Live | None, **options: Any) -> Outcome:
    asked = make_options(options)
    found = solve_briefly(problem, asked, Progress(), None, LONG, is_taken, live)
    assert found is not None
    return verify(problem, found, asked)


def assert_same_answer(problem: Problem, live: Live) -> None:
    again, anew = solved(problem, live), solved(problem, None)
    assert again.solution_status is anew.solution_status
    assert again.stop_reason is anew.stop_reason
    assert again.objective == pytest.approx(anew.objective, nan_ok=True)
    assert again.bound == pytest.approx(anew.bound)


def session_of(live: Live) -> object:
    return None if live._kept is None else live._kept[0]


CHANGES = {
    "costs": {"cost": np.linspace(5.0, -1.0, 12)},
    "bounds": {"lower": np.linspace(0.0, 0.4, 12), "upper": np.linspace(2.0, 9.0, 12)},
    "a bound taken away": {"upper": np.r_[np.full(11, 8.0), INF]},
    "sides": {"row_lower": np.r_[np.full(4, -INF), 6.0, 5.0, 4.0]},
    "an equation": {"row_lower": np.r_[3.0, np.full(3, -INF), 2.0, 2.0, 2.0]},
    "offset": {"offset": 3.0},
    "infeasible": {"row_lower": np.r_[np.full(4, -INF), np.full(3, 1e4)]},
    "unbounded": {
        "cost": np.full(12, -1.0),
        "upper": np.full(12, INF),
        "row_upper": np.full(7, INF),
    },
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_seen_and_its_way_back(change: str) -> None:
    problem, live = transport(), Live()
    for one in (problem, replace(problem, **CHANGES[change]), problem):
        assert_same_answer(one, live)


def test_a_plain_change_goes_into_the_session_at_hand() -> None:
    problem, live = transport(), Live()
    solved(problem, live)
    first = session_of(live)
    assert first is not None
    changed = replace(problem, **CHANGES["costs"], **CHANGES["sides"])
    answer = solved(changed, live)
    assert session_of(live) is first
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert answer.objective == pytest.approx(solved(changed, None).objective)


def test_many_changes_one_after_the_other() -> None:
    draw = np.random.default_rng(5)
    problem, live = transport(), Live()
    for _ in range(40):
        problem = replace(
            problem,
            cost=problem.cost * draw.choice([0.5, 1.0, 1.5, -1.0], 12, p=[0.2, 0.5, 0.2, 0.1]),
            row_lower=np.r_[np.full(4, -INF), draw.uniform(0.0, 30.0, 3)],
            upper=draw.choice([2.0, 8.0, INF], 12, p=[0.2, 0.7, 0.1]),
        )
        assert_same_answer(problem, live)


def grown(problem: Problem, rows: Any, sides: list[float], columns: int = 0) -> Problem:
    """Return a problem with rows ``rows x <= sides`` at its end, and columns of cost -1 up to 2."""
    m, n = problem.num_rows, problem.num_columns
    A = np.zeros((m + len(sides), n + columns))
    A[:m, :n] = problem.matrix.toarray()
    A[m:] = rows
    return Problem.from_arrays(
        np.r_[problem.cost, np.full(columns, -1.0)],
        A,
        np.r_[problem.row_lower, np.full(len(sides), -INF)],
        np.r_[problem.row_upper, sides],
        lower=np.r_[problem.lower, np.zeros(columns)],
        upper=np.r_[problem.upper, np.full(columns, 2.0)],
    )


def test_rows_and_columns_at_the_end_go_into_the_session_at_hand() -> None:
    draw = np.random.default_rng(3)
    problem, live = transport(), Live()
    solved(problem, live)
    first = session_of(live)
    for count in (1, 0, 2):
        columns = problem.num_columns + count
        cuts = np.where(draw.random((2, columns)) < 0.5, draw.uniform(0.5, 2.0, (2, columns)), 0)
        problem = grown(problem, cuts, [9.0, 7.0], count)
        problem = replace(problem, cost=problem.cost * draw.uniform(0.5, 1.5, columns))
        assert_same_answer(problem, live)
        assert session_of(live) is first
    problem = grown(problem, np.ones((1, problem.num_columns)), [-1.0])
    assert_same_answer(problem, live)  # infeasible
    assert_same_answer(transport(), live)


def test_the_basis_left_is_no_start_of_its_own_though_rows_have_come() -> None:
    problem, live = transport(), Live()
    known = solved(problem, live)
    first = session_of(live)
    more = grown(problem, np.ones((1, 12)), [6.0])
    assert known.basis is not None
    rows = np.r_[known.basis.row_status, np.int8(BasisStatus.BASIC)]
    start = Start(basis=Basis(known.basis.column_status.copy(), rows))
    found = solve_briefly(more, OPTIONS, Progress(), start, LONG, is_taken, live)
    assert found is not None
    assert session_of(live) is first
    assert found.objective == pytest.approx(solved(more, None).objective)
    rows = np.r_[found.basis.row_status[:-1], np.int8(BasisStatus.LOWER)]  # type: ignore[union-attr]
    other = Start(basis=Basis(known.basis.column_status, rows))
    assert solve_briefly(more, OPTIONS, Progress(), other, LONG, is_taken, live) is not None
    assert session_of(live) is not first


def test_new_entries_too_small_for_the_session_begin_anew() -> None:
    problem, live = transport(), Live()
    solved(problem, live)
    first = session_of(live)
    row = np.where(np.arange(12) == 0, 1e-10, 1.0)
    assert_same_answer(grown(problem, row[None], [20.0]), live)
    assert session_of(live) is not first


@pytest.mark.parametrize(
    "other",
    [
        transport(1),
        replace(transport(), integrality=np.arange(12) < 2),
        Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], [3.0]),
        replace(transport(), matrix=transport().matrix.toarray() * 2.0),
    ],
    ids=["coefficients", "integers", "sizes", "a multiple"],
)
def test_another_model_begins_anew(other: Problem) -> None:
    problem, live = transport(), Live()
    solved(problem, live)
    first = session_of(live)
    assert_same_answer(other, live)
    assert session_of(live) is not first or other.is_mip  # which have no session to keep
    assert_same_answer(problem, live)


def test_other_options_begin_anew() -> None:
    problem, live = transport(), Live()
    solved(problem, live)
    first = session_of(live)
    solved(problem, live, lp_algorithm="simplex", seed=7)
    assert session_of(live) is not first


def test_a_limit_on_iterations_holds_again() -> None:
    problem, live = transport(), Live()
    for cost in (problem.cost, -problem.cost):
        answer = solved(replace(problem, cost=cost), live, iteration_limit=1, presolve=False)
        assert answer.stop_reason is StopReason.ITERATION_LIMIT


def test_the_start_of_a_caller_goes_first() -> None:
    problem, live = transport(), Live()
    known = solved(problem, live)
    first = session_of(live)
    start = Start(x=np.zeros(12))
    assert solve_briefly(problem, OPTIONS, Progress(), start, LONG, is_taken, live) is not None
    assert session_of(live) is not first
    again = Start(x=known.x, basis=known.basis)
    assert solve_briefly(problem, OPTIONS, Progress(), again, LONG, is_taken, live) is not None


def test_a_copy_holds_no_session() -> None:
    problem, live = transport(), Live()
    solved(problem, live)
    copy = pickle.loads(pickle.dumps(live))
    assert session_of(copy) is None
    assert_same_answer(problem, copy)


def test_solves_at_the_same_time_do_not_meet() -> None:
    problem, live = transport(), Live()
    costs = [problem.cost * k for k in range(1, 9)]
    best = solved(problem, None).objective
    found: dict[int, float] = {}

    def work(k: int) -> None:
        for _ in range(5):
            found[k] = solved(replace(problem, cost=costs[k]), live).objective

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == pytest.approx({k: best * (k + 1) for k in range(8)})
    assert len(in_process._idle.value) <= in_process.MOST_IDLE


def test_brief_solves_share_a_thread() -> None:
    solved(transport(), None)
    before = set(threading.enumerate())
    for _ in range(3):
        solved(transport(), None)
    assert set(threading.enumerate()) <= before


def solve_before_and_after_a_fork() -> None:
    problem, live = transport(), Live()
    solved(problem, live)
    child = os.fork()
    if child == 0:
        try:
            changed = replace(problem, **CHANGES["sides"])
            good = solved(changed, live).solution_status is SolutionStatus.OPTIMAL
            os._exit(0 if good else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    in_a_process(solve_before_and_after_a_fork)
