"""Many small knapsack problems: every answer against brute force or another engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.errors import ProblemError
from solvers.core.progress import Progress
from solvers.knapsack.batch import solve as running
from solvers.knapsack.batch import solve_many_knapsacks
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import LARGEST, Knapsack
from tests.cases import through
from tests.knapsack.batch.cases import awkward, flat
from tests.knapsack.brute import CLASSES, best_profit, instance


def together(problems, **more):
    starts, profit, weight, capacity = flat(problems)
    if any((problem.copies != 1).any() for problem in problems):
        more["copies"] = np.concatenate([problem.copies for problem in problems])
    return solve_many_knapsacks(profit, weight, capacity, "cpu", starts=starts, threads=1, **more)


def assert_solved(problems, answer, expected):
    """Compare profits with the expected ones (None: nothing fits), and add packings up."""
    assert answer.proven.all()
    np.testing.assert_array_equal(answer.feasible, [profit is not None for profit in expected])
    np.testing.assert_array_equal(answer.profit, [profit or 0 for profit in expected])
    np.testing.assert_array_equal(answer.profit, answer.bound)
    for k, problem in enumerate(problems):
        x = answer.of(k).astype(np.int64)
        assert ((x >= 0) & (x <= problem.copies)).all()
        if answer.feasible[k]:
            profit, weight = problem.value_of(x)
            assert profit == answer.profit[k]
            assert weight <= problem.capacity
        else:
            assert not x.any()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_against_every_packing(seed):
    problems = awkward(8, 10, seed)
    assert_solved(problems, together(problems), [best_profit(problem) for problem in problems])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_copies_against_every_packing(seed):
    rng = np.random.default_rng(seed)
    problems = []
    for binary in awkward(6, 5, seed):
        copies = rng.integers(0, 6, binary.num_items)
        problems.append(Knapsack(binary.profit, binary.weight, copies, binary.capacity))
    assert_solved(problems, together(problems), [best_profit(problem) for problem in problems])


@pytest.mark.parametrize("items", [10, 50, 64, 65, 128])
def test_classes_against_the_other_engine(items):
    problems = [instance(kind, items, 60, seed) for kind in CLASSES for seed in range(3)]
    answer = together(problems)
    assert answer.alone == 0
    assert_solved(problems, answer, [solve_knapsack(problem).profit for problem in problems])


def test_large_numbers_against_the_other_engine():
    problems = [instance(kind, 40, 10**6, 1) for kind in CLASSES]
    assert_solved(problems, together(problems), [solve_knapsack(p).profit for p in problems])


EDGES = {
    "no item fits": ([5, 6], [9, 8], 7, 0),
    "all fit": ([5, 6], [9, 8], 17, 11),
    "no item": ([], [], 3, 0),
    "capacity 0": ([5, 6], [1, 2], 0, 0),
    "capacity 0, weightless items": ([5, 6, -1], [0, 2, 0], 0, 5),
    "capacity below 0": ([5], [1], -1, None),
    "capacity below 0, and enough is freed": ([5, -3], [2, -4], -1, 2),
    "one item that fits": ([7], [3], 3, 7),
    "one item that does not": ([7], [4], 3, 0),
    "nothing is worth it": ([0, -2, 0], [1, 1, 3], 9, 0),
    "equal items": ([4] * 30, [6] * 30, 100, 64),
    "a common divisor": ([3, 6, 9], [2, 4, 6], 9, 12),
    "huge capacity": ([3, 4], [2, 2], 2**61, 7),
    "hugely negative capacity": ([3, 4], [2, 2], -(2**61), None),
}


def test_edges_in_one_call():
    problems = [Knapsack.binary(*case[:3]) for case in EDGES.values()]
    answer = together(problems)
    assert answer.alone == 0
    assert_solved(problems, answer, [case[3] for case in EDGES.values()])


def test_what_is_too_large_is_solved_alone():
    wide = Knapsack.binary([2**40, 2**40 + 1, 5], [2**35, 2**35, 3], 2**35 + 1)
    long = instance("weakly", 200, 50, 1)
    small = Knapsack.binary([2, 3], [1, 1], 1)
    problems = [wide, small, long]
    answer = together(problems)
    assert answer.alone == 2
    assert_solved(problems, answer, [2**40 + 1, 3, solve_knapsack(long).profit])


@pytest.mark.parametrize(("name", "value"), [("ROOM", 64), ("MOST_STATES", 200)])
def test_what_outgrows_its_limits_is_solved_alone(monkeypatch, name, value):
    monkeypatch.setattr(running, name, value)
    problems = [instance("strongly", 40, 1000, seed) for seed in range(4)]
    answer = together(problems)
    assert answer.alone > 0
    assert_solved(problems, answer, [solve_knapsack(problem).profit for problem in problems])


def test_rows_of_one_size_and_slices():
    problems = [instance("weakly", 9, 20, seed) for seed in range(700)]
    _, profit, weight, capacity = flat(problems)
    shape = (700, 9)
    answer = solve_many_knapsacks(profit.reshape(shape), weight.reshape(shape), capacity, "cpu")
    assert answer.rows.shape == shape
    np.testing.assert_array_equal((answer.rows * profit.reshape(shape)).sum(axis=1), answer.profit)
    assert_solved(problems, answer, together(problems).profit.tolist())


def test_threads_change_nothing():
    problems = [instance("strongly", 50, 100, seed) for seed in range(800)]
    starts, profit, weight, capacity = flat(problems)
    one, two = (
        solve_many_knapsacks(profit, weight, capacity, "cpu", starts=starts, threads=threads)
        for threads in (1, 2)
    )
    for name in ("packed", "profit", "states"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_no_time_means_that_nothing_is_known():
    answer = together([instance("weakly", 9, 20, 1)] * 3, progress=Progress(0.0))
    assert not answer.proven.any()
    assert not answer.feasible.any()
    assert not answer.packed.any()
    assert not answer.states.any()
    assert (answer.bound == LARGEST).all()


def test_no_problems():
    answer = solve_many_knapsacks(np.zeros((0, 4), int), np.zeros((0, 4), int), [], "cpu")
    assert len(answer) == 0
    assert answer.rows.shape == (0, 0)


@through(
    ("arguments", "more", "message"),
    [
        (([[1, 2]], [[1, 2]], [3, 4]), {}, "one row of items for each of 2 capacities"),
        (([[1, 2]], [[1]], [3]), {}, "weights have shape"),
        (([[1.5]], [[1]], [3]), {}, "whole numbers"),
        (([1, 2], [1, 2], [3]), {"starts": [0, 1]}, "ends with 1"),
        (([1, 2], [1, 2], [3]), {"starts": [0, 1, 2]}, "must begin with 0"),
        (([[1]], [[1]], [3]), {"copies": [[-1]]}, "-1 copies"),
        (([[2**62]], [[1]], [3]), {}, "Problem 0"),
        (([[2**61]], [[1]], [8]), {"copies": [[4]]}, "item 0"),
        ((np.full((1, 1), 2**63, np.uint64), [[1]], [3]), {}, "not below 2\\^62"),
    ],
)
def test_refusals(arguments, more, message):
    with pytest.raises(ProblemError, match=message):
        solve_many_knapsacks(*arguments, "cpu", **more)
