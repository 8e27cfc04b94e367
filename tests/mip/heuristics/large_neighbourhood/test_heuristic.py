"""When infeasible points are mended: at once, or after the relaxation."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.knowledge import SolveRelaxation
from solvers.mip.heuristics.large_neighbourhood.mending import Mending
from solvers.mip.heuristics.large_neighbourhood.search import FEW_VIOLATED, Mend
from solvers.mip.portfolio.budget import Budget
from tests.mip.context_of import Taking, context_of
from tests.mip.inference.aggregation.schedules import schedule


def mending_of(violated):
    context = context_of(schedule(0))
    context.acceptance.infeasible_points(np.zeros(context.model.num_columns), violated)
    return context, Taking(SolveRelaxation, context), Taking(Mend, context)


def test_points_that_violate_little_are_mended_before_the_relaxation():
    context, _, mends = mending_of(FEW_VIOLATED)
    assert not context.is_root_over
    assert mends.share() > 0.0


def test_points_that_violate_much_are_mended_after_the_relaxation():
    context, root, mends = mending_of(FEW_VIOLATED + 1)
    assert mends.share() == 0.0
    root.run(Budget())
    assert context.root is not None
    assert mends.share() > 0.0


def test_mending_is_due_more_while_less_and_less_is_violated(monkeypatch):
    due = {}
    for is_getting_on in (True, False):

        def run(self, points, budget, seed, is_getting_on=is_getting_on):
            self.is_getting_on = is_getting_on
            return False

        monkeypatch.setattr(Mending, "run", run)
        _, _, mends = mending_of(3)
        due["before"] = mends.share()
        mends.run(Budget(work=1e6))
        due[is_getting_on] = mends.share()
    assert due[True] > due["before"] > due[False] > 0.0


def test_a_relaxation_that_fails_is_over_too(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no relaxation")

    monkeypatch.setattr("solvers.mip.heuristics.knowledge.root_relaxation", fail)
    context, root, mends = mending_of(FEW_VIOLATED + 1)
    with pytest.raises(RuntimeError, match="no relaxation"):
        root.run(Budget())
    assert context.root is None
    assert mends.share() > 0.0
