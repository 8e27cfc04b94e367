"""Python's lock changes hands sooner while engines race, and as before afterwards."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator

import pytest

from solvers.core.switching import INTERVAL, quick_switches
from tests.pipeline.made_up_engines import DIET, RIGHT, run_race
from tests.soon import LONG

CALLERS = 0.004


@pytest.fixture(autouse=True)
def _callers() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(CALLERS)
    yield
    sys.setswitchinterval(before)


def interval() -> float:
    return round(sys.getswitchinterval(), 6)


def test_it_is_shorter_within_and_the_callers_again_after_the_last() -> None:
    with quick_switches():
        assert interval() == INTERVAL
        with quick_switches():
            assert interval() == INTERVAL
        assert interval() == INTERVAL
    assert interval() == CALLERS


def test_nothing_is_lost_of_it_race_by_race() -> None:
    sys.setswitchinterval(0.003333)
    callers = interval()
    for _ in range(9):
        with quick_switches():
            pass
    assert interval() == callers


def test_what_raises_leaves_the_callers() -> None:
    with pytest.raises(ValueError, match="within"), quick_switches():
        raise ValueError("within")
    assert interval() == CALLERS


def test_a_shorter_one_stays_and_so_does_what_the_caller_sets_meanwhile() -> None:
    sys.setswitchinterval(INTERVAL / 4)
    shorter = interval()
    with quick_switches():
        assert interval() == shorter
    assert interval() == shorter
    with quick_switches():
        sys.setswitchinterval(CALLERS)
    assert interval() == CALLERS


def test_of_two_threads_the_later_one_puts_it_back() -> None:
    within, may_end = threading.Event(), threading.Event()

    def other() -> None:
        with quick_switches():
            within.set()
            assert may_end.wait(LONG)

    thread = threading.Thread(target=other)
    thread.start()
    assert within.wait(LONG)
    with quick_switches():
        pass
    assert interval() == INTERVAL
    may_end.set()
    thread.join()
    assert interval() == CALLERS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_copy_has_the_callers() -> None:
    with quick_switches():
        child = os.fork()
        if not child:
            os._exit(interval() != CALLERS)
        assert os.waitpid(child, 0)[1] == 0


def test_engines_race_with_it() -> None:
    seen: list[float] = []

    def engine(_: object) -> object:
        seen.append(interval())
        return RIGHT

    run_race(DIET, engine=engine)
    assert seen == [INTERVAL]
    assert interval() == CALLERS
