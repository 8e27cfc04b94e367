"""Choices read back from histories, whatever states had descendants."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.knapsack.dp.states import (
    MOST_SPARE_STATES,
    History,
    ItemStages,
    States,
    copy_states,
    empty_lists,
    empty_states,
    first_states,
    item_stages,
    larger_lists,
    spare_lists,
)
from solvers.knapsack.multiple_choice.stages import Stages

BITS, ITEMS = 2, 4
"""Bits of a stage, and items that each of these stages chose from."""


def stages_of(first_item: int, count: int) -> Stages:
    """Return stages with four items each, numbered on from the first one."""
    places = np.arange(count + 1, dtype=np.int64)
    items = first_item + np.arange(ITEMS * count, dtype=np.int64)
    return Stages(ITEMS * places, BITS * places, items, np.zeros(1, dtype=np.int64))


@pytest.mark.parametrize("lengths", [[5, 5, 5, 5], [40, 7, 3, 2], [3, 40, 4, 40], [1, 1, 1, 1]])
def test_choices_before_checkpoints_are_remembered(lengths: list[int]) -> None:
    rng = np.random.default_rng(0)
    states = empty_states(max(6, *lengths))
    states.ancestor[: lengths[0]] = 0
    history = History(stages_of(0, 3))
    choices: list[list[int]] = [[] for _ in range(lengths[0])]
    item, count = 0, 3
    for length in [*lengths[1:], 6]:
        history.stages = stages_of(item, count)
        picks = rng.integers(0, ITEMS, (len(choices), count))
        words = (picks << BITS * np.arange(count)).sum(axis=1).astype(np.uint64)
        choices = [
            [*(item + ITEMS * np.arange(count) + pick).tolist(), *before]
            for pick, before in zip(picks, choices, strict=True)
        ]
        for state, word in enumerate(words.tolist()):
            ancestor = int(states.ancestor[state])
            assert history.chosen(word, ancestor, count).tolist() == choices[state]
        states.history[: words.size] = words
        history.close(states, words.size, count)
        ancestors = rng.integers(0, len(choices), length)
        states.ancestor[:length] = ancestors
        choices = [choices[ancestor] for ancestor in ancestors]
        item += ITEMS * count


def test_states_without_descendants_are_forgotten() -> None:
    states = empty_states(8)
    states.ancestor[:] = 0
    history = History(stages_of(0, 1))
    for k in range(300):
        history.stages = stages_of(4 * k, 1)
        states.history[:], states.ancestor[:] = np.arange(8) % 4, 0
        history.close(states, 8, 1)
    assert history.before is not None
    assert history.before.before is not None
    assert history.before.before.words.size == 1
    history.stages = stages_of(1200, 1)
    items = history.chosen(3, 2, 1).tolist()
    assert items[:3] == [1203, 4 * 299 + 2, 4 * 298]
    assert len(items) == 301


def test_a_copy_keeps_what_it_had_while_the_list_goes_on() -> None:
    states = empty_states(2)
    states.history[:], states.ancestor[:] = (0b01, 0b10), 0
    history = History(item_stages())
    history.stages.treated[:2] = 7, 8
    kept = history.copy()
    history.stages.treated[:2] = 70, 80
    history.close(states, 2)
    history.stages.treated[0] = 9
    assert kept.chosen(0b11, 0).tolist() == [7, 8]
    assert history.chosen(1, 1).tolist() == [9, 80]


def test_a_word_may_use_the_sign_of_its_type() -> None:
    stages = ItemStages(np.arange(64))
    assert History(stages).chosen(-(2**63), 0).tolist() == [63]


def filled(count: int) -> States:
    """Return a list of so many states that tells them apart."""
    states = empty_states(count)
    for place, values in enumerate(states):
        values[:] = np.arange(count) + place
    return states


@pytest.mark.parametrize("room", [1, 40])
def test_a_list_grows_with_its_states_in_the_arrays_of_an_earlier_search_or_in_new_ones(
    room: int,
) -> None:
    spare_lists(empty_states(room), empty_states(room))
    one, other = lists = empty_lists(5)
    assert {values.size for values in (*one, *other)} == {5}
    copy_states(filled(5), 5, one)
    wide, side = larger_lists(lists, 5, 30)
    assert {values.size for values in (*wide, *side)} == {30}
    for values, expected in zip(first_states(wide, 5), filled(5), strict=True):
        np.testing.assert_array_equal(values, expected)
    assert not any(np.shares_memory(a, b) for a, b in zip(wide, side, strict=True))


def test_no_two_searches_at_once_have_the_same_arrays() -> None:
    spare_lists(*empty_lists(7))
    lists = [states for _ in range(4) for states in empty_lists(7)]
    for place, states in enumerate(lists):
        for later in lists[place + 1 :]:
            assert not any(np.shares_memory(a, b) for a, b in zip(states, later, strict=True))


def test_very_long_lists_do_not_wait_in_memory() -> None:
    longest = empty_states(MOST_SPARE_STATES + 1)
    spare_lists(longest, longest)
    held = [states for _ in range(4) for states in empty_lists(1)]
    assert not any(np.shares_memory(states.profit, longest.profit) for states in held)
