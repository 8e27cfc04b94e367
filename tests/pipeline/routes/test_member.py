"""A member's progress beside an exchange: what it tells, hears, and when it ends."""

from __future__ import annotations

import numpy as np

from gpu_bridge.cluster.remote import Exchange
from gpu_bridge.pipeline.routes.cluster_members import MemberProgress


def member(exchange: Exchange, leaf: int | None = None) -> MemberProgress:
    return MemberProgress(np.inf, "one", exchange.meet, leaf, rel_gap=1e-4, abs_gap=1e-6)


def test_points_and_bounds_go_to_the_others():
    exchange = Exchange(0)
    one, other = member(exchange), member(exchange)
    heard: list[tuple[list[float], str]] = []
    other.listen(lambda x, source: heard.append((x.tolist(), source)))
    one.incumbent(5.0, "dive", np.array([1.0, 2.0]))
    one.bound(3.0, "highs")
    one.meet()
    other.meet()
    other.meet()
    assert heard == [([1.0, 2.0], "dive (one)")]
    assert other.best_bound == 3.0


def test_who_found_a_point_does_not_hear_of_it_and_a_worse_one_is_not_told():
    exchange = Exchange(0)
    one, other = member(exchange), member(exchange)
    heard: list[str] = []
    one.listen(lambda x, source: heard.append(source))
    one.incumbent(5.0, "dive", np.zeros(1))
    one.meet()
    other.incumbent(6.0, "walk", np.ones(1))
    other.meet()
    one.meet()
    assert heard == []


def test_who_listens_late_hears_of_the_latest():
    exchange = Exchange(0)
    one, other = member(exchange), member(exchange)
    one.incumbent(5.0, "dive", np.zeros(1))
    one.meet()
    other.meet()
    heard: list[str] = []
    other.listen(lambda x, source: heard.append(source))
    assert heard == ["dive (one)"]


def test_the_least_bound_of_all_parts_is_one_of_the_model():
    exchange = Exchange(2)
    whole, left, right = member(exchange), member(exchange, 0), member(exchange, 1)
    left.bound(4.0, "highs")
    left.meet()
    whole.meet()
    assert np.isnan(whole.best_bound)
    right.bound(6.0, "highs")
    right.meet()
    whole.meet()
    assert whole.best_bound == 4.0
    assert exchange.meet(0, None, np.inf, 0)[3] == 6.0
    assert exchange.meet(0, None, np.inf, 1)[3] == np.inf


def test_a_part_ends_once_others_have_what_is_as_good_as_all_in_it():
    exchange = Exchange(2)
    left, right = member(exchange, 0), member(exchange, 1)
    left.incumbent(5.0, "dive", np.zeros(1))
    left.bound(1.0, "highs")
    left.meet()
    assert not left.interrupted
    right.bound(4.9, "highs")
    right.meet()
    assert not right.interrupted
    right.bound(5.0, "highs")
    right.meet()
    assert right.interrupted


def test_all_end_when_it_is_over():
    exchange = Exchange(0)
    one = member(exchange)
    exchange.end()
    one.meet()
    assert one.interrupted
