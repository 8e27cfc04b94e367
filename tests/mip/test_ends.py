from __future__ import annotations

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.ends import SOURCE, offer_ends
from tests.mip.polish.test_polisher import model_of
from tests.mip.shared_of import shared_of


def switches():
    """Eight lines, of which five have to be closed for as much flow as is asked for."""
    n = 8
    matrix = np.hstack([-np.eye(n), np.eye(n)])
    total = np.concatenate([np.zeros(n), np.ones(n)])
    return model_of(
        np.concatenate([np.ones(n), np.zeros(n)]),
        np.vstack([matrix, total]),
        np.concatenate([np.full(n, -np.inf), [4.5]]),
        np.concatenate([np.zeros(n), [4.5]]),
        0.0,
        1.0,
        np.arange(2 * n) < n,
    )


def test_all_switches_closed_is_feasible_once_an_lp_has_set_the_flows():
    shared = shared_of(switches())
    offer_ends(shared.model, shared.gate.offer, Budget())
    best = shared.gate.ledger.pool.best
    assert best is not None
    assert best.source == SOURCE
    np.testing.assert_array_equal(best.x[:8], np.ones(8))


def test_each_point_has_every_integer_at_an_end():
    model = switches()
    got = []
    offer_ends(model, lambda x, source: bool(got.append(x)), Budget())
    assert len(got) == 4
    for x in got:
        assert np.all((x == model.lower) | (x == model.upper))
    assert any(np.all(x == 1.0) for x in got)
    assert any(np.all(x == 0.0) for x in got)


def test_a_spent_budget_offers_nothing():
    got = []
    offer_ends(switches(), lambda x, source: bool(got.append(x)), Budget(work=0.0))
    assert not got
