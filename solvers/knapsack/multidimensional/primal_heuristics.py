"""Searches for packings beside the trees: tabu searches, walkers on ladders, and breeding.

A problem that is proven in a moment needs little of them. Where it takes longer, they get half of
the time and then more: best packings of problems with 500 items are found long before they are
proven to be best, if ever, and a search that is stopped is as good as its packing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.knapsack.multidimensional.items import BoolArray, RowsKnapsack
from solvers.knapsack.multidimensional.kernels.anneal import WARPS
from solvers.knapsack.multidimensional.memetic import Breeding
from solvers.knapsack.multidimensional.node import Int8Array
from solvers.knapsack.multidimensional.parallel_tempering import Ladders, suits
from solvers.knapsack.multidimensional.scaled import RUNGS
from solvers.knapsack.multidimensional.tabu_search import make_walk

Scout = Callable[[BoolArray, int, Int8Array], BoolArray | None]
"""Takes the best packing, its profit and a flag to stop; returns a better packing or None."""

FIRST_SCOUTS = 4
"""Tabu searches before anything else, one for each way to charge for capacity."""

BREEDINGS = 3
"""Searches at a time beside trees that take long, which combine what walkers find; each has a
ladder and good packings of its own. The more there are the later each of them gets somewhere, and
the more differ in what they find: of two on the same problem one took one second and one eleven."""

FOLLOWERS = 1
"""So many of them go on from the best packing that any search has found; the others know their own
only."""

TABU_SHARE = 4
"""One tabu search goes on beside these, for this part of the time of each."""

LADDERS = 2
"""Sets of ladders on a GPU."""

NEWCOMERS = 8
"""Packings of each set's walkers that are shared out among the breedings in a round."""

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
"""Blocks of walkers that a GPU's processor gets: 16 warps hide what one waits for."""

STEPS_PER_GPU_TRIAL = 4
"""Elementary steps of a tree in the time of one trial of each walker of a GPU, where a core for
each tree is there too. An estimate, not measured yet."""


class Scouts:
    """All searches beside the trees of one problem.

    Parameters
    ----------
    problem : RowsKnapsack
    dual, reduced : (m,), (n,) float64 arrays
        Duals per unit of capacity and reduced costs of the relaxation.
    bound : float
        That of the relaxation.
    device : Device
        A GPU gets ladders of its own; all else runs on the CPU.
    """

    def __init__(
        self,
        problem: RowsKnapsack,
        dual: FloatArray,
        reduced: FloatArray,
        bound: float,
        device: Device,
    ) -> None:
        self._problem = problem
        self._walk = make_walk(problem, dual, reduced)
        self._walks = 0
        self._data = (problem, dual, reduced, bound)
        self._device = device
        self._breedings: list[Breeding] | None = None
        self._ladders: list[Ladders] | None = None
        self._used = 0

    def first(self, work: int) -> list[Scout]:
        """Return searches to begin with, each of so many elementary steps."""
        return [self._tabu(work, brief=True) for _ in range(FIRST_SCOUTS)]

    def beside(self, work: int, spent: int, profit: int) -> list[Scout]:
        """Return searches to go on beside trees.

        Trees get ``work`` elementary steps each, and all together have had ``spent`` before; the
        best packing is worth ``profit``.
        """
        share = self._share(spent, profit) - self._used
        each = min(share // BREEDINGS, MOST_LONGER * work)
        if each < LEAST_WORK:  # not worth the start of a GPU either
            return [self._tabu(work, brief=True)]
        self._used += BREEDINGS * each
        if self._breedings is None:
            self._breedings = [
                Breeding(*self._data, seed, follows=seed < FOLLOWERS) for seed in range(BREEDINGS)
            ]
        found = [self._breed(breeding, each) for breeding in self._breedings]
        found.append(self._tabu(each // TABU_SHARE))
        if self._device.kind != "cuda" or not suits(self._problem):
            return found
        if self._ladders is None:
            self._ladders = self._set_up()
        newcomers = [x for ladders in self._ladders for x in ladders.best_seen(NEWCOMERS)]
        for number, breeding in enumerate(self._breedings):
            breeding.welcome(newcomers[number::BREEDINGS])
        return [*found, self._on_gpu(self._ladders, work)]

    def _share(self, spent: int, profit: int) -> int:
        """Return how many elementary steps to have used when trees have used so many."""
        problem, _, reduced, bound = self._data
        undecided = int((np.abs(reduced) <= bound - profit).sum())
        if undecided * problem.num_rows >= HOPELESS_ENTRIES:
            return spent + min(BONUS * spent, MOST_BONUS)
        late = max(spent - HOPELESS_STEPS, 0)
        return spent - PATIENCE + min(BONUS * late, MOST_BONUS)

    def _set_up(self) -> list[Ladders]:
        count = ladders_for(self._device)
        return [Ladders(*self._data, self._device, count, seed) for seed in range(LADDERS)]

    def _tabu(self, work: int, *, brief: bool = False) -> Scout:
        self._walks += 1
        number = self._walks - 1

        def run(x: BoolArray, profit: int, stop: Int8Array) -> BoolArray | None:
            return self._walk.run(number, x, profit, work, stop, brief=brief)

        return run

    def _breed(self, breeding: Breeding, work: int) -> Scout:
        def run(x: BoolArray, profit: int, stop: Int8Array) -> BoolArray | None:
            return breeding.run(x, profit, work, stop)

        return run

    def _on_gpu(self, sets: list[Ladders], work: int) -> Scout:
        """Return a search by all ladders of a GPU, one set after the other."""
        trials = work // (STEPS_PER_GPU_TRIAL * LADDERS)

        def run(x: BoolArray, profit: int, stop: Int8Array) -> BoolArray | None:
            best = None
            with self._device.activate():
                for ladders in sets:
                    found = ladders.run(x, profit, trials, stop)
                    if found is not None:
                        best, x = found, found
                        profit = int(self._problem.profit[found].sum())
            return best

        return run


def ladders_for(device: Device) -> int:
    """Return how many ladders a device holds."""
    if device.kind == "cpu":
        return 1
    with device.activate():
        attributes = device.xp.cuda.Device().attributes
        processors = int(attributes["MultiProcessorCount"])
    return max(1, processors * BLOCKS_PER_PROCESSOR * WARPS // RUNGS)
