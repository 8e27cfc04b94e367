"""Points on their way to the gate: in order, without waiting, and none lost at the end."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from solvers.mip.heuristics.local_search.gpu.offers import MOST_WAITING, Offers


class Recorder:
    """Notes the points it gets, in the order of their coming; waits for a sign before each."""

    def __init__(self, *, waits: bool = False) -> None:
        self.points: list[float] = []
        self.go = threading.Event()
        self.came = threading.Event()
        if not waits:
            self.go.set()

    def __call__(self, x: np.ndarray, source: str) -> bool:
        assert source == "walkers"
        self.came.set()
        assert self.go.wait(10.0)
        self.points.append(float(x[0]))
        return True


def point(value: float) -> np.ndarray:
    return np.array([value])


@pytest.mark.parametrize("threaded", [False, True])
def test_the_best_point_comes_first_and_the_rest_at_the_end(threaded):
    gate = Recorder()
    offers = Offers(gate, threaded=threaded)
    offers.add([point(3.0), point(2.0)])
    offers.hand_over()
    offers.add([point(1.0)])
    offers.close()
    assert gate.points == [2.0, 3.0, 1.0]
    assert offers.offered == 3


def test_the_caller_does_not_wait_for_a_slow_gate():
    gate = Recorder(waits=True)
    offers = Offers(gate, threaded=True)
    offers.add([point(9.0)])
    offers.hand_over()
    assert gate.came.wait(10.0)
    for value in range(8, 0, -1):
        offers.add([point(float(value))])
        offers.hand_over()
    assert gate.points == []
    gate.go.set()
    offers.close()
    assert gate.points == [9.0, 1.0, 2.0, 3.0]
    assert len(gate.points) == 1 + MOST_WAITING


@pytest.mark.parametrize("threaded", [False, True])
def test_nearly_feasible_points_count_apart(threaded):
    gate = Recorder()
    offers = Offers(gate, threaded=threaded)
    offers.add_near(point(5.0))
    offers.add_near(point(4.0))
    offers.hand_over()
    offers.close()
    assert gate.points == [4.0]
    assert (offers.offered, offers.near) == (0, 1)
    assert offers.near_seconds >= 0.0


@pytest.mark.parametrize("threaded", [False, True])
def test_an_error_of_the_gate_reaches_the_caller(threaded):
    def broken(x: np.ndarray, source: str) -> bool:
        raise ValueError("broken gate")

    offers = Offers(broken, threaded=threaded)
    offers.add([point(1.0)])
    with pytest.raises(ValueError, match="broken gate"):
        _hand_over_and_close(offers)


def _hand_over_and_close(offers: Offers) -> None:
    offers.hand_over()
    offers.close()
