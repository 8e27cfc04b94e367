"""The gate and the ledger: nothing passes that is not feasible on the problem as it was given."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip.model import MipModel
from solvers.mip.reduced import Reduced, unreduced
from solvers.mip.solutions.acceptance import Gate
from solvers.mip.solutions.incumbents import Ledger
from solvers.mip.solutions.infeasible_points import Near


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
    ledger = Ledger(problem, progress, 1e-6, 10)
    gate = Gate(MipModel.of(problem), unreduced(problem), ledger, progress, **how)
    return progress, ledger, gate


def test_integers_are_made_whole_and_continuous_columns_get_their_best_values(problem):
    progress, ledger, gate = doors(problem)
    assert gate.offer(np.array([2.0000001, 1.0, 0.0]), "test")
    best = ledger.pool.best
    np.testing.assert_allclose(best.x, [2.0, 1.0, 2.0])
    assert best.source == "test"
    assert progress.best_objective == pytest.approx(-5.0)


def test_points_that_no_values_of_the_continuous_columns_mend_are_refused(problem):
    _, ledger, gate = doors(problem)
    assert not gate.offer(np.array([3.0, 1.0, 0.0]), "test")
    assert not gate.offer(np.array([np.nan, 1.0, 0.0]), "test")
    assert ledger.pool.best is None
    assert len(gate.pool) == 0


def test_who_settles_a_point_waits_for_the_lp_though_his_turn_is_over(problem):
    _, ledger, gate = doors(problem)
    polished = gate.settle(np.array([2.0, 1.0, 0.0]), "test", seconds=0.0)
    assert polished.x is not None
    assert ledger.pool.best.objective == pytest.approx(-5.0)


def test_worse_points_are_kept_but_are_no_improvement(problem):
    _, ledger, gate = doors(problem)
    assert gate.offer(np.array([3.0, 0.0, 0.0]), "one")
    assert not gate.offer(np.array([0.0, 1.0, 0.0]), "two")
    assert [found.source for found in gate.pool.points()] == ["one", "two"]
    gate.hand_over(5)
    assert [found.source for found in ledger.pool.points()] == ["one", "two"]


def test_what_the_way_back_spoils_is_not_recorded(problem):
    progress = Progress()
    ledger = Ledger(problem, progress, 1e-6, 10)
    gate = Gate(MipModel.of(problem), Reduced(problem, lambda x: x + 0.4), ledger, progress)
    assert not gate.offer(np.array([2.0, 1.0, 0.0]), "test")
    assert ledger.pool.best is None
    assert np.isnan(progress.best_objective)


def test_a_point_that_misses_by_little_is_mended(problem):
    ledger = Ledger(problem, Progress(), 1e-6, 10)
    assert ledger.record(np.array([2.0, 1.0, 2.0 + 2e-5]), "test")
    assert ledger.pool.best.x[2] <= 2.0 + 1e-9


def test_the_gap_is_closed_by_either_measure(problem):
    progress = Progress()
    ledger = Ledger(problem, progress, 1e-6, 10)
    assert not ledger.is_closed(1e-4, 1e-6)
    ledger.record(np.array([2.0, 1.0, 2.0]), "test")
    progress.bound(-5.1, "test")
    assert not ledger.is_closed(1e-4, 1e-6)
    assert ledger.is_closed(0.05, 1e-6)
    progress.bound(-5.0, "test")
    assert ledger.is_closed(0.0, 1e-6)


def test_many_threads_at_the_gate_leave_the_best_point(problem):
    _, ledger, gate = doors(problem)
    points = [np.array([float(i), float(j), 0.0]) for i in range(4) for j in range(4)]

    def work(part):
        for x in points[part::4]:
            gate.offer(x, f"thread {part}")

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.pool.objective == pytest.approx(-5.5)  # x = 3, z = 2.5


def test_near_points_are_those_with_the_fewest_violated_rows():
    near = Near(capacity=2)
    for violated in (5, 3, 9, 4):
        near(np.full(2, float(violated)), violated)
    near(np.full(2, 3.0), 3)
    assert [point.violated_rows for point in near.points()] == [3, 4]


def test_checks_too_slow_for_the_end_are_left_out(problem):
    _, ledger, gate = doors(problem)
    gate.offer(np.array([3.0, 0.0, 0.0]), "one")
    gate.offer(np.array([0.0, 1.0, 0.0]), "two")
    ledger.check_seconds = 10.0
    gate.hand_over(5)
    assert [found.source for found in ledger.pool.points()] == ["one"]


def test_what_the_ledger_has_is_not_handed_over_again(problem, monkeypatch):
    _, ledger, gate = doors(problem)
    gate.offer(np.array([3.0, 0.0, 0.0]), "one")
    monkeypatch.setattr(ledger, "record", lambda *_: pytest.fail("it was checked again"))
    gate.hand_over(5)


def test_a_frozen_ledger_takes_nothing(problem):
    progress, ledger, _ = doors(problem)
    assert ledger.record(np.array([1.0, 0.0, 0.0]), "one")
    ledger.freeze()
    assert not ledger.record(np.array([3.0, 0.0, 0.0]), "two")
    assert ledger.pool.best.source == "one"
    assert progress.best_objective == ledger.pool.objective
