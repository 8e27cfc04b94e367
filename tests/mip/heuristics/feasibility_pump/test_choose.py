"""Which projector is chosen, and when simplex hands over."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from solvers.mip.heuristics.feasibility_pump import projection
from solvers.mip.heuristics.feasibility_pump.projection import (
    WORK_PER_SECOND,
    Augmented,
    choose_projector,
)
from solvers.mip.inference.relaxation import FirstOrder, LpPoint, Simplex, root_relaxation
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.feasibility_pump.cases import random_mip


@pytest.fixture(name="setting")
def _setting():
    model = random_mip(1, 10, 15)
    augmented = Augmented.of(model)
    return augmented, root_relaxation(model, Budget())


def test_simplex_projects_where_it_solved_the_relaxation(setting):
    augmented, root = setting
    projector = choose_projector(augmented, root, Budget())
    assert not isinstance(projector, FirstOrder)
    request = augmented.projection(augmented.model.lower, augmented.movable, 0.0, np.inf)
    assert projector.solve_for(request, Budget()).is_converged


def test_pdlp_projects_where_it_had_to_solve_the_relaxation(setting):
    augmented, root = setting
    by_pdlp = dataclasses.replace(root, method="pdlp")
    projector = choose_projector(augmented, by_pdlp, Budget())
    assert isinstance(projector, FirstOrder)


@pytest.mark.parametrize(
    ("spent", "hands_over"), [(WORK_PER_SECOND, True), (0.1 * WORK_PER_SECOND, False)]
)
def test_simplex_hands_over_when_it_does_not_keep_to_its_limit(
    setting, monkeypatch, spent, hands_over
):
    augmented, root = setting
    n, m = augmented.problem.num_columns, augmented.problem.num_rows
    calls = []

    def unfinished(self, request, budget):
        calls.append(1)
        budget.charge(spent)
        return LpPoint(np.zeros(n), np.zeros(m), False)

    monkeypatch.setattr(projection.Simplex, "solve_for", unfinished)
    projector = choose_projector(augmented, root, Budget())
    request = augmented.projection(augmented.model.lower, augmented.movable, 0.0, np.inf)
    assert not projector.solve_for(request, Budget()).is_converged
    assert projector.solve_for(request, Budget()).is_converged == hands_over
    assert len(calls) == 1 + (not hands_over)
    assert projection.Simplex is Simplex
