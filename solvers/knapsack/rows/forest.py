"""Many searches below nodes at once, on a GPU: thousands of small trees beside the few of the CPU.

A GPU has no use for relaxations by the simplex method, which are a long chain of small steps; it
has warps enough to look at many more nodes with bounds that are a little weaker. Each warp searches
depth-first below a node of its own, so that memory is bounded; between two launches those that are
done get what waits at the highest place of those whose bounds are best, as
:func:`solvers.knapsack.rows.trees.split` does for trees.

Nothing depends on how fast anything is: the warps of a launch share nothing but the profit wanted,
and what they found is compared in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.device import Device
from solvers.knapsack.items import IntArray
from solvers.knapsack.rows.items import BoolArray, RowsKnapsack
from solvers.knapsack.rows.kernels.subtrees import (
    FAMILY,
    IDLE,
    LANES,
    MOST_ITEMS,
    MOST_ROWS,
    WARPS,
)
from solvers.knapsack.rows.node import UNDECIDED, Int8Array, Node, Rows
from solvers.problem import FloatArray

NODES = 32
"""Nodes of a search between two looks at which searches are idle."""

STEPS_PER_LAUNCH = 500_000
"""Elementary steps of a tree of the CPU in the time of a launch. An estimate, not measured yet."""

BLOCKS_PER_PROCESSOR = 8
"""Blocks of searches that a GPU's processor gets: 32 warps hide what one waits for."""

MOST_FRACTION, SCALED_BITS = 20, 52
"""Binary places of multipliers' products, and bits of the sum of all profits with them."""

PRODUCT_BITS = 55
"""Bits of a multiplier times a row's capacity or weights: 128 rows of that fit into 64."""

BOUND = 6
"""Place of the searches' bounds among the arrays of their state."""

STEP_BITS = 20
"""Bits of a subgradient's entries, so that the sum of their squares fits into 64."""


def suits(problem: RowsKnapsack) -> bool:
    """Whether a GPU can search a problem; it counts items in one row more."""
    return 0 < problem.num_rows < MOST_ROWS and 0 < problem.num_items <= MOST_ITEMS


def searches_for(device: Device) -> int:
    """Return how many searches a GPU holds at a time."""
    with device.activate():
        attributes = device.xp.cuda.Device().attributes
        return int(attributes["MultiProcessorCount"]) * BLOCKS_PER_PROCESSOR * WARPS


@dataclass(frozen=True, eq=False)
class Branch:
    """A node for a search to begin at.

    ``trail`` (k,) has its decisions, as the kernel takes them; ``multiplier`` (rows,) is in the
    kernel's units, as is ``bound``; ``count`` items are packed in all.
    """

    trail: IntArray
    multiplier: IntArray
    bound: int
    count: int


def forest_for(
    problem: RowsKnapsack, rows: Rows, dual: FloatArray, device: Device
) -> Callable[[], Forest] | None:
    """Return what makes a forest that fills a GPU; None without one, or where it cannot search."""
    if device.kind == "cpu" or not suits(problem):
        return None
    return lambda: Forest(problem, rows, dual, device, searches_for(device))


class Forest:
    """Searches on one device; they go on where they were at each call of :meth:`run`.

    Parameters
    ----------
    problem : RowsKnapsack
    rows : Rows
        The problem's rows and one more, which counts items.
    dual : (m,) float64 array
        Duals of the relaxation, per unit of capacity: items are packed in the order of profit over
        weight at these prices.
    device : Device
    searches : int
        How many at a time.
    """

    def __init__(
        self, problem: RowsKnapsack, rows: Rows, dual: FloatArray, device: Device, searches: int
    ) -> None:
        self._problem, self._device, self._searches = problem, device, searches
        self._scale = rows.scale
        cost = np.maximum(dual @ problem.weight, 1e-9)
        self._order = np.argsort(-problem.profit / cost, kind="stable")
        self._place = np.argsort(self._order)
        self._fraction = fraction_of(problem)
        column = rows.weight[self._order]
        largest = np.maximum(column.sum(axis=0), np.append(problem.capacity, 1)).clip(1)
        self._ceiling = 2**PRODUCT_BITS // largest
        n, m = column.shape
        excess = np.array([max(0, int(size).bit_length() - STEP_BITS) for size in largest])
        self._waiting: list[Branch] = []
        self._bounds = np.full(searches, IDLE, dtype=np.int64)
        self.nodes = 0
        put = device.to_device
        with device.activate():
            self._given = [
                put(array)
                for array in (
                    np.ascontiguousarray(column.T).ravel(),
                    column.ravel(),
                    problem.profit[self._order] << self._fraction,
                    np.append(problem.capacity, 0),
                    self._ceiling,
                    excess.astype(np.int64),
                    2.0 ** -excess.astype(np.float64),
                )
            ]
            sizes = (1, 1, m, n, n, 1, 1, 1)
            self._state = [put(np.zeros(searches * size, dtype=np.int64)) for size in sizes]
            self._state[BOUND] = put(self._bounds)
            self._champion = put(np.zeros(searches * LANES, dtype=np.int64))
            self._visited = put(np.zeros(searches, dtype=np.int64))
        self._sizes = (n, m)

    def add(self, node: Node) -> None:
        """Take over what is below a node."""
        items = np.flatnonzero(node.value != UNDECIDED)
        choice = node.value[items].astype(np.int64)
        unit = float(2**self._fraction)
        price = np.clip(np.rint(node.dual * self._scale * unit), -self._ceiling, self._ceiling)
        multiplier = price.astype(np.int64)
        multiplier[:-1] = np.maximum(multiplier[:-1], 0)
        whole = int(min(np.floor(node.bound[0]), float(self._problem.profit.sum())))
        bound = ((whole + 1) << self._fraction) - 1
        trail = 4 * self._place[items] + 2 * choice
        count = int(node.residual[-1]) + int(choice.sum())
        self._waiting.append(Branch(trail, multiplier, bound, count))

    @property
    def bound(self) -> int:
        """A bound on what the searches may still find; below zero when they are done."""
        waiting = max((branch.bound for branch in self._waiting), default=IDLE)
        return max(waiting, int(self._bounds.max())) >> self._fraction

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to search."""
        return not self._waiting and bool((self._bounds == IDLE).all())

    @property
    def has_room(self) -> bool:
        """Whether most searches are idle."""
        busy = int((self._bounds != IDLE).sum()) + len(self._waiting)
        return 2 * busy < self._searches

    def run(self, target: int, work: int, stop: Int8Array) -> BoolArray | None:
        """Go on for about so many elementary steps of a tree; end where ``stop[0]`` is set.

        Return a packing worth ``target`` or more, if one was found.
        """
        best: BoolArray | None = None
        with self._device.activate():
            for _ in range(max(1, work // STEPS_PER_LAUNCH)):
                if stop[0] != 0 or self.is_done:
                    break
                self._begin(target)
                found = self._grow(target)
                if found is not None:
                    best, target = found, int(self._problem.profit[found].sum()) + 1
        return best

    def _begin(self, target: int) -> None:
        """Let idle searches begin at nodes that wait."""
        n, m = self._sizes
        least = target << self._fraction
        self._waiting = [branch for branch in self._waiting if branch.bound >= least]
        for s in np.flatnonzero(self._bounds == IDLE)[: len(self._waiting)]:
            branch = self._waiting.pop(0)
            k = branch.trail.size
            level = np.full(k, branch.bound, dtype=np.int64)
            values = ([branch.bound], [branch.count], branch.multiplier, branch.trail, level, [k])
            starts = (s, s, s * m, s * n, s * n, s, s)
            for array, start, value in zip(
                self._state[:-1], starts, (*values, [branch.bound]), strict=True
            ):
                put = self._device.to_device(np.asarray(value, dtype=np.int64))
                array[start : start + put.size] = put
            self._bounds[s] = branch.bound

    def _grow(self, target: int) -> BoolArray | None:
        """Make one launch, and give idle searches something to do; return a better packing."""
        host = self._device.to_host
        value = self._device.to_device(np.full(self._searches, target - 1, dtype=np.int64))
        *state, waits = self._state
        FAMILY["grow"](
            *self._given, *state, waits, value, self._champion, self._visited,
            self._searches, *self._sizes, NODES, self._fraction,
        )  # fmt: skip
        self.nodes += int(host(self._visited).sum())
        self._bounds = host(self._state[BOUND])
        values = host(value)
        self._share(host(waits))
        top = int(np.argmax(values))
        if values[top] < target:
            return None
        words = host(self._champion[top * LANES : (top + 1) * LANES])
        place = np.arange(self._order.size)
        packed = np.zeros(place.size, dtype=np.bool_)
        packed[self._order] = (words[place % LANES] >> (place // LANES)) & 1 == 1
        return packed

    def _share(self, waits: IntArray) -> None:
        """Give what waits in the searches with the best bounds to idle ones."""
        idle = np.flatnonzero(self._bounds == IDLE)[len(self._waiting) :]
        rich = np.flatnonzero(waits >= 0)
        rich = rich[np.argsort(-self._bounds[rich], kind="stable")]
        pairs = min(idle.size, rich.size)
        if pairs == 0:
            return
        giver, taker = rich[:pairs].astype(np.int64), idle[:pairs].astype(np.int64)
        put = self._device.to_device
        arrays: list[Any] = [put(giver), put(taker), *self._state]
        FAMILY["share"](*arrays, pairs, *self._sizes)
        self._bounds[taker] = self._bounds[giver]


def fraction_of(problem: RowsKnapsack) -> int:
    """Return the binary places that the kernel's profits get."""
    bits = int(problem.profit.sum()).bit_length()
    return max(0, min(MOST_FRACTION, SCALED_BITS - bits))
