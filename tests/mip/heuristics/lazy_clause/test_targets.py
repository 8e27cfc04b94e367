"""What is concluded below a target holds without it, and what is reported as proven is proven."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.budget import Budget
from solvers.mip.heuristics.lazy_clause import clause_search
from solvers.mip.heuristics.lazy_clause import clause_search as module
from solvers.mip.heuristics.lazy_clause.candidates import Targets
from solvers.mip.heuristics.lazy_clause.clause_search import ClauseSearch, Status
from solvers.mip.heuristics.lazy_clause.state import MOST_RUNGS, Count
from solvers.mip.inference.domain import Domain
from solvers.mip.solutions.polish import Polisher
from tests.mip.heuristics.lazy_clause.enumerated import feasible_points, small_model
from tests.mip.heuristics.lazy_clause.test_search import optimum
from tests.mip.inference.domain.models import model_of, random_model

KINDS = ("binary", "general", "decimal", "real")
KEPT = 1e-6


@pytest.fixture(scope="module", autouse=True)
def _often():
    """Restart, change targets and drop clauses every few contradictions."""
    with pytest.MonkeyPatch.context() as patch:
        for where in (module, clause_search):
            patch.setattr(where, "RESTART_UNIT", 2)
        patch.setattr(clause_search, "LEAST_UNIT", 1)
        patch.setattr(module, "FIRST_CLAUSES", 6)
        patch.setattr(module, "MORE_CLAUSES", 1)
        yield


class WildTargets(Targets):
    """Assumes anything between both ends, and changes its mind all the time."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._rng = np.random.default_rng(seed)

    def rungs(self, least: float, most: float) -> list[float]:
        if not np.isfinite(least):
            return []
        count = int(self._rng.integers(0, MOST_RUNGS + 1))
        drawn = np.unique(self._rng.integers(min(least, most) - 3, most + 3, count))
        return [float(rung) for rung in drawn[::-1]]


class Watched:
    """A search whose every step is compared with all feasible points."""

    def __init__(self, seed: int, kind: str) -> None:
        self.model = small_model(seed, kind)
        self.points = feasible_points(self.model)
        self.objectives = self.points @ self.model.cost + self.model.offset
        self.found: list[np.ndarray] = []
        domain = Domain.of(self.model)
        if not domain.propagate():
            domain = Domain.of(self.model)
        self.search = ClauseSearch(self.model, domain, seed % 7, self.submit)
        self.search.targets = WildTargets(seed)

    def submit(self, x, source) -> bool:
        self.found.append(x)
        return True

    @property
    def optimum(self) -> float:
        return float(self.objectives.min(initial=np.inf))

    def run(self, step: float = 300.0, steps: int = 2000) -> Status:
        for _ in range(steps):
            status = self.search.run(Budget(work=step + 20_000.0))
            self.check()
            if status is Status.EXHAUSTED:
                return status
        return Status.SPENT

    def check(self) -> None:
        """Nothing that is better than the best point is excluded, and no bound is wrong."""
        search, state = self.search, self.search.state
        assert search.proven <= self.optimum + 1e-6
        count = self.points @ search.grid.coefficient
        better = count <= search.most
        values = np.column_stack([self.points, count])[better]
        both = np.empty((len(values), 2 * values.shape[1]))
        both[:, 0::2], both[:, 1::2] = values, -values
        inside = both >= state.root - KEPT
        if np.isposinf(search.most):
            inside = inside[:, :-2]
        assert inside.all()
        for c in range(int(state.counts[Count.CLAUSES])):
            span = slice(state.clauses.start[c], state.clauses.start[c + 1])
            codes, least = state.clauses.code[span], state.clauses.value[span]
            assert (both[:, codes] >= least - KEPT).any(axis=1).all()


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_wild_targets_exclude_nothing_and_prove_the_optimum(kind, seed):
    watched = Watched(seed, kind)
    assert watched.run() is Status.EXHAUSTED
    search, model = watched.search, watched.model
    if not len(watched.points):
        assert not watched.found
        assert search.proven == np.inf
        return
    best = min(model.objective_at(x) for x in watched.found)
    gain = 1e-6 + 2e-5 * max(1.0, abs(watched.optimum - model.offset))
    assert best <= watched.optimum + gain
    assert best - search.proven <= gain


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_the_policys_own_targets_exclude_nothing(seed, kind):
    watched = Watched(seed, kind)
    watched.search.targets = Targets()
    assert watched.run() is Status.EXHAUSTED


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_wild_targets_leave_the_best_point_of_mixed_models(seed):
    model, _ = random_model(seed, continuous=0.5)
    if not model.integers.size:
        return
    best = [np.inf]
    with Polisher(model) as polisher:

        def submit(x, source):
            best.append(model.objective_at(x))
            return True

        def settle(x, source, seconds):
            polished = polisher.polish(x, seconds)
            if polished.x is not None:
                best.append(model.objective_at(polished.x))
            return polished

        domain = Domain.of(model)
        if not domain.propagate():
            domain = Domain.of(model)
        search = ClauseSearch(model, domain, seed % 5, submit, settle=settle)
        search.targets = WildTargets(seed)
        assert search.run(Budget(work=5e7)) is Status.EXHAUSTED
    expected = optimum(model) if np.any(model.cost) else 0.0
    assert min(best) <= expected + 2e-4 * max(1.0, abs(expected))
    if search.proven != -np.inf:  # where all columns happen to be integers
        assert search.proven <= expected + 1e-6


def test_points_that_count_less_than_they_cost_are_found_once():
    watched = Watched(100_047, "real")  # the optimum counts as much as what is to be beaten
    assert watched.run() is Status.EXHAUSTED
    assert len(watched.found) <= 3


def test_a_target_is_assumed_before_anything_else_and_refuting_it_is_a_bound():
    # at least two of three columns are due, and their sum is the objective
    model = model_of([1, 1, 1], [[1, 1, 0], [0, 1, 1], [1, 0, 1]], 1, 2, upper=1, integrality=True)
    search = ClauseSearch(model, Domain.of(model), 0, lambda x, source: True)
    search.beat(4.0)
    search.targets.rungs = lambda least, most: [1.0] if least <= 1.0 else []
    search.beat(3.0)
    assert search.state.counts[Count.RUNGS] == 1
    assert search.state.counts[Count.LEVEL] == 0
    search.run(Budget(work=25_000.0))
    assert search.proven == pytest.approx(2.0, abs=1e-6)


def test_nothing_is_proven_where_sums_are_rounded():
    mixed = model_of([1, 1], [[1, 1.5]], 1, 2, upper=1, integrality=[True, False])
    odd = model_of([1, 1], [[np.pi, 1]], 1, 9, upper=3, integrality=True)
    endless = model_of([1, 1], [[1, 1]], 1, 9, integrality=True)
    large = model_of([1, 1], [[1, 1]], 1, 1e7, upper=1e7, integrality=True)
    for model in (mixed, odd, endless, large):
        search = ClauseSearch(model, Domain.of(model), 0, lambda x, source: True)
        search.run(Budget(work=1e5))
        assert search.proven == -np.inf


@pytest.mark.parametrize(("least", "most"), [(0.0, 1000.0), (-50.0, -3.0), (7.0, 7.0), (3.0, 4.0)])
def test_rungs_fall_to_a_target_between_both_ends(least, most):
    targets = Targets()
    for step in range(40):
        rungs = targets.rungs(least, most)
        assert rungs == sorted(set(rungs), reverse=True)
        assert len(rungs) <= MOST_RUNGS
        assert all(least <= rung < most for rung in rungs)
        (targets.met if step % 5 == 0 else targets.spent)()


def test_targets_get_bolder_when_met_and_shyer_when_not():
    targets = Targets()
    first = targets.rungs(0.0, 1e6)[-1]
    targets.met()
    bold = targets.rungs(0.0, 1e6)[-1]
    assert bold < first
    for _ in range(50):
        targets.met()
    assert targets.rungs(0.0, 1e6)[-1] >= 0.5e6 - 1
    while targets.rungs(0.0, 1e6):
        targets.spent()
    targets.spent()
    assert targets.rungs(0.0, 1e6)


def test_without_any_bound_targets_are_near():
    rungs = Targets().rungs(-np.inf, 5000.0)
    assert rungs
    assert all(4500.0 <= rung < 5000.0 for rung in rungs)
