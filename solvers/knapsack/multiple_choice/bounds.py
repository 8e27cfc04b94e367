"""Bounds on what states can become, by which a list is cut in two."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.states import States
from solvers.knapsack.multiple_choice.core_order import Core

BROAD = 1.0 + 1e-14
"""Factor that makes a bound computed in double precision too large rather than too small."""


def outside_steps(core: Core, place: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the steps that bound what classes from a place of the sequence on can do."""
    return (
        (int(core.up_profit[place]), int(core.up_weight[place])),
        (int(core.down_profit[place]), int(core.down_weight[place])),
    )


def state_bounds(
    core: Core, place: int, capacity: int, states: States, count: int
) -> npt.NDArray[np.float64]:
    """Return the bound of each of the first states of a list, in double precision."""
    up, down = outside_steps(core, place)
    spare = (capacity - states.weight[:count]).astype(np.float64)
    gain = spare * (up[0] / up[1])
    loss = spare * (down[0] / down[1]) if down[1] else np.full(count, -np.inf)
    return np.asarray(states.profit[:count] + np.where(spare >= 0, gain, loss), dtype=np.float64)


def less_promising(bound: npt.NDArray[np.float64], staying: int) -> npt.NDArray[np.bool_]:
    """Return flags of all but about so many of the states, those with the smallest bounds."""
    leaving = bound.size - staying
    later = bound < np.partition(bound, leaving)[leaving]
    if not later.any():  # many of the same bound
        return np.arange(bound.size) >= staying
    return np.asarray(later)
