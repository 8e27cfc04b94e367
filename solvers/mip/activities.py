"""Which heuristics run, how much of the time each is due, and in what order they come first.

The shares are of two situations: while there is no point, whatever finds one; afterwards mostly
neighbourhoods and local search, with the rest kept up because some models fall to it alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.opt import improve
from solvers.mip.probing import ProbingCache, build_cache
from solvers.mip.pump import Pump, PumpBatch, Pumps, root_relaxation
from solvers.mip.pump.propagating import by_propagation
from solvers.mip.pump.walking import by_walker
from solvers.mip.rounding import LP_FREE, LP_GUIDED, round_point, run_portfolio
from solvers.mip.search.walk import Walk
from solvers.mip.shared import Shared
from solvers.mip.turns import Activity, Turns, Work
from solvers.problem import FloatArray

if TYPE_CHECKING:
    from solvers.mip.propagation import DeviceModel

ROOT_SHARE = 0.25
"""Part of the time left that the relaxation may take."""

PROBING_SHARE = 0.05
"""Part of the time left for probing (notes on GPU heuristics, section 2)."""

UNLIMITED = 3600.0
"""Seconds that count as the time left where there is no limit."""

WALKERS_SHARE = 0.6
"""Part of the GPU's time for walkers (notes on GPU heuristics, section 6.4)."""

PUMP_WORKERS = 2
"""Threads that round for the pumps on the GPU."""

IMPROVE_SHARE = 50.0
"""Share of one-opt and two-opt for a new best point: they take moments."""

BULK_ROUNDINGS = 8
"""Roundings of the relaxation's point in one turn, each with other draws."""


def activities(shared: Shared, seconds: float, slots: int) -> list[Activity]:
    """Return the heuristics of the CPU in the order of their first turns.

    Parameters
    ----------
    shared : Shared
    seconds : float
        Time left, as far as limits derive from it.
    slots : int
        Turns that run side by side.
    """
    seconds = min(seconds, UNLIMITED)

    def share(without: float, with_point: float) -> Callable[[], float]:
        return lambda: with_point if shared.has_point else without

    def guided(without: float, with_point: float) -> Callable[[], float]:
        plain = share(without, with_point)
        return lambda: 0.0 if shared.root is None else plain()

    few = max(1, slots // 4)
    improving, pumps = _Improve(shared), _Pumps(shared, guided(3.0, 0.3))
    return [
        Activity("improve", improving.work, improving.share, most=1),
        Activity("walk", _Walks(shared).work, share(3.0, 1.5)),
        Activity("dive", _dive(shared), share(2.0, 0.3), most=max(1, slots // 2)),
        Activity("root", _root(shared), share(2.0, 2.0), ROOT_SHARE * seconds, most=1, once=True),
        Activity("round", _round(shared), guided(1.0, 0.1), most=1),
        Activity("guided dive", _guided_dive(shared), guided(2.0, 0.3), most=max(1, slots // 2)),
        Activity(
            "probe", _probe(shared), share(1.0, 1.0), PROBING_SHARE * seconds, most=1, once=True
        ),
        Activity("pump", pumps.work, pumps.share, most=few),
        Activity("neighbourhood", _neighbourhoods(shared), guided(1.5, 6.0), 20.0, 3.0),
    ]


class _Walks:
    """Walks on the CPU, one for each turn that runs at a time, which go on from turn to turn."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._waiting: list[Walk] = []
        self._made = 0
        self._lock = threading.Lock()

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the walks go on."""
        with self._lock:
            number, chosen = self._made, None
            if self._waiting:
                chosen = self._waiting.pop(0)
            else:
                self._made += 1
        walk = self._make(number) if chosen is None else chosen
        walk.run(budget)
        with self._lock:
            self._waiting.append(walk)

    def _make(self, number: int) -> Walk:
        gate = self._shared.gate
        seed = self._shared.seed + number
        return Walk(
            self._shared.model, gate.offer, seed, pool=gate.pool, place=self._place, near=gate.near
        )

    def _place(self, number: int) -> FloatArray | None:
        """Return where to begin while there is no point: anew, near one, or at the relaxation."""
        shared = self._shared
        if shared.has_point:
            return None
        reference = shared.reference()
        places = [None, *(point.x for point in shared.gate.near.points()[:2])]
        if reference is not None:
            places.append(reference)
        return places[number % len(places)]


def _dive(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        begin = seed % len(LP_FREE)
        strategies = (*LP_FREE[begin:], *LP_FREE[:begin])
        done = run_portfolio(
            shared.model,
            shared.gate.offer,
            budget,
            seed,
            strategies,
            cliques=shared.cliques,
            domain=shared.domain,
        )
        _note_near(shared, done.closest, done.closest_rows)

    return work


def _guided_dive(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        begin = seed % len(LP_GUIDED)
        strategies = (*LP_GUIDED[begin:], *LP_GUIDED[:begin])
        done = run_portfolio(
            shared.model,
            shared.gate.offer,
            budget,
            seed,
            strategies,
            reference=shared.reference(),
            cliques=shared.cliques,
            domain=shared.domain,
        )
        _note_near(shared, done.closest, done.closest_rows)

    return work


def _note_near(shared: Shared, x: FloatArray | None, violated_rows: int) -> None:
    if x is not None:
        shared.gate.near(x, violated_rows)


def _root(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        shared.root = root_relaxation(
            shared.model, budget, device=shared.device, seed=seed, log=shared.log
        )

    return work


def _round(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        reference = shared.reference()
        if reference is None:
            return
        for draw in range(BULK_ROUNDINGS):
            if budget.spent():
                return
            found = round_point(
                shared.model, reference, budget, seed + draw, shared.cache, shared.domain
            )
            shared.gate.offer(found.x, "rounding")

    return work


def _probe(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        _take_cache(shared, build_cache(shared.model, None, budget, seed, cliques=shared.cliques))

    return work


def _take_cache(shared: Shared, cache: ProbingCache) -> None:
    """Let dives begin from what probing has found to hold for every feasible point."""
    if cache.is_infeasible:
        shared.prove_infeasible()
        return
    domain = shared.domain.copy()
    narrower = (cache.lower > domain.lower) | (cache.upper < domain.upper)
    for j in np.flatnonzero(narrower):
        low = max(float(cache.lower[j]), float(domain.lower[j]))
        high = min(float(cache.upper[j]), float(domain.upper[j]))
        if not domain.tighten(int(j), low, high):
            return  # rounding errors: what was known stays
    shared.domain, shared.cache = domain, cache


class _Pumps:
    """Pumps on the CPU, one for each turn that runs at a time, until they have nothing to gain."""

    def __init__(self, shared: Shared, share: Callable[[], float]) -> None:
        self._shared = shared
        self._share = share
        self._pumps = Pumps(self._make)
        self._is_over = False

    def share(self) -> float:
        """Return what pumps are due, which is nothing when they are over."""
        return 0.0 if self._is_over else self._share()

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the pumps go on."""
        self._is_over = self._pumps.turn(budget).is_over

    def _make(self, number: int, alpha: float) -> Pump:
        shared, gate = self._shared, self._shared.gate
        seed = shared.seed_of("pump", number)
        return Pump(
            shared.model,
            gate.offer,
            seed,
            rounder=by_propagation(shared.model, lambda: shared.cache),
            search=by_walker(shared.model, seed, gate.pool),
            pool=gate.pool,
            root=shared.root,
            alpha0=alpha,
        )


class _Improve:
    """Moves of one and two columns from the best point, once for each."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._tried = 0

    def share(self) -> float:
        """Return a large share while the best point is new."""
        return IMPROVE_SHARE if self._shared.gate.pool.version != self._tried else 0.0

    def work(self, budget: Budget, seed: int) -> None:
        """Improve the best point."""
        model, gate = self._shared.model, self._shared.gate
        version, best = gate.pool.version, gate.pool.best
        if best is None or version == self._tried:
            return
        self._tried = version
        better = improve(model, best.x, budget, seed)
        if model.objective_at(better) < best.objective and gate.offer(better, "one-opt, two-opt"):
            self._tried = gate.pool.version


def _neighbourhoods(shared: Shared) -> Work:
    from solvers.mip.neighbourhoods import search_neighbourhoods

    def work(budget: Budget, seed: int) -> None:
        gate = shared.gate
        search_neighbourhoods(
            shared.model,
            gate.pool,
            gate.offer,
            budget,
            seed,
            bandit=shared.bandit,
            relaxation=shared.relaxation,
            near=shared.nearest,
        )

    return work


def device_works(shared: Shared) -> dict[str, Callable[[Budget], object]]:
    """Return what runs on the GPU beside the CPU's turns, each in a thread of its own."""
    if shared.device.kind == "cpu":
        return {}
    return {"walkers on the GPU": _walkers(shared), "turns on the GPU": _device_turns(shared)}


def _walkers(shared: Shared) -> Callable[[Budget], object]:
    def work(budget: Budget) -> None:
        from solvers.mip.walkers import run_walkers

        gate = shared.gate
        run_walkers(
            shared.model,
            shared.device,
            gate.offer,
            budget,
            shared.seed_of("walkers", 0),
            pool=gate.pool,
            near=gate.near,
            log=shared.log,
            share=lambda: WALKERS_SHARE,
        )

    return work


def _device_turns(shared: Shared) -> Callable[[Budget], object]:
    """Return the turns of the heuristics that use the GPU in bursts."""

    def share(without: float, with_point: float) -> Callable[[], float]:
        return lambda: with_point if shared.has_point else without

    def work(budget: Budget) -> None:
        from solvers.mip.propagation import DeviceModel
        from solvers.mip.slots import run_slot

        with shared.device.activate():
            there = DeviceModel.of(shared.model, shared.device)
            pumps = _DevicePumps(shared, share(2.0, 0.5))
            turns = Turns(
                [
                    Activity(
                        "probing on the GPU",
                        _device_probe(shared, there),
                        share(1.0, 1.0),
                        PROBING_SHARE * min(budget.seconds_left, UNLIMITED),
                        most=1,
                        once=True,
                    ),
                    Activity("dives on the GPU", _device_dives(shared, there), share(2.0, 1.0)),
                    Activity("pumps on the GPU", pumps.work, pumps.share, shortest=1.0),
                ]
            )
            run_slot(turns, shared, budget)

    return work


class _DevicePumps:
    """Pumps in lockstep on the GPU, once the relaxation is solved."""

    def __init__(self, shared: Shared, share: Callable[[], float]) -> None:
        self._shared = shared
        self._share = share
        self._batch: PumpBatch | None = None

    def share(self) -> float:
        """Return what the pumps are due, which is nothing when they are over."""
        over = self._batch is not None and self._batch.counts.is_over
        return 0.0 if over or self._shared.root is None else self._share()

    def work(self, budget: Budget, seed: int) -> None:
        """Let the pumps go on."""
        if self._batch is None:
            self._batch = self._make(seed)
        self._batch.run(budget)

    def _make(self, seed: int) -> PumpBatch:
        shared, gate = self._shared, self._shared.gate
        return PumpBatch(
            shared.model,
            gate.offer,
            seed,
            rounder_of=lambda _: by_propagation(shared.model, lambda: shared.cache),
            search_of=lambda number: by_walker(shared.model, number, gate.pool),
            pool=gate.pool,
            root=shared.root,
            device=shared.device,
            workers=PUMP_WORKERS,
        )


def _device_probe(shared: Shared, there: DeviceModel) -> Work:
    def work(budget: Budget, seed: int) -> None:
        from solvers.mip.probing import BatchProber

        prober = BatchProber(shared.model, there)
        _take_cache(shared, build_cache(shared.model, prober, budget, seed, cliques=shared.cliques))

    return work


def _device_dives(shared: Shared, there: DeviceModel) -> Work:
    def work(budget: Budget, seed: int) -> None:
        from solvers.mip.dives import run_dives

        run_dives(
            there,
            shared.model,
            shared.gate.offer,
            budget,
            seed,
            reference=shared.reference(),
            cliques=shared.cliques,
            box=(shared.domain.lower, shared.domain.upper),
        )

    return work
