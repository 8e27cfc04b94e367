"""Choosing between one thread and many by measurement."""

from __future__ import annotations

from itertools import pairwise

from solvers.pdlp.execution.on_cpu import TRIAL, WARM_UP, Speed


def test_every_number_of_threads_is_warmed_up_then_timed_then_the_faster_is_kept():
    speed = Speed((1, 4))
    seen = []
    for elapsed in (5.0, 1.0, 9.0, 0.4):
        threads = speed.choose()
        count = speed.slice_length(threads, 0.1)
        seen.append((threads, count))
        speed.note(threads, count, elapsed)
    assert seen == [(1, WARM_UP), (1, TRIAL), (4, WARM_UP), (4, TRIAL)]
    assert speed.seconds == {1: 0.1, 4: 0.04}
    assert speed.choose() == 4


def test_a_number_of_threads_that_turns_slow_is_given_up():
    speed = Speed((1, 4), {1: 0.1, 4: 0.04}, {1, 4})
    speed.note(4, 10, 2.0)
    assert speed.choose() == 1


def test_slices_last_as_long_as_asked():
    speed = Speed((1,), {1: 1e-3}, {1})
    assert speed.slice_length(1, 0.1) == 100
    assert Speed((1,), {1: 60.0}, {1}).slice_length(1, 0.1) == 1
    assert Speed((1,), {1: 0.0}, {1}).slice_length(1, 0.1) > 10_000


def test_the_slower_number_of_threads_gets_another_trial_at_ever_longer_intervals():
    speed = Speed((1, 2))
    tried = []
    for _ in range(200):
        threads = speed.choose()
        length = speed.slice_length(threads, 1.0)
        tried.append((threads, length))
        speed.note(threads, length, length * (0.001 if threads == 1 else 0.002))
    slow = [place for place, (threads, _) in enumerate(tried) if threads == 2]
    assert slow[:2] == [2, 3]
    gaps = [after - before for before, after in pairwise(slow[1:])]
    assert len(gaps) >= 2
    assert gaps == sorted(gaps)
    assert gaps[-1] > gaps[0]
    assert all(tried[place][1] == TRIAL for place in slow[2:])


def test_a_number_of_threads_that_turned_faster_is_taken():
    speed = Speed((1, 2))
    for slices in range(60):
        threads = speed.choose()
        length = speed.slice_length(threads, 1.0)
        of_two = 0.002 if slices < 6 else 0.0005
        speed.note(threads, length, length * (0.001 if threads == 1 else of_two))
    assert speed.choose() == 2
