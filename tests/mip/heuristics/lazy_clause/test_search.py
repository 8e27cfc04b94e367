"""The search that learns: it finds what there is, excludes nothing feasible, and ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from solvers.mip.budget import Budget
from solvers.mip.heuristics.constructive import trivial_points
from solvers.mip.heuristics.lazy_clause import clause_search
from solvers.mip.heuristics.lazy_clause import clause_search as module
from solvers.mip.heuristics.lazy_clause.candidates import aggregated
from solvers.mip.heuristics.lazy_clause.clause_search import ClauseSearch, LazyClause, Status, luby
from solvers.mip.heuristics.lazy_clause.state import Count, SliceEnd
from solvers.mip.inference.domain import Domain
from solvers.mip.model import is_feasible
from solvers.mip.solutions.polish import Polisher
from tests.mip.context_of import Taking, context_of
from tests.mip.inference.domain.models import model_of, random_model

WORK = 5e7


def optimum(model):
    """Return the least objective by HiGHS, or None."""
    problem = model.problem
    result = milp(
        problem.cost,
        constraints=LinearConstraint(problem.matrix, problem.row_lower, problem.row_upper),
        bounds=Bounds(model.lower, model.upper),
        integrality=problem.integrality.astype(int),
        options={"mip_rel_gap": 0.0},
    )
    return None if result.x is None else float(result.fun)


def searched(model, seed=0, work=WORK, settle=None):
    """Return how the search ended, and the feasible points it found."""
    points = []

    def submit(x, source):
        if is_feasible(model, x):
            points.append(x)
        return True

    def settled(x, source, seconds):
        polished = settle.polish(x, seconds)
        if polished.x is not None:
            points.append(polished.x)
        return polished

    domain = Domain.of(model)
    if not domain.propagate():
        domain = Domain.of(model)
    search = ClauseSearch(model, domain, seed, submit, settle=settle and settled)
    return search.run(Budget(work=work)), points, search


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_the_best_point_of_a_small_model_is_found_and_nothing_better_is_left(seed, draw):
    model, _ = random_model(seed)
    status, points, _ = searched(model, draw)
    assert status is Status.EXHAUSTED
    assert points
    assert all(is_feasible(model, x) for x in points)
    best = min(model.objective_at(x) for x in points)
    if np.any(model.cost):
        assert best == pytest.approx(optimum(model), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_with_continuous_columns_lps_say_what_can_be_excluded(seed):
    model, _ = random_model(seed, continuous=0.5)
    if not model.integers.size:
        return
    with Polisher(model) as polisher:
        status, points, _ = searched(model, seed % 3, settle=polisher)
    assert status is Status.EXHAUSTED
    assert points
    best = min(model.objective_at(x) for x in points)
    if np.any(model.cost):
        expected = optimum(model)
        assert best <= expected + 2e-4 * max(1.0, abs(expected))


def with_many_conflicts(seed, size=16, rows=3):
    """Return a model of market splits: rows that few points keep, one of them known."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, size)
    matrix = rng.integers(1, 30, (rows, size))
    side = matrix @ x
    return model_of(
        rng.integers(-5, 6, size), matrix, side - 4, side + 4, upper=1, integrality=True
    )


@pytest.mark.parametrize("seed", range(6))
def test_dropping_clauses_and_restarting_often_changes_no_answer(seed, monkeypatch):
    monkeypatch.setattr(module, "RESTART_UNIT", 5)
    monkeypatch.setattr(clause_search, "RESTART_UNIT", 5)
    monkeypatch.setattr(module, "FIRST_CLAUSES", 10)
    monkeypatch.setattr(module, "MORE_CLAUSES", 1)
    monkeypatch.setattr(module, "WISHES_EVERY", 2)
    model = with_many_conflicts(seed)
    status, points, search = searched(model, seed)
    assert status is Status.EXHAUSTED
    assert search.conflicts > 30
    best = min(model.objective_at(x) for x in points)
    assert best == pytest.approx(optimum(model))


@pytest.mark.parametrize("holes", [4, 6])
def test_more_pigeons_than_holes_are_excluded_without_a_point(holes):
    pigeons = holes + 1
    somewhere = np.kron(np.eye(pigeons), np.ones(holes))
    alone = np.kron(np.ones(pigeons), np.eye(holes))
    matrix = np.vstack([somewhere, alone])
    low = np.concatenate([np.ones(pigeons), np.zeros(holes)])
    high = np.concatenate([np.full(pigeons, holes), np.ones(holes)])
    count = pigeons * holes
    model = model_of(np.zeros(count), matrix, low, high, upper=1, integrality=True)
    status, points, search = searched(model)
    assert status is Status.EXHAUSTED
    assert not points
    assert search.conflicts > 0


def test_the_same_seed_takes_the_same_way_whatever_the_slices(monkeypatch):
    model = with_many_conflicts(1)
    _, points, search = searched(model, 3)
    monkeypatch.setattr(module, "SLICE", 777)
    _, again, other = searched(model, 3)
    assert search.conflicts == other.conflicts
    np.testing.assert_array_equal(points, again)


def test_a_spent_budget_ends_a_run_and_the_next_goes_on():
    model = with_many_conflicts(2)
    _, points, _ = searched(model, 0)
    search = ClauseSearch(model, Domain.of(model), 0, lambda x, source: False)
    runs = 1
    while search.run(Budget(work=30_000)) is Status.SPENT:
        runs += 1
    assert runs > 1
    assert points


def test_a_bound_to_beat_cuts_off_what_does_not():
    model = model_of([1, 1], [[1, 1]], [3], [10], upper=[5, 5], integrality=True)
    found = []
    search = ClauseSearch(model, Domain.of(model), 0, lambda x, source: found.append(x) or True)
    search.beat(3.0)
    assert search.run(Budget(work=1e6)) is Status.EXHAUSTED
    assert not found


def test_integers_without_bounds_do_no_harm():
    for seed in range(30):
        model, _ = random_model(seed, infinite=0.4)
        _, points, _ = searched(model, work=2e6)
        assert all(is_feasible(model, x) for x in points)


def test_points_to_try_are_asked_for(monkeypatch):
    monkeypatch.setattr(module, "RESTART_UNIT", 2)
    monkeypatch.setattr(clause_search, "RESTART_UNIT", 2)
    monkeypatch.setattr(module, "WISHES_EVERY", 1)
    model = with_many_conflicts(4)
    asked = []

    def starts():
        asked.append(1)
        return [np.ones(model.num_columns)]

    search = ClauseSearch(model, Domain.of(model), 0, lambda x, source: True, starts)
    assert search.run(Budget(work=WORK)) is Status.EXHAUSTED
    assert asked


def test_what_an_lp_refuses_is_learned_where_bounds_show_nothing():
    # y1 + y2 is at least 4 and at most the number of switches; their own bounds say neither
    model = model_of(
        [1, 1, 1, 1, 0, 0],
        [[-1, -1, -1, -1, 1.0, 1.0], [0, 0, 0, 0, 1.0, 1.0]],
        [-np.inf, 4.0],
        [0, np.inf],
        lower=[0, 0, 0, 0, -10, -10],
        upper=[1, 1, 1, 1, 10, 10],
        integrality=[True, True, True, True, False, False],
    )
    with Polisher(model) as polisher:
        status, points, search = searched(model, settle=polisher)
    assert status is Status.EXHAUSTED
    np.testing.assert_array_equal(points[-1][:4], 1.0)
    assert 1 <= search.conflicts <= 14  # of 16 ways to set the switches


@pytest.mark.parametrize("infinite", [0.0, 0.5])
def test_plain_wishes_are_finite_and_at_ends(infinite):
    model, _ = random_model(5, infinite=infinite)
    values = trivial_points(model)
    assert len(values) == 4
    for preferred in values:
        assert np.isfinite(preferred).all()
        assert np.all((preferred == model.lower) | (preferred == model.upper) | (preferred == 0.0))


def test_a_farkas_ray_makes_a_side_that_points_keep_and_the_fixed_integers_break():
    model, point = random_model(11, continuous=0.6)
    rows = np.arange(model.num_rows, dtype=np.int32)
    rng = np.random.default_rng(0)
    tested = 0
    for _ in range(50):
        ray = rng.normal(size=rows.size)
        ray[np.isinf(model.row_upper) & (ray > 0)] = 0.0
        ray[np.isinf(model.row_lower) & (ray < 0)] = 0.0
        used = np.flatnonzero(ray).astype(np.int32)
        for codes, coefficients, right in aggregated(model, used, ray[used]):
            value = np.where(codes % 2 == 0, point[codes >> 1], -point[codes >> 1])
            assert coefficients @ value <= right + 1e-6 * max(1.0, abs(right))
            tested += 1
    assert tested >= 50


def test_models_without_integers_are_not_for_it():
    for integrality, suits in ((False, False), (True, True)):
        context = context_of(model_of([1.0], [[1.0]], [0], [1], integrality=integrality))
        assert (Taking(LazyClause, context).share() > 0.0) == suits


def test_restarts_follow_lubys_sequence():
    assert [luby(k) for k in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


@pytest.mark.parametrize("seed", range(4))
def test_bounds_that_climb_without_end_keep_to_the_trail(seed, monkeypatch):
    """Integers without upper bounds push each other up until the trail is full, again and again."""
    model = model_of(
        [0.5690538244298655, -8.926179885335015],
        [[-0.09571262475655447, 31.4326861322142], [126.44503108729424, -882.5583420500948]],
        [-np.inf, 252.84353361456488],
        [-0.19142524951310894, np.inf],
        integrality=True,
    )
    domain = Domain.of(model)
    assert domain.propagate()
    search = ClauseSearch(model, domain, seed, lambda x, source: is_feasible(model, x))
    longest = []

    def watched(sides, state, end):
        while True:
            status = searched_on(sides, state, min(end, int(state.counts[Count.WORK]) + 2000))
            longest.append(state.counts[Count.TRAIL])
            if status != SliceEnd.RUNNING or state.counts[Count.WORK] >= end:
                return status

    searched_on = module.search
    monkeypatch.setattr(module, "search", watched)
    search.run(Budget(work=2e6))
    size = search.state.trail.code.size
    assert 0.99 * size < max(longest) <= size
