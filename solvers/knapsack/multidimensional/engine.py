"""From a multidimensional knapsack problem to a proven packing.

1. Leave out what is decided beforehand; a single row left is a problem for the engine of those.
2. Pack greedily at the prices of the relaxation.
3. Open a sub-problem for each number of items that may be better.
4. Search growing cores of them: the items whose reduced costs are smallest, with the others as the
   relaxation has them, for packings.
5. Search the sub-problems to the end, several trees at a time; where trees run out, the highest
   open branch of another becomes one. Primal heuristics go on beside them.

The trees of a round share nothing, and what they found is compared in their order, so that the
answer does not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from solvers.core.device import Device, cpu, find_device
from solvers.core.machine import usable_cores
from solvers.core.progress import Progress
from solvers.knapsack.engine import Tell
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import Knapsack, Packing
from solvers.knapsack.multidimensional.items import (
    BoolArray,
    MultidimensionalKnapsack,
    Reduced,
    RelaxedKnapsack,
    reduce_problem,
)
from solvers.knapsack.multidimensional.primal_heuristics import PrimalHeuristics, greedy
from solvers.knapsack.multidimensional.tree import by_count, make_rows, root_node
from solvers.knapsack.multidimensional.worker_pool import Best, WorkerPool, highest_bound
from solvers.native.knapsack_multidimensional_tree import reoptimise

CORES = (10, 20, 30, 45)
"""Items of a core beyond the number of rows, from stage to stage; the best packings of randomly
drawn problems differ from the relaxation in about as many (Mansini, Speranza, "CORAL: an exact
algorithm for the multidimensional knapsack problem", 2012)."""

CORE_WORK = 2_000_000
"""Elementary steps for the first core of a sub-problem; each larger core gets twice as many."""


def solve_multidimensional(
    given: MultidimensionalKnapsack,
    progress: Progress,
    *,
    tell: Tell | None = None,
    threads: int = 0,
    device: Device | str = "cpu",
) -> Packing:
    """Solve a multidimensional 0/1 knapsack problem to proven optimality.

    Parameters
    ----------
    given : MultidimensionalKnapsack
    progress : Progress
        When it says stop, the best packing comes with a valid bound.
    tell : callable, optional
        Told the best profit and the bound now and then.
    threads : int
        CPU threads; 0 uses all cores. The answer is the same for any number.
    device : Device or str
        A GPU for replicas, beside the trees of the CPU, or the option of that name.
    """
    place, reduced = _device_of(device), reduce_problem(given)
    if reduced is None:
        return Packing(None, 0, 0, "Not even the lightest packing keeps the capacities.")
    problem = reduced.problem
    if problem.num_items == 0:
        return _back(given, reduced, np.zeros(0, dtype=np.bool_), 0, "reduction", 0)
    if problem.num_rows == 1:
        row = Knapsack.binary(problem.profit, problem.weight[0], int(problem.capacity[0]))
        packing = solve_knapsack(row, progress)
        assert packing.x is not None  # nothing packed is feasible
        x = packing.x.astype(np.bool_)
        return _back(given, reduced, x, packing.bound, f"one row: {packing.path}", packing.work)

    def report(profit: int, bound: int) -> None:
        if tell is not None:
            tell(reduced.profit_back(profit), reduced.profit_back(bound))

    best, bound, path, nodes = _search(problem, progress, report, threads or usable_cores(), place)
    return _back(given, reduced, best, bound, path, nodes)


def _back(
    given: MultidimensionalKnapsack,
    reduced: Reduced,
    x: BoolArray,
    bound: int,
    path: str,
    nodes: int,
) -> Packing:
    flags = reduced.packing_back(x)
    profit = int(given.profit[flags].sum())
    return Packing(flags, profit, reduced.profit_back(bound), path, nodes)


def _search(
    problem: MultidimensionalKnapsack,
    progress: Progress,
    report: Tell,
    threads: int,
    device: Device,
) -> tuple[BoolArray, int, str, int]:
    rows = make_rows(problem.profit, problem.weight)
    root = root_node(rows, problem.capacity)
    reoptimise(rows, root, 0)
    x = greedy(problem, root.dual * rows.scale)
    bound = int(root.bound[0])
    best = Best(problem, x, int(problem.profit[x].sum()), bound)
    report(best.profit, bound)
    if best.profit >= bound:
        return best.x, bound, "the relaxation's bound", 0
    dual = root.dual * rows.scale
    relaxed = RelaxedKnapsack(problem, dual, root.reduced, float(root.bound[0]))
    heuristics = PrimalHeuristics(relaxed, device)
    found = by_count(problem, best.profit + 1, progress)
    if found is None:
        return best.x, bound, "", 0
    best.bound = highest_bound([float(node.bound[0]) for node in found.nodes], best.profit)
    report(best.profit, best.bound)
    with ThreadPoolExecutor(threads) as pool:
        workers = WorkerPool(pool, progress, found, best, heuristics, report)
        nodes = sum(workers.cores(size, CORE_WORK << stage) for stage, size in enumerate(CORES))
        report(best.profit, best.bound)
        nodes += workers.to_the_end()
    return best.x, best.bound, "branch and bound by the number of items", nodes


def _device_of(wanted: Device | str) -> Device:
    """Return the place for replicas; a GPU has to be asked for, and 'auto' does not.

    It has replicas only. Searches below thousands of nodes at a time gained nothing on an H200: a
    proof with 60 items and 10 rows took 4.4 s and 250 million nodes where the trees alone needed
    0.5 s and 94,000, whose bounds are linear relaxations.
    """
    if isinstance(wanted, Device):
        return wanted
    return cpu() if wanted in ("auto", "cpu") else find_device(wanted)
