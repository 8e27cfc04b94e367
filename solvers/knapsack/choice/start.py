"""A selection to begin with: the break solution, filled up."""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.choice.items import MultipleChoice
from solvers.knapsack.choice.relaxation import Relaxation
from solvers.knapsack.items import IntArray


def first_selection(choice: MultipleChoice, relaxation: Relaxation) -> tuple[int, IntArray]:
    """Return the profit and the items of a good selection of a problem in normal form.

    Steps behind the break step are taken where they fit, or one item of the break solution is
    exchanged for the most valuable of its class that fits; the better of the two is returned, after
    one such exchange.
    """
    chosen = relaxation.break_item.copy()
    b = relaxation.break_step
    weight, profit = int(relaxation.weight_before[b]), int(relaxation.profit_before[b])
    alone = _exchanged(choice, chosen, profit, weight)
    steps = relaxation.profit[b:], relaxation.weight[b:], relaxation.group[b:], relaxation.item[b:]
    weight, profit = _fill(*steps, choice.first, choice.capacity, chosen, weight, profit)
    filled = _exchanged(choice, chosen, profit, weight)
    return filled if filled[0] >= alone[0] else alone


def _exchanged(
    choice: MultipleChoice, chosen: IntArray, profit: int, weight: int
) -> tuple[int, IntArray]:
    """Return profit and items after the best exchange of one item."""
    arguments = choice.profit, choice.weight, choice.first, choice.capacity - weight, chosen
    group, item = _best_exchange(*arguments)
    if item < 0:
        return profit, chosen.copy()
    changed = chosen.copy()
    changed[group] = item
    return profit + int(choice.profit[item] - choice.profit[chosen[group]]), changed


@compiled
def _best_exchange(
    profit: IntArray, weight: IntArray, first: IntArray, spare: int, chosen: IntArray
) -> tuple[int, int]:
    """Return the class and item that gain most within the spare capacity; -1 if none gains."""
    most, best_group, best_item = 0, -1, -1
    for i in range(first.size - 1):
        limit, least = weight[chosen[i]] + spare, profit[chosen[i]]
        for j in range(first[i], first[i + 1]):
            if weight[j] > limit:
                break
            if profit[j] - least > most:
                most, best_group, best_item = profit[j] - least, i, j
    return best_group, best_item


@compiled
def _fill(
    step_profit: IntArray,
    step_weight: IntArray,
    step_group: IntArray,
    step_item: IntArray,
    first: IntArray,
    capacity: int,
    chosen: IntArray,
    weight: int,
    profit: int,
) -> tuple[int, int]:
    """Take steps in order where they fit, in place; return weight and profit.

    A class goes no farther once a step of it did not fit.
    """
    ended = np.zeros(first.size - 1, dtype=np.bool_)
    for k in range(step_profit.size):
        group = step_group[k]
        if ended[group]:
            continue
        if weight + step_weight[k] > capacity:
            ended[group] = True
            continue
        chosen[group] = step_item[k]
        weight += step_weight[k]
        profit += step_profit[k]
    return weight, profit
