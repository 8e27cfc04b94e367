"""Points on their way to the acceptance: in order, without waiting, and none lost at the end."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from solvers.mip.heuristics.local_search.submissions import MOST_WAITING, SOURCE, Submissions


class Recorder:
    """Notes the points it gets, in the order of their coming; waits for a sign before each."""

    def __init__(self, *, waits: bool = False) -> None:
        self.points: list[float] = []
        self.go = threading.Event()
        self.came = threading.Event()
        if not waits:
            self.go.set()

    def __call__(self, x: np.ndarray, source: str) -> bool:
        assert source == "local search on the GPU"
        self.came.set()
        assert self.go.wait(10.0)
        self.points.append(float(x[0]))
        return True


def point(value: float) -> np.ndarray:
    return np.array([value])


@pytest.mark.parametrize("threaded", [False, True])
def test_the_best_point_comes_first_and_the_rest_at_the_end(threaded):
    acceptance = Recorder()
    submissions = Submissions(acceptance, SOURCE, threaded=threaded)
    submissions.add([point(3.0), point(2.0)])
    submissions.hand_over()
    submissions.add([point(1.0)])
    submissions.close()
    assert acceptance.points == [2.0, 3.0, 1.0]
    assert submissions.submitted == 3


def test_the_caller_does_not_wait_for_a_slow_acceptance():
    acceptance = Recorder(waits=True)
    submissions = Submissions(acceptance, SOURCE, threaded=True)
    submissions.add([point(9.0)])
    submissions.hand_over()
    assert acceptance.came.wait(10.0)
    for value in range(8, 0, -1):
        submissions.add([point(float(value))])
        submissions.hand_over()
    assert acceptance.points == []
    acceptance.go.set()
    submissions.close()
    assert acceptance.points == [9.0, 1.0, 2.0, 3.0]
    assert len(acceptance.points) == 1 + MOST_WAITING


@pytest.mark.parametrize("threaded", [False, True])
def test_nearly_feasible_points_count_apart(threaded):
    acceptance = Recorder()
    submissions = Submissions(acceptance, SOURCE, threaded=threaded)
    submissions.add_infeasible(point(5.0))
    submissions.add_infeasible(point(4.0))
    submissions.hand_over()
    submissions.close()
    assert acceptance.points == [4.0]
    assert (submissions.submitted, submissions.infeasible_points) == (0, 1)
    assert submissions.infeasible_seconds >= 0.0


@pytest.mark.parametrize("threaded", [False, True])
def test_an_error_of_the_gate_reaches_the_caller(threaded):
    def broken(x: np.ndarray, source: str) -> bool:
        raise ValueError("broken acceptance")

    submissions = Submissions(broken, SOURCE, threaded=threaded)
    submissions.add([point(1.0)])
    with pytest.raises(ValueError, match="broken acceptance"):
        _hand_over_and_close(submissions)


def _hand_over_and_close(submissions: Submissions) -> None:
    submissions.hand_over()
    submissions.close()
