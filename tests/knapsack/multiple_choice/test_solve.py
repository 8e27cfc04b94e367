"""The best selections, against every selection, tables over capacities, and HiGHS."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_bridge
from solvers.core.errors import ProblemError
from solvers.core.outcome import StopReason
from solvers.core.progress import Progress
from solvers.knapsack.items import LARGEST
from solvers.knapsack.multiple_choice import engine
from solvers.knapsack.multiple_choice.engine import solve_multiple_choice
from solvers.knapsack.multiple_choice.items import MultipleChoice
from tests.cases import through
from tests.knapsack.multiple_choice.instances import (
    KINDS,
    best_profit,
    dense_profit,
    instance,
    model_of,
)


@st.composite
def choices(draw: st.DrawFn) -> MultipleChoice:
    """Small classes of any kind of items, with every capacity from none fits to all fit."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    count = sum(sizes)
    scale = draw(st.sampled_from([1, 6, 10**12, LARGEST // 3000]))
    numbers = st.lists(st.integers(-20, 60), min_size=count, max_size=count)
    weight = np.array(draw(numbers), dtype=np.int64)
    profit = np.array(draw(numbers), dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    kind = draw(st.sampled_from(["free", "sum", "constant", "steps"]))
    if kind == "sum":
        profit = weight.copy()
    elif kind == "constant":
        profit = weight + 7 * (profit % 3)
    elif kind == "steps":
        place = np.arange(count) - np.repeat(first[:-1], sizes)
        weight, profit = np.abs(weight), np.abs(weight) + 9 * place
    low = int(np.minimum.reduceat(weight, first[:-1]).sum())
    high = int(np.maximum.reduceat(weight, first[:-1]).sum())
    capacity = draw(st.integers(low - 2, high + 2))
    return MultipleChoice(profit * scale, weight * scale, first, capacity * scale)


def assert_right(choice: MultipleChoice, best: int | None, **settings: int) -> None:
    found = solve_multiple_choice(choice, **settings)
    if best is None:
        assert found.x is None
        return
    assert found.x is not None
    assert (choice.first[:-1] <= found.x).all()
    assert (found.x < choice.first[1:]).all()
    assert choice.value_of(found.x)[1] <= choice.capacity
    assert (found.profit, found.bound) == (best, best)
    assert choice.value_of(found.x)[0] == best


@given(choices())
@settings(max_examples=200)
def test_small_ones_are_solved_like_by_looking_at_every_selection(choice: MultipleChoice) -> None:
    assert_right(choice, best_profit(choice))


@pytest.fixture
def cramped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with hardly any room, and pair nearly every list."""
    monkeypatch.setattr(engine, "FIRST_ROOM", 8)
    monkeypatch.setattr(engine, "FIRST_WORK", 8)


@through("kind", KINDS)
@through(("classes", "size"), [(6, 4), (12, 7), (40, 3), (3, 60)])
@pytest.mark.usefixtures("cramped")
def test_room_for_few_states_changes_no_answer(kind: str, classes: int, size: int) -> None:
    for seed in range(3):
        choice = instance(kind, classes, size, 50, seed)
        assert_right(choice, dense_profit(choice), most_states=64)


@through("kind", KINDS)
@through(("classes", "size", "largest"), [(100, 10, 100), (20, 30, 1000)])
def test_medium_ones_have_the_optimum_of_a_table(
    kind: str, classes: int, size: int, largest: int
) -> None:
    choice = instance(kind, classes, size, largest, 1)
    assert_right(choice, dense_profit(choice))


@pytest.mark.parametrize("kind", ["uncorrelated", "weakly", "monotone"])
def test_medium_ones_have_the_optimum_of_the_reference_engine(kind: str) -> None:
    choice = instance(kind, 20, 6, 300, 2)
    reference = gpu_bridge.solve(model_of(choice), method="highs", rel_gap=0.0, abs_gap=0.0)
    assert_right(choice, round(reference.objective))


@pytest.mark.parametrize("kind", KINDS)
def test_many_classes_with_large_numbers_are_proven(kind: str) -> None:
    choice = instance(kind, 300, 10, 10**5, 3)
    found = solve_multiple_choice(choice)
    assert found.is_optimal
    assert found.profit == choice.value_of(found.x)[0]


AWKWARD = {
    "no classes": MultipleChoice([], [], [0], 0),
    "one item each": MultipleChoice([3, -4], [2, 5], [0, 1, 2], 7),
    "one item each, too heavy": MultipleChoice([3, -4], [2, 5], [0, 1, 2], 6),
    "equal items": MultipleChoice([5] * 6, [3] * 6, [0, 3, 6], 6),
    "capacity zero": MultipleChoice([1, 2, 0, 7], [0, 1, 0, 3], [0, 2, 4], 0),
    "negative capacity": MultipleChoice([1, 2, 0, 7], [-9, 1, 0, 3], [0, 2, 4], -6),
    "all fit": MultipleChoice([1, 2, 0, 7], [0, 1, 0, 3], [0, 2, 4], 2**61),
    "worth nothing": MultipleChoice([0] * 4, [1, 2, 3, 4], [0, 2, 4], 5),
    "heavier is worse": MultipleChoice([9, 5, 8, 3], [1, 2, 3, 4], [0, 2, 4], 5),
    "weights of 1e12": MultipleChoice(
        [10**12, 10**12 + 1, 5, 10**12 - 1], [10**12, 10**12 + 1, 0, 10**12], [0, 2, 4], 2 * 10**12
    ),
}


@through("name", AWKWARD)
def test_awkward_ones_are_solved_like_others(name: str) -> None:
    choice = AWKWARD[name]
    assert_right(choice, best_profit(choice) if choice.num_classes else 0)


def test_sums_beyond_the_limit_are_refused_with_the_culprit() -> None:
    with pytest.raises(ProblemError, match=r"weights of the classes.*item 1"):
        MultipleChoice([1, 1, 1], [0, LARGEST - 1, 5], [0, 2, 3], 5)
    with pytest.raises(ProblemError, match="profits of the classes"):
        MultipleChoice([-LARGEST // 2, LARGEST // 2], [0, 0], [0, 2], 5)
    with pytest.raises(ProblemError, match="capacity"):
        MultipleChoice([1], [1], [0, 1], LARGEST)
    just_below = MultipleChoice([1, LARGEST - 2, 1], [0, LARGEST - 2, 1], [0, 2, 3], LARGEST - 1)
    assert solve_multiple_choice(just_below).profit == LARGEST - 1


def test_classes_that_do_not_fit_their_items_are_refused() -> None:
    with pytest.raises(ProblemError, match="Class 1 has no items"):
        MultipleChoice([1, 2], [1, 2], [0, 2, 2], 5)
    with pytest.raises(ProblemError, match="go from 0 to 2"):
        MultipleChoice([1, 2], [1, 2], [0, 3], 5)
    with pytest.raises(ProblemError, match="one of each"):
        MultipleChoice([1, 2], [1], [0, 2], 5)


def test_an_interrupted_search_has_a_selection_and_a_valid_bound() -> None:
    choice = instance("weakly", 30, 10, 10**5, 4)
    progress = Progress()
    told: list[tuple[int, int]] = []

    def stop(profit: int, bound: int) -> None:
        told.append((profit, bound))
        progress.interrupt()

    found = solve_multiple_choice(choice, progress, tell=stop)
    assert progress.should_stop() is StopReason.INTERRUPTED
    assert len(told) == 1
    assert found.x is not None
    assert choice.value_of(found.x)[1] <= choice.capacity
    best = solve_multiple_choice(choice)
    assert best.is_optimal
    assert found.profit <= best.profit <= found.bound <= told[0][1]
