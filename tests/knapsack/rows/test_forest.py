"""Searches below many nodes at once: on the host, and by the emulated device code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.device import cpu
from solvers.knapsack.rows import solve_rows
from solvers.knapsack.rows.forest import fraction_of, suits
from solvers.knapsack.rows.items import RowsKnapsack
from solvers.knapsack.rows.kernels.subtrees import MOST_ITEMS, MOST_ROWS
from solvers.progress import Progress
from tests.knapsack.rows import emulated_subtrees as emulated
from tests.knapsack.rows.forests import STOP, Compared, awkward, planted, searched
from tests.knapsack.rows.instances import best_profit, drawn
from tests.knapsack.rows.test_emulated import EmulatedGpu


@st.composite
def problems(draw: st.DrawFn) -> RowsKnapsack:
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    largest = draw(st.sampled_from([1, 3, 12, 1000]))
    weight = st.lists(st.integers(0, largest), min_size=n, max_size=n)
    profit = draw(st.lists(st.integers(1, largest), min_size=n, max_size=n))
    rows = draw(st.lists(weight, min_size=m, max_size=m))
    capacity = draw(st.lists(st.integers(0, 4 * largest), min_size=m, max_size=m))
    return RowsKnapsack(np.array(profit), np.array(rows), np.array(capacity))


@given(problems(), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_every_search_finds_the_best_of_all_packings(problem, searches):
    forest = planted(problem, cpu(), searches)
    assert searched(forest, problem) == best_profit(problem)
    assert forest.is_done
    assert forest.bound < 0


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0.25, 0.5, 0.75]))
@settings(max_examples=40, deadline=None)
def test_correlated_problems_are_solved_like_by_brute_force(seed, rows, tightness):
    problem = drawn(13, rows, tightness, seed)
    assert searched(planted(problem, cpu(), 3), problem) == best_profit(problem)


@pytest.mark.parametrize("number", range(len(awkward())))
def test_awkward_problems_are_solved_like_by_trees(number):
    problem = awkward()[number]
    assert searched(planted(problem, cpu(), 8), problem) == solve_rows(problem, Progress()).profit


def test_idle_searches_get_work_and_the_nodes_do_not_depend_on_the_machine():
    problem = drawn(40, 5, 0.25, seed=45)
    optimum = solve_rows(problem, Progress()).profit
    one, other = planted(problem, cpu(), 16), planted(problem, cpu(), 16)
    rounds = 0
    while not one.is_done:
        rounds += 1
        assert one.run(optimum + 1, 1, STOP) is None
        assert other.run(optimum + 1, 1, STOP) is None
        assert one.nodes == other.nodes
        assert one.bound == other.bound
    assert other.is_done
    assert one.nodes > 4 * 32 * rounds  # a good part of 16 searches has worked most of the time


def test_a_search_that_pauses_has_a_valid_bound_that_never_rises():
    problem = drawn(60, 5, 0.5, seed=3)
    optimum = solve_rows(problem, Progress()).profit
    forest = planted(problem, cpu(), 4)
    before, profit = forest.bound, 0
    while not forest.is_done:
        x = forest.run(profit + 1, 1, STOP)
        profit = profit if x is None else int(problem.profit[x].sum())
        assert forest.bound <= before
        assert max(profit, forest.bound) >= optimum
        before = forest.bound
    assert profit == optimum


def test_nothing_is_done_when_told_to_stop():
    problem = drawn(60, 5, 0.5, seed=3)
    forest = planted(problem, cpu(), 4)
    before = forest.bound
    assert forest.run(1, 10**9, np.ones(1, dtype=np.int8)) is None
    assert (forest.nodes, forest.bound) == (0, before)


def test_problems_beyond_what_a_warp_holds_are_left_to_trees():
    assert suits(drawn(MOST_ITEMS, MOST_ROWS - 1, 0.5, seed=0))
    assert not suits(drawn(MOST_ITEMS + 1, 2, 0.5, seed=0))
    assert not suits(drawn(20, MOST_ROWS, 0.5, seed=0))


def test_scaled_profits_leave_room_in_64_bits():
    assert fraction_of(drawn(10, 2, 0.5, seed=0)) == 20
    large = RowsKnapsack(np.array([2**49, 2**48]), np.ones((1, 2), dtype=int), np.array([1]))
    assert fraction_of(large) == 2


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if emulated.COMPILER is None:
        pytest.skip("there is no C++ compiler")
    return emulated.build(tmp_path_factory.mktemp("emulated"))


@pytest.fixture
def gpu(library, monkeypatch):
    device = EmulatedGpu("cuda", "")
    monkeypatch.setattr("solvers.knapsack.rows.forest.NODES", 4)
    family = Compared(device, lambda name, values: emulated.launch(library, name, values))
    monkeypatch.setattr("solvers.knapsack.rows.forest.FAMILY", family)
    return device, family


@pytest.mark.parametrize(
    ("items", "rows", "rounds"),
    [(20, 1, 20), (33, 5, 12), (40, 31, 3), (64, 32, 2), (100, 5, 4), (500, 30, 1), (70, 127, 1)],
)
def test_device_code_agrees_with_the_twin(gpu, items, rows, rounds):
    problem = drawn(items, rows, 0.5, seed=items + rows)
    device, family = gpu
    target = 1 if items < 100 else int(0.99 * solve_rows_quickly(problem))
    forest = planted(problem, device, 5, target)
    searched(forest, problem, rounds)
    assert "grow" in family.launches
    assert forest.nodes > 0


def solve_rows_quickly(problem):
    progress = Progress()
    progress.interrupt()
    return solve_rows(problem, progress).profit


@pytest.mark.parametrize("number", range(len(awkward())))
def test_device_code_solves_awkward_problems(gpu, number):
    problem = awkward()[number]
    device, _ = gpu
    forest = planted(problem, device, 6)
    profit = searched(forest, problem, 8)
    optimum = solve_rows(problem, Progress()).profit
    assert profit == optimum if forest.is_done else profit <= optimum <= forest.bound


def test_device_code_shares_what_waits(gpu):
    problem = drawn(24, 4, 0.5, seed=3)
    device, family = gpu
    assert searched(planted(problem, device, 9), problem) == solve_rows(problem, Progress()).profit
    assert "share" in family.launches


def test_a_search_with_a_gpu_beside_the_trees_proves_the_optimum(gpu, monkeypatch):
    device, family = gpu
    monkeypatch.setattr("solvers.knapsack.rows.crew.FOREST_PATIENCE", 0)
    monkeypatch.setattr("solvers.knapsack.rows.crew.TREES", 2)
    monkeypatch.setattr("solvers.knapsack.rows.crew.FIRST_WORK", 10_000)
    monkeypatch.setattr("solvers.knapsack.rows.forest.BLOCKS_PER_PROCESSOR", 2)
    monkeypatch.setattr("solvers.knapsack.rows.scouts.Scouts.beside", lambda *_: [])
    problem = drawn(35, 4, 0.5, seed=5)
    answer = solve_rows(problem, Progress(), device=device)
    assert "grow" in family.launches
    assert answer.is_optimal
    assert answer.profit == solve_rows(problem, Progress()).profit
