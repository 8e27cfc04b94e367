"""Parallel tempering: replicas of one problem at several temperatures, which they exchange.

A cold replica looks closely at a few packings, a hot one goes far; every now and then two of
neighbouring temperatures change places, with the probability that leaves the distribution of each
temperature as it is (Hukushima and Nemoto, "Exchange Monte Carlo method and application to spin
glass simulations", 1996, equation 8). So good packings sink to the cold end, and the others go
on elsewhere. On a published problem with 30 rows and 500 items, about two seconds of a core ended
192 below the best known value, annealing 192 to 218, and tabu search 257 to 346.

Only items with small reduced costs move; energies are reduced costs with prices on violation, all
in small whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.knapsack.items import IntArray
from solvers.knapsack.multidimensional.items import (
    BoolArray,
    MultidimensionalKnapsack,
    RelaxedKnapsack,
)
from solvers.knapsack.multidimensional.kernels.anneal import (
    FAMILY,
    FRACTION_BITS,
    LANES,
    MOST_LANE_ROWS,
    MOST_MOVABLE,
    TABLE,
)
from solvers.knapsack.multidimensional.tree import Int8Array, Int32Array

RUNGS = 6
"""Temperatures of a ladder: neighbours change places in four of ten turns."""

PRICE_UNIT, MOST_WEIGHT = 2**22, 2**16
"""Largest worth or price of an item's weights after scaling, and largest weight: what the kernel
asks for, with room for rounding."""

LEAST_PRICE = 0.1
"""Price of a row's violation, as a part of the largest one, at least."""

TRIALS = 100_000
"""Trials of a replica between two exchanges: 4 milliseconds of a core."""

LIFE = 40
"""Turns after which replicas begin anew, with other items that move and in another setting: what is
not found by then is mostly not found in three times as many either."""

CHARGES, PENALTIES, MOVABLE = (0.9, 0.85, 0.95, 0.97), (1.0, 2.0, 4.0), (40, 130)
"""What settings are drawn from: each was best for some of the published problems, by chance mostly;
to ``MOVABLE`` items come as many as there are rows."""

COLDEST, HOTTEST = 1 / 300, 1 / 50
"""Temperatures as parts of what the best packing misses to the relaxation's bound."""

NONE = -1.0
"""Value of a replica that has not seen a packing that fits."""


@dataclass(frozen=True)
class Setting:
    """How replicas see a problem.

    ``charge`` of the duals' price is charged for capacity, ``penalty`` times it for violation;
    temperatures go from ``coldest`` to ``hottest``, in units of profit; ``movable`` items move.
    """

    charge: float
    penalty: float
    coldest: float
    hottest: float
    movable: int


@dataclass(frozen=True, eq=False)
class Scaled:
    """A problem of the items that move, as the kernel takes it, and temperatures (rungs,)."""

    weight: Int32Array
    price: Int32Array
    worth: Int32Array
    profit: FloatArray
    capacity: Int32Array
    heat: Int32Array

    def arrays(self) -> tuple[Any, ...]:
        """Return the kernel's first arguments."""
        weight = np.ascontiguousarray(self.weight).ravel()
        table = exponential_draws()
        return (weight, self.price, self.worth, self.profit, self.capacity, table)


def scaled(
    problem: MultidimensionalKnapsack,
    dual: FloatArray,
    setting: Setting,
    movable: IntArray,
    x: BoolArray,
) -> Scaled:
    """Return the items ``movable`` as a problem of small whole numbers; others stay as in ``x``.

    Weights that are too large are rounded up and capacities down: what fits here, fits.
    """
    fixed = x.copy()
    fixed[movable] = False
    room = problem.capacity - problem.weight[:, fixed].sum(axis=1)
    unit = -(-problem.weight[:, movable].max(axis=1, initial=1) // MOST_WEIGHT)
    unit = np.maximum(unit, 1)
    weight = -(-problem.weight[:, movable] // unit[:, None])
    capacity = np.minimum(room // unit, weight.sum(axis=1))
    rate = np.maximum(dual, LEAST_PRICE * dual.max()) * setting.penalty
    worth = problem.profit[movable] - setting.charge * (dual @ problem.weight[:, movable])
    dearest = float((rate * unit * weight.max(axis=1, initial=1)).sum())
    scale = PRICE_UNIT / max(dearest, float(np.abs(worth).max(initial=1.0)))
    heat = scale * np.geomspace(setting.coldest, setting.hottest, RUNGS)
    return Scaled(
        np.append(weight.T, np.zeros((1, problem.num_rows), dtype=np.int64), axis=0).astype(
            np.int32
        ),
        np.maximum(np.round(scale * rate * unit), 1.0).astype(np.int32),
        np.append(np.round(scale * worth), 0.0).astype(np.int32),
        np.append(problem.profit[movable], 0).astype(np.float64),
        capacity.astype(np.int32),
        np.maximum(np.round(heat), 1.0).astype(np.int32),
    )


def words_of(flags: BoolArray) -> Int32Array:
    """Return flags as the kernel's 32 words: item j is bit j / 32 of word j % 32."""
    bits = np.zeros(-(-flags.size // LANES) * LANES, dtype=np.int64)
    bits[: flags.size] = flags
    by_bit = bits.reshape(-1, LANES)
    words: Int32Array = (by_bit << np.arange(by_bit.shape[0])[:, None]).sum(axis=0).astype(np.int32)
    return words


def flags_of(words: Int32Array, items: int) -> BoolArray:
    """Return the flags of so many items."""
    item = np.arange(items)
    return np.asarray((words[item % LANES] >> (item // LANES)) & 1, dtype=np.bool_)


def exponential_draws() -> Int32Array:
    """Return equally likely draws from the exponential distribution, in units of 2^-16."""
    middle = (np.arange(TABLE) + 0.5) / TABLE
    draws: Int32Array = np.round(-np.log(middle) * 2**FRACTION_BITS).astype(np.int32)
    return draws


def suits(problem: MultidimensionalKnapsack) -> bool:
    """Whether replicas can treat a problem."""
    return 0 < problem.num_rows <= MOST_LANE_ROWS and problem.num_items > 1


class ParallelTempering:
    """Sets of replicas on one device; they go on where they were at each call of :meth:`run`.

    Parameters
    ----------
    root : RelaxedKnapsack
    device : Device
    count : int
        Sets, each of as many replicas as there are temperatures.
    seed : int
    """

    def __init__(
        self,
        root: RelaxedKnapsack,
        device: Device,
        count: int = 1,
        seed: int = 0,
    ) -> None:
        self.root, self._problem = root, root.problem
        self.device, self._count, self._seed = device, count, seed
        self._random = np.random.default_rng(seed)
        self._turn = 0
        self._replicas: _Replicas | None = None

    def run(self, x: BoolArray, profit: int, trials: int, stop: Int8Array) -> BoolArray | None:
        """Let every replica make about so many trials; return a packing better than ``x``, if any.

        ``x`` (n,) flags are of the best packing known, which fits and is worth ``profit``. The
        trials end where ``stop[0]`` is set.
        """
        best: BoolArray | None = None
        for _ in range(max(1, trials // TRIALS)):
            if stop[0] != 0:
                break
            if self._replicas is None or self._turn % LIFE == 0:
                self._replicas = self._begin(x if best is None else best)
            found = self._replicas.take_turn(self._seed, self._turn, self._random)
            self._turn += 1
            value = int(self._problem.profit[found].sum()) if found is not None else profit
            if found is not None and value > profit and self._problem.fits(found):
                best, profit = found, value
        return best

    def begin_anew(self, x: BoolArray, turns: int, stop: Int8Array) -> BoolArray | None:
        """Return the best packing that new replicas see in so many turns, at most ``LIFE``.

        It fits, and is worth less than ``x`` (n,), a packing that fits, as often as not. None where
        they see none that fits, or ``stop[0]`` is set.
        """
        self._turn += -self._turn % LIFE
        replicas = self._begin(x)
        best: BoolArray | None = None
        for _ in range(turns):
            if stop[0] != 0:
                break
            best = replicas.take_turn(self._seed, self._turn, self._random)
            self._turn += 1
        return best if best is not None and self._problem.fits(best) else None

    def _begin(self, best: BoolArray) -> _Replicas:
        """Return replicas that begin at a packing.

        Items that do not move are as in the relaxation, or in every other life as in the best
        packing; from the second life on others of the items with small reduced costs move.
        """
        cost = np.abs(self.root.reduced)
        life = self._turn // LIFE
        if life:
            cost = cost * self._random.uniform(0.5, 1.5, cost.size)
        setting = self._setting(best)
        movable = np.sort(np.argsort(cost, kind="stable")[: setting.movable])
        x = self.root.reduced > 0.0
        x[movable] = False
        if life % 2 or not self._problem.fits(x):
            x = best
        return _Replicas(self, setting, movable, x)

    def _setting(self, best: BoolArray) -> Setting:
        """Draw a setting, with temperatures that suit what is missing to the bound."""
        gap = max(self.root.bound - float(self._problem.profit[best].sum()), 1.0)
        movable = int(self._random.integers(*MOVABLE)) + self._problem.num_rows
        return Setting(
            float(self._random.choice(CHARGES)),
            float(self._random.choice(PENALTIES)),
            COLDEST * gap,
            HOTTEST * gap,
            min(movable, MOST_MOVABLE),
        )

    def best_seen(self, most: int) -> list[BoolArray]:
        """Return so many different packings at most, the best first, of the replicas at hand.

        Each is the best that a replica has seen since it began.
        """
        if self._replicas is None:
            return []
        with self.device.activate():
            return self._replicas.best_seen(most)

    @property
    def count(self) -> int:
        """Number of sets of replicas."""
        return self._count


class _Replicas:
    """The kernel's arrays, and which replica has which temperature."""

    def __init__(
        self,
        tempering: ParallelTempering,
        setting: Setting,
        movable: IntArray,
        x: BoolArray,
    ) -> None:
        device, problem = tempering.device, tempering.root.problem
        self._x, self._movable, self._device = x, movable, device
        self._replica = np.arange(tempering.count * RUNGS).reshape(tempering.count, RUNGS)
        data = scaled(problem, tempering.root.dual, setting, movable, x)
        self._base = int(problem.profit[x].sum()) - int(problem.profit[movable][x[movable]].sum())
        self._heat = data.heat
        replicas = self._replica.size
        start = np.tile(words_of(x[movable]), replicas)
        self._given = [device.to_device(array) for array in data.arrays()]
        self._packing, self._champion = device.to_device(start), device.to_device(start)
        self._value = device.to_device(np.full(replicas, NONE))
        self._energy = device.to_device(np.zeros(replicas))
        self._sizes = (replicas, movable.size, problem.num_rows)

    def take_turn(self, seed: int, turn: int, random: np.random.Generator) -> BoolArray | None:
        """Make trials, and exchange temperatures; return the best packing that was seen, if any."""
        temperature = np.empty(self._replica.size, dtype=np.int32)
        temperature[self._replica] = self._heat
        values = (
            *self._given,
            self._device.to_device(temperature),
            self._packing,
            self._champion,
            self._value,
            self._energy,
            *self._sizes,
            TRIALS,
            seed,
            turn,
        )
        if self._device.kind == "cpu":  # one of many jobs: no threads of its own
            FAMILY.twin.anneal(*values, 1)
        else:
            FAMILY["anneal"](*values)
        self._exchange(self._device.to_host(self._energy), random)
        value = self._device.to_host(self._value)
        top = int(np.argmax(value))
        if value[top] == NONE:
            return None
        return self._packing_of(
            self._device.to_host(self._champion[top * LANES : (top + 1) * LANES])
        )

    def best_seen(self, most: int) -> list[BoolArray]:
        """Return so many different packings at most, the best first."""
        value = self._device.to_host(self._value)
        words = self._device.to_host(self._champion).reshape(value.size, LANES)
        found: dict[bytes, BoolArray] = {}
        for replica in np.argsort(-value, kind="stable"):
            if len(found) == most or value[replica] == NONE:
                break
            found.setdefault(words[replica].tobytes(), self._packing_of(words[replica]))
        return list(found.values())

    def _packing_of(self, words: Int32Array) -> BoolArray:
        x = self._x.copy()
        x[self._movable] = flags_of(words, self._movable.size)
        return x

    def _exchange(self, energy: FloatArray, random: np.random.Generator) -> None:
        cold = 1.0 / self._heat
        for rung in range(RUNGS - 1):
            here, there = self._replica[:, rung].copy(), self._replica[:, rung + 1].copy()
            rise = (energy[here] - energy[there]) * (cold[rung] - cold[rung + 1])
            swap = random.random(here.size) < np.exp(np.minimum(rise, 0.0))
            self._replica[swap, rung], self._replica[swap, rung + 1] = there[swap], here[swap]
