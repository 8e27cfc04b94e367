"""Threads that grow trees, with other searches beside them."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from solvers.core.progress import Progress
from solvers.knapsack.engine import LOOK, Tell
from solvers.knapsack.multidimensional.items import BoolArray, MultidimensionalKnapsack
from solvers.knapsack.multidimensional.primal_heuristics import PrimalHeuristics
from solvers.knapsack.multidimensional.tree import (
    Int8Array,
    Subproblems,
    Tree,
    copy_node,
    core_threshold,
    run_tree,
    split,
    steps_per_node,
)
from solvers.native.knapsack_multidimensional_tree import settle

TREES = 8
"""Trees that grow at a time, whatever the number of threads."""

FIRST_WORK = 1_000_000
"""Elementary steps of a tree in the first round: a few milliseconds."""

MOST_WORK = 50_000_000
"""Elementary steps of a tree in a round: a few tenths of a second. It doubles from round to round,
so that few steps are lost where a tree finds something that would have cut off others."""


@dataclass(eq=False)
class Best:
    """The best packing so far, and where news of it goes."""

    problem: MultidimensionalKnapsack
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


def highest_bound(bounds: list[float], profit: int) -> int:
    """Return the largest bound, rounded down; no packing is worth less than the one at hand."""
    return max(int(np.floor(max(bounds, default=0.0))), profit)


@dataclass(eq=False)
class WorkerPool:
    """Threads that grow trees."""

    _pool: ThreadPoolExecutor
    _progress: Progress
    _found: Subproblems
    _best: Best
    _heuristics: PrimalHeuristics
    _report: Tell

    def __post_init__(self) -> None:
        self._told = self._best.profit
        self._spent = 0

    def grow(self, trees: list[Tree], work: int) -> None:
        """Grow trees for so many elementary steps each, and keep the best that they found."""
        target = self._best.profit + 1
        stop: Int8Array = np.zeros(1, dtype=np.int8)
        best, rows, pool = self._best, self._found.rows, self._pool
        before = sum(tree.nodes for tree in trees)
        jobs: list[Future[BoolArray | None]] = [
            pool.submit(search, best.x, best.profit, stop)
            for search in self._heuristics.beside(work, self._spent, best.profit)
        ]
        jobs += [pool.submit(run_tree, rows, tree, target, work, stop) for tree in trees]
        running = set(jobs)
        while running:
            done, running = wait(running, LOOK)
            self._tell_of(done)
            if self._progress.should_stop() is not None:
                stop[0] = 1
        for job in jobs:
            packing = job.result()
            if packing is not None:
                best.improve(packing)
        nodes = sum(tree.nodes for tree in trees) - before
        self._spent += nodes * steps_per_node(rows)

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
            bounds = [tree.bound for tree in growing + waiting]
            best.bound = min(best.bound, highest_bound(bounds, best.profit))
            self._report(best.profit, best.bound)
            work = min(2 * work, MOST_WORK)
        return nodes
