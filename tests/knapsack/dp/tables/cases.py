"""Problems for tables, their optimum by plain dynamic programming, and a table that is made."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from solvers.knapsack.dp.tables.dense import Tabled
from solvers.knapsack.dp.tables.plan import Plan, find_changes, find_types, make_plan
from solvers.knapsack.efficiency import Ordered, by_efficiency
from solvers.knapsack.heuristics import first_packing
from solvers.knapsack.items import Knapsack, normal_form

MOST_CAPACITY = 3000


@st.composite
def knapsacks(draw: st.DrawFn) -> Knapsack:
    """Problems of up to 20 items, of few or many copies, with profits of all kinds."""
    n = draw(st.integers(1, 20))
    largest = draw(st.sampled_from([4, 30, 200]))
    few = draw(st.sampled_from([1, 3, 40, 10**4]))
    weight = np.array(draw(st.lists(st.integers(1, largest), min_size=n, max_size=n)))
    noise = np.array(draw(st.lists(st.integers(0, largest), min_size=n, max_size=n)))
    profit = draw(st.sampled_from([noise, weight + noise % 3, weight + 7, 3 * weight]))
    copies = np.array(draw(st.lists(st.integers(0, few), min_size=n, max_size=n)))
    capacity = draw(st.integers(0, min(int((weight * copies).sum()) + 1, MOST_CAPACITY)))
    return Knapsack(profit, weight, copies, capacity)


def reference(knapsack: Knapsack) -> int:
    """Return the optimum of a problem with positive weights, by a table over all capacities."""
    table = np.zeros(knapsack.capacity + 1, dtype=np.int64)
    for p, w, copies in zip(knapsack.profit, knapsack.weight, knapsack.copies, strict=True):
        left, size = min(int(copies), knapsack.capacity // int(w)), 1
        while left > 0:
            size = min(size, left)
            more = table[: table.size - size * w] + size * p
            table[size * w :] = np.maximum(table[size * w :], more)
            left, size = left - size, 2 * size
    return int(table[-1])


def ordered(knapsack: Knapsack, *, single: bool = False) -> tuple[Ordered, int]:
    """Return a problem's 0/1 items, and the profit of a good packing."""
    items = by_efficiency(normal_form(knapsack).knapsack, single=single)
    return items, first_packing(items)[0]


def planned(items: Ordered, profit: int, *, repeats: bool = False) -> Plan:
    """Return the plan of a table for packings better than ``profit``."""
    plan = make_plan(items, find_changes(items, find_types(items), profit), repeats=repeats)
    assert plan is not None
    return plan


def check(items: Ordered, plan: Plan, profit: int, best: int, made: Tabled) -> None:
    """Check that a table says what is best, with a packing where that is news."""
    assert made.is_complete
    assert made.profit == max(profit, best)
    assert (made.taken is None) == (best <= profit)
    if made.taken is not None:
        flags = plan.flags(items, made.taken)
        assert int(items.profit[flags].sum()) == best
        assert int(items.weight[flags].sum()) <= items.capacity


def never() -> bool:
    """Say that time is not up."""
    return False
