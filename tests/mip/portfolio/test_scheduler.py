"""Scheduler are dealt out by shares, and nobody who comes late catches up on what was before."""

from __future__ import annotations

from collections import Counter

from solvers.mip.portfolio.scheduler import Activity, Scheduler


def nothing(budget, seed):
    raise AssertionError("scheduler are only dealt out here")


def constant(share):
    return lambda: share


def played(scheduler, count, used=1.0):
    names = []
    for _ in range(count):
        turn = scheduler.take(0.0)
        names.append(turn.activity.name)
        scheduler.give_back(turn, used)
    return names


def test_first_turns_come_in_the_order_of_the_table():
    scheduler = Scheduler([Activity(name, nothing, constant(1.0)) for name in "abc"])
    assert played(scheduler, 3) == ["a", "b", "c"]


def test_turns_follow_the_shares():
    scheduler = Scheduler(
        [Activity("a", nothing, constant(3.0)), Activity("b", nothing, constant(1.0))]
    )
    counts = Counter(played(scheduler, 80))
    assert 58 <= counts["a"] <= 62


def test_long_turns_count_for_what_they_took():
    scheduler = Scheduler(
        [Activity("a", nothing, constant(1.0)), Activity("b", nothing, constant(1.0))]
    )
    used = Counter()
    for _ in range(60):
        turn = scheduler.take(0.0)
        name = turn.activity.name
        seconds = 5.0 if name == "a" else 1.0
        used[name] += seconds
        scheduler.give_back(turn, seconds)
    assert abs(used["a"] - used["b"]) <= 5.0


def test_who_has_nothing_to_do_is_left_out_and_comes_back_level():
    share = {"b": 0.0}
    scheduler = Scheduler(
        [Activity("a", nothing, constant(1.0)), Activity("b", nothing, lambda: share["b"])]
    )
    assert set(played(scheduler, 50)) == {"a"}
    share["b"] = 1.0
    later = Counter(played(scheduler, 20))
    assert 8 <= later["b"] <= 12


def test_an_activity_with_one_turn_has_one_turn():
    scheduler = Scheduler(
        [Activity("once", nothing, constant(9.0), longest=7.0, once=True),
         Activity("a", nothing, constant(1.0))]
    )  # fmt: skip
    first = scheduler.take(0.0)
    assert (first.activity.name, first.seconds) == ("once", 7.0)
    scheduler.give_back(first, 0.0)
    assert set(played(scheduler, 10)) == {"a"}


def test_no_more_than_so_many_side_by_side():
    scheduler = Scheduler([Activity("a", nothing, constant(1.0), most=2)])
    held = [scheduler.take(0.0), scheduler.take(0.0)]
    assert scheduler.take(0.0) is None
    scheduler.give_back(held[0], 1.0)
    assert scheduler.take(0.0) is not None


def test_one_that_failed_has_no_more_turns():
    scheduler = Scheduler(
        [Activity("a", nothing, constant(9.0)), Activity("b", nothing, constant(1.0))]
    )
    scheduler.leave_out(scheduler.take(0.0))
    assert set(played(scheduler, 5)) == {"b"}


def test_turns_grow_with_the_time_and_stay_below_their_longest():
    scheduler = Scheduler([Activity("a", nothing, constant(1.0), longest=4.0)])
    lengths = []
    for elapsed in (0.0, 10.0, 1000.0):
        turn = scheduler.take(elapsed)
        lengths.append(turn.seconds)
        scheduler.give_back(turn, 0.0)
    assert lengths == [0.5, 1.0, 4.0]


def test_who_is_due_little_has_no_first_turn_before_who_is_due_much():
    ahead = {"now": 0.0}
    table = [Activity("a", nothing, constant(0.5)), Activity("b", nothing, constant(6.0))]
    assert played(Scheduler(table, ahead=lambda: ahead["now"]), 1) == ["a"]
    ahead["now"] = 1.0
    scheduler = Scheduler(table, ahead=lambda: ahead["now"])
    names = played(scheduler, 26, used=0.5)
    assert names.index("a") >= 8
    assert 1 <= names.count("a") <= 3


def test_a_first_look_may_come_at_once_however_little_is_due():
    table = [
        Activity("look", nothing, constant(0.5), at_once=True),
        Activity("much", nothing, constant(6.0)),
        Activity("little", nothing, constant(0.5)),
    ]
    names = played(Scheduler(table, ahead=lambda: 1.0), 8, used=0.5)
    assert names == ["look"] + ["much"] * 7


def test_a_share_that_changes_says_nothing_about_the_past():
    share = {"a": 8.0}
    scheduler = Scheduler(
        [Activity("a", nothing, lambda: share["a"]), Activity("b", nothing, constant(1.0))]
    )
    played(scheduler, 90)
    share["a"] = 1.0  # what it had was its due
    later = Counter(played(scheduler, 20))
    assert 8 <= later["a"] <= 12


class Earned:
    """Credit that does not change, and remembers what it was told."""

    def __init__(self, bonus):
        self.bonus = bonus
        self.noted = []

    def note(self, kind, length):
        self.noted.append((kind, length))


def test_what_a_kind_has_earned_is_shared_among_those_of_it():
    earned = {"good": 9.0, "poor": 0.0}
    scheduler = Scheduler(
        [
            Activity("a", nothing, constant(2.0), kind="good"),
            Activity("b", nothing, constant(1.0), kind="good"),
            Activity("c", nothing, constant(3.0), kind="poor"),
            Activity("d", nothing, constant(1.0)),
        ],
        credit=Earned(earned.__getitem__),
    )
    counts = Counter(played(scheduler, 160))
    assert 76 <= counts["a"] <= 84  # 8 of 16
    assert 36 <= counts["b"] <= 44
    assert 26 <= counts["c"] <= 34
    assert 8 <= counts["d"] <= 12


def test_who_is_due_nothing_has_no_part_of_what_its_kind_has_earned():
    scheduler = Scheduler(
        [
            Activity("a", nothing, constant(0.0), kind="good"),
            Activity("b", nothing, constant(1.0), kind="good"),
        ],
        credit=Earned(lambda kind: 5.0),
    )
    assert set(played(scheduler, 10)) == {"b"}


def test_turns_count_for_their_kind_by_how_long_they_were():
    credit = Earned(lambda kind: 0.0)
    scheduler = Scheduler(
        [Activity("a", nothing, constant(1.0), kind="good"), Activity("b", nothing, constant(1.0))],
        shortest=0.5,
        credit=credit,
    )
    assert played(scheduler, 2, used=2.0) == ["a", "b"]
    assert credit.noted == [("good", 4.0), (None, 4.0)]
