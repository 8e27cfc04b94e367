from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.budget import Budget
from solvers.mip.model import is_feasible
from solvers.mip.pool import Found
from solvers.mip.walks import (
    LEAST_EARNED,
    SHARE,
    SHARE_WITH_POINT,
    SHARE_WITHOUT,
    both_walks,
)
from tests.mip.neighbourhoods.situations import packing
from tests.mip.shared_of import shared_of
from tests.mip.substitution.schedules import schedule


def test_walks_without_defined_columns_bring_points_of_the_whole_model():
    model = schedule(0, jobs=20, periods=30)
    shared = shared_of(model)
    _, without = both_walks(shared)
    without.work(Budget(work=2e7), 0)
    best = shared.gate.ledger.pool.best
    assert best is not None
    assert is_feasible(model, best.x)
    assert without.earned > 0.0


def test_the_next_turn_goes_on_where_the_last_one_ended():
    shared = shared_of(schedule(0, jobs=20, periods=30))
    whole, _ = both_walks(shared)
    for _ in range(3):
        whole.work(Budget(work=1e6), 0)
    assert len(whole._waiting) == 1
    assert whole._waiting[0].counts.slices >= 3


def test_where_nothing_is_defined_the_second_walks_end_at_their_first_turn():
    shared = shared_of(packing())
    whole, without = both_walks(shared)
    assert (whole.share(), without.share()) == (SHARE, SHARE_WITHOUT)
    without.work(Budget(work=1e6), 0)
    assert without.share() == 0.0
    shared.gate.offer(np.zeros(shared.model.num_columns), "test")
    assert shared.has_point
    assert whole.share() == pytest.approx(SHARE_WITH_POINT)


def test_with_a_point_the_common_share_goes_to_those_who_earned_it():
    model = schedule(0)
    shared = shared_of(model)
    whole, without = both_walks(shared)
    shared.gate.ledger.pool.add(Found(np.zeros(model.num_columns), 1.0, 0.0, "test"))
    assert whole.share() == pytest.approx(without.share())
    without.earned = 1.0
    assert without.share() + whole.share() == pytest.approx(SHARE_WITH_POINT)
    assert without.share() / whole.share() == pytest.approx((1.0 + LEAST_EARNED) / LEAST_EARNED)
