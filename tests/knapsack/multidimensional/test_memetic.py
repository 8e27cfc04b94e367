"""Searches that combine packings: the elites, exact neighbourhoods, and what becomes of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.progress import Progress
from solvers.knapsack.multidimensional import memetic as memetics
from solvers.knapsack.multidimensional.engine import solve_multidimensional
from solvers.knapsack.multidimensional.items import MultidimensionalKnapsack, RelaxedKnapsack
from solvers.knapsack.multidimensional.memetic import (
    MOST_ELITES,
    Elites,
    MemeticSearch,
    Neighbourhoods,
)
from solvers.knapsack.multidimensional.primal_heuristics import (
    MEMETIC_SEARCHES,
    PATIENCE,
    PrimalHeuristics,
    greedy,
)
from solvers.knapsack.multidimensional.tree import make_rows, root_node
from solvers.native.knapsack_multidimensional_tree import reoptimise
from tests.knapsack.multidimensional.instances import best_profit, drawn

GO, STOP = np.zeros(1, dtype=np.int8), np.ones(1, dtype=np.int8)


def relaxed(problem):
    rows = make_rows(problem.profit, problem.weight)
    root = root_node(rows, problem.capacity)
    reoptimise(rows, root, 0)
    return RelaxedKnapsack(problem, root.dual * rows.scale, root.reduced, float(root.bound[0]))


def bred(problem, seed=0):
    data = relaxed(problem)
    return MemeticSearch(data, seed), greedy(problem, data.dual)


def packed(problem, x):
    return int(problem.profit[x].sum())


def best_beside(problem, x, free):
    """Return the best profit of packings that equal ``x`` in all items but the free ones."""
    fixed = x & ~free
    rest = problem.capacity - problem.weight[:, fixed].sum(axis=1)
    part = MultidimensionalKnapsack(problem.profit[free], problem.weight[:, free], rest)
    return best_profit(part) + packed(problem, fixed)


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.25, 0.5, 0.75]))
@settings(max_examples=60, deadline=None)
def test_a_neighbourhood_is_searched_like_by_brute_force(seed, rows, tightness):
    problem = drawn(18, rows, tightness, seed)
    rng = np.random.default_rng(seed)
    neighbourhoods = Neighbourhoods(problem, rng)
    x = np.zeros(18, dtype=np.bool_)
    for item in rng.permutation(18):
        x[item] = True
        x[item] = problem.fits(x)
    free = rng.random(18) < 0.6
    best = best_beside(problem, x, free)
    found = neighbourhoods.search(x, free, packed(problem, x) + 1, GO)
    if best == packed(problem, x):
        assert found.x is None
        return
    assert problem.fits(found.x)
    assert np.array_equal(found.x[~free], x[~free])
    assert packed(problem, found.x) == best
    assert neighbourhoods.search(x, free, best + 1, GO).x is None


def test_between_two_packings_all_their_differences_are_free():
    problem = drawn(80, 4, 0.5, seed=2)
    neighbourhoods = Neighbourhoods(problem, np.random.default_rng(1))
    x, other = np.random.default_rng(2).random((2, 80)) < 0.5
    assert neighbourhoods.between(x, other)[x != other].all()
    few = neighbourhoods.between(x, x)
    assert 8 < few.sum() < 80
    disputed = neighbourhoods.around(np.where(np.arange(80) < 8, 1e9, 0.0))
    assert few.sum() == disputed.sum()
    assert disputed[:8].all()


def test_neighbourhoods_grow_where_searches_end_and_shrink_where_they_do_not():
    problem = drawn(200, 5, 0.5, seed=2)
    _, x = bred(problem)
    neighbourhoods = Neighbourhoods(problem, np.random.default_rng(1))
    before = neighbourhoods.around(np.zeros(200)).sum()
    for _ in range(10):
        neighbourhoods.search(x, np.arange(200) < 5, packed(problem, x) + 1, GO)
    assert neighbourhoods.around(np.zeros(200)).sum() == before + 3
    for _ in range(10):
        neighbourhoods.search(x, neighbourhoods.around(np.zeros(200)), 0, STOP)
    assert neighbourhoods.around(np.zeros(200)).sum() == before - 2


def test_elites_are_the_best_packings_and_all_different():
    problem = drawn(12, 2, 0.9, seed=1)
    elites = Elites(problem)
    packings = np.random.default_rng(3).random((60, 12)) < 0.5
    for x in np.concatenate([packings, packings]):
        elites.add(x)
    fitting = {x.tobytes(): packed(problem, x) for x in packings if problem.fits(x)}
    best = sorted(fitting.values(), reverse=True)[:MOST_ELITES]
    assert len(elites) == MOST_ELITES
    assert elites.best.profit == best[0]
    random = np.random.default_rng(0)
    seen = {elite.x.tobytes(): elite.profit for elite in (elites.draw(random) for _ in range(400))}
    assert sorted(seen.values(), reverse=True) == best
    share = np.mean([np.frombuffer(x, dtype=np.bool_) for x in seen], axis=0)
    assert elites.dispute() == pytest.approx(4 * share * (1 - share))
    assert not elites.add(np.ones(12, dtype=np.bool_))  # does not fit


@pytest.mark.parametrize(("items", "rows"), [(40, 5), (40, 10), (30, 30)])
def test_breeding_finds_the_best_packing_of_small_problems(items, rows, monkeypatch):
    monkeypatch.setattr(memetics, "TURNS", 1)
    problem = drawn(items, rows, 0.5, seed=items)
    memetic, _ = bred(problem)
    x = np.zeros(items, dtype=np.bool_)
    optimum = solve_multidimensional(problem, Progress()).profit
    better = memetic.run(x, packed(problem, x), 40_000_000, GO)
    assert problem.fits(better)
    assert packed(problem, better) == optimum > packed(problem, x)
    assert memetic.run(better, packed(problem, better), 1, GO) is None


def test_breeding_is_the_same_for_a_seed_and_does_nothing_where_it_is_to_stop(monkeypatch):
    monkeypatch.setattr(memetics, "TURNS", 1)
    problem = drawn(100, 5, 0.5, seed=9)
    (one, x), (other, _) = bred(problem, seed=4), bred(problem, seed=4)
    assert one.run(x, packed(problem, x), 10_000_000, STOP) is None
    first, second = (each.run(x, packed(problem, x), 10_000_000, GO) for each in (one, other))
    assert np.array_equal(first, second)
    assert packed(problem, first) > packed(problem, x)


def test_newcomers_are_combined_with_what_is_there(monkeypatch):
    problem = drawn(40, 5, 0.5, seed=9)
    memetic, _ = bred(problem)
    monkeypatch.setattr(MemeticSearch, "_temper", lambda *arguments: None)
    monkeypatch.setattr(MemeticSearch, "_search", lambda *arguments: None)
    optimum = solve_multidimensional(problem, Progress()).x
    one, other = (optimum & (np.arange(40) % 2 == part) for part in (0, 1))
    memetic.welcome([one, one, np.ones(40, dtype=np.bool_)])
    better = memetic.run(other, packed(problem, other), 1, GO)
    assert packed(problem, better) >= packed(problem, optimum)


def test_searches_beside_trees_wait_only_where_a_proof_may_be_near():
    small, large = drawn(40, 3, 0.5, seed=1), drawn(150, 30, 0.5, seed=1)
    for problem, waits in ((small, True), (large, False)):
        data = relaxed(problem)
        profit = packed(problem, greedy(problem, data.dual))
        heuristics = PrimalHeuristics(data, cpu())
        assert heuristics.beside(10**6, 0, profit) == []
        assert (heuristics.beside(10**6, PATIENCE, profit) == []) == waits
        assert len(heuristics.beside(10**6, 2 * PATIENCE, profit)) == MEMETIC_SEARCHES


def test_what_is_given_up_is_not_forgotten(monkeypatch):
    monkeypatch.setattr(memetics, "TURNS", 1)
    monkeypatch.setattr(memetics, "MOST_BARREN", -1)  # given up at every turn
    problem = drawn(60, 10, 0.5, seed=9)
    memetic, _ = bred(problem)
    x, profits = np.zeros(60, dtype=np.bool_), [0]
    for _ in range(5):
        x = memetic.run(np.zeros(60, dtype=np.bool_), 0, 10_000_000, GO)
        assert problem.fits(x)
        profits.append(packed(problem, x))
    assert profits == sorted(profits)


def test_who_goes_his_own_way_takes_nothing_over(monkeypatch):
    monkeypatch.setattr(MemeticSearch, "_temper", lambda *arguments: None)
    monkeypatch.setattr(MemeticSearch, "_search", lambda *arguments: None)
    problem = drawn(40, 5, 0.5, seed=9)
    data = relaxed(problem)
    good, nothing = greedy(problem, data.dual), np.zeros(40, dtype=np.bool_)
    for follows in (True, False):
        memetic = MemeticSearch(data, 0, follows=follows)
        assert memetic.run(nothing, 0, 0, GO) is None
        memetic.run(good, packed(problem, good), 0, GO)
        best = memetic.run(nothing, 0, 0, GO)
        assert (best is not None and np.array_equal(best, good)) == follows
