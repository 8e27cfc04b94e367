"""The acceptance and the incumbent store: nothing passes that is not feasible in the problem."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip.model import MipModel
from solvers.mip.reducer import Reduced, unreduced
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.solutions.incumbents import CAPACITY, IncumbentStore, InfeasiblePoints


@pytest.fixture
def problem():
    """Two integers and a continuous column: min -x - y - z, x + y <= 3.5, z <= x, z <= 2.5."""
    return Problem.from_arrays(
        cost=[-1.0, -1.0, -1.0],
        matrix=np.array([[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]),
        row_upper=[3.5, 0.0],
        upper=[5.0, 5.0, 2.5],
        integrality=[True, True, False],
    )


def doors(problem, **how):
    progress = Progress()
    incumbents = IncumbentStore(problem, progress, 1e-6, 10)
    acceptance = Acceptance(MipModel.of(problem), unreduced(problem), incumbents, progress, **how)
    return progress, incumbents, acceptance


def test_integers_are_made_whole_and_continuous_columns_get_their_best_values(problem):
    progress, incumbents, acceptance = doors(problem)
    assert acceptance.submit(np.array([2.0000001, 1.0, 0.0]), "test")
    best = incumbents.pool.best
    np.testing.assert_allclose(best.x, [2.0, 1.0, 2.0])
    assert best.source == "test"
    assert progress.best_objective == pytest.approx(-5.0)


def test_points_that_no_values_of_the_continuous_columns_mend_are_refused(problem):
    _, incumbents, acceptance = doors(problem)
    assert not acceptance.submit(np.array([3.0, 1.0, 0.0]), "test")
    assert not acceptance.submit(np.array([np.nan, 1.0, 0.0]), "test")
    assert incumbents.pool.best is None
    assert len(acceptance.pool) == 0


def test_who_settles_a_point_waits_for_the_lp_though_his_turn_is_over(problem):
    _, incumbents, acceptance = doors(problem)
    polished = acceptance.settle(np.array([2.0, 1.0, 0.0]), "test", seconds=0.0)
    assert polished.x is not None
    assert incumbents.pool.best.objective == pytest.approx(-5.0)


def test_worse_points_are_kept_but_are_no_improvement(problem):
    _, incumbents, acceptance = doors(problem)
    assert acceptance.submit(np.array([3.0, 0.0, 0.0]), "one")
    assert not acceptance.submit(np.array([0.0, 1.0, 0.0]), "two")
    assert [found.source for found in acceptance.pool.points()] == ["one", "two"]
    acceptance.hand_over(5)
    assert [found.source for found in incumbents.pool.points()] == ["one", "two"]


def test_what_the_way_back_spoils_is_not_recorded(problem):
    progress = Progress()
    incumbents = IncumbentStore(problem, progress, 1e-6, 10)
    acceptance = Acceptance(
        MipModel.of(problem), Reduced(problem, lambda x: x + 0.4), incumbents, progress
    )
    assert not acceptance.submit(np.array([2.0, 1.0, 0.0]), "test")
    assert incumbents.pool.best is None
    assert np.isnan(progress.best_objective)


def test_a_point_that_misses_by_little_is_mended(problem):
    incumbents = IncumbentStore(problem, Progress(), 1e-6, 10)
    assert incumbents.record(np.array([2.0, 1.0, 2.0 + 2e-5]), "test")
    assert incumbents.pool.best.x[2] <= 2.0 + 1e-9


def test_the_gap_is_closed_by_either_measure(problem):
    progress = Progress()
    incumbents = IncumbentStore(problem, progress, 1e-6, 10)
    assert not incumbents.is_closed(1e-4, 1e-6)
    incumbents.record(np.array([2.0, 1.0, 2.0]), "test")
    progress.bound(-5.1, "test")
    assert not incumbents.is_closed(1e-4, 1e-6)
    assert incumbents.is_closed(0.05, 1e-6)
    progress.bound(-5.0, "test")
    assert incumbents.is_closed(0.0, 1e-6)


def test_many_threads_at_the_gate_leave_the_best_point(problem):
    _, incumbents, acceptance = doors(problem)
    points = [np.array([float(i), float(j), 0.0]) for i in range(4) for j in range(4)]

    def work(part):
        for x in points[part::4]:
            acceptance.submit(x, f"thread {part}")

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert incumbents.pool.objective == pytest.approx(-5.5)  # x = 3, z = 2.5


def test_near_points_are_those_with_the_fewest_violated_rows():
    infeasible_points = InfeasiblePoints()
    for violated in range(2 * CAPACITY, 0, -1):
        infeasible_points.add(np.full(2, float(violated)), violated)
    infeasible_points.add(np.full(2, 3.0), 3)
    kept = [point.violated_rows for point in infeasible_points.points()]
    assert kept == list(range(1, CAPACITY + 1))


def test_checks_too_slow_for_the_end_are_left_out(problem):
    _, incumbents, acceptance = doors(problem)
    acceptance.submit(np.array([3.0, 0.0, 0.0]), "one")
    acceptance.submit(np.array([0.0, 1.0, 0.0]), "two")
    incumbents.check_seconds = 10.0
    acceptance.hand_over(5)
    assert [found.source for found in incumbents.pool.points()] == ["one"]


def test_what_the_incumbents_has_is_not_handed_over_again(problem, monkeypatch):
    _, incumbents, acceptance = doors(problem)
    acceptance.submit(np.array([3.0, 0.0, 0.0]), "one")
    monkeypatch.setattr(incumbents, "record", lambda *_: pytest.fail("it was checked again"))
    acceptance.hand_over(5)


def test_a_frozen_incumbents_takes_nothing(problem):
    progress, incumbents, _ = doors(problem)
    assert incumbents.record(np.array([1.0, 0.0, 0.0]), "one")
    incumbents.freeze()
    assert not incumbents.record(np.array([3.0, 0.0, 0.0]), "two")
    assert incumbents.pool.best.source == "one"
    assert progress.best_objective == incumbents.pool.objective
