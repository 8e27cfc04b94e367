"""Choices read off from histories, whatever states had descendants."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.knapsack.multiple_choice.history import Past, chosen_at, remembered
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
    past: Past | None = None
    ancestors = np.zeros(lengths[0], dtype=np.int32)
    choices: list[list[int]] = [[] for _ in range(lengths[0])]
    item, count = 0, 3
    for length in [*lengths[1:], 6]:
        stages = stages_of(item, count)
        picks = rng.integers(0, ITEMS, (len(choices), count))
        histories = (picks << BITS * np.arange(count)).sum(axis=1).astype(np.uint64)
        choices = [
            [*(item + ITEMS * np.arange(count) + pick).tolist(), *before]
            for pick, before in zip(picks, choices, strict=True)
        ]
        for state in range(len(choices)):
            ancestor = int(ancestors[state])
            assert chosen_at(stages, count, histories[state], ancestor, past) == choices[state]
        past = remembered(histories, ancestors, stages, count, past)
        ancestors = rng.integers(0, len(choices), length).astype(np.int32)
        choices = [choices[ancestor] for ancestor in ancestors]
        item += ITEMS * count


def test_states_without_descendants_are_forgotten() -> None:
    past: Past | None = None
    for k in range(300):
        ancestors = np.zeros(8, dtype=np.int32)
        past = remembered(
            np.arange(8, dtype=np.uint64) % 4, ancestors, stages_of(4 * k, 1), 1, past
        )
    assert past is not None
    assert past.before is not None
    assert past.before.histories.size == 1
    items = chosen_at(stages_of(1200, 1), 1, np.uint64(3), 2, past)
    assert items[:3] == [1203, 4 * 299 + 2, 4 * 298]
    assert len(items) == 301
