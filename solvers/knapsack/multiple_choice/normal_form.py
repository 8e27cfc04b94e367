"""The same choice with fewer classes and items.

An item is dominated by one of its class that weighs no more and brings no less, and goes. The
lightest item of each class is chosen at first, and weights and profits count from there, so that
negative ones need no care. Items that do not fit beside the lightest ones of the other classes go,
and so do classes with a single item left. Greatest common divisors are divided out, with the
capacity rounded down (Kellerer, Pferschy, Pisinger: "Knapsack Problems", 2004, section 11.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.items import LARGEST, IntArray
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.native.knapsack_multiple_choice_normal_form import undominated


@dataclass(frozen=True, eq=False)
class ChoiceForm:
    """A reduced problem and the way back.

    Parameters
    ----------
    choice : MultipleChoice
        Classes of several items; weights and profits rise strictly from (0, 0) in each.
    given : MultipleChoice
        The problem as it was.
    lightest : (m,) int64 array
        The item that each class given begins with.
    class_of : int64 array
        Which class given each class is.
    origin : int64 array
        Which item given each item is.
    profit_unit, base : int
        profit of a selection = profit_unit * profit here + base.
    """

    choice: MultipleChoice
    given: MultipleChoice
    lightest: IntArray
    class_of: IntArray
    origin: IntArray
    profit_unit: int
    base: int

    def profit_back(self, profit: int) -> int:
        """Return a profit or an upper bound in the terms of the given problem."""
        return self.profit_unit * profit + self.base

    def selection_back(self, chosen: IntArray) -> IntArray:
        """Return the given items that a selection of the reduced problem stands for."""
        items = self.lightest.copy()
        items[self.class_of] = self.origin[chosen]
        return items


def multiple_choice_form(given: MultipleChoice) -> ChoiceForm | None:
    """Reduce a problem; None where not even the lightest items fit together."""
    num_classes = given.num_classes
    lightest = np.zeros(num_classes, dtype=np.int64)
    kept = np.empty(given.num_items, dtype=np.int64)
    count = np.zeros(num_classes, dtype=np.int64)
    least = int(np.minimum.reduceat(given.weight, given.first[:-1]).sum()) if num_classes else 0
    room = given.capacity - least
    if room < 0:
        return None
    undominated(_by_weight(given), given.first, given.profit, given.weight, room, kept, count)
    begin = np.cumsum(count) - count
    lightest = kept[begin]
    class_of = np.flatnonzero(count > 1)
    size = count[class_of]
    first = np.concatenate([[0], np.cumsum(size)])
    origin = kept[: int(count.sum())][np.repeat(count > 1, count)]
    start = np.repeat(lightest[class_of], size)
    profit = given.profit[origin] - given.profit[start]
    weight = given.weight[origin] - given.weight[start]
    profit_unit, weight_unit = (
        max(int(np.gcd.reduce(profit)), 1),
        max(int(np.gcd.reduce(weight)), 1),
    )
    reduced = MultipleChoice(
        profit // profit_unit, weight // weight_unit, first, min(room, LARGEST - 1) // weight_unit
    )
    base = int(given.profit[lightest].sum())
    return ChoiceForm(reduced, given, lightest, class_of, origin, profit_unit, base)


def _by_weight(given: MultipleChoice) -> IntArray:
    """Return the items sorted by weight within each class."""
    group = np.repeat(np.arange(given.num_classes, dtype=np.int64), np.diff(given.first))
    if not group.size:
        return group
    least = int(given.weight.min())
    span = int(given.weight.max()) - least + 1
    if span * given.num_classes < LARGEST:  # one key of both sorts faster
        return np.argsort(group * span + (given.weight - least))
    return np.lexsort((given.weight, group))
