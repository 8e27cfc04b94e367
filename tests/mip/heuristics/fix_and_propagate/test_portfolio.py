from __future__ import annotations

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.heuristics.fix_and_propagate.heuristic import run_portfolio
from solvers.mip.heuristics.fix_and_propagate.strategy import LP_GUIDED
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.credit import Kind
from tests.mip.inference.domain.models import INF, model_of, random_model


class Submissions:
    """Collects what is submitted; the best by objective is "new"."""

    def __init__(self, model):
        self.model = model
        self.points = []
        self.sources = []
        self.best = INF

    def __call__(self, x, source):
        self.points.append(x.copy())
        self.sources.append(source)
        better = is_feasible(self.model, x) and self.model.objective_at(x) < self.best
        if better:
            self.best = self.model.objective_at(x)
        return better


WORK = 3e6
"""Enough for some rounds on small models."""


def test_nearly_every_small_model_is_solved_and_points_are_whole_and_new():
    solved = 0
    for seed in range(40):
        model, _ = random_model(seed)
        submissions = Submissions(model)
        run_portfolio(model, submissions, Budget(work=WORK), 0)
        solved += any(source != "dive, with broken rows" for source in submissions.sources)
        keys = {p.tobytes() for p in submissions.points}
        assert len(keys) == len(submissions.points)
        for point in submissions.points:
            np.testing.assert_array_equal(point, np.round(point))
    assert solved >= 38


def test_guided_strategies_follow_a_point():
    model, x = random_model(4)
    submissions = Submissions(model)
    run_portfolio(model, submissions, Budget(work=WORK), 0, LP_GUIDED, reference=x)
    names = {f"dive {strategy}" for strategy in LP_GUIDED}
    assert submissions.sources
    assert set(submissions.sources) <= {*names, "dive, with broken rows"}
    assert {source.kind for source in submissions.sources} == {Kind.DIVES}


def test_the_closest_point_is_kept_and_submitted_once():
    model = model_of([0, 0], [[2, 2]], [3], [3], upper=1, integrality=True)
    submissions = Submissions(model)
    closest = run_portfolio(model, submissions, Budget(work=WORK), 0)
    assert closest is not None
    assert closest[1] == 1
    assert submissions.sources == ["dive, with broken rows"]


def test_the_budget_ends_it_and_equal_seeds_agree():
    matrix = np.random.default_rng(0).integers(0, 5, (6, 20))
    model = model_of(np.ones(20), matrix, [20] * 6, INF, upper=1, integrality=True)
    runs = []
    for _ in range(2):
        submissions = Submissions(model)
        budget = Budget(work=1_000_000)
        run_portfolio(model, submissions, budget, 5)
        assert budget.spent()
        runs.append([p.tobytes() for p in submissions.points])
    assert runs[0] == runs[1]
    assert len(runs[0]) > 1


def test_a_stop_from_outside_is_heard():
    model, _ = random_model(7)
    submissions = Submissions(model)
    assert run_portfolio(model, submissions, Budget(stop=lambda: True), 0) is None
    assert not submissions.points


def test_a_model_whose_bounds_contradict_its_rows_is_not_an_error():
    model = model_of([0], [[1]], [5], [5], upper=1, integrality=True)
    submissions = Submissions(model)
    run_portfolio(model, submissions, Budget(work=WORK), 0)
    assert set(submissions.sources) <= {"dive, with broken rows"}
