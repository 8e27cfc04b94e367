from __future__ import annotations

import threading
from collections import Counter

import numpy as np
import pytest

from solvers.mip.heuristics.large_neighbourhood.bandit import Arm, Bandit, Play


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
        Play(0.1, 1, proven=True),
        Play(0, 1, proven=True),
    ):
        bandit.record(number, one)
        sizes.append(arm.free)
    failed, gained, best, proven = np.diff(sizes)
    assert failed < 0
    assert gained == best == 0
    assert proven > 0


def after(*plays: Play) -> Arm:
    bandit = Bandit(["a"], columns=1000)
    for one in plays:
        bandit.record(0, one)
    return bandit.arms[0]


def test_a_quick_proof_counts_for_more_and_failure_at_the_root_too():
    slow, quick = Play(0, 1, proven=True), Play(0, 1, proven=True, quick=True)
    assert after().free < after(slow).free < after(quick).free
    late, at_once = Play(0, 1, proven=False), Play(0, 1, proven=False, hopeless=True)
    assert after().free > after(late).free > after(at_once).free


def test_the_free_share_closes_in_on_what_has_failed():
    failed, proven = Play(0, 1, proven=False), Play(0, 1, proven=True, quick=True)
    start = after().free
    sizes = [after(failed, *[proven] * count).free for count in range(1, 4)]
    assert 0.7 * start < sizes[0] < start < sizes[1] < 2 * sizes[0] < 2 * start
    assert after(failed, *[proven] * 12).free == 1.0


def test_half_of_what_is_fixed_stays_so_until_little_is():
    proven = Play(0, 1, proven=True, quick=True)
    sizes = np.array([after(*[proven] * count).free for count in range(8)])
    fixed = 1.0 - sizes
    assert np.all((fixed[1:] >= 0.5 * fixed[:-1] - 1e-12) | (fixed[1:] == 0))
    assert sizes[-1] == 1.0


def test_a_neighbourhood_smaller_than_asked_for_grows_from_its_own_size():
    bandit = Bandit(["a"], columns=1000)
    bandit.record(0, Play(0, 1, proven=True), free=0.02, version=5)
    assert 0.02 < bandit.arms[0].free < 0.03
    assert bandit.arms[0].proven_at == 5


def test_the_other_size_of_a_neighbourhood_begins_where_the_first_has_come_to():
    bandit = Bandit(["a", "b"], columns=1000)
    first, other, second = bandit.arms[0], bandit.arms[1], bandit.arms[2]
    assert (first.name, other.name, second.name) == ("a", "b", "a")
    ratio, before = second.free / first.free, other.free
    for _ in range(2):
        bandit.record(0, Play(0, 1, proven=True, quick=True))
    assert second.free == pytest.approx(ratio * first.free)
    assert other.free == before
    bandit.record(2, Play(0.1, 1, proven=False))
    kept = second.free
    bandit.record(0, Play(0, 1, proven=False))
    assert second.free == kept


def test_ambition_fades_in_vain_and_comes_back_with_gains():
    nothing, gain = Play(0, 1, proven=True), Play(0.1, 1, proven=False)
    ambitions = [after(*[nothing] * count).ambition for count in range(8)]
    assert ambitions == sorted(ambitions, reverse=True)
    assert ambitions[0] > ambitions[-1] == 0.0
    assert 0.0 < after(*[nothing] * 8, gain).ambition <= ambitions[0]


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
    assert sum(arm.plays for arm in bandit.arms) == 200
    assert all(arm.pending == 0 for arm in bandit.arms)
