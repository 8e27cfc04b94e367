"""The linear relaxation: steps along the hull of each class, and the break solution.

In a linear programme only the items on the upper hull of a class's profits over its weights count
(Sinha and Zoltners, "The multiple-choice knapsack problem", 1979). A step goes from one of them to
the next heavier, and steps of a class rise ever less steeply. Taking the steps of all classes in
order of steepness is the relaxation's optimum for every capacity; the first step that does not fit
is the break step, and all before it are the break solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.native.knapsack_efficiency import relaxed
from solvers.native.knapsack_multiple_choice_relaxation import hull_steps, settle


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Steps of all classes, the steepest first, of a problem in normal form.

    Parameters
    ----------
    profit, weight : (k,) int64 arrays
        What a step adds.
    group, item : (k,) int64 arrays
        The step's class and the item that it leads to.
    profit_before, weight_before : (k + 1,) int64 arrays
        Sums over all steps before each place.
    break_step : int
        The first that does not fit; k where all do.
    break_item : (m,) int64 array
        The items of the break solution.
    bound : int
        Value of the relaxation, rounded down.
    """

    profit: IntArray
    weight: IntArray
    group: IntArray
    item: IntArray
    profit_before: IntArray
    weight_before: IntArray
    break_step: int
    break_item: IntArray
    bound: int


def relax(choice: MultipleChoice) -> Relaxation:
    """Return the relaxation of a problem in normal form."""
    steps = np.empty((4, choice.num_items), dtype=np.int64)
    count = hull_steps(choice.profit, choice.weight, choice.first, *steps)
    profit, weight, group, item = steps[:, :count]
    order = np.argsort(-(profit / weight), kind="stable")
    settle(profit, weight, order)
    profit, weight, group, item = (values[order] for values in steps)
    profit_before = np.concatenate([[0], np.cumsum(profit)])
    weight_before = np.concatenate([[0], np.cumsum(weight)])
    place = int(np.searchsorted(weight_before, choice.capacity, side="right")) - 1
    break_item = choice.first[:-1].copy()
    break_item[group[:place]] = item[:place]  # the last of a class stays
    bound = relaxed(profit, weight, profit_before, weight_before, choice.capacity)
    return Relaxation(
        profit, weight, group, item, profit_before, weight_before, place, break_item, bound
    )
