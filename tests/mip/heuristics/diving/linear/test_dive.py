"""Dives along the relaxation find points, go back where there are none, and leave no trace."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.budget import Budget
from solvers.mip.heuristics.diving.linear import LinearDives
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.relaxation import root_relaxation
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.credit import LINEAR_DIVE
from tests.mip.heuristics.lazy_clause.enumerated import feasible_points, small_model
from tests.mip.inference.domain.models import INF, model_of

WORK = 3e6


class Kept:
    """Keeps what is submitted, and what is nearly feasible."""

    def __init__(self):
        self.points, self.infeasible_points = [], []

    def submit(self, x, source):
        assert source == LINEAR_DIVE
        self.points.append(x.copy())
        return True

    def take_infeasible(self, x, violated):
        self.infeasible_points.append((x.copy(), violated))


def dives_of(model, kept, seed=0, **more):
    domain = Domain.of(model)
    assert domain.propagate()
    return LinearDives(model, domain, kept.submit, kept.take_infeasible, seed, **more)


def found_by(model, seed=0, work=WORK, **more):
    kept = Kept()
    dives = dives_of(model, kept, seed, **more)
    dives.run(Budget(work=work), lambda: bool(kept.points))
    return kept, dives


def magic_rows(seed, size=12, rows=3):
    """Equations of binaries, kept by a hidden point, that rounding the relaxation rarely meets."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 9, (rows, size)).astype(float)
    hidden = (rng.random(size) < 0.5).astype(float)
    side = matrix @ hidden
    return model_of(
        rng.integers(-4, 5, size), matrix, side, side, lower=0.0, upper=1.0, integrality=True
    )


@pytest.mark.parametrize("seed", range(6))
def test_points_of_equations_are_found_by_going_back(seed):
    model = magic_rows(seed)
    kept, dives = found_by(model)
    assert kept.points
    assert all(is_feasible(model, model.rounded(x)) for x in kept.points)
    assert dives.relaxations > 1


@pytest.mark.parametrize("kind", ["binary", "general"])
def test_what_is_offered_is_feasible_and_nothing_is_where_nothing_is(kind):
    found, possible = 0, 0
    for seed in range(30):
        model = small_model(seed, kind)
        domain = Domain.of(model)
        if not domain.propagate():
            continue
        kept, _ = found_by(model, work=1e6)
        is_possible = feasible_points(model).size > 0
        possible += is_possible
        found += bool(kept.points)
        assert all(is_feasible(model, model.rounded(x)) for x in kept.points)
        assert is_possible or not kept.points
    assert found == possible > 5


def test_the_domain_is_left_as_it_was():
    model = magic_rows(1)
    domain = Domain.of(model)
    assert domain.propagate()
    lower, upper = domain.lower.copy(), domain.upper.copy()
    kept = Kept()
    dives = LinearDives(model, domain, kept.submit, kept.take_infeasible, 0)
    dives.run(Budget(work=WORK))
    np.testing.assert_array_equal(domain.lower, lower)
    np.testing.assert_array_equal(domain.upper, upper)


def test_the_same_seed_takes_the_same_path():
    model = magic_rows(2, size=20, rows=4)
    first, second = found_by(model, seed=5, work=1e8), found_by(model, seed=5, work=1e8)
    assert first[0].points
    assert first[1].relaxations == second[1].relaxations
    assert first[1].dives == second[1].dives
    for x, y in zip(first[0].points, second[0].points, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_run_goes_on_where_the_last_one_ended():
    model = magic_rows(2, size=20, rows=4)
    whole, _ = found_by(model, seed=5, work=1e8)
    kept = Kept()
    dives = dives_of(model, kept, seed=5)
    for _ in range(10_000):
        dives.run(Budget(work=5e4), lambda: bool(kept.points))
        if kept.points:
            break
    assert kept.points
    np.testing.assert_allclose(kept.points[0], whole.points[0])


def test_a_dive_without_a_way_hands_on_a_rounded_point():
    # an even sum is to be odd, which neither the relaxation nor bounds say
    even = 2.0 * np.arange(1, 13)
    model = model_of(np.ones(12), [even], 77, 77, lower=0, upper=1, integrality=True)
    kept, dives = found_by(model, work=1e7)
    assert not kept.points
    assert not dives.is_over
    assert kept.infeasible_points
    for x, violated in kept.infeasible_points:
        np.testing.assert_array_equal(x, np.round(x))
        assert violated >= 1


def test_nothing_is_tried_where_the_relaxation_has_no_point():
    model = model_of(
        [1, 1, 1],
        [[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]],
        [1, 1, 1, -INF],
        [INF, INF, INF, 1.25],
        lower=0,
        upper=[1, 1, 1],
        integrality=[1, 0, 0],
    )
    kept, dives = found_by(model, work=1e6)
    assert not kept.points
    assert dives.is_over


def test_an_unbounded_relaxation_is_solved_without_its_costs():
    model = model_of([-1, 1], [[0, 3], [0, 1]], [2, -INF], [INF, 9], lower=0, integrality=[0, 1])
    kept, dives = found_by(model)
    assert kept.points
    assert is_feasible(model, model.rounded(kept.points[0]))
    assert not dives.is_over


def covering(size=120, rows=80):
    """A covering problem whose relaxation takes simplex more than a few iterations."""
    rng = np.random.default_rng(7)
    matrix = (rng.random((rows, size)) < 0.1) * rng.integers(1, 4, (rows, size))
    return model_of(
        rng.integers(5, 99, size), matrix, 2.0, INF, lower=0.0, upper=2.0, integrality=True
    )


def test_costs_are_left_out_until_the_relaxation_is_known_where_it_takes_long(monkeypatch):
    model = covering()
    basis = root_relaxation(model, Budget(work=1e9)).basis
    at_once, _ = found_by(model)
    monkeypatch.setattr("solvers.mip.heuristics.diving.linear.FIRST_WORK", 1.0)
    (known, _), (unknown, _) = found_by(model, basis=lambda: basis), found_by(model)
    plain = model.objective_at(unknown.points[0])
    assert model.objective_at(known.points[0]) < 0.8 * plain
    assert model.objective_at(at_once.points[0]) < 0.8 * plain


def test_costs_are_given_up_where_they_take_long_in_many_short_turns(monkeypatch):
    model, kept = covering(), Kept()
    monkeypatch.setattr("solvers.mip.heuristics.diving.linear.FIRST_WORK", 5e4)
    dives = dives_of(model, kept)
    for _ in range(1000):
        dives.run(Budget(work=4.5e4), lambda: bool(kept.points))
        if kept.points:
            break
    (known, _) = found_by(model, basis=lambda: root_relaxation(model, Budget(work=1e9)).basis)
    assert model.objective_at(known.points[0]) < 0.8 * model.objective_at(kept.points[0])


def test_dives_side_by_side_begin_with_other_rules():
    model = magic_rows(4, size=30, rows=5)
    paths = set()
    for first in range(4):
        kept, dives = found_by(model, first=first, work=2e6)
        paths.add((dives.relaxations, dives.dives, bytes(np.array(kept.points))))
    assert len(paths) > 1
