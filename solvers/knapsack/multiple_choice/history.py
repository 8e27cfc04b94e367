"""Histories that are over: what states before the last checkpoint had chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.states import UintArray
from solvers.knapsack.multiple_choice.stages import Stages

WORTH_THINNING = 0.5
"""Share of a past's states that must still have descendants for it to stay as it is."""


@dataclass(frozen=True, eq=False)
class Past:
    """Stages that are over: each state's history then, and its ancestor before them.

    ``histories`` and ``ancestors`` have an entry for each state; ``num_stages`` of ``stages`` are
    in use.
    """

    histories: UintArray
    ancestors: npt.NDArray[np.int32]
    stages: Stages
    num_stages: int
    before: Past | None


def remembered(
    histories: UintArray,
    ancestors: npt.NDArray[np.int32],
    stages: Stages,
    num_stages: int,
    before: Past | None,
) -> Past:
    """Return a list's histories as a past, behind the one before without what has no descendants.

    Lists shrink while the best profit rises, so that most of the memory that pasts would take is
    that of states without descendants.
    """
    before, ancestors = _thinned(before, ancestors)
    return Past(histories.copy(), ancestors.copy(), stages, num_stages, before)


def _thinned(
    past: Past | None, used: npt.NDArray[np.int32]
) -> tuple[Past | None, npt.NDArray[np.int32]]:
    """Return a past with those of its states that are used, and their new numbers."""
    thinner: list[tuple[Past, npt.NDArray[np.bool_]]] = []
    numbers = [used]
    while past is not None:
        flags = np.zeros(past.histories.size, dtype=np.bool_)
        flags[numbers[-1]] = True
        if flags.mean() > WORTH_THINNING:
            break
        thinner.append((past, flags))
        numbers[-1] = (np.cumsum(flags) - 1).astype(np.int32)[numbers[-1]]
        numbers.append(past.ancestors[flags])
        past = past.before
    for (wide, flags), ancestors in zip(reversed(thinner), reversed(numbers), strict=False):
        past = Past(wide.histories[flags], ancestors, wide.stages, wide.num_stages, past)
    return past, numbers[0]


def chosen_at(
    stages: Stages, num_stages: int, history: np.uint64, ancestor: int, past: Past | None
) -> list[int]:
    """Return the items that a state chose, from its history and its ancestors'."""
    items: list[int] = []
    while True:
        for stage in range(num_stages):
            low, high = int(stages.shift[stage]), int(stages.shift[stage + 1])
            number = (int(history) >> low) & ((1 << (high - low)) - 1)
            items.append(int(stages.item[stages.begin[stage] + number]))
        if past is None:
            return items
        history, stages, num_stages = past.histories[ancestor], past.stages, past.num_stages
        ancestor, past = int(past.ancestors[ancestor]), past.before
