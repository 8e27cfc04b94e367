"""Searches for packings beside the trees: memetic on the CPU, parallel tempering on a GPU.

They begin with a greedy packing, by profit over priced weight. A problem that is proven in a moment
needs little of them. Where it takes longer, they get half of the time and then more: best packings
of problems with 500 items are found long before they are proven to be best, if ever, and a search
that is stopped is as good as its packing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.knapsack.multidimensional.items import (
    BoolArray,
    MultidimensionalKnapsack,
    RelaxedKnapsack,
)
from solvers.knapsack.multidimensional.kernels.anneal import WARPS
from solvers.knapsack.multidimensional.memetic import MemeticSearch
from solvers.knapsack.multidimensional.parallel_tempering import RUNGS, ParallelTempering, suits
from solvers.knapsack.multidimensional.tree import Int8Array

MEMETIC_SEARCHES = 3
"""Searches at a time beside trees that take long, which combine what replicas find; each has
replicas and good packings of its own. The more there are the later each of them gets somewhere, and
the more differ in what they find: of two on the same problem one took one second and one eleven."""

FOLLOWERS = 1
"""So many of them go on from the best packing that any search has found; the others know their own
only."""

TEMPERINGS = 2
"""Parallel temperings on a GPU, which take turns, each with a seed of its own. One and four leave
the same profit on three drawn problems after three seconds of an H100."""

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
each tree is there too. With it replicas on an H200 found better packings of four of five published
problems in nine seconds, by 27 to 75."""


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
        self._device = device
        self._memetics: list[MemeticSearch] | None = None
        self._tempering: list[ParallelTempering] | None = None
        self._used = 0

    def beside(self, work: int, spent: int, profit: int) -> list[PackingSearch]:
        """Return searches to go on beside trees.

        Trees get ``work`` elementary steps each, and all together have had ``spent`` before; the
        best packing is worth ``profit``.
        """
        share = self._share(spent, profit) - self._used
        each = min(share // MEMETIC_SEARCHES, MOST_LONGER * work)
        if each < LEAST_WORK:  # not worth the start of a GPU either
            return []
        self._used += MEMETIC_SEARCHES * each
        if self._memetics is None:
            self._memetics = [
                MemeticSearch(self._root, seed, follows=seed < FOLLOWERS)
                for seed in range(MEMETIC_SEARCHES)
            ]
        found = [self._memetic(memetic, each) for memetic in self._memetics]
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
