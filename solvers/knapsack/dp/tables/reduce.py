"""What may still change in the break solution: how many copies of each item go out or come in.

A packing with k more copies of item j than the break solution is worth at most k p_j plus the
relaxation's value at the capacity less k w_j; one with k copies fewer at most the relaxation's
value at the capacity plus k w_j, less k p_j. Both are concave in k, so that the largest k of which
more than the best packing can be hoped for is found by bisection (Dembo and Hammer's reduction, for
numbers of copies).

Besides, some best packing is near. Where copies that went out weigh as much as copies that came in,
changing them back loses nothing, as copies in the break solution are the more efficient ones. Let
those that came in and those that went out take turns, so that the weight beside that of the break
solution stays between -W' and W: the weights of the heaviest copy that goes out, and comes in. No
weight is met twice then, and so at most W copies go out and W' come in, in units of the weights'
common divisor, but for what is changed on one side only and therefore weighs little (after
Eisenbrand and Weismantel, "Proximity results and faster algorithms for integer programming using
the Steinitz lemma", 2020).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray
from solvers.native.knapsack_dp_tables_reduce import count_changes

SLACK = 1e-13
"""Part by which quotients in double precision are made larger, far more than their roundings."""


@dataclass(frozen=True)
class Gap:
    """How much is left to hope for beside the break solution.

    Parameters
    ----------
    rest : int
        Capacity that the break solution leaves.
    price : float
        Efficiency of the break item: the relaxation's profit for a unit of capacity.
    profit : float
        By how much the relaxation exceeds the least profit asked for, never too small.
    """

    rest: int
    price: float
    profit: float

    @property
    def weight(self) -> float:
        """Capacity that may be left unused, never too small."""
        return self.profit / self.price * (1.0 + SLACK) + 1.0


@dataclass(frozen=True, eq=False)
class Types:
    """Items with all their copies.

    Parameters
    ----------
    origin : (k,) int64 array
        Each item's number in the problem that was ordered.
    profit, weight : (k,) int64 arrays
        Of one copy.
    packed, free : (k,) int64 arrays
        Copies in the break solution, and beside it.
    """

    origin: IntArray
    profit: IntArray
    weight: IntArray
    packed: IntArray
    free: IntArray


@dataclass(frozen=True, eq=False)
class Changes:
    """Items that a better packing may have more or less often than the break solution.

    Parameters
    ----------
    origin : (k,) int64 array
        Each item's number in the problem that was ordered.
    profit, weight : (k,) int64 arrays
        Of one copy.
    out, into : (k,) int64 arrays
        Copies that may go out of the break solution, and that may come in beside it.
    free : (k,) int64 array
        Copies that there are beside the break solution, whether worth a look or not.
    gone, come : int
        The most that all copies which go out, or come in, may weigh.
    unit : int
        Greatest common divisor of weights.
    gap : Gap
    """

    origin: IntArray
    profit: IntArray
    weight: IntArray
    out: IntArray
    into: IntArray
    free: IntArray
    gone: int
    come: int
    unit: int
    gap: Gap


def find_gap(items: Ordered, profit: int) -> Gap:
    """Return what packings better than ``profit`` are to be found in; not all items fit."""
    b = items.break_item
    rest = items.capacity - int(items.weight_before[b])
    price = float(items.profit[b]) / float(items.weight[b])
    value = float(items.profit_before[b])
    gap = float(int(items.profit_before[b]) - profit - 1) + price * rest
    return Gap(rest, price, max(gap, 0.0) + SLACK * (price * rest + value + 1.0))


def find_types(items: Ordered) -> Types:
    """Put the copies of each item together again."""
    origin, place, item = np.unique(items.origin, return_index=True, return_inverse=True)
    copies, packed = np.zeros_like(origin), np.zeros_like(origin)
    b = items.break_item
    np.add.at(copies, item, items.times)
    np.add.at(packed, item[:b], items.times[:b])
    times = items.times[place]
    profit, weight = items.profit[place] // times, items.weight[place] // times
    return Types(origin, profit, weight, packed, copies - packed)


def find_changes(items: Ordered, types: Types, profit: int) -> Changes:
    """Return what a packing better than ``profit`` may have otherwise than the break solution."""
    out, into = np.zeros_like(types.packed), np.zeros_like(types.packed)
    count_changes(
        types.profit,
        types.weight,
        types.packed,
        types.free,
        items.profit,
        items.weight,
        items.profit_before,
        items.weight_before,
        items.capacity,
        profit,
        out,
        into,
    )
    gap = find_gap(items, profit)
    unit, gone, come = _near(types.weight, out, into, gap)
    changing = (out > 0) | (into > 0)
    return Changes(
        types.origin[changing],
        types.profit[changing],
        types.weight[changing],
        out[changing],
        into[changing],
        types.free[changing],
        gone,
        come,
        unit,
        gap,
    )


def _near(weight: IntArray, out: IntArray, into: IntArray, gap: Gap) -> tuple[int, int, int]:
    """Let as few copies change as are needed; return the common divisor, and the most they weigh.

    What goes out and what comes in by turns; after that only one of them, which is bounded by the
    capacity: r - gap <= weight beside the break solution's <= r.
    """
    unit = max(int(np.gcd.reduce(weight[(out > 0) | (into > 0)])), 1)
    heaviest_out = int(weight[out > 0].max(initial=0))
    heaviest_in = int(weight[into > 0].max(initial=0))
    alone = max(int(gap.weight) + 1 - gap.rest, 0)
    np.minimum(out, heaviest_in // unit + alone // weight, out=out)
    np.minimum(into, heaviest_out // unit + gap.rest // weight, out=into)
    turns = heaviest_in // unit * heaviest_out
    return unit, turns + alone, turns + gap.rest
