"""From a multidimensional knapsack problem to a proven packing.

1. Leave out what is decided beforehand; a single row left is a problem for the engine of those.
2. Pack greedily at the prices of the relaxation, and improve by exchanges and tabu searches.
3. Open a sub-problem for each number of items that may be better.
4. Search growing cores of them: the items whose reduced costs are smallest, with the others as the
   relaxation has them, for packings.
5. Search the sub-problems to the end, several trees at a time; where trees run out, the highest
   open branch of another becomes one. Tabu searches and walkers go on beside them, on a GPU where
   one is given.

The trees of a round share nothing, and what they found is compared in their order, so that the
answer does not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from solvers.device import Device
from solvers.knapsack.items import Knapsack
from solvers.knapsack.rows.greedy import exchange, greedy
from solvers.knapsack.rows.items import (
    BoolArray,
    Reduced,
    RowsKnapsack,
    RowsPacking,
    reduce_rows,
)
from solvers.knapsack.rows.node import Int8Array, copy_node, make_rows, root_node
from solvers.knapsack.rows.relaxation import reoptimise
from solvers.knapsack.rows.scouts import Scouts, make_scouts
from solvers.knapsack.rows.subproblems import Subproblems, by_count, core_threshold
from solvers.knapsack.rows.tree import settle
from solvers.knapsack.rows.trees import Tree, run_tree, split
from solvers.knapsack.search import solve_knapsack
from solvers.progress import Progress

TREES = 8
"""Trees that grow at a time, whatever the number of threads."""

FIRST_WORK = 1_000_000
"""Elementary steps of a tree in the first round: a few milliseconds."""

MOST_WORK = 50_000_000
"""Elementary steps of a tree in a round: a few tenths of a second. It doubles from round to round,
so that few steps are lost where a tree finds something that would have cut off others. Trees of
this size are taken for some that go on for long."""

CORES = (10, 20, 30, 45)
"""Items of a core beyond the number of rows, from stage to stage; the best packings of randomly
drawn problems differ from the relaxation in about as many (Mansini, Speranza, "CORAL: an exact
algorithm for the multidimensional knapsack problem", 2012)."""

CORE_WORK = 2_000_000
"""Elementary steps for the first core of a sub-problem; each larger core gets twice as many."""

WALK_WORK = 3_000_000
"""Elementary steps of each tabu search before anything else: a few milliseconds."""

LOOK = 0.05
"""Seconds between two looks at the clock."""

Tell = Callable[[int, int], None]


@dataclass(eq=False)
class _Best:
    """The best packing so far, and where news of it goes."""

    problem: RowsKnapsack
    x: BoolArray
    profit: int
    bound: int

    def improve(self, x: BoolArray) -> bool:
        """Keep a packing if it is better; what rounding might have let through is refused."""
        profit = int(self.problem.profit[x].sum())
        if profit <= self.profit or not self.problem.fits(x):
            return False
        self.x, self.profit = x.copy(), profit
        return True


def solve_rows(
    given: RowsKnapsack,
    progress: Progress,
    *,
    tell: Tell | None = None,
    threads: int = 0,
    device: Device | None = None,
) -> RowsPacking:
    """Solve a multidimensional 0/1 knapsack problem to proven optimality.

    Parameters
    ----------
    given : RowsKnapsack
    progress : Progress
        When it says stop, the best packing comes with a valid bound.
    tell : callable, optional
        Told the best profit and the bound now and then.
    threads : int
        CPU threads; 0 uses all cores. The answer is the same for any number.
    device : Device, optional
        A GPU for walkers beside the trees, which stay on the CPU.
    """
    reduced = reduce_rows(given)
    if reduced is None:
        return RowsPacking(None, 0, 0, "a capacity below zero")
    problem = reduced.problem
    if problem.num_items == 0:
        return _back(given, reduced, np.zeros(0, dtype=np.bool_), 0, "reduction", 0)
    if problem.num_rows == 1:
        row = Knapsack.binary(problem.profit, problem.weight[0], int(problem.capacity[0]))
        packing = solve_knapsack(row, progress)
        assert packing.x is not None  # nothing packed is feasible
        x = packing.x.astype(np.bool_)
        return _back(given, reduced, x, packing.bound, f"one row: {packing.path}", packing.states)

    def report(profit: int, bound: int) -> None:
        if tell is not None:
            tell(reduced.profit_back(profit), reduced.profit_back(bound))

    best, bound, path, nodes = _search(problem, progress, report, threads or _cores(), device)
    return _back(given, reduced, best, bound, path, nodes)


def _back(
    given: RowsKnapsack, reduced: Reduced, x: BoolArray, bound: int, path: str, nodes: int
) -> RowsPacking:
    flags = reduced.packing_back(x)
    profit = int(given.profit[flags].sum())
    return RowsPacking(flags, profit, reduced.profit_back(bound), path, nodes)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _search(
    problem: RowsKnapsack,
    progress: Progress,
    report: Tell,
    threads: int,
    device: Device | None,
) -> tuple[BoolArray, int, str, int]:
    rows = make_rows(problem.profit, problem.weight)
    root = root_node(rows, problem.capacity)
    reoptimise(rows, root, 0)
    x = greedy(problem, root.dual * rows.scale)
    bound = int(root.bound[0])
    best = _Best(problem, x, int(problem.profit[x].sum()), bound)
    report(best.profit, bound)
    if best.profit >= bound:
        return best.x, bound, "the relaxation's bound", 0
    scouts = make_scouts(problem, root.dual * rows.scale, root.reduced, device)
    stop: Int8Array = np.zeros(1, dtype=np.int8)
    for scout in scouts.first(WALK_WORK):
        better = scout(best.x, best.profit, stop) if progress.should_stop() is None else None
        if better is not None:
            best.improve(exchange(problem, better))
    report(best.profit, bound)
    found = by_count(problem, best.profit + 1, progress)
    if found is None:
        return best.x, bound, "", 0
    best.bound = _highest([float(node.bound[0]) for node in found.nodes], best.profit)
    report(best.profit, best.bound)
    with ThreadPoolExecutor(threads) as pool:
        crew = _Crew(pool, progress, found, best, scouts, report)
        nodes = sum(crew.cores(size, CORE_WORK << stage) for stage, size in enumerate(CORES))
        report(best.profit, best.bound)
        nodes += crew.to_the_end()
    return best.x, best.bound, "branch and bound by the number of items", nodes


def _highest(bounds: list[float], profit: int) -> int:
    """Return the largest bound, rounded down; no packing is worth less than the one at hand."""
    return max(int(np.floor(max(bounds, default=0.0))), profit)


class _Crew:
    """Threads that grow trees."""

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        progress: Progress,
        found: Subproblems,
        best: _Best,
        scouts: Scouts,
        report: Tell,
    ) -> None:
        self._pool = pool
        self._progress = progress
        self._found = found
        self._best = best
        self._scouts = scouts
        self._report = report
        self._told = best.profit

    def grow(self, trees: list[Tree], work: int) -> None:
        """Grow trees for so many elementary steps each, and keep the best that they found."""
        target = self._best.profit + 1
        stop: Int8Array = np.zeros(1, dtype=np.int8)
        best = self._best
        jobs: list[Future[BoolArray | None]] = [
            self._pool.submit(run_tree, self._found.rows, tree, target, work, stop)
            for tree in trees
        ]
        for scout in self._scouts.beside(work, trees_take_long=work >= MOST_WORK):
            jobs.append(self._pool.submit(scout, best.x, best.profit, stop))
        running = set(jobs)
        while running:
            done, running = wait(running, LOOK)
            self._tell_of(done)
            if self._progress.should_stop() is not None:
                stop[0] = 1
        for job in jobs:
            packing = job.result()
            if packing is not None and best.improve(packing):
                best.improve(exchange(best.problem, packing))

    def _tell_of(self, done: set[Future[BoolArray | None]]) -> None:
        """Tell of a better packing at once; which one is kept depends on their order alone."""
        problem, profit = self._best.problem, self._best.profit
        for job in done:
            packing = job.result()
            if packing is not None and problem.fits(packing):
                profit = max(profit, int(problem.profit[packing].sum()))
        if profit > self._told:
            self._told = profit
            self._report(profit, max(profit, self._best.bound))

    def cores(self, size: int, work: int) -> int:
        """Search a core of each sub-problem; return the nodes."""
        trees = []
        rows = self._found.rows
        for node in self._found.nodes:
            if self._progress.should_stop() is not None or node.bound[0] < self._best.profit + 1:
                continue
            small = copy_node(node)
            threshold = core_threshold(node, size + self._best.problem.num_rows)
            settle(rows, small, int(np.ceil(node.bound[0] - threshold)))
            trees.append(Tree(small))
        self.grow(trees, work)
        return sum(tree.nodes for tree in trees)

    def to_the_end(self) -> int:
        """Search the sub-problems until nothing is open or time is up; return the nodes."""
        waiting = [Tree(node) for node in self._found.nodes]
        growing: list[Tree] = []
        work, nodes = FIRST_WORK, 0
        best = self._best
        while self._progress.should_stop() is None:
            waiting = [tree for tree in waiting if tree.bound >= best.profit + 1]
            while waiting and len(growing) < TREES:
                growing.append(waiting.pop(0))
            if not growing:
                best.bound = best.profit
                break
            while len(growing) < TREES:
                branch = split(self._found.rows, growing, best.profit + 1)
                if branch is None:
                    break
                growing.append(branch)
            before = sum(tree.nodes for tree in growing)
            self.grow(growing, work)
            nodes += sum(tree.nodes for tree in growing) - before
            growing = [tree for tree in growing if not tree.is_done]
            highest = _highest([tree.bound for tree in growing + waiting], best.profit)
            best.bound = min(best.bound, highest)
            self._report(best.profit, best.bound)
            work = min(2 * work, MOST_WORK)
        return nodes
