"""The linear relaxation, what profits are possible at all, and a selection to begin with.

In a linear programme only the items on the upper hull of a class's profits over its weights count
(Sinha and Zoltners, "The multiple-choice knapsack problem", 1979). A step goes from one of them to
the next heavier, and steps of a class rise ever less steeply. Taking the steps of all classes in
order of steepness is the relaxation's optimum for every capacity; the first step that does not fit
is the break step, and all before it are the break solution.

Weight and profit of every selection are sums of the items' pairs (weight, profit), which lie on a
lattice. Where that is not all pairs of whole numbers, there is a modulus g and a factor a with
``profit = a * weight`` modulo g for every selection; strongly correlated problems, where each step
is worth its weight and a constant more, have that constant as g and a = 1. A profit p at weight
w <= capacity then satisfies p - a w = 0 modulo g, and if no step is less steep than a, p is at most
the largest number up to the relaxation's value that is a * capacity modulo g: p - a w is at most
the relaxation's value less a * capacity, because the relaxation loses at least a for each unit of
weight that it does without.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from solvers.knapsack.efficiency import sums_before
from solvers.knapsack.items import LARGEST, IntArray, OtherProfits
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.native.knapsack_efficiency import relaxed, settle
from solvers.native.knapsack_multiple_choice_relaxation import (
    fill,
    hull_steps,
    undominated,
)

FEW = 64
"""Items looked at one by one, after which most problems are known to have no modulus but 1."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Steps of all classes, the steepest first, of a problem in normal form."""

    profit: IntArray
    weight: IntArray
    """(k,) int64 each: what a step adds."""
    group: IntArray
    item: IntArray
    """(k,) int64 each: the step's class and the item that it leads to."""
    profit_before: IntArray
    weight_before: IntArray
    """(k + 1,) int64 each: sums over all steps before each place."""
    break_step: int
    """The first that does not fit; k where all do."""
    break_item: IntArray
    """(m,) int64: the items of the break solution."""
    capacity: int

    @cached_property
    def bound(self) -> int:
        """Value of the relaxation, rounded down."""
        return relaxed(self, self.capacity)


def relax(choice: MultipleChoice) -> Relaxation:
    """Return the relaxation of a problem in normal form."""
    steps = np.empty((4, choice.num_items), dtype=np.int64)
    count = hull_steps(choice.profit, choice.weight, choice.first, *steps)
    profit, weight, group, item = steps[:, :count]
    order = np.argsort(-(profit / weight), kind="stable")
    profit, weight = profit[order], weight[order]
    settle(profit, weight, order)
    group, item = group[order], item[order]
    profit_before, weight_before = sums_before(profit), sums_before(weight)
    place = int(np.searchsorted(weight_before, choice.capacity, side="right")) - 1
    break_item = choice.first[:-1].copy()
    break_item[group[:place]] = item[:place]  # the last of a class stays
    sums, end = (profit_before, weight_before), choice.capacity
    return Relaxation(profit, weight, group, item, *sums, place, break_item, end)


@dataclass(frozen=True)
class Congruence:
    """An optimum is bounded by numbers that are ``residue`` modulo ``modulus``.

    Bounds that are rounded like that have to count ``factor`` for each unit of weight left over.
    """

    modulus: int = 1
    residue: int = 0
    factor: int = 0

    def rounded_down(self, bound: int) -> int:
        """Return the largest number up to ``bound`` that bounds a profit."""
        return bound - (bound - self.residue) % self.modulus


def congruence(choice: MultipleChoice, relaxation: Relaxation) -> Congruence:
    """Return the congruence of a problem in normal form; modulus 1 where there is none."""
    unit, factor, modulus = 0, 0, 0
    start = np.minimum(FEW, choice.num_items)
    pairs = zip(choice.weight[:start].tolist(), choice.profit[:start].tolist(), strict=True)
    for weight, profit in pairs:
        unit, factor, modulus = _with_pair(unit, factor, modulus, weight, profit)
        if modulus == 1:
            return Congruence()
    if unit != 1 or factor * int(choice.weight.max(initial=0)) >= LARGEST:
        return Congruence()
    rest = np.gcd.reduce(choice.profit - factor * choice.weight)
    modulus = math.gcd(modulus, int(rest))
    factor %= max(modulus, 1)
    # steps are sorted: the last is the least steep
    steep = int(relaxation.profit[-1]) >= factor * int(relaxation.weight[-1])
    if modulus < 2 or not steep:
        return Congruence()
    return Congruence(modulus, factor * choice.capacity % modulus, factor)


def _with_pair(
    unit: int, factor: int, modulus: int, weight: int, profit: int
) -> tuple[int, int, int]:
    """Add a pair to the lattice that (unit, factor) and (0, modulus) generate."""
    while weight:
        times = unit // weight
        unit, factor, weight, profit = (
            weight,
            profit,
            unit - times * weight,
            factor - times * profit,
        )
    modulus = math.gcd(modulus, profit)
    return unit, factor % modulus if modulus else factor, modulus


def first_selection(choice: MultipleChoice, relaxation: Relaxation) -> tuple[int, IntArray]:
    """Return the profit and the items of a good selection of a problem in normal form.

    Steps behind the break step are taken where they fit.
    """
    chosen, b = relaxation.break_item.copy(), relaxation.break_step
    weight, profit = int(relaxation.weight_before[b]), int(relaxation.profit_before[b])
    steps = relaxation.profit[b:], relaxation.weight[b:], relaxation.group[b:], relaxation.item[b:]
    _, profit = fill(*steps, choice.capacity, chosen, weight, profit)
    return profit, chosen


# The same choice with fewer classes and items.
#
# An item is dominated by one of its class that weighs no more and brings no less, and goes. The
# lightest item of each class is chosen at first, and weights and profits count from there, so that
# negative ones need no care. Items that do not fit beside the lightest ones of the other classes
# go, and so do classes with a single item left. Greatest common divisors are divided out, with the
# capacity rounded down (Kellerer, Pferschy, Pisinger: "Knapsack Problems", 2004, section 11.2).


@dataclass(frozen=True, eq=False)
class ChoiceForm(OtherProfits):
    """A reduced problem and the way back."""

    choice: MultipleChoice
    """Classes of several items; weights and profits rise strictly from (0, 0) in each."""
    given: MultipleChoice
    """The problem as it was."""
    lightest: IntArray
    """(m,) int64: the item that each class given begins with."""
    class_of: IntArray
    """Which class given each class is."""
    origin: IntArray
    """Which item given each item is."""

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
    return ChoiceForm(
        reduced, given, lightest, class_of, origin, profit_unit=profit_unit, base=base
    )


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
