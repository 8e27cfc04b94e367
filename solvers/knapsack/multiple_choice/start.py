"""A selection to begin with: the break solution, filled up."""

from __future__ import annotations

from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.knapsack.multiple_choice.relaxation import Relaxation
from solvers.native.knapsack_multiple_choice_start import best_exchange, fill


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
    weight, profit = fill(*steps, choice.capacity, chosen, weight, profit)
    filled = _exchanged(choice, chosen, profit, weight)
    return filled if filled[0] >= alone[0] else alone


def _exchanged(
    choice: MultipleChoice, chosen: IntArray, profit: int, weight: int
) -> tuple[int, IntArray]:
    """Return profit and items after the best exchange of one item."""
    arguments = choice.profit, choice.weight, choice.first, choice.capacity - weight, chosen
    group, item = best_exchange(*arguments)
    if item < 0:
        return profit, chosen.copy()
    changed = chosen.copy()
    changed[group] = item
    return profit + int(choice.profit[item] - choice.profit[chosen[group]]), changed
