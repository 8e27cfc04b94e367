from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.inference.domain import Count, Domain, Part, copied
from solvers.native.mip_inference_domain import sum_all
from tests.mip.inference.domain.models import INF, model_of, naive_fixed_point, random_model

SEEDS = st.integers(0, 2**32 - 1)


def box_of(domain: Domain) -> np.ndarray:
    return np.concatenate([domain.lower, domain.upper])


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_integer_models_reach_the_unique_fixed_point(seed):
    model, _ = random_model(seed)
    rng = np.random.default_rng(seed)
    domain = Domain.of(model)
    expected = naive_fixed_point(model, model.lower, model.upper)
    assert domain.propagate()
    assert expected is not None
    for j in rng.permutation(model.num_columns):
        value = float(rng.integers(domain.lower[j], domain.upper[j] + 1))
        lower, upper = expected
        lower[j] = upper[j] = value
        expected = naive_fixed_point(model, lower, upper)
        assert domain.fix(int(j), value) == (expected is not None)
        assert domain.is_infeasible == (expected is None)
        if expected is None:
            return
        np.testing.assert_array_equal(domain.lower, expected[0])
        np.testing.assert_array_equal(domain.upper, expected[1])


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from([0.0, 0.3, 0.9]))
def test_a_feasible_point_stays_inside(seed, continuous, infinite):
    model, x = random_model(seed, continuous=continuous, infinite=infinite)
    rng = np.random.default_rng(seed)
    domain = Domain.of(model)
    assert domain.propagate()
    for j in rng.permutation(model.num_columns):
        assert np.all(domain.lower <= x + 1e-6)
        assert np.all(domain.upper >= x - 1e-6)
        assert domain.fix(int(j), x[j]), f"column {j} at its value in a feasible point"


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.4]), st.sampled_from([0.0, 0.3]))
def test_another_sweep_accepts_nothing(seed, continuous, infinite):
    model, x = random_model(seed, continuous=continuous, infinite=infinite)
    domain = Domain.of(model)
    domain.propagate()
    domain.fix(0, x[0])
    if domain.box.counts[Count.CAPPED]:
        return
    before = box_of(domain)
    assert domain.propagate()
    changed = box_of(domain) != before
    # a continuous bound may cross its threshold once the others have moved by less than theirs
    assert not changed[np.tile(model.is_integer == 1, 2)].any() or continuous > 0
    if continuous == 0.0:
        assert not changed.any()


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 0.4]), st.sampled_from([0.0, 0.3]))
def test_undo_restores_bounds_exactly_and_activities_closely(seed, continuous, infinite):
    model, _ = random_model(seed, continuous=continuous, infinite=infinite)
    rng = np.random.default_rng(seed)
    domain = Domain.of(model)
    domain.propagate()
    kept = []
    for j in rng.permutation(model.num_columns):
        kept.append((domain.mark(), box_of(domain), domain.is_infeasible))
        value = np.clip(float(rng.integers(-6, 8)), domain.lower[j], domain.upper[j])
        domain.fix(int(j), float(np.round(value)))
    for place, bounds, infeasible in reversed(kept):
        domain.undo(place)
        np.testing.assert_array_equal(box_of(domain), bounds)
        assert domain.is_infeasible == infeasible
        fresh = copied(domain.box)
        sum_all(domain.model, fresh)
        infinite = slice(Part.INFINITE, Part.INFINITE + 2)
        np.testing.assert_array_equal(domain.box.rows[:, infinite], fresh.rows[:, infinite])
        np.testing.assert_allclose(
            domain.box.rows[:, : Part.INFINITE],
            fresh.rows[:, : Part.INFINITE],
            rtol=1e-9,
            atol=1e-6,
        )
        assert np.all(domain.box.rows[:, Part.WIDEST] >= fresh.rows[:, Part.WIDEST])


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_the_same_decisions_after_undo_give_the_same_box(seed):
    model, _ = random_model(seed)
    domain = Domain.of(model)
    domain.propagate()
    place = domain.mark()
    first = domain.fix(0, domain.lower[0])
    after = box_of(domain)
    domain.undo(place)
    assert domain.fix(0, domain.lower[0]) == first
    if first:
        np.testing.assert_array_equal(box_of(domain), after)


def test_one_infinite_term_is_bounded_by_the_others():
    model = model_of([0, 0], [[1, 1]], [2], [5], lower=[-INF, 0], upper=[INF, 3])
    domain = Domain.of(model)
    assert domain.propagate()
    assert domain.lower[0] == pytest.approx(-1.0, abs=1e-6)
    assert domain.upper[0] == pytest.approx(5.0, abs=1e-6)


def test_two_infinite_terms_bound_nothing():
    model = model_of([0, 0], [[1, 1]], [2], [5], lower=-INF, upper=INF)
    domain = Domain.of(model)
    assert domain.propagate()
    assert np.all(np.isinf(box_of(domain)))
    assert domain.fix(0, 1.0)
    assert domain.upper[1] == pytest.approx(4.0, abs=1e-6)


def test_big_terms_do_not_drown_the_rest():
    model = model_of(
        [0, 0, 0], [[1e9, 1, 1]], [1e9 + 1.5], [INF], upper=[1, 1, 1], integrality=[True] * 3
    )
    domain = Domain.of(model)
    assert domain.propagate()
    np.testing.assert_array_equal(domain.lower, [1, 1, 1])


def test_continuous_cycles_end():
    model = model_of([0, 0], [[1, -0.999], [-0.999, 1]], -INF, [0, 0], lower=0, upper=1e6)
    domain = Domain.of(model)
    assert domain.propagate()
    assert domain.work < 100_000


def test_a_crawling_integer_chain_ends_at_the_cap():
    model = model_of(
        [0, 0], [[1, -1], [-1, 1]], -INF, [-1, 0], lower=0, upper=1e9, integrality=True
    )
    domain = Domain.of(model)
    domain.propagate()
    assert domain.box.counts[Count.CAPPED] == 1
    assert domain.work < 2 * domain.cap


def test_an_empty_row_that_fails_is_seen_and_empty_models_pass():
    assert not Domain.of(model_of([1], [[0]], [1], [INF])).propagate()
    assert Domain.of(model_of([1], [[0]], [-1], [INF])).propagate()
    assert Domain.of(model_of([], np.zeros((1, 0)), [-1], [1])).propagate()
    assert Domain.of(model_of([1, 2], np.zeros((0, 2)), [], [])).propagate()


def test_decisions_outside_of_the_bounds_are_contradictions():
    domain = Domain.of(model_of([0], [[1]], [0], [9], upper=[5]))
    place = domain.mark()
    assert not domain.fix(0, 7.0)
    assert domain.is_infeasible
    assert domain.box.counts[Count.CONFLICT] == -1
    domain.undo(place)
    assert not domain.is_infeasible
    assert domain.fix(0, 5.0)


def test_bounds_that_cross_by_rounding_collapse_inside_the_box():
    model = model_of([0], [[1]], [1.0], [1.0 + 1e-12], lower=0, upper=1.0 - 5e-7)
    domain = Domain.of(model)
    assert domain.propagate()
    assert domain.lower[0] <= domain.upper[0] <= 1.0 - 5e-7


def test_a_long_row_is_not_walked_for_every_change():
    n = 20_000
    model = model_of(np.zeros(n), np.ones((1, n)), [-INF], [n / 2], upper=1, integrality=True)
    domain = Domain.of(model)
    domain.propagate()
    begin = domain.work
    for j in range(1000):
        domain.fix(j, 1.0)
    assert domain.work - begin < 10 * n


def test_a_copy_goes_its_own_way():
    domain = Domain.of(model_of([0, 0], [[1, 1]], [1], [1], upper=1, integrality=True))
    other = domain.copy()
    assert other.fix(0, 1.0)
    np.testing.assert_array_equal(other.upper, [1, 0])
    np.testing.assert_array_equal(domain.upper, [1, 1])


def test_views_cannot_be_written_to():
    domain = Domain.of(model_of([0], [[1]], [0], [1]))
    with pytest.raises(ValueError, match="read-only"):
        domain.lower[0] = 1.0


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_what_is_forgotten_is_not_undone_and_the_rest_is(seed):
    model, x = random_model(seed)
    domain = Domain.of(model)
    domain.propagate()
    domain.fix(0, x[0])
    domain.forget()
    kept = box_of(domain)
    place = domain.mark()
    for j in range(model.num_columns):
        domain.fix(j, x[j])
    domain.undo(place)
    np.testing.assert_array_equal(box_of(domain), kept)


def test_the_trail_grows_with_the_levels():
    n = 50
    model = model_of(np.zeros(n), np.ones((1, n)), -INF, [n], upper=99, integrality=True)
    domain = Domain.of(model)
    before = box_of(domain)
    place = domain.mark()
    for high in range(98, 0, -1):
        domain.mark()
        for j in range(n):
            assert domain.tighten(j, 0.0, float(high))
    domain.undo(place)
    np.testing.assert_array_equal(box_of(domain), before)


def test_widened_sides_give_way():
    model = model_of([0], [[1], [1]], [2.0, -INF], [INF, 1.99999])
    assert not Domain.of(model).propagate()
    assert Domain.of(model, widened=1e-5).propagate()
