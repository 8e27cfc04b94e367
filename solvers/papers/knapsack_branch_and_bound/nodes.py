"""A list of nodes where it lives, what is done with it there, and where its nodes came from.

The history has two bits for each node of every level, and a packing is the way back along them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.kernels.family import Bound
from solvers.knapsack.efficiency import Ordered
from solvers.papers.knapsack_branch_and_bound.kernels import nodes as word
from solvers.papers.knapsack_branch_and_bound.kernels.nodes import FAMILY, tiles_of

FIRST_ROOM = 4096
"""Nodes for which there is room at the beginning."""

SPARE = 1.5
"""Room of a new list over what it has to hold, since the next one is mostly longer."""

NARROW = 2**31
"""Sums and products below this are kept in 32 bits."""

LONGEST = 2**30
"""Nodes of a list whose places, and those of its children, fit into 32 bits."""

LARGEST_KEY = 2.0**63
"""Keys below this sort nodes at once; beyond it their three numbers are compared in turn."""


@dataclass(frozen=True, eq=False)
class Step:
    """What ``gather`` noted of a level, and the places of those that merging kept, if it merged."""

    chunk_count: Any
    tile_place: Any
    kept: Any
    tiles: int
    order: Any = None

    @property
    def on_gpu(self) -> bool:
        """Whether the arrays are CuPy's."""
        return not isinstance(self.kept, np.ndarray)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(int(values.nbytes) for values in self._arrays().values())

    def on_host(self) -> Step:
        """Return the same with NumPy arrays."""
        if not self.on_gpu:
            return self
        return replace(self, **{name: values.get() for name, values in self._arrays().items()})

    def ancestor(self, node: int) -> tuple[int, bool]:
        """Return which node of the level before a node was or came from, and which of the two."""
        if self.order is not None:
            node = int(self.order[node])
        control = np.zeros(word.CONTROL_SIZE, dtype=self.chunk_count.dtype)
        control[word.AT] = node
        if self.on_gpu:
            import cupy

            there = cupy.asarray(control)
        else:
            there = control
        FAMILY["ancestor"](self.chunk_count, self.tile_place, self.kept, there, self.tiles)
        found = there.get() if self.on_gpu else there
        return int(found[word.AT]), bool(found[word.LEFT_OUT])

    def _arrays(self) -> dict[str, Any]:
        arrays = {
            "chunk_count": self.chunk_count,
            "tile_place": self.tile_place,
            "kept": self.kept,
            "order": self.order,
        }
        return {name: values for name, values in arrays.items() if values is not None}


class History:
    """The steps of all levels so far; on a GPU up to ``most_bytes``, beyond that on the host."""

    def __init__(self, most_bytes: float) -> None:
        self._most, self._held = most_bytes, 0
        self._steps: list[Step] = []

    def add(self, step: Step) -> None:
        """Note a level."""
        if step.on_gpu:
            if self._held + step.nbytes > self._most:
                step = step.on_host()
            else:
                self._held += step.nbytes
        self._steps.append(step)

    def left_out(self, level: int, node: int, count: int) -> npt.NDArray[np.bool_]:
        """Return which items the way to a new node of a level leaves out, of those up to its own.

        ``node`` counts behind the ``count`` old nodes of that level.
        """
        found = np.zeros(level + 1, dtype=np.bool_)
        found[level] = True
        node -= count
        for before in range(level - 1, -1, -1):
            node, found[before] = self._steps[before].ancestor(node)
        return found


def word_type(items: Ordered) -> Any:
    """Return the type that holds every sum and product of a tree."""
    product = int(items.weight.max(initial=1)) * (int(items.profit.max(initial=1)) + 1)
    largest = max(product, int(items.weight_before[-1]), int(items.profit_before[-1]))
    return np.int32 if max(largest, items.capacity) < NARROW - 1 else np.int64


class Nodes:
    """A list of nodes on one device; its arrays are NumPy's, or CuPy's on a GPU.

    Parameters
    ----------
    module : module
        ``numpy`` or ``cupy``.
    threads : int
        CPU threads of the twins; 0 means all.
    """

    def __init__(self, module: Any, items: Ordered, threads: int = 0) -> None:
        self.module, self.threads = module, threads
        self.count = 0
        self._items, self._word = items, word_type(items)
        too_heavy = items.capacity + 1
        lightest = np.minimum.accumulate(items.weight[::-1])[::-1]
        padded = ((items.profit, [0]), (items.weight, [too_heavy]), (lightest, [too_heavy] * 2))
        self._item_columns = tuple(
            module.asarray(np.concatenate(parts).astype(self._word)) for parts in padded
        )
        self._now, self._then = ([self._words(0)] * 3 for _ in range(2))
        self._control = self._words(word.CONTROL_SIZE)
        self._marked: tuple[Any, Any, Any] = (None, None, None)
        self._bound: dict[str, Bound] = {}

    @property
    def on_gpu(self) -> bool:
        """Whether the list lives on a GPU."""
        return self.module is not np

    def put(self, columns: list[npt.NDArray[np.int64]], best: int) -> None:
        """Make a list of given weights, profits and slack items; ``best`` is the best profit."""
        self.count = int(columns[0].size)
        self._now = [self._words(max(self.count, FIRST_ROOM)) for _ in range(3)]
        for mine, theirs in zip(self._now, columns, strict=True):
            mine[: self.count] = self.module.asarray(theirs.astype(self._word))
        control = np.zeros(word.CONTROL_SIZE, dtype=self._word)
        control[[word.CAPACITY, word.BEST, word.FOUND]] = self._items.capacity, best, best
        control[[word.FOUND_NODE, word.NODE, word.UPPER]] = word.NO_NODE, -1, -1
        self._control = self.module.asarray(control)

    def get(self) -> list[npt.NDArray[np.int64]]:
        """Return weights, profits and slack items as NumPy arrays."""
        return [self._host(column[: self.count]).astype(np.int64) for column in self._now]

    def branch(self, item: int) -> tuple[int, int, int]:
        """Branch on an item and bound the new nodes; the list itself stays what it is.

        Returns
        -------
        best, node : int
            The best profit now, and the place of the new node that has it among old and new ones,
            or -1 where it is not new.
        length : int
            Nodes that may still beat it.
        """
        tiles = tiles_of(self.count)
        self._marked = marked = (
            self._words(2 * tiles * word.WARPS),
            self._words(2 * tiles),
            self._words(2 * tiles * word.WARPS * word.ROUNDS),
        )
        columns = (*self._item_columns, *self._now)
        for kernel in ("expand", "recount"):
            self._call(kernel, *columns, *marked, self._control, tiles, self.count, item)
        self._call("places", marked[1], self._control, tiles)
        found = self._host(self._control)
        return int(found[word.BEST]), int(found[word.NODE]), int(found[word.LENGTH])

    def shrink(self, item: int, length: int, most: int) -> Step:
        """Keep those nodes, old ones before new ones; return where each came from.

        ``most`` is the largest room that may be taken for them.
        """
        if self._then[0].size < length:
            room = max(FIRST_ROOM, length, min(most, int(SPARE * length)))
            self._then = [self._words(0)] * 3  # let go of the old one first
            self._then = [self._words(room) for _ in range(3)]
        tiles, marked = tiles_of(self.count), self._marked
        columns = (*self._item_columns, *self._now, *marked, *self._then)
        self._call("gather", *columns, self._control, tiles, item)
        self._now, self._then = self._then, self._now
        self.count = length
        return Step(*marked, tiles)

    def merge(self) -> Any:
        """Keep one of several nodes of equal weight and slack item, the most profitable.

        They have the same items before them and the same room for those, so that the others cannot
        end better. Returns the places of those kept.
        """
        xp = self.module
        weight, profit, slack = (column[: self.count].astype(np.int64) for column in self._now)
        profits, weights = int(self._items.profit_before[-1]) + 1, self._items.capacity + 1
        if float(profits) * weights * (self._items.num_items + 1) < LARGEST_KEY:
            same = slack * weights + weight
            order = xp.argsort(same * profits + (profits - 1 - profit), kind="stable")
            same = same[order]
            differs = same[1:] != same[:-1]
        else:
            order = xp.lexsort(xp.stack([-profit, weight, slack]))
            weight, slack = weight[order], slack[order]
            differs = (weight[1:] != weight[:-1]) | (slack[1:] != slack[:-1])
        new = xp.ones(self.count, dtype=bool)
        new[1:] = differs
        kept = order[new]
        self.count = int(kept.size)
        self._now = [column[kept] for column in self._now]
        return kept.astype(np.int32)

    def largest_bound(self) -> int:
        """Return the largest upper bound of the list, or -1."""
        tiles = tiles_of(self.count)
        self._call(
            "largest_bound", *self._item_columns, *self._now, self._control, tiles, self.count
        )
        return int(self._host(self._control)[word.UPPER])

    def _call(self, kernel: str, *values: Any) -> None:
        """Run a kernel; on a GPU checks and compilation are done at its first launch only."""
        if not self.on_gpu:
            FAMILY[kernel](*values, threads=self.threads)
            return
        before = self._bound.get(kernel)
        if before is None:
            self._bound[kernel] = bound = FAMILY.bind(kernel, *values)
            bound()
            return
        declared = FAMILY.kernels[kernel]
        shape = declared.launch(declared.by_name(values))
        words = tuple(np.int32(v) if isinstance(v, int) else v for v in values)
        Bound(before.function, shape, words)()

    def _words(self, size: int) -> Any:
        return self.module.empty(size, dtype=self._word)

    def _host(self, values: Any) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = values.get() if self.on_gpu else values.copy()
        return found
