from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.inference.probing import build_cache
from solvers.mip.inference.probing.build import split
from solvers.mip.portfolio.budget import Budget
from tests.mip.inference.probing.models import INF, feasible_points, model_of, random_model


def probed(model, **more):
    return build_cache(model, None, Budget(), 0, **more)


@pytest.mark.parametrize("seed", range(120))
def test_every_feasible_point_keeps_what_was_found(seed):
    model = random_model(seed)
    points = feasible_points(model)
    cache = probed(model)
    if cache.is_infeasible:
        assert not len(points)
        return
    assert (points >= cache.lower).all()
    assert (points <= cache.upper).all()
    found = cache.aggregations
    for k, j, constant, factor in zip(
        found.column, found.of, found.constant, found.factor, strict=True
    ):
        assert np.allclose(points[:, k], constant + factor * points[:, j])
    for j in range(model.num_columns):
        for side in range(2):
            if side == 0:
                chosen = points[points[:, j] <= cache.first_upper[j]]
            else:
                chosen = points[points[:, j] >= cache.second_lower[j]]
            columns, low, high = cache.implied(j, side)
            assert (chosen[:, columns] >= low).all()
            assert (chosen[:, columns] <= high).all()
    for one, two in cache.conflicts:
        assert not ((points[:, one >> 1] == (one & 1)) & (points[:, two >> 1] == (two & 1))).any()
    for c in range(len(cache.cliques)):
        literals = cache.cliques.members(c)
        assert ((points[:, literals >> 1] == (literals & 1)).sum(axis=1) <= 1).all()


def test_random_models_cover_every_kind_of_finding():
    caches = [probed(random_model(seed)) for seed in range(120)]
    assert any(cache.is_infeasible for cache in caches)
    assert any(cache.fixed.size for cache in caches)
    assert any(cache.aggregations.column.size for cache in caches)
    assert any(cache.conflicts.size for cache in caches)
    assert any((cache.cliques.row < 0).any() for cache in caches)
    assert any(cache.column.size for cache in caches)


def test_a_side_without_a_point_fixes_the_column():
    # x = 1 needs y = 1 and y = 0
    cache = probed(model_of([[1, -1], [1, 1]], [-INF, -INF], [0, 1]))
    assert cache.upper[0] == 0.0
    assert cache.fixed.tolist() == [0]


def test_no_side_with_a_point_is_a_proof():
    # x = y and x + y = 1, which no row shows alone
    cache = probed(model_of([[1, -1], [1, 1]], [0, 1], [0, 1]))
    assert cache.is_infeasible


def test_a_column_that_is_bounded_on_both_sides_is_bounded():
    # z <= 5 - 2 x and z <= 3 + 2 x
    model = model_of([[2, 0, 1], [-2, 0, 1]], -INF, [5, 3], upper=[1, 1, 9], integrality=True)
    assert probed(model).upper[2] == 3.0


def test_a_column_that_another_determines_is_aggregated():
    # y = 3 - 2 x, and propagation alone leaves y between 1 and 3
    cache = probed(model_of([[2, 1]], 3, 3, upper=[1, 9]))
    found = cache.aggregations
    assert (found.column.tolist(), found.of.tolist()) == ([1], [0])
    assert (found.constant.tolist(), found.factor.tolist()) == ([3.0], [-2.0])


def test_implications_that_no_clique_holds_become_conflicts_and_cliques():
    # x <= y and y + z <= 1: x excludes z only through y
    model = model_of([[1, -1, 0], [0, 1, 1]], -INF, [0, 1])
    cache = probed(model)
    assert [sorted(pair) for pair in cache.conflicts.tolist()] == [[1, 5]]
    assert {1, 5} in [set(cache.cliques.members(c)) for c in range(len(cache.cliques))]


def test_a_spent_budget_probes_nothing():
    cache = build_cache(model_of([[1, 1]], -INF, 1), None, Budget(work=0.0), 0)
    assert cache.num_probed == 0
    assert not cache.is_infeasible


def test_probing_ends_after_a_step_that_finds_little():
    n = 5000
    model = model_of(np.ones((1, n)), -INF, n - 1)  # nothing implies anything
    assert 0 < probed(model).num_probed <= 2048


def test_same_seed_gives_the_same_cache():
    model = random_model(5)
    one, two = probed(model), probed(model)
    assert np.array_equal(one.column, two.column)
    assert np.array_equal(one.lower, two.lower)


def test_ranges_split_into_two_that_hold_every_integer():
    lower = np.array([0, 0, -3, 2, -INF, -INF, 5, -1e17])
    upper = np.array([1, 5, -2, INF, 7, INF, 5, 1e17 + 64])
    first, second, possible = split(lower, upper)
    assert first[:6].tolist() == [0, 2, -3, 2, 6, 0]
    assert (second == first + 1)[:6].all()
    assert possible.tolist() == [True] * 6 + [False, True]


def test_models_without_integers_or_rows_have_empty_caches():
    assert probed(model_of([[1, 1]], 1, 1, integrality=False)).num_probed == 0
    assert probed(model_of(np.zeros((0, 3)), [], [])).column.size == 0
