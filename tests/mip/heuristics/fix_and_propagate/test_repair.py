from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.heuristics.fix_and_propagate.dive import MAX_SHIFTS, new_walk, seeded
from solvers.mip.inference.domain import Count, Domain, copied
from solvers.native.mip_heuristics_fix_and_propagate_dive import collect, repair
from solvers.native.mip_inference_domain import sum_all
from tests.mip.inference.domain.models import INF, model_of, random_model


def start(model, point):
    """Return a domain fixed to a point, however broken, with its activities."""
    domain = Domain.of(model)
    root = domain.box.bounds.copy()
    domain.box.bounds[:] = point
    sum_all(domain.model, domain.box)
    domain.mark()
    domain.reserve()
    return domain, root


def mend(domain, root, *, seed=0, shifts=MAX_SHIFTS, work=10**7):
    walk = new_walk(domain.box.queue.size, root.shape[1])
    end = int(domain.box.counts[Count.WORK]) + work
    random = seeded(seed)
    return repair(domain.model, domain.box, root, walk, random, shifts, end, domain.cap), collect(
        domain.box, walk
    )


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_mended_point_is_feasible_and_none_gets_worse(seed):
    model, x = random_model(seed)
    rng = np.random.default_rng(seed)
    point = np.clip(x + rng.integers(-2, 3, x.size), model.lower, model.upper)
    domain, root = start(model, point)
    activity = model.activity(point)
    broken = np.sum((activity > model.row_upper + 1e-6) | (activity < model.row_lower - 1e-6))
    mended, left = mend(domain, root, seed=seed)
    assert left <= broken
    assert mended == (left == 0)
    after = domain.lower.copy()
    np.testing.assert_array_equal(after, domain.upper)
    np.testing.assert_array_equal(after, np.round(after))
    assert np.all((after >= model.lower) & (after <= model.upper))
    activity = model.activity(after)
    outside = (activity > model.row_upper + 1e-6) | (activity < model.row_lower - 1e-6)
    assert outside.sum() == left
    fresh = copied(domain.box)
    sum_all(domain.model, fresh)
    np.testing.assert_allclose(domain.box.rows[:, :4], fresh.rows[:, :4], atol=1e-6)


def test_a_chain_of_shifts_is_found():
    # x0 = x1 = ... = x7, and x7 = 1: from all zeros each has to follow the next
    n = 8
    rows = [
        [1.0 if k == i else -1.0 if k == i + 1 else 0.0 for k in range(n)] for i in range(n - 1)
    ]
    matrix = np.array([*rows, [0.0] * (n - 1) + [1.0]])
    side = np.array([0.0] * (n - 1) + [1.0])
    model = model_of(np.zeros(n), matrix, side, side, upper=1, integrality=True)
    domain, root = start(model, np.zeros(n))
    mended, left = mend(domain, root)
    assert mended
    assert left == 0
    np.testing.assert_array_equal(domain.lower, np.ones(n))


def test_intervals_go_back_to_the_root_and_are_propagated():
    # the unfixed continuous column was cut to [0, 1] for no reason that still holds
    model = model_of([0, 0], [[1, 1]], [4], [4], upper=[1, 10], integrality=[True, False])
    domain, root = start(model, np.array([1.0, 1.0]))
    domain.box.bounds[0, 1] = 0.0
    sum_all(domain.model, domain.box)
    mended, left = mend(domain, root)
    assert mended
    assert left == 0
    assert domain.lower[1] == pytest.approx(4.0 - domain.lower[0], abs=1e-6)


def test_what_cannot_be_mended_is_said_and_the_best_kept():
    model = model_of(
        [0, 0], [[1, 1], [1, 0], [0, 1]], [3, 0, 0], [INF, 1, 1], upper=1, integrality=True
    )
    domain, root = start(model, np.zeros(2))
    mended, left = mend(domain, root)
    assert not mended
    assert left == 1


def test_no_work_left_means_no_shift():
    model = model_of([0], [[1]], [1], [1], upper=1, integrality=True)
    domain, root = start(model, np.zeros(1))
    mended, left = mend(domain, root, work=0)
    assert not mended
    assert left == 1
    assert domain.lower[0] == 0.0
