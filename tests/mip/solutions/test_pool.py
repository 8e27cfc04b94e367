"""The pool tells points apart by their integers, and keeps the best of those that are alike."""

from __future__ import annotations

import numpy as np

from solvers.mip.solutions.incumbents import Found, Pool

INTEGERS = np.array([0, 1])


def found(x, objective) -> Found:
    return Found(np.array(x), objective, 0.0, "test")


def test_of_points_with_the_same_integers_the_best_is_kept():
    pool = Pool(10, INTEGERS)
    assert pool.add(found([1.0, 0.0, 0.5], 5.0))
    assert not pool.add(found([1.0, 0.0, 0.7], 6.0))
    assert pool.add(found([1.0, 0.0, 0.2], 4.0))
    assert [point.objective for point in pool.points()] == [4.0]


def test_negative_zeros_and_noise_make_no_other_point():
    pool = Pool(10, INTEGERS)
    pool.add(found([0.0, 1.0, 0.0], 1.0))
    assert not pool.add(found([-0.0, 1.0, 0.0], 1.0))
    assert not pool.add(found([-1e-9, 1.0 + 1e-9, 0.0], 1.0))
    assert len(pool) == 1


def test_points_come_and_go_in_any_order():
    """Against a plain list: points of few values, so that many are alike."""
    rng = np.random.default_rng(0)
    pool, kept = Pool(6, INTEGERS), {}
    for _ in range(300):
        x = rng.integers(-1, 3, 2).astype(float)
        objective = float(rng.integers(0, 50))
        pool.add(found([*x, 0.0], objective))
        known = kept.get(tuple(x))
        if known is None or objective < known:
            kept[tuple(x)] = objective
        kept = dict(sorted(kept.items(), key=lambda item: item[1])[:6])
        assert [point.objective for point in pool.points()] == sorted(kept.values())
        assert len({point.x.tobytes() for point in pool.points()}) == len(pool)


def test_without_integers_whole_points_are_compared():
    pool = Pool(10, np.array([], dtype=int))
    pool.add(found([0.25], 1.0))
    assert not pool.add(found([0.25], 1.0))
    pool.add(found([0.5], 1.0))
    assert len(pool) == 2
