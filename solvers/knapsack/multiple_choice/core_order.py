"""In what order classes enter the core, and what those outside it can still do.

From the break solution on, a class can add profit at most as steeply as its next step goes, and
save weight at the cost of at least its last step's steepness. Classes whose next steps are steepest
and classes whose last steps are least steep enter the core alternately, behind the class of the
break step: they are where the optimum is most likely to differ from the break solution (Pisinger,
"A minimal algorithm for the multiple-choice knapsack problem", 1995).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.states import States
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.knapsack.multiple_choice.relaxation import Relaxation
from solvers.native.knapsack_multiple_choice_core_order import alternate

NONE = -1
"""Where a class has no next step, or no last one."""

BROAD = 1.0 + 1e-14
"""Factor that makes a bound computed in double precision too large rather than too small."""


class Core(NamedTuple):
    """What the search reads.

    ``sequence`` (m,) are the classes in the order in which they enter the core. The steepest step
    that may come in and the least steep that may go out, of classes from place t of it on, are
    ``up_profit[t]`` and so on, (m + 1,): (spare_gain, 1) and (1, 0) where there is none.
    ``spare_gain`` is what weight left over counts in bounds (see ``relaxation``).
    """

    profit: IntArray
    weight: IntArray
    first: IntArray
    break_item: IntArray
    sequence: IntArray
    up_profit: IntArray
    up_weight: IntArray
    down_profit: IntArray
    down_weight: IntArray
    step_profit: IntArray
    step_weight: IntArray
    profit_before: IntArray
    weight_before: IntArray
    spare_gain: int


def core_of(choice: MultipleChoice, relaxation: Relaxation, spare_gain: int = 0) -> Core:
    """Return the order of classes around the break step."""
    b, num_classes = relaxation.break_step, choice.num_classes
    num_steps = relaxation.profit.size
    up = np.full(num_classes, num_steps, dtype=np.int64)
    down = np.full(num_classes, NONE, dtype=np.int64)
    up[relaxation.group[b:][::-1]] = np.arange(b, num_steps)[::-1]  # the first of a class stays
    down[relaxation.group[:b]] = np.arange(b)  # and here the last
    sequence = np.empty(num_classes, dtype=np.int64)
    next_up = np.full(num_classes + 1, num_steps, dtype=np.int64)
    next_down = np.full(num_classes + 1, NONE, dtype=np.int64)
    alternate(np.argsort(up), np.argsort(-down), up, down, sequence, next_up, next_down)
    # two more steps at the end stand for none: one that adds nothing but that, one that saves none
    gain = np.append(relaxation.profit, [spare_gain, 1]).astype(np.int64)
    extent = np.append(relaxation.weight, [1, 0]).astype(np.int64)
    next_down[next_down == NONE] = num_steps + 1
    return Core(
        choice.profit,
        choice.weight,
        choice.first,
        relaxation.break_item,
        sequence,
        gain[next_up],
        extent[next_up],
        gain[next_down],
        extent[next_down],
        relaxation.profit,
        relaxation.weight,
        relaxation.profit_before,
        relaxation.weight_before,
        spare_gain,
    )


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
