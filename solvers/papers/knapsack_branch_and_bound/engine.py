"""The entry point: a knapsack problem solved by breadth-first branch and bound.

The tree goes level by level through the items, on the CPU while the list is short and on the GPU
when it is long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device, cpu, find_device
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.dp.core import flags_to_copies
from solvers.knapsack.efficiency import SAFE_PRODUCT, Ordered, by_efficiency
from solvers.knapsack.engine import Tell, solve_model
from solvers.knapsack.items import Knapsack, Packing, normal_form
from solvers.knapsack.kinds import KINDS
from solvers.knapsack.recognise import recognise
from solvers.native.knapsack_heuristics import pack_greedily
from solvers.papers.knapsack_branch_and_bound.nodes import LONGEST, SPARE, History, Nodes, word_type

SWITCH = 5000
"""Nodes from which the GPU treats the list: the paper's figure, section 3.2.2."""

BACK_SHARE = 0.25
"""Part of that below which the list goes back to the CPU, so that it does not go to and fro."""

MERGE_FROM = 1024
"""Nodes from which equal ones are looked for, each time the list has doubled."""

MEMORY_SHARE = 0.5
"""Part of a GPU's memory that lists may take."""

HISTORY_SHARE = 0.2
"""Part of a GPU's memory for where nodes came from; what is beyond goes to the host."""

MEMORY_SHARE_CPU = 0.25
"""Part of the host's memory that lists may take."""

MOST_NODES_CPU = 500_000_000
"""Nodes that a list on the CPU may have, however much memory there is."""

ENGINE = "knapsack-branch-and-bound"


WORDS_PER_NODE = 3 * 2 * SPARE
"""Of two lists, with the room they may have to spare."""


@dataclass(frozen=True)
class TreeSettings:
    """How the tree is treated."""

    switch: int = SWITCH
    """Nodes from which the GPU is used."""
    merged: bool = True
    """Whether equal nodes are merged; the paper does not, and its lists grow beyond any memory."""
    most_nodes: int = 0
    """Nodes that a list may have; 0 means what the memory allows."""


DEFAULT = TreeSettings()
"""Merged, with the paper's switch."""


@dataclass(frozen=True, eq=False)
class TreeResult:
    """Flags of the best packing's items, its profit, a valid bound, and what it took.

    ``complete`` is False where time or memory ended the search; ``nodes`` sums the lengths of all
    lists, ``longest`` is that of the longest, ``on_gpu`` the number of levels treated there.
    """

    flags: npt.NDArray[np.bool_]
    profit: int
    bound: int
    complete: bool
    nodes: int
    longest: int
    on_gpu: int


def branch_and_bound(
    items: Ordered,
    device: Device,
    should_stop: Callable[[], bool],
    settings: TreeSettings = DEFAULT,
    *,
    threads: int = 0,
) -> TreeResult:
    """Solve a 0/1 knapsack problem breadth first.

    Raises
    ------
    EngineError
        A product of weight and profit leaves 64 bits behind.
    """
    largest = float(items.weight.max(initial=1)) * (float(items.profit.max(initial=1)) + 1.0)
    if largest >= SAFE_PRODUCT:
        raise EngineError(
            "Branch and bound as published multiplies weights and profits in 64 bits, which these "
            "are too large for; method='knapsack' treats them exactly."
        )
    with device.activate():
        return _Tree(items, device, settings, threads).run(should_stop)


class _Tree:
    """One run; the history has a step for each level done."""

    def __init__(
        self, items: Ordered, device: Device, settings: TreeSettings, threads: int
    ) -> None:
        self._items, self._device, self._settings = items, device, settings
        self._threads = threads
        self._history = History(HISTORY_SHARE * device.memory_total)
        self._best_at = (-1, -1, 0)
        self._merged_at = MERGE_FROM // 2
        flags = np.zeros(items.num_items, dtype=np.bool_)
        self._best = int(pack_greedily(items.profit, items.weight, items.capacity, flags))
        b = items.break_item
        root = (items.weight_before[b], items.profit_before[b], b)
        columns = [np.array([value], dtype=np.int64) for value in root]
        if items.dantzig_bound <= self._best:
            columns = [column[:0] for column in columns]
        self._nodes = Nodes(np, items, threads)
        self._nodes.put(columns, self._best)

    def run(self, should_stop: Callable[[], bool]) -> TreeResult:
        total, longest, on_gpu, complete = 0, 1, 0, True
        for item in range(self._items.num_items):
            if not self._nodes.count:
                break
            if should_stop() or not self._advance(item):
                complete = False
                break
            total += self._nodes.count
            longest = max(longest, self._nodes.count)
            on_gpu += self._nodes.on_gpu
        bound = self._best if complete else max(self._best, self._nodes.largest_bound())
        return TreeResult(self._packing(), self._best, bound, complete, total, longest, on_gpu)

    def _advance(self, item: int) -> bool:
        """Treat a level; False if memory does not suffice, and the list is what it was."""
        try:
            self._settle()
            return self._level(item)
        except Exception as error:
            if not self._device.is_out_of_memory(error):
                raise
            return False

    def _level(self, item: int) -> bool:
        nodes, before = self._nodes, self._nodes.count
        self._best, node, length = nodes.branch(item)
        if node >= 0:
            self._best_at = (item, node, before)
        most = self._settings.most_nodes or self._most_nodes()
        if length > most:
            return False
        step = nodes.shrink(item, length, most)
        if self._settings.merged and length >= 2 * self._merged_at:
            step = replace(step, order=nodes.merge())
            self._merged_at = max(nodes.count, MERGE_FROM // 2)
        self._history.add(step)
        return True

    def _settle(self) -> None:
        """Bring the list where it belongs."""
        nodes, switch = self._nodes, self._settings.switch
        if self._device.kind != "cuda":
            return
        to_gpu = nodes.count > (BACK_SHARE * switch if nodes.on_gpu else switch)
        if to_gpu == nodes.on_gpu:
            return
        self._nodes = Nodes(self._device.xp if to_gpu else np, self._items, self._threads)
        self._nodes.put(nodes.get(), self._best)

    def _most_nodes(self) -> int:
        node = WORDS_PER_NODE * np.dtype(word_type(self._items)).itemsize
        if self._nodes.on_gpu:
            return min(LONGEST, int(MEMORY_SHARE * self._device.memory_total / node))
        return min(MOST_NODES_CPU, int(MEMORY_SHARE_CPU * cpu().memory_total / node))

    def _packing(self) -> npt.NDArray[np.bool_]:
        """Follow the best node back to the root, and fill up greedily from there."""
        items = self._items
        last, node, before = self._best_at
        considered = np.ones(items.num_items, dtype=np.bool_)
        if last >= 0:
            considered[: last + 1] = ~self._history.left_out(last, node, before)
        chosen = np.flatnonzero(considered)
        flags = np.zeros(chosen.size, dtype=np.bool_)
        pack_greedily(items.profit[chosen], items.weight[chosen], items.capacity, flags)
        packed = np.zeros(items.num_items, dtype=np.bool_)
        packed[chosen[flags]] = True
        return packed


def solve(
    problem: Problem, options: EngineOptions | None = None, progress: Progress | None = None
) -> Outcome:
    """Solve a model that :func:`~solvers.knapsack.recognise` takes for a knapsack problem.

    Parameters
    ----------
    options : EngineOptions, optional
        ``device`` and ``threads`` are read.
    progress : Progress, optional
        Keeps the time limit; when it is up, the best packing comes with a valid bound.

    Returns
    -------
    Outcome
        In the minimised sense, not yet verified.

    Raises
    ------
    EngineError
        The model is not a knapsack problem, or its numbers are too large.
    """
    given = EngineOptions() if options is None else options
    kept = Progress() if progress is None else progress

    model = recognise(problem)
    if model is None:
        raise EngineError("This model is not a knapsack problem in whole numbers.")

    def pack(_: Tell) -> Packing:
        device = find_device(given.device)
        return solve_by_tree(model.knapsack, device, kept, threads=given.threads)

    return solve_model(problem, model, replace(KINDS[0], engine=ENGINE), kept, pack)


def solve_by_tree(
    given: Knapsack,
    device: Device | None = None,
    progress: Progress | None = None,
    settings: TreeSettings = DEFAULT,
    *,
    threads: int = 0,
) -> Packing:
    """Find a packing of largest profit as the paper does, and prove that it is one.

    Parameters
    ----------
    device : Device, optional
        A GPU for long lists, or the CPU alone.
    progress : Progress, optional
        Keeps the time limit; when it is up, or memory is, the best packing so far comes with a
        valid bound.
    threads : int
        CPU threads; 0 means all.

    Raises
    ------
    EngineError
        A product of weight and profit leaves 64 bits behind.
    """
    stopping = Progress() if progress is None else progress
    form = normal_form(given)
    if not form.is_feasible:
        return Packing(None, 0, 0, "Not even the lightest packing keeps the capacity.")
    items = by_efficiency(form.knapsack)
    found = branch_and_bound(
        items,
        cpu() if device is None else device,
        lambda: stopping.should_stop() is not None,
        settings,
        threads=threads,
    )
    x = form.packing_back(flags_to_copies(items, found.flags, form.knapsack.num_items))
    packed, weight = given.value_of(x)
    if weight > given.capacity or packed != form.profit_back(found.profit):
        raise EngineError(f"A packing of weight {weight} was said to be worth {packed}.")
    path = f"breadth-first branch and bound, {found.on_gpu} levels on the GPU"
    return Packing(x, packed, form.profit_back(found.bound), path, found.nodes)
