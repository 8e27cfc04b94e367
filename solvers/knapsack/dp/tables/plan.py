"""The stages of a table over capacities, and the part of the table that each of them needs.

All copies that may go out of the break solution are taken out first. What is left of the capacity
then is the table's last column, and everything else is copies that come in: back, or new. Column i
belongs to the packings of what was decided so far that weigh i at most.

Stages go from the break item outwards, to both sides in turn. Before they are decided, copies that
may go out count as packed, so that every column stands for a weight s beside the break solution's.
With e the break item's efficiency and r its residual capacity, such a packing is worth at most e s
more than the break solution, and with e' and e'' the efficiencies of the next copies that may come
in and go out, it cannot become better than the best packing unless

    r - gap / (e - e')  <=  s  <=  r + gap / (e'' - e),      gap = bound - (best + 1),

where ``bound`` is the relaxation's value. It also lies between the weights of all that went out and
of all that came in so far, and no farther from r than what is still to come can bring it. A stage
treats these columns and no others; the others keep what they had, which are packings too.

Copies of an item come in by powers of two and a rest, a stage for each, or in one stage where there
are as many as the table has room for. A queue of the best numbers of copies would need one stage
too, but 8 nanoseconds for a column where a power of two needs a quarter of one (measured).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray, powers_of_two
from solvers.native.knapsack_dp_tables_dense import count_changes

# What may still change in the break solution: how many copies of each item go out or come in.
#
# A packing with k more copies of item j than the break solution is worth at most k p_j plus the
# relaxation's value at the capacity less k w_j; one with k copies fewer at most the relaxation's
# value at the capacity plus k w_j, less k p_j. Both are concave in k, so that the largest k of
# which more than the best packing can be hoped for is found by bisection (Dembo and Hammer's
# reduction, for numbers of copies).
#
# Besides, some best packing is near. Where copies that went out weigh as much as copies that came
# in, changing them back loses nothing, as copies in the break solution are the more efficient
# ones. Let those that came in and those that went out take turns, so that the weight beside that
# of the break solution stays between -W' and W: the weights of the heaviest copy that goes out,
# and comes in. No weight is met twice then, and so at most W copies go out and W' come in, in
# units of the weights' common divisor, but for what is changed on one side only and therefore
# weighs little (after Eisenbrand and Weismantel, "Proximity results and faster algorithms for
# integer programming using the Steinitz lemma", 2020).


SLACK = 1e-13
"""Part by which quotients in double precision are made larger, far more than their roundings."""


@dataclass(frozen=True)
class Gap:
    """How much is left to hope for beside the break solution."""

    rest: int
    """Capacity that the break solution leaves."""
    price: float
    """Efficiency of the break item: the relaxation's profit for a unit of capacity."""
    profit: float
    """By how much the relaxation exceeds the least profit asked for, never too small."""

    @property
    def weight(self) -> float:
        """Capacity that may be left unused, never too small."""
        return self.profit / self.price * (1.0 + SLACK) + 1.0


@dataclass(frozen=True, eq=False)
class Types:
    """Items with all their copies."""

    origin: IntArray
    """(k,) int64: each item's number in the problem that was ordered."""
    profit: IntArray
    weight: IntArray
    """(k,) int64 each: of one copy."""
    packed: IntArray
    free: IntArray
    """(k,) int64 each: copies in the break solution, and beside it."""


@dataclass(frozen=True, eq=False)
class Changes:
    """Items that a better packing may have more or less often than the break solution."""

    origin: IntArray
    """(k,) int64: each item's number in the problem that was ordered."""
    profit: IntArray
    weight: IntArray
    """(k,) int64 each: of one copy."""
    out: IntArray
    into: IntArray
    """(k,) int64 each: copies that may go out of the break solution, and that may come in beside
    it."""
    free: IntArray
    """(k,) int64: copies that there are beside the break solution, whether worth a look or not."""
    gone: int
    come: int
    """The most that all copies which go out, or come in, may weigh."""
    unit: int
    """Greatest common divisor of weights."""
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
    count_changes(types, items, items.capacity, profit, out, into)
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


FEWEST_REPEATED = 2
"""Copies from which one pass that takes any number of them is cheaper than one for each power of
two."""

WIDEST = 2**40
"""Columns beyond which nothing is planned: no memory holds them."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Stages of a table, each of which lets copies of one item in."""

    weight: IntArray
    profit: IntArray
    """(k,) int64 each: what a stage brings in, weights in ``unit``s."""
    times: IntArray
    item: IntArray
    """(k,) int64 each: copies that it brings in, and whose: a place in ``changes``."""
    repeated: npt.NDArray[np.bool_]
    """(k,) bool: whether it may bring that in any number of times."""
    low: IntArray
    high: IntArray
    """(k,) int64 each: first and last column that it treats."""
    width: int
    """Columns of the table."""
    unit: int
    """Weight between two columns."""
    base: int
    """Profit of what stays packed whatever is decided."""
    changes: Changes

    @property
    def num_stages(self) -> int:
        """Number of stages."""
        return int(self.weight.size)

    @property
    def cells(self) -> int:
        """Columns that all stages treat."""
        return int((self.high - self.low + 1).sum())

    def flags(self, items: Ordered, taken: IntArray) -> npt.NDArray[np.bool_]:
        """Return flags of 0/1 items, from how often each stage's copies are taken."""
        changes = self.changes
        more = -changes.out
        np.add.at(more, self.item, taken * self.times)
        flags = np.arange(items.num_items) < items.break_item
        order = np.argsort(items.origin, kind="stable")
        first = np.searchsorted(items.origin[order], changes.origin)
        last = np.searchsorted(items.origin[order], changes.origin, side="right")
        for k in np.flatnonzero(more):
            places = order[first[k] : last[k]]
            wanted = int(more[k] + items.times[places[flags[places]]].sum())
            # largest first: of 1, 2, 4, ... and a rest, every number is made like that
            for place in places[np.argsort(-items.times[places], kind="stable")]:
                flags[place] = items.times[place] <= wanted
                wanted -= int(items.times[place]) * int(flags[place])
        return flags


def make_plan(items: Ordered, changes: Changes, *, repeats: bool = True) -> Plan | None:
    """Plan a table in which some packing of most profit is found that may change like that.

    Parameters
    ----------
    items : Ordered
        Not all of them fit.
    changes : Changes
        What may be otherwise than in the break solution.
    repeats : bool
        Whether a stage may bring copies in any number of times.

    Returns
    -------
    Plan or None
        None where no memory would hold the table. No stages where nothing may change.
    """
    b = items.break_item
    out_weight = [int(w) * int(k) for w, k in zip(changes.weight, changes.out, strict=True)]
    room = changes.gap.rest + sum(out_weight)
    if room > WIDEST:
        return None
    out_profit = sum(int(p) * int(k) for p, k in zip(changes.profit, changes.out, strict=True))
    parts = _in_turn(_parts(changes, room, repeats, out=True), _parts(changes, room, repeats))
    item, times, out, repeated = parts
    weight, gain = changes.weight[item] * times, changes.profit[item] * times
    unit = changes.unit
    reach = np.where(repeated, np.where(out, changes.out[item], changes.into[item]), times)
    low, high = _limits(changes, parts, reach)
    shift = np.cumsum(np.where(out, changes.weight[item] * reach, 0))
    width = room // unit + 1
    low = np.clip((low + shift) // unit, 0, width - 1)
    # copies that come in one by one pass through the columns between
    before = np.concatenate([np.zeros(1, dtype=np.int64), low])[: low.size]
    low = np.where(repeated, np.minimum(low, before), low)
    return Plan(
        weight // unit,
        gain,
        times,
        item,
        repeated,
        low,
        np.clip(-(-(high + shift) // unit), low, width - 1),
        width,
        unit,
        int(items.profit_before[b]) - out_profit,
        changes,
    )


Parts = tuple[IntArray, IntArray, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
"""Of each part of an item's copies: the item, how many, whether they were out first, and whether
they may be taken any number of times."""


def _parts(changes: Changes, room: int, repeats: bool, *, out: bool = False) -> Parts:
    """Split the copies of each item that may go out, or come in, from the break item outwards."""
    count = changes.out if out else np.minimum(changes.into, room // changes.weight)
    there = changes.out if out else changes.free
    efficiency = changes.profit / changes.weight
    order = np.argsort(efficiency if out else -efficiency, kind="stable")
    order = order[count[order] > 0]
    whole = (count >= FEWEST_REPEATED) & (there >= room // changes.weight) & repeats
    place, times = powers_of_two(np.where(whole[order], 1, count[order]))
    item = order[place]
    return item, times, np.full(item.size, out), whole[item]


def _in_turn(one: Parts, other: Parts) -> Parts:
    """Take parts from both sides in turn, in the same proportion throughout."""
    place = [(np.arange(part[0].size) + 0.5) / max(part[0].size, 1) for part in (one, other)]
    order = np.argsort(np.concatenate(place), kind="stable")
    item, times, out, repeated = (
        np.concatenate([a, b])[order] for a, b in zip(one, other, strict=True)
    )
    return item, times, out, repeated


def _limits(changes: Changes, parts: Parts, reach: IntArray) -> tuple[IntArray, IntArray]:
    """Return the least and the largest weight beside the break solution's after each stage."""
    item, _, out, _ = parts
    weight = changes.weight[item] * reach
    gone = np.cumsum(np.where(out, weight, 0)).astype(np.float64)
    come = np.cumsum(np.where(out, 0, weight)).astype(np.float64)
    rest, price, gap = float(changes.gap.rest), changes.gap.price, changes.gap.profit
    efficiency = changes.profit[item] / changes.weight[item]
    comes, goes = _next(efficiency, ~out, 0.0), _next(efficiency, out, np.inf)
    low = rest - np.minimum(
        _quotient(gap, price - comes, price), changes.gap.weight + come[-1:] - come
    )
    high = rest + np.minimum(_quotient(gap, goes - price, price), gone[-1:] - gone)
    low = np.maximum(low, -np.minimum(gone, changes.gone))
    high = np.minimum(high, np.minimum(come, changes.come))
    margin = 1.0 + SLACK * (np.abs(low) + np.abs(high))
    return np.floor(low - margin).astype(np.int64), np.ceil(high + margin).astype(np.int64)


def _quotient(
    gap: float, difference: npt.NDArray[np.float64], price: float
) -> npt.NDArray[np.float64]:
    """Return gap / difference, rounded up; infinite where the difference may be none."""
    least = difference - SLACK * price
    found = np.full(difference.size, np.inf)
    np.divide(gap, least, out=found, where=least > 0.0)
    return found * (1.0 + SLACK)


def _next(
    efficiency: npt.NDArray[np.float64], mine: npt.NDArray[np.bool_], behind: float
) -> npt.NDArray[np.float64]:
    """Return the efficiency of the first of one side's parts behind each stage."""
    place = np.where(mine, np.arange(efficiency.size), efficiency.size)
    first = np.minimum.accumulate(place[::-1])[::-1]
    following = np.append(first, efficiency.size)[1:]
    found: npt.NDArray[np.float64] = np.append(efficiency, behind)[following]
    return found
