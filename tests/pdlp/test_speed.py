"""Choosing between one thread and many by measurement."""

from __future__ import annotations

from itertools import pairwise

from solvers.pdlp.execution.speed import TRIAL, WARM_UP, Pace


def test_every_way_is_warmed_up_then_timed_then_the_faster_is_kept():
    pace = Pace((1, 4))
    seen = []
    for elapsed in (5.0, 1.0, 9.0, 0.4):
        way = pace.choose()
        count = pace.slice_length(way, 0.1)
        seen.append((way, count))
        pace.note(way, count, elapsed)
    assert seen == [(1, WARM_UP), (1, TRIAL), (4, WARM_UP), (4, TRIAL)]
    assert pace.seconds == {1: 0.1, 4: 0.04}
    assert pace.choose() == 4


def test_a_way_that_turns_slow_is_given_up():
    pace = Pace((1, 4), {1: 0.1, 4: 0.04}, {1, 4})
    pace.note(4, 10, 2.0)
    assert pace.choose() == 1


def test_slices_last_as_long_as_asked():
    pace = Pace((1,), {1: 1e-3}, {1})
    assert pace.slice_length(1, 0.1) == 100
    assert Pace((1,), {1: 60.0}, {1}).slice_length(1, 0.1) == 1
    assert Pace((1,), {1: 0.0}, {1}).slice_length(1, 0.1) > 10_000


def test_slower_way_gets_another_trial_at_ever_longer_intervals():
    pace = Pace((1, 2))
    tried = []
    for _ in range(200):
        way = pace.choose()
        length = pace.slice_length(way, 1.0)
        tried.append((way, length))
        pace.note(way, length, length * (0.001 if way == 1 else 0.002))
    slow = [place for place, (way, _) in enumerate(tried) if way == 2]
    assert slow[:2] == [2, 3]
    gaps = [after - before for before, after in pairwise(slow[1:])]
    assert len(gaps) >= 2
    assert gaps == sorted(gaps)
    assert gaps[-1] > gaps[0]
    assert all(tried[place][1] == TRIAL for place in slow[2:])


def test_a_way_that_turned_faster_is_taken():
    pace = Pace((1, 2))
    for slices in range(60):
        way = pace.choose()
        length = pace.slice_length(way, 1.0)
        of_two = 0.002 if slices < 6 else 0.0005
        pace.note(way, length, length * (0.001 if way == 1 else of_two))
    assert pace.choose() == 2
