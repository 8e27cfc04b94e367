"""Rounds of annealing with costs: points better than the one they began at, and all feasible."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from solvers.mip.budget import Budget
from solvers.mip.heuristics.annealing.search import (
    LEAST_SHARE,
    Annealing,
    SwapMoves,
)
from solvers.mip.heuristics.annealing.structure import Number, find_structure
from solvers.mip.model import is_feasible
from solvers.native.mip_heuristics_annealing import sum_up
from tests.mip.context_of import Taking, context_of
from tests.mip.heuristics.annealing.models import assignment, selection, with_slacks
from tests.mip.inference.domain.models import model_of


class Found:
    """The best point submitted so far; all submitted ones are feasible."""

    def __init__(self, model, x):
        self.model, self.x, self.count = model, x, 0

    def submit(self, x, source):
        assert is_feasible(self.model, x)
        assert self.model.objective_at(x) < self.model.objective_at(self.x)
        self.x, self.count = x, self.count + 1
        return True


def first_point(model, groups: int, size: int):
    """Return the first feasible point of random ones."""
    structure = find_structure(model)
    assert structure is not None
    rng = np.random.default_rng(0)
    state = structure.state(model, 0)
    while True:
        x = np.zeros(model.num_columns)
        x[size * np.arange(groups) + rng.integers(0, size, groups)] = 1.0
        home = structure.home(x)
        structure.put_sides(model, home, state)
        state.best[:] = structure.chosen(x)
        x = structure.point(home, state)
        if is_feasible(model, x):
            return structure, x


@pytest.mark.parametrize("seed", range(3))
def test_small_assignments_come_to_their_optimum(seed):
    model = assignment(7, 3, seed)
    structure, x = first_point(model, 7, 3)
    found = Found(model, x)
    Annealing(model, structure, found.submit, lambda: found.x, seed).run(Budget(work=3e6))
    assert model.objective_at(found.x) == _least(model, 7, 3)


def _least(model, groups: int, size: int) -> float:
    """Return the best objective, by enumeration."""
    least = np.inf
    for number in range(size**groups):
        x = np.zeros(model.num_columns)
        for g in range(groups):
            x[size * g + number // size**g % size] = 1.0
        if is_feasible(model, x):
            least = min(least, model.objective_at(x))
    return least


@pytest.mark.parametrize("seed", range(3))
def test_small_selections_come_to_their_optimum(seed):
    model = selection(5, 3, seed)
    structure = find_structure(model)
    assert structure is not None
    found = Found(model, np.zeros(17))
    search = Annealing(model, structure, found.submit, lambda: found.x, seed)
    search.run(Budget(work=3e6))
    choices = [(None, 3 * g, 3 * g + 1, 3 * g + 2) for g in range(5)] + [(None, 15), (None, 16)]
    objectives = [
        model.objective_at(x)
        for chosen in itertools.product(*choices)
        if is_feasible(model, x := _ones(17, [j for j in chosen if j is not None]))
    ]
    assert model.objective_at(found.x) == min(objectives)


def _ones(size, columns):
    x = np.zeros(size)
    x[columns] = 1.0
    return x


def test_what_is_added_up_move_by_move_is_what_sums_say():
    model = with_slacks(1)
    structure, x = first_point(model, 6, 3)
    found = Found(model, x)
    search = Annealing(model, structure, found.submit, lambda: found.x, 0)
    search.run(Budget(work=1e6))
    state = search._state
    hard, cost = float(state.numbers[Number.HARD]), float(state.numbers[Number.COST])
    sum_up(state)
    assert search.moves > 200
    assert found.count
    assert float(state.numbers[Number.COST]) == pytest.approx(cost, abs=1e-6)
    assert float(state.numbers[Number.HARD]) == pytest.approx(hard, abs=1e-6)


def test_the_same_seed_takes_the_same_path():
    model = assignment(30, 5, seed=4)
    structure, x = first_point(model, 30, 5)
    ends = []
    for _ in range(2):
        found = Found(model, x)
        search = Annealing(model, structure, found.submit, lambda found=found: found.x, 3)
        search.run(Budget(work=1e6))
        ends.append((search.moves, found.x.tolist()))
    assert ends[0] == ends[1]
    assert ends[0][1] != x.tolist()


def test_they_are_due_once_there_is_a_point_and_less_in_vain():
    model = assignment(12, 3, seed=2)
    context = context_of(model)
    turns = Taking(SwapMoves, context)
    assert turns.share() == 0.0
    _, x = first_point(model, 12, 3)
    assert context.acceptance.submit(x, "test")
    first = turns.share()
    assert first > LEAST_SHARE
    turns.run(Budget(work=2e6), 0)
    best = context.acceptance.pool.best
    assert best is not None
    assert best.source == "swap moves"
    for _ in range(12):
        turns.run(Budget(work=1e5), 0)
    assert turns.share() == pytest.approx(LEAST_SHARE)


def test_models_without_groups_are_over_at_the_first_turn():
    model = model_of(np.ones(4), np.ones((1, 4)), 2.0, 5.0, lower=0.0, upper=1.0, integrality=True)
    context = context_of(model)
    turns = Taking(SwapMoves, context)
    assert context.acceptance.submit(np.ones(4), "test")
    first = turns.share()
    assert first > LEAST_SHARE
    turns.run(Budget(work=1e6), 0)
    assert turns.share() == 0.0
