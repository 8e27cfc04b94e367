from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.run import walkers_on_cpu
from solvers.mip.inference.aggregation import eliminate
from solvers.mip.model import is_feasible
from solvers.mip.solutions.incumbents import Found, Pool, PoolView
from tests.mip.inference.aggregation.schedules import MOST_IN_USE, schedule
from tests.mip.test_submip import Submissions


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_finds_a_schedule_and_hands_on_a_whole_point(seed):
    model = schedule(seed, jobs=20, periods=30)
    sub = eliminate(model)
    assert sub is not None
    submissions = Submissions(model)
    walkers_on_cpu(sub.model, sub.submit_to(submissions), 0).run(Budget(work=2e7))
    assert submissions.points
    assert is_feasible(model, model.rounded(submissions.points[0]))


def test_offers_are_points_of_the_whole_model_and_answer_for_it():
    model = schedule(seed=0)
    sub = eliminate(model)
    assert sub is not None
    got: list[tuple[np.ndarray, str]] = []

    def submit(x: np.ndarray, source: str) -> bool:
        got.append((x, source))
        return len(got) == 1

    x = sub.model.rounded(np.zeros(sub.model.num_columns))
    assert sub.submit_to(submit)(x, "local search")
    assert not sub.submit_to(submit)(x, "local search")
    np.testing.assert_array_equal(got[0][0], sub.to_whole(x))
    assert got[0][1] == "local search"


def test_near_points_are_within_their_bounds_and_counted_in_the_whole_model():
    model = schedule(seed=0)
    sub = eliminate(model)
    assert sub is not None
    got: list[tuple[np.ndarray, int]] = []
    x = np.ones(sub.model.num_columns)  # every job at every time: far more use than there is room
    sub.infeasible_to(lambda point, rows: got.append((point, rows)))(x, 1)
    point, rows = got[0]
    assert np.all(point <= model.upper)
    assert sub.to_whole(x).max() > MOST_IN_USE
    activity = model.activity(point)
    assert rows == np.count_nonzero((activity < model.row_lower) | (activity > model.row_upper))
    assert rows > 1


def test_a_view_shows_the_pools_points_and_takes_none():
    model = schedule(seed=0)
    sub = eliminate(model)
    assert sub is not None
    pool = Pool(4, model.integers)
    view = PoolView(pool, sub)
    assert (view.best, len(view), view.objective, view.points()) == (None, 0, np.inf, ())
    worse, better = np.arange(model.num_columns, dtype=float), np.ones(model.num_columns)
    pool.add(Found(worse, 9.0, 1.0, "a"))
    pool.add(Found(better, 4.0, 2.0, "b"))
    assert view.version == pool.version == 2
    assert view.objective == 4.0
    assert view.best is not None
    assert [one.source for one in view.points()] == ["b", "a"]
    np.testing.assert_array_equal(view.best.x, better[sub.kept])
    np.testing.assert_array_equal(view.points()[1].x, worse[sub.kept])
    with pytest.raises(TypeError, match="acceptance"):
        view.add(Found(better, 1.0, 3.0, "c"))
    assert len(pool) == 2
