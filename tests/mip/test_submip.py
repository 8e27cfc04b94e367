from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.highs.task import Model
from solvers.mip.budget import Budget
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.submip import (
    Limits,
    SubMip,
    SubMipStatus,
    affordable_nodes,
    restrict,
    solve_submip,
)
from tests.mip.solutions.polish.test_polisher import model_of, random_model


class Submissions:
    """Takes every point that is submitted, the best first in line."""

    def __init__(self, model: MipModel) -> None:
        self.model = model
        self.points: list[np.ndarray] = []
        self.sources: set[str] = set()

    def __call__(self, x: np.ndarray, source: str) -> bool:
        before = min((self.model.objective_at(y) for y in self.points), default=np.inf)
        self.points.append(x.copy())
        self.sources.add(source)
        return self.model.objective_at(x) < before


def integer_model(seed: int, rows: int = 4, columns: int = 6) -> MipModel:
    """Return a small model of integers, feasible at a hidden point."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-4, 5, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    lower = rng.integers(-2, 1, columns)
    upper = lower + rng.integers(0, 4, columns)
    activity = matrix @ rng.integers(lower, upper + 1)
    row_lower = np.where(rng.random(rows) < 0.5, -np.inf, activity - rng.integers(0, 3, rows))
    row_upper = activity + rng.integers(0, 4, rows)
    cost = rng.integers(-5, 6, columns)
    return model_of(cost, matrix, row_lower, row_upper, lower, upper, True, offset=-1.5)


def best_by_enumeration(model: MipModel, sub: SubMip) -> float:
    ranges = [
        range(int(low), int(high) + 1) for low, high in zip(sub.lower, sub.upper, strict=True)
    ]
    best = np.inf
    for values in itertools.product(*ranges):
        x = np.array(values, dtype=float)
        activity = model.activity(x)
        good = np.all((activity >= model.row_lower) & (activity <= model.row_upper))
        objective = model.objective_at(x)
        if good and objective <= sub.cutoff:
            best = min(best, objective)
    return best


def random_sub(model: MipModel, seed: int) -> SubMip:
    """Return a box with some columns fixed and a cutoff."""
    rng = np.random.default_rng(seed)
    point = rng.integers(model.lower, model.upper + 1)
    fixed = rng.random(model.num_columns) < 0.4
    cutoff = rng.choice([np.inf, 3.5, -4.5])
    return SubMip(
        np.where(fixed, point, model.lower),
        np.where(fixed, point, model.upper),
        cutoff=cutoff,
    )


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_the_best_point_of_the_box_is_found(seed):
    model = integer_model(seed)
    sub = random_sub(model, seed + 1)
    submissions = Submissions(model)
    result = solve_submip(model, sub, submissions, Budget(), source="test")
    best = best_by_enumeration(model, sub)
    assert result.status.is_proven
    if np.isinf(best):
        assert result.status is SubMipStatus.INFEASIBLE
        assert not submissions.points
        return
    assert result.status is SubMipStatus.OPTIMAL
    assert result.improved
    assert result.objective == pytest.approx(best)
    assert submissions.sources == {"test"}
    for x in submissions.points:
        assert is_feasible(model, x)
        assert np.all(x >= sub.lower - 1e-6)
        assert np.all(x <= sub.upper + 1e-6)
        assert model.objective_at(x) <= sub.cutoff + 1e-6
    assert min(map(model.objective_at, submissions.points)) == pytest.approx(best)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_a_restricted_model_says_of_a_point_what_the_full_one_does(seed):
    model = random_model(seed, rows=6, columns=9)
    rng = np.random.default_rng(seed)
    fixed = rng.random(model.num_columns) < 0.6
    point = model.rounded(rng.uniform(model.lower, model.upper))
    sub = SubMip(np.where(fixed, point, model.lower), np.where(fixed, point, model.upper))
    restricted = restrict(model, sub)
    if restricted is None:
        activity = model.activity(point)
        undecided = np.abs(model.problem.matrix).toarray()[:, ~fixed].any(axis=1)
        outside = (activity > model.row_upper + 1e-6) | (activity < model.row_lower - 1e-6)
        assert np.any(outside & ~undecided)
        return
    part = point[restricted.columns]
    np.testing.assert_array_equal(restricted.full(part), point)
    small = restricted.model
    assert small.num_columns == np.count_nonzero(~fixed)
    assert small.objective_at(part) == pytest.approx(model.objective_at(point))
    rows = np.abs(model.problem.matrix).toarray()[:, ~fixed].any(axis=1)
    rows &= np.isfinite(model.row_lower) | np.isfinite(model.row_upper)
    assert small.num_rows == np.count_nonzero(rows)
    activity = model.activity(point)[rows]
    np.testing.assert_allclose(
        small.row_upper - small.activity(part), model.row_upper[rows] - activity
    )
    np.testing.assert_allclose(
        small.activity(part) - small.row_lower, activity - model.row_lower[rows]
    )


def knapsack(columns: int = 30) -> MipModel:
    rng = np.random.default_rng(5)
    weight, gain = rng.integers(10, 60, (3, columns)), rng.integers(10, 60, columns)
    return model_of(-gain, weight, [-np.inf] * 3, weight.sum(1) // 3, 0.0, 1.0, True)


def test_a_cutoff_no_point_reaches_is_reported_as_such():
    model = knapsack()
    submissions = Submissions(model)
    best = solve_submip(model, SubMip(model.lower, model.upper), submissions, Budget())
    beyond = SubMip(model.lower, model.upper, cutoff=best.objective - 1)
    submissions = Submissions(model)
    result = solve_submip(model, beyond, submissions, Budget())
    assert best.status is SubMipStatus.OPTIMAL
    assert result.status is SubMipStatus.INFEASIBLE
    assert result.x is None
    assert not submissions.points


def test_another_objective_gives_the_nearest_point():
    model = integer_model(3)
    cost = np.arange(1.0, 1.0 + model.num_columns)
    result = solve_submip(
        model, SubMip(model.lower, model.upper, cost=cost), Submissions(model), Budget()
    )
    other = model_of(
        cost,
        model.problem.matrix.toarray(),
        model.row_lower,
        model.row_upper,
        model.lower,
        model.upper,
        True,
    )
    least = best_by_enumeration(other, SubMip(model.lower, model.upper))
    assert result.status is SubMipStatus.OPTIMAL
    assert cost @ result.x == pytest.approx(least)
    assert result.objective == pytest.approx(model.objective_at(result.x))


def test_a_spent_budget_and_a_stop_end_the_search():
    model = knapsack()
    whole = SubMip(model.lower, model.upper)
    spent = solve_submip(model, whole, Submissions(model), Budget(seconds=0))
    stopped = solve_submip(model, whole, Submissions(model), Budget(stop=lambda: True))
    for result in (spent, stopped):
        assert result.status is SubMipStatus.LIMIT
        assert result.x is None


def test_limits_end_the_search_and_work_is_charged():
    model = knapsack()
    budget = Budget()
    limits = Limits(nodes=1, leaves=1)
    result = solve_submip(
        model, SubMip(model.lower, model.upper), Submissions(model), budget, limits=limits
    )
    assert result.nodes <= 2
    assert budget.work == result.work > 0


def test_how_often_highs_asks_whether_to_stop_is_no_work():
    model = knapsack(40)
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return False

    budget = Budget(stop=stop)
    result = solve_submip(model, SubMip(model.lower, model.upper), Submissions(model), budget)
    assert len(asked) > 10
    assert budget.work == result.work


def test_untimed_searches_repeat_themselves():
    model = knapsack(40)

    def run() -> list[bytes]:
        submissions = Submissions(model)
        solve_submip(model, SubMip(model.lower, model.upper), submissions, Budget(), seed=3)
        return [x.tobytes() for x in submissions.points]

    first = run()
    assert first
    assert first == run()


def test_a_child_process_finds_the_same():
    model = knapsack()
    sub = SubMip(model.lower, model.upper)
    submissions = Submissions(model)
    apart = solve_submip(model, sub, submissions, Budget(seconds=60), in_child=True)
    here = solve_submip(model, sub, Submissions(model), Budget(seconds=60))
    assert apart.status is here.status is SubMipStatus.OPTIMAL
    assert apart.objective == pytest.approx(here.objective)
    assert submissions.points


def test_nothing_free_is_checked_and_offered():
    model = model_of([1, 2], [[1, 1]], [1], [1], 0, 1, [True, False])
    submissions = Submissions(model)
    good, bad = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    assert (
        solve_submip(model, SubMip(good, good), submissions, Budget()).status
        is SubMipStatus.OPTIMAL
    )
    assert (
        solve_submip(model, SubMip(bad, bad), submissions, Budget()).status
        is SubMipStatus.INFEASIBLE
    )
    crossed = SubMip(np.ones(2), np.zeros(2))
    assert solve_submip(model, crossed, submissions, Budget()).status is SubMipStatus.INFEASIBLE
    np.testing.assert_array_equal(submissions.points, [good])


def test_fewer_nodes_are_searched_where_little_work_is_left():
    model = Model(
        cost=np.zeros(50),
        offset=0.0,
        lower=np.zeros(50),
        upper=np.ones(50),
        row_lower=np.zeros(30),
        row_upper=np.ones(30),
        start=np.zeros(31, dtype=np.int32),
        index=np.zeros(0, dtype=np.int32),
        value=np.zeros(0),
        integer=np.ones(50, dtype=np.int8),
    )
    allowed = [affordable_nodes(model, work, 1000) for work in (1e4, 1e6, 1e7, 1e8, np.inf)]
    assert allowed[0] == 0  # not even the root
    assert allowed[1] == 1
    assert allowed == sorted(allowed)
    assert allowed[-1] == 1000
    assert 1 < allowed[3] < 1000


def test_a_root_beyond_the_work_left_is_not_begun():
    model = knapsack(40)
    submissions = Submissions(model)
    result = solve_submip(model, SubMip(model.lower, model.upper), submissions, Budget(work=1e4))
    assert result.status is SubMipStatus.LIMIT
    assert not result.nodes
    assert not submissions.points
