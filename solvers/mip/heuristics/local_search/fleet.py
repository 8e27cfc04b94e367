"""The walkers of one run on their device: how many of which kind, launched in slices, and steered.

How many are fastest here is measured in the first slices, which are part of the search.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.grid_wide import (
    GRID_KERNEL,
    TEAMS,
    GridWideState,
    grid_bytes,
    make_grid_wide,
    suits_grid,
)
from solvers.mip.heuristics.local_search.kernels.grid_walk import GRID_WALK, WALK_GRID
from solvers.mip.heuristics.local_search.kernels.walk import RECORD, RESTART, WALK, WALKS, Field
from solvers.mip.heuristics.local_search.layout import (
    Layout,
    State,
    bytes_per_walker,
    make_state,
    touched_bytes,
)

WARP_LADDER = (132, 264, 528, 1056, 2112, 4224)
"""Numbers of warp walkers to choose from: 1 to 32 on each of an H200's processors."""

CPU_WALKERS = 4
"""Walkers on the CPU: enough for rounds, few enough to get anywhere."""

MEMORY_SHARE = 0.25
"""Part of the free memory that walkers may take: other heuristics are at work as well."""

UNKNOWN_MEMORY = 4 << 30
"""Free memory assumed where the device does not say."""

CACHE_BYTES = 50 << 20
"""State that all walkers together read all the time should fit the L2 cache of an H200."""

MODEST = 1056
"""Walkers from which more hardly help small models, and hurt others."""


@dataclass(frozen=True)
class Plan:
    """What to allocate and run.

    Parameters
    ----------
    kernel : str
        ``walk`` (a warp to a walker) or ``walk_grid`` (all of the GPU).
    ladder : tuple of int
        Numbers of walkers that fit, rising; empty where not even one does.
    first : int
        The number to use where no measurement decides.
    walker_bytes : int
        Memory of one walker.
    """

    kernel: str
    ladder: tuple[int, ...]
    first: int
    walker_bytes: int

    def __str__(self) -> str:
        kind = "whole-GPU" if self.kernel == GRID_KERNEL else "warp"
        most = self.ladder[-1] if self.ladder else 0
        memory = most * self.walker_bytes / 2**20
        return f"up to {most} {kind} walkers, {self.walker_bytes} bytes each, {memory:.0f} MiB"

    def halved(self) -> Plan:
        """Return a plan for half the memory."""
        most = self.ladder[-1] // 2
        ladder = tuple(number for number in self.ladder if number <= most) or (most,)
        ladder = ladder if most > 0 else ()
        return Plan(self.kernel, ladder, min(self.first, most), self.walker_bytes)


def plan_for(layout: Layout, device: Device) -> Plan:
    """Choose the kind of walkers and how many of them a device holds."""
    size = bytes_per_walker(layout)
    if device.kind == "cpu":
        return Plan("walk", (CPU_WALKERS,), CPU_WALKERS, size)
    memory = int(MEMORY_SHARE * (device.memory_free or UNKNOWN_MEMORY))
    if suits_grid(layout):
        size = grid_bytes(layout, TEAMS)
        fits = size <= memory
        return Plan(GRID_KERNEL, (1,) if fits else (), int(fits), size)
    room = memory // size
    ladder = tuple(n for n in WARP_LADDER if n <= room) or ((room,) if room else ())
    if not ladder:
        return Plan("walk", (), 0, size)
    in_cache = max(ladder[0], CACHE_BYTES // touched_bytes(layout))
    first = max(n for n in ladder if n <= max(ladder[0], min(MODEST, in_cache)))
    return Plan("walk", ladder, first, size)


REFRESH_STEPS = 1000
"""Steps after which slack is computed anew where it can drift."""


class Fleet:
    """Walkers with their state and the model on one device, for one thread.

    Parameters
    ----------
    device : Device
        Active in the calling thread.
    """

    def __init__(self, layout: Layout, device: Device, plan: Plan, seed: int) -> None:
        self.layout = layout
        self.device = device
        self._seed = seed % 2**31
        self._model = layout.on(device)
        self._state = self._allocate(plan.ladder[-1])
        self._points: Any = None
        self._restarts = 0
        self._since_refresh = 0
        self._clock = _Clock(device)

    def _allocate(self, walkers: int) -> State | GridWideState:
        return make_state(self.layout, self.device, walkers, self._seed)

    @property
    def walkers(self) -> int:
        """Number of walkers W."""
        return self._state.walkers

    def launch(self, steps: int, walkers: int | None = None) -> None:
        """Let the first ``walkers`` (all of them by default) make so many steps each.

        On a GPU it returns at once; :meth:`records` waits.
        """
        self._clock.start()
        self._walk(steps, self.walkers if walkers is None else walkers)
        self._clock.stop()
        self._since_refresh += steps

    def _walk(self, steps: int, walkers: int) -> None:
        often = {"walkers": walkers, "steps": steps, "seed": self._seed}
        WALKS["walk"](*WALK.arguments_of(self._state, **self._model, **often), threads=1)

    def seconds(self) -> float:
        """Return how long the last slice took on the device; waits for it."""
        return self._clock.seconds()

    def records(self) -> npt.NDArray[np.float64]:
        """Return the walkers' records (W, RECORD); waits for the slice."""
        every: npt.NDArray[np.float64] = self.device.to_host(self._state.records)
        return np.array(every.reshape(-1, RECORD)[: self.walkers])

    def steer(self, records: npt.NDArray[np.float64]) -> None:
        """Set the records (W, RECORD); where slack can drift, ask for a refresh in time."""
        if self._since_refresh >= REFRESH_STEPS and not self.layout.is_exact:
            records[:, Field.REFRESH] = 1.0
            self._since_refresh = 0
        self._state = replace(self._state, records=self.device.to_device(records.ravel()))

    def kept(self, walker: int) -> npt.NDArray[np.float64]:
        """Return the best point (n,) that a walker kept, in the model's order."""
        n = self.layout.columns
        return self.layout.point_of(
            self.device.to_host(self._state.kept[walker * n : (walker + 1) * n])
        )

    def point(self, walker: int) -> npt.NDArray[np.float64]:
        """Return the point (n,) where a walker stands, in the model's order."""
        n = self.layout.columns
        values = self.device.to_host(self._state.values[2 * walker * n : 2 * (walker + 1) * n])
        return self.layout.point_of(values[0::2])

    def set_points(self, points: npt.NDArray[Any]) -> None:
        """Set the points (P, n), in the layout's order, that walkers may take."""
        self._points = self.device.to_device(points.ravel())

    def restart(
        self,
        origins: npt.NDArray[Any],
        weights: npt.NDArray[Any],
        shares: npt.NDArray[Any],
    ) -> None:
        """Set walkers to other points, as ``restarts`` says it."""
        place = self.device.to_device
        others = {
            "points": self._points,
            "origins": place(origins.astype(np.int32)),
            "weights": place(weights.astype(np.int32)),
            "shares": place(shares.astype(self.layout.real)),
            "seed": self._seed,
            "number": self._restarts,
        }
        WALKS["restart"](*RESTART.arguments_of(self._state, **self._model, **others), threads=1)
        self._restarts += 1

    def keep_first(self, walkers: int) -> None:
        """Go on with the first walkers only."""
        self._state = replace(self._state, walkers=walkers)


class _Clock:
    """Seconds of a launch, by events on a GPU and by the clock on a CPU."""

    def __init__(self, device: Device) -> None:
        self._events: tuple[Any, Any] | None = None
        self._began = self._ended = 0.0
        if device.kind == "cuda":
            event = device.xp.cuda.Event
            self._events = (event(), event())
        self._device = device

    def start(self) -> None:
        if self._events is None:
            self._began = time.perf_counter()
        else:
            self._events[0].record()

    def stop(self) -> None:
        if self._events is None:
            self._ended = time.perf_counter()
        else:
            self._events[1].record()

    def seconds(self) -> float:
        if self._events is None:
            return self._ended - self._began
        self._events[1].synchronize()
        elapsed = self._device.xp.cuda.get_elapsed_time(*self._events)
        return float(elapsed) / 1000.0


TRIAL_SECONDS = 0.02
"""Length that a trial of one number of walkers aims at."""

FIRST_STEPS = 16
"""Steps of the first slice, by which the others are measured."""

MOST_STEPS = 20_000
"""Steps of a slice at most."""

AS_FAST = 0.5
"""Part of the best rate from which fewer walkers, which get further each, are preferred.

Depth counts, too: on an H200 4224 walkers made 1.5 times the steps of 1056 on a model of 20
thousand nonzeros, each of them a third, and improved nothing that a single CPU walker with ten
times the depth had not found.
"""


def steps_for(seconds: float, steps: int, took: float) -> int:
    """Return the steps of a slice of ``seconds``, when ``steps`` took ``took`` seconds."""
    grown = steps * seconds / max(took, 1e-6)
    return int(min(max(1.0, grown), 8.0 * steps, MOST_STEPS))


def choose_walkers(fleet: Fleet, plan: Plan, budget: Budget) -> tuple[int, int]:
    """Try every number of walkers of the plan; return the best one and steps for one slice.

    The rate counts steps of all walkers by second.
    """
    steps = FIRST_STEPS
    rates: list[tuple[int, float, int]] = []
    for number in plan.ladder:
        for _ in range(3 if number == plan.ladder[0] else 1):
            fleet.launch(steps, number)
            took = fleet.seconds()
            steps = steps_for(TRIAL_SECONDS, steps, took)
        fleet.launch(steps, number)
        took = fleet.seconds()
        rates.append((number, number * steps / max(took, 1e-9), steps))
        if budget.spent():
            break
    best = max(rate for _, rate, _ in rates)
    number, _, steps = next(entry for entry in rates if entry[1] >= AS_FAST * best)
    return number, steps


BLOCKS_PER_PROCESSOR = 2
"""Blocks that run at once on a multiprocessor; the kernel's registers allow as many."""


class GridWideFleet(Fleet):
    """One walker with its state and the model on one device, for one thread.

    Parameters
    ----------
    device : Device
        Active in the calling thread.
    teams : int
        Groups of 32 candidates in a round. The walk depends on it, on the blocks it does not.
    """

    def __init__(
        self, layout: Layout, device: Device, plan: Plan, seed: int, teams: int = TEAMS
    ) -> None:
        self._teams = teams
        self._blocks = _blocks(device)
        super().__init__(layout, device, plan, seed)

    def _allocate(self, walkers: int) -> GridWideState:
        return make_grid_wide(self.layout, self.device, self._teams, self._seed)

    def _walk(self, steps: int, walkers: int) -> None:
        often = {"blocks": self._blocks, "steps": steps, "seed": self._seed}
        arguments = WALK_GRID.arguments_of(self._state, **self._model, **often)
        GRID_WALK["walk_grid"](*arguments, threads=1)


def _blocks(device: Device) -> int:
    """Return the blocks of a launch, all of which have to run at once."""
    if device.kind == "cpu":
        return 1
    processors = device.xp.cuda.Device(device.index).attributes["MultiProcessorCount"]
    return BLOCKS_PER_PROCESSOR * int(processors)
