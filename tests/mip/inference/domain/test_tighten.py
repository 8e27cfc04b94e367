from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.budget import Budget
from solvers.mip.inference.domain import tighten_model
from tests.mip.inference.domain.models import INF, model_of, random_model


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.4]), st.sampled_from([0.0, 0.3]))
def test_no_feasible_point_is_lost(seed, continuous, infinite):
    model, x = random_model(seed, continuous=continuous, infinite=infinite)
    budget = Budget()
    tightened = tighten_model(model, budget)
    assert not tightened.is_infeasible
    assert budget.work > 0 or model.num_nonzeros == 0
    assert np.all(tightened.model.lower <= x + 1e-6)
    assert np.all(tightened.model.upper >= x - 1e-6)
    np.testing.assert_array_equal(tightened.model.problem.lower, tightened.model.lower)


def test_bounds_by_hand():
    model = model_of(
        [0, 0, 0],
        [[1, 2, 0], [1, 1, 0], [0, 1, 1]],
        [-INF, -INF, 2],
        [3, 9, INF],
        upper=[10, 10, INF],
        integrality=[True, True, False],
    )
    tightened = tighten_model(model, Budget())
    np.testing.assert_array_equal(tightened.model.upper, [3, 1, INF])
    assert tightened.model.lower[2] == 0.0, "a finite bound of a continuous column stays"
    assert tightened.domain.lower[2] == pytest.approx(1.0, abs=1e-6)


def test_infeasibility_is_claimed_only_with_a_margin():
    clear = model_of([0], [[1], [1]], [3, -INF], [INF, 2], integrality=True)
    assert tighten_model(clear, Budget()).is_infeasible
    close = model_of([0], [[1], [1]], [2.000005, -INF], [INF, 2])
    tightened = tighten_model(close, Budget())
    assert not tightened.is_infeasible
    assert tightened.model is close
