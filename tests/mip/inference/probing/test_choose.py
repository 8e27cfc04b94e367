from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.fix_and_propagate.bulk import round_point
from solvers.mip.inference.cliques import find_cliques
from solvers.mip.inference.probing import build_cache
from solvers.mip.inference.probing.store import empty_cache
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.budget import Budget
from tests.mip.inference.probing.models import INF, feasible_points, model_of, random_model


def chain(n):
    """x_0 <= x_1 <= ... <= x_{n-1}."""
    matrix = np.eye(n)[:-1] - np.eye(n)[1:]
    return model_of(matrix, -INF, 0)


def choose(model, columns, first, second, lower=None, upper=None):
    cache = build_cache(model, None, Budget(), 0)
    return cache.choose(
        np.array(columns),
        np.array(first, dtype=float),
        np.array(second, dtype=float),
        model.lower if lower is None else lower,
        model.upper if upper is None else upper,
    )


def test_without_conflicts_draws_stand_and_implications_are_merged():
    first, second, lower, upper = choose(chain(4), [1], [1], [0])
    assert first.tolist() == [1]
    assert second.tolist() == [0]
    assert lower.tolist() == [0, 1, 1, 1]
    assert upper.tolist() == [1, 1, 1, 1]


def test_a_value_that_contradicts_an_earlier_one_gives_way_to_the_other_side():
    first, second, lower, upper = choose(chain(3), [0, 2], [1, 0], [1, 0])
    assert first.tolist() == [1, 1]  # the second column was set by the first
    assert lower.tolist() == upper.tolist() == [1, 1, 1]
    assert second.tolist() == [1, 1]


def test_the_second_draw_is_taken_if_it_conflicts_less():
    # x excludes y and z
    model = model_of([[1, 1, 0], [1, 0, 1]], -INF, 1)
    lower = np.array([0.0, 1.0, 1.0])
    first, second, low, high = choose(model, [0], [1], [0], lower=lower)
    assert first.tolist() == [0]
    assert second.tolist() == [1]
    assert low.tolist() == [0, 1, 1]
    assert high.tolist() == [0, 1, 1]


def test_if_both_conflict_the_smaller_evil_stands_and_is_not_merged():
    # x = 1 excludes y and z, x = 0 needs w, which is 0
    model = model_of([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], [-INF, -INF, 1], [1, 1, INF])
    lower, upper = np.array([0.0, 1, 1, 0]), np.array([1.0, 1, 1, 0])
    first, second, low, high = choose(model, [0], [1], [1], lower, upper)
    assert first.tolist() == [0]
    assert second.tolist() == [1]
    assert low.tolist() == [0, 1, 1, 0]
    assert high.tolist() == [0, 1, 1, 0]


def test_an_empty_cache_keeps_the_draws_within_the_bounds():
    model = chain(3)
    cache = empty_cache(model, find_cliques(model))
    first, second, lower, _ = cache.choose(
        np.array([2, 0]), np.array([1.0, 5.0]), np.array([0.0, -1.0]), model.lower, model.upper
    )
    assert first.tolist() == [1, 1]
    assert second.tolist() == [0, 0]
    assert lower.tolist() == [1, 0, 1]


@pytest.mark.parametrize("seed", range(60))
def test_bounds_never_cross_and_lose_no_point_of_the_bulk(seed):
    model = random_model(seed)
    cache = build_cache(model, None, Budget(), 0)
    rng = np.random.default_rng(seed)
    columns = rng.permutation(model.num_columns)[: max(1, model.num_columns // 2)]
    draws = [np.round(rng.uniform(model.lower, model.upper))[columns] for _ in range(2)]
    before = model.lower.copy(), model.upper.copy()
    first, _, lower, upper = cache.choose(columns, *draws, model.lower, model.upper)
    assert (lower <= upper).all()
    assert np.array_equal(before, (model.lower, model.upper))
    for point in feasible_points(model):
        if np.array_equal(point[columns], first):
            assert is_feasible(model, point)
            assert (point >= lower).all()
            assert (point <= upper).all()


def test_bulk_rounding_takes_the_cache_as_its_chooser():
    reached = 0
    for seed in range(60):
        model = random_model(seed)
        cache = build_cache(model, None, Budget(), 0)
        middle = (model.lower + model.upper) / 2.0
        rounded = round_point(model, middle, Budget(), seed, cache)
        if rounded.is_consistent:
            assert is_feasible(model, rounded.x)
            reached += 1
        else:
            assert ((rounded.x >= model.lower) & (rounded.x <= model.upper)).all()
    assert reached > 20
