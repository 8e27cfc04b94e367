"""Our own interior point and HiGHS's for one place in a race: which of them answers, and when."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from gpu_bridge.pipeline.interior_points import fitting_interior_point
from solvers.core.errors import EngineError
from solvers.core.outcome import Outcome, StopReason
from solvers.core.progress import Progress
from tests.pipeline.made_up_engines import RIGHT, WORSE, claim, works_until_told
from tests.soon import LONG, soon

NEVER = 10**12
"""Coefficients of a model on which ours would be alone for ever."""

TROUBLE = claim(reason=StopReason.NUMERICAL_TROUBLE)


class Asked:
    """HiGHS's method, which notes how often it is asked."""

    def __init__(self, run: Callable[[Progress], Outcome]) -> None:
        self.run, self.times = run, 0

    def __call__(self, progress: Progress) -> Outcome:
        self.times += 1
        return self.run(progress)


def test_where_ours_is_known_to_fit_in_time_the_other_does_not_begin() -> None:
    reference = Asked(lambda progress: WORSE)

    def own(progress: Progress, begin: Callable[[bool], None]) -> Outcome:
        begin(True)
        return RIGHT

    assert fitting_interior_point(own, reference, Progress(), NEVER) is RIGHT
    assert reference.times == 0


def test_what_presolve_settles_needs_no_other() -> None:
    reference = Asked(lambda progress: WORSE)
    assert fitting_interior_point(lambda *_: RIGHT, reference, Progress(), NEVER) is RIGHT
    assert reference.times == 0


@pytest.mark.parametrize("fails", [False, True])
def test_where_ours_does_not_fit_the_other_begins_at_once(fails: bool) -> None:
    reference = Asked(lambda progress: RIGHT)

    def own(progress: Progress, begin: Callable[[bool], None]) -> None:
        if fails:
            raise MemoryError

    assert fitting_interior_point(own, reference, Progress(), NEVER) is RIGHT
    assert reference.times == 1


def test_the_other_may_answer_while_ours_is_being_analysed() -> None:
    abandoned = threading.Event()

    def own(progress: Progress, begin: Callable[[bool], None]) -> None:
        assert soon(lambda: progress.abandoned)
        abandoned.set()

    assert fitting_interior_point(own, lambda progress: RIGHT, Progress(), 0) is RIGHT
    assert abandoned.wait(LONG)


def test_the_other_is_told_to_stop_once_ours_is_known_to_fit() -> None:
    begun, told = threading.Event(), threading.Event()

    def reference(progress: Progress) -> Outcome:
        begun.set()
        return works_until_told(told)(progress)

    def own(progress: Progress, begin: Callable[[bool], None]) -> Outcome:
        assert begun.wait(LONG)
        begin(True)
        assert told.wait(LONG)
        assert not progress.abandoned
        return RIGHT

    assert fitting_interior_point(own, reference, Progress(), 0) is RIGHT


def test_where_ours_gives_up_later_the_other_begins_anew() -> None:
    reference = Asked(lambda progress: RIGHT)

    def own(progress: Progress, begin: Callable[[bool], None]) -> None:
        begin(True)

    assert fitting_interior_point(own, reference, Progress(), NEVER) is RIGHT
    assert reference.times == 1


def test_where_the_other_is_in_trouble_ours_is_waited_for() -> None:
    begun = threading.Event()

    def reference(progress: Progress) -> Outcome:
        begun.set()
        return TROUBLE

    def own(progress: Progress, begin: Callable[[bool], None]) -> Outcome:
        assert begun.wait(LONG)
        begin(True)
        return RIGHT

    assert fitting_interior_point(own, reference, Progress(), 0) is RIGHT


def test_where_neither_has_an_answer_that_of_the_other_counts() -> None:
    begun = threading.Event()

    def reference(progress: Progress) -> Outcome:
        begun.set()
        return TROUBLE

    def own(progress: Progress, begin: Callable[[bool], None]) -> None:
        assert begun.wait(LONG)

    assert fitting_interior_point(own, reference, Progress(), 0) is TROUBLE


@pytest.mark.parametrize("is_first", [False, True])
def test_where_both_go_on_the_first_answer_counts(is_first: bool) -> None:
    begun, ended = threading.Event(), threading.Event()

    def reference(progress: Progress) -> Outcome:
        begun.set()
        return works_until_told(ended)(progress) if is_first else WORSE

    def own(progress: Progress, begin: Callable[[bool], None]) -> Outcome:
        begin(False)
        assert begun.wait(LONG)
        return RIGHT if is_first else works_until_told(ended)(progress)

    found = fitting_interior_point(own, reference, Progress(), NEVER)
    assert found is (RIGHT if is_first else WORSE)
    assert ended.wait(LONG)


@pytest.mark.parametrize("has_answer", [False, True])
def test_where_the_other_fails_ours_is_waited_for(has_answer: bool) -> None:
    begun = threading.Event()

    def reference(progress: Progress) -> Outcome:
        begun.set()
        raise EngineError("it crashed")

    def own(progress: Progress, begin: Callable[[bool], None]) -> Outcome | None:
        assert begun.wait(LONG)
        return RIGHT if has_answer else None

    if has_answer:
        assert fitting_interior_point(own, reference, Progress(), 0) is RIGHT
    else:
        with pytest.raises(EngineError, match="it crashed"):
            fitting_interior_point(own, reference, Progress(), 0)


@pytest.mark.parametrize("has_answer", [False, True])
def test_where_there_is_one_core_for_both_they_work_one_after_the_other(has_answer: bool) -> None:
    reference = Asked(lambda progress: WORSE)
    before: list[int] = []

    def own(progress: Progress, begin: Callable[[bool], None]) -> Outcome | None:
        begin(False)
        time.sleep(0.05)
        before.append(reference.times)
        return RIGHT if has_answer else None

    found = fitting_interior_point(own, reference, Progress(), None)
    assert found is (RIGHT if has_answer else WORSE)
    assert before == [0]
