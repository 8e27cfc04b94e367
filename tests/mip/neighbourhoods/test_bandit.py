from __future__ import annotations

import threading
from collections import Counter

import numpy as np
import pytest

from solvers.mip.neighbourhoods.bandit import Bandit, Play


def play(bandit: Bandit, gains: dict[str, float], rounds: int, seed: int = 0) -> Counter[str]:
    """Play arms whose gain per second is drawn around what is given."""
    rng = np.random.default_rng(seed)
    picked: Counter[str] = Counter()
    for _ in range(rounds):
        number = bandit.pick()
        name = bandit.arms[number].name
        picked[name] += 1
        bandit.record(number, Play(gains[name] * rng.exponential(), rng.uniform(0.5, 2), False))
    return picked


def test_every_arm_is_tried_and_the_best_most_often():
    bandit = Bandit(["a", "b", "c"], columns=100)
    picked = play(bandit, {"a": 0.001, "b": 0.1, "c": 0.01}, 200)
    assert min(picked.values()) >= 2
    assert picked["b"] > 120


def test_the_best_may_change():
    bandit = Bandit(["a", "b"], columns=100)
    play(bandit, {"a": 0.1, "b": 0.01}, 60)
    picked = play(bandit, {"a": 0.0, "b": 0.01}, 100)
    assert picked["b"] > 60


def test_unplayed_arms_come_in_the_order_given_and_those_under_way_are_avoided():
    bandit = Bandit(["a", "b"], columns=100)
    names = [bandit.arms[bandit.pick()].name for _ in range(4)]
    assert names == ["a", "b", "a", "b"]
    assert [arm.pending for arm in bandit.arms] == [1, 1, 1, 1]


def test_arms_that_are_out_are_left_out():
    bandit = Bandit(["a", "b"], columns=100)
    assert bandit.arms[bandit.pick({0, 2})].name == "b"
    assert bandit.pick({0, 1, 2, 3}) is None
    number = bandit.pick()
    bandit.put_back(number)
    assert bandit.arms[number].pending == 0


def test_the_free_share_shrinks_on_failure_and_grows_on_proof():
    bandit = Bandit(["a"], columns=1000)
    number = bandit.pick()
    arm = bandit.arms[number]
    sizes = [arm.free]
    for one in (
        Play(0, 1, proven=False),
        Play(0.1, 1, proven=False),
        Play(0, 1, proven=True),
        Play(0, 1, proven=True, quick=True),
    ):
        bandit.record(number, one)
        sizes.append(arm.free)
    failed, gained, proven, quick = np.diff(sizes)
    assert failed < 0
    assert gained == 0
    assert 0 < proven / sizes[2] < quick / sizes[3]


def test_the_free_share_stays_within_its_limits_and_patience_takes_over():
    bandit = Bandit(["a"], columns=50)
    for _ in range(30):
        bandit.record(0, Play(0, 1, proven=False))
    assert bandit.arms[0].free == pytest.approx(5 / 50)
    assert bandit.arms[0].patience > 1
    for _ in range(30):
        bandit.record(0, Play(0, 1, proven=True, quick=True))
    assert bandit.arms[0].free == 1
    assert bandit.arms[0].patience == 1


def test_a_large_model_begins_with_small_shares():
    bandit = Bandit(["a"], columns=3_000_000)
    assert all(arm.free * 3_000_000 <= 30_001 for arm in bandit.arms)


def test_many_threads_may_share_one():
    bandit = Bandit(["a", "b", "c"], columns=100)

    def work() -> None:
        for _ in range(50):
            bandit.record(bandit.pick(), Play(0.1, 1.0, False))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one.plays for one in bandit.tallies.values()) == 200
    assert all(arm.pending == 0 for arm in bandit.arms)
