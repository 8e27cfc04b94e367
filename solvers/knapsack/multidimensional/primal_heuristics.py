"""Searches for packings beside the trees: tabu, parallel tempering, and memetic.

They begin with a greedy packing, by profit over priced weight, improved by exchanges. A problem
that is proven in a moment needs little of them. Where it takes longer, they get half of the time
and then more: best packings of problems with 500 items are found long before they are proven to be
best, if ever, and a search that is stopped is as good as its packing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.knapsack.items import IntArray
from solvers.knapsack.multidimensional.items import (
    BoolArray,
    MultidimensionalKnapsack,
    RelaxedKnapsack,
)
from solvers.knapsack.multidimensional.kernels.anneal import WARPS
from solvers.knapsack.multidimensional.memetic import MemeticSearch
from solvers.knapsack.multidimensional.parallel_tempering import RUNGS, ParallelTempering, suits
from solvers.knapsack.multidimensional.tree import Int8Array
from solvers.native.knapsack_multidimensional_tabu import tabu_search

# What a tabu search needs to know of a problem, and one run of it.


CHARGES = (0.95, 0.8, 0.98, 0.9)
"""Parts of the duals that are charged for capacity, from run to run: 0.95 and 0.98 were best on
problems of five rows, 0.8 and 0.95 on those of thirty."""

CORE, CORE_PER_ROW = 60, 2
"""Items that move: so many and so many for each row, those with the smallest reduced costs."""

LEAST_PRICE = 0.01
"""Price of a row's violation, as a part of the largest one, at least."""

MOVES_PER_ITEM = 1000
"""Moves of a brief run for each item that moves, at most; small problems are better
searched to the end."""

ENTRIES_PER_STEP = 10
"""Weights that a tabu search reads in the time of an elementary step of a tree."""


@dataclass(frozen=True, eq=False)
class TabuSearch:
    """Data of a search.

    Parameters
    ----------
    problem : MultidimensionalKnapsack
    dual : (m,) float64 array
        Per unit of capacity.
    items : (k,) int64 array
        Those that move.
    weight : (m, k) float64 array
        Their weights.
    """

    problem: MultidimensionalKnapsack
    dual: FloatArray
    items: IntArray
    weight: FloatArray

    def run(
        self,
        number: int,
        x: BoolArray,
        profit: int,
        work: int,
        stop: Int8Array,
        *,
        brief: bool = False,
    ) -> BoolArray | None:
        """Return a packing better than the (n,) flags ``x``, or None where none was found.

        ``number`` counts the runs: each has its own charge and random numbers. ``work`` is in
        elementary steps of a tree, less where the run is to be ``brief``.
        """
        problem = self.problem
        charge = CHARGES[number % len(CHARGES)]
        value = problem.profit[self.items].astype(np.float64)
        used = (self.dual[:, None] * self.weight).sum(axis=0)
        packing: Int8Array = x[self.items].astype(np.int8)
        others = x.copy()
        others[self.items] = False
        moves = ENTRIES_PER_STEP * work // self.weight.size
        best = tabu_search(
            self.weight,
            (problem.capacity - problem.weight[:, others].sum(axis=1)).astype(np.float64),
            np.maximum(self.dual, LEAST_PRICE * self.dual.max()),
            value - charge * used,
            value,
            packing,
            float(profit),
            min(moves, MOVES_PER_ITEM * self.items.size) if brief else moves,
            number,
            stop,
        )
        if best <= profit:
            return None
        others[self.items] = packing == 1
        return others


def prepare_tabu(root: RelaxedKnapsack) -> TabuSearch:
    """Return the data of tabu searches for a problem."""
    problem = root.problem
    order = np.argsort(np.abs(root.reduced), kind="stable")
    items = order[: CORE + CORE_PER_ROW * problem.num_rows]
    weight = np.ascontiguousarray(problem.weight[:, items]).astype(np.float64)
    return TabuSearch(problem, root.dual, items, weight)


MOST_ROUNDS = 100
"""Improving exchanges after which the rest is left to the search."""

MOST_CHECKS = 500_000_000
"""Comparisons of a pair of items in a row after which it is too: less than a second."""

FIRST_TABU_SEARCHES = 4
"""Tabu searches before anything else, one for each way to charge for capacity."""

MEMETIC_SEARCHES = 3
"""Searches at a time beside trees that take long, which combine what replicas find; each has
replicas and good packings of its own. The more there are the later each of them gets somewhere, and
the more differ in what they find: of two on the same problem one took one second and one eleven."""

FOLLOWERS = 1
"""So many of them go on from the best packing that any search has found; the others know their own
only."""

TABU_SHARE = 4
"""One tabu search goes on beside these, for this part of the time of each."""

TEMPERINGS = 2
"""Parallel temperings on a GPU."""

NEWCOMERS = 8
"""Packings of each one's replicas that are shared out among the memetic searches in a round."""

MOST_LONGER = 8
"""How much longer than a tree each of these goes on in a round, at most: together they take about
three times as long as the eight trees then."""

LEAST_WORK = 1_000_000
"""Elementary steps below which these are not worth their set-up."""

PATIENCE = 100_000_000
"""Elementary steps of all trees before these searches begin: about half a second of a core. Then
they get as much time as trees have had since."""

HOPELESS_ENTRIES = 1_500
"""Rows times items that reduced costs leave undecided, from which a proof is hardly hoped for: of
published problems, those with 5 rows and 250 items had some 600 and took seconds, 5 rows and 500
items 800, 10 rows and 100 items 1,000 and seconds again, 10 rows and 250 items 2,000 and hours."""

HOPELESS_STEPS = 2_000_000_000
"""Elementary steps of all trees, some ten seconds of a core, after which it is not either."""

BONUS, MOST_BONUS = 3, 20_000_000_000
"""Where a proof is hardly hoped for, these searches get so many times as much again, and so much at
most: a proof that takes hours loses minutes."""

BLOCKS_PER_PROCESSOR = 2
"""Blocks of replicas that a GPU's processor gets: 16 warps hide what one waits for."""

STEPS_PER_GPU_TRIAL = 4
"""Elementary steps of a tree in the time of one trial of each replica of a GPU, where a core for
each tree is there too. An estimate, not measured yet."""


def greedy(problem: MultidimensionalKnapsack, dual: FloatArray) -> BoolArray:
    """Pack items by profit over weight at the prices of ``dual`` (m,), as long as they fit.

    Rows that have no price count by their share of the capacity.
    """
    share = problem.weight / np.maximum(problem.capacity, 1)[:, None]
    cost = dual @ problem.weight + 1e-9 * problem.profit.max(initial=1) * share.sum(axis=0)
    order = np.argsort(-problem.profit / np.maximum(cost, 1e-300), kind="stable")
    x = np.zeros(problem.num_items, dtype=np.bool_)
    left = problem.capacity.copy()
    for item in order:
        if (problem.weight[:, item] <= left).all():
            x[item] = True
            left -= problem.weight[:, item]
    return exchange(problem, x)


def exchange(problem: MultidimensionalKnapsack, x: BoolArray) -> BoolArray:
    """Add items, or exchange one for another, as long as that is worth more."""
    x = x.copy()
    packed = int(x.sum())
    checks = max(packed * (x.size - packed) * problem.num_rows, 1)
    for _ in range(min(MOST_ROUNDS, 1 + MOST_CHECKS // checks)):
        left = problem.capacity - problem.weight[:, x].sum(axis=1)
        outside, inside = np.flatnonzero(~x), np.flatnonzero(x)
        fits = (problem.weight[:, outside] <= left[:, None]).all(axis=0)
        if fits.any():
            candidates = outside[fits]
            x[candidates[np.argmax(problem.profit[candidates])]] = True
            continue
        gain = problem.profit[outside][:, None] - problem.profit[inside][None, :]
        for row in range(problem.num_rows):
            weight = problem.weight[row]
            heavy = weight[outside][:, None] - weight[inside][None, :] > left[row]
            gain[heavy] = 0
        if gain.size == 0 or gain.max() <= 0:
            break
        add, drop = np.unravel_index(int(np.argmax(gain)), gain.shape)
        x[outside[add]], x[inside[drop]] = True, False
    return x


PackingSearch = Callable[[BoolArray, int, Int8Array], BoolArray | None]
"""Takes the best packing, its profit and a flag to stop; returns a better packing or None."""


class PrimalHeuristics:
    """All searches beside the trees of one problem.

    Parameters
    ----------
    root : RelaxedKnapsack
    device : Device
        A GPU gets parallel temperings of its own; all else runs on the CPU.
    """

    def __init__(
        self,
        root: RelaxedKnapsack,
        device: Device,
    ) -> None:
        self._root, self._problem = root, root.problem
        self._prepared = prepare_tabu(root)
        self._tabu_runs = 0
        self._device = device
        self._memetics: list[MemeticSearch] | None = None
        self._tempering: list[ParallelTempering] | None = None
        self._used = 0

    def first(self, work: int) -> list[PackingSearch]:
        """Return searches to begin with, each of so many elementary steps."""
        return [self._tabu(work, brief=True) for _ in range(FIRST_TABU_SEARCHES)]

    def beside(self, work: int, spent: int, profit: int) -> list[PackingSearch]:
        """Return searches to go on beside trees.

        Trees get ``work`` elementary steps each, and all together have had ``spent`` before; the
        best packing is worth ``profit``.
        """
        share = self._share(spent, profit) - self._used
        each = min(share // MEMETIC_SEARCHES, MOST_LONGER * work)
        if each < LEAST_WORK:  # not worth the start of a GPU either
            return [self._tabu(work, brief=True)]
        self._used += MEMETIC_SEARCHES * each
        if self._memetics is None:
            self._memetics = [
                MemeticSearch(self._root, seed, follows=seed < FOLLOWERS)
                for seed in range(MEMETIC_SEARCHES)
            ]
        found = [self._memetic(memetic, each) for memetic in self._memetics]
        found.append(self._tabu(each // TABU_SHARE))
        if self._device.kind != "cuda" or not suits(self._problem):
            return found
        if self._tempering is None:
            self._tempering = self._set_up()
        newcomers = [x for tempering in self._tempering for x in tempering.best_seen(NEWCOMERS)]
        for number, memetic in enumerate(self._memetics):
            memetic.welcome(newcomers[number::MEMETIC_SEARCHES])
        return [*found, self._on_gpu(self._tempering, work)]

    def _share(self, spent: int, profit: int) -> int:
        """Return how many elementary steps to have used when trees have used so many."""
        undecided = int((np.abs(self._root.reduced) <= self._root.bound - profit).sum())
        if undecided * self._problem.num_rows >= HOPELESS_ENTRIES:
            return spent + min(BONUS * spent, MOST_BONUS)
        late = max(spent - HOPELESS_STEPS, 0)
        return spent - PATIENCE + min(BONUS * late, MOST_BONUS)

    def _set_up(self) -> list[ParallelTempering]:
        count = replica_sets(self._device)
        return [
            ParallelTempering(self._root, self._device, count, seed) for seed in range(TEMPERINGS)
        ]

    def _tabu(self, work: int, *, brief: bool = False) -> PackingSearch:
        self._tabu_runs += 1
        number = self._tabu_runs - 1

        def run(x: BoolArray, profit: int, stop: Int8Array) -> BoolArray | None:
            return self._prepared.run(number, x, profit, work, stop, brief=brief)

        return run

    def _memetic(self, memetic: MemeticSearch, work: int) -> PackingSearch:
        def run(x: BoolArray, profit: int, stop: Int8Array) -> BoolArray | None:
            return memetic.run(x, profit, work, stop)

        return run

    def _on_gpu(self, sets: list[ParallelTempering], work: int) -> PackingSearch:
        """Return a search by all parallel temperings of a GPU, one after the other."""
        trials = work // (STEPS_PER_GPU_TRIAL * TEMPERINGS)

        def run(x: BoolArray, profit: int, stop: Int8Array) -> BoolArray | None:
            best = None
            with self._device.activate():
                for tempering in sets:
                    found = tempering.run(x, profit, trials, stop)
                    if found is not None:
                        best, x = found, found
                        profit = int(self._problem.profit[found].sum())
            return best

        return run


def replica_sets(device: Device) -> int:
    """Return how many sets of replicas a device holds."""
    if device.kind == "cpu":
        return 1
    with device.activate():
        attributes = device.xp.cuda.Device().attributes
        processors = int(attributes["MultiProcessorCount"])
    return max(1, processors * BLOCKS_PER_PROCESSOR * WARPS // RUNGS)
