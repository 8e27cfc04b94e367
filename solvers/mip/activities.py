"""Which heuristics run, how much of the time each is due, and in what order they come first.

The shares are of two situations: while there is no point, whatever finds one; afterwards mostly
neighbourhoods and local search, with the rest kept up because some models fall to it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from solvers.device import Device, cpu
from solvers.mip.budget import Budget
from solvers.mip.opt import improve
from solvers.mip.probing import build_cache
from solvers.mip.pump import Pump, Pumps, Rounded, Rounder, root_relaxation
from solvers.mip.pump.walking import by_walker
from solvers.mip.rounding import LP_FREE, LP_GUIDED, round_point, run_portfolio
from solvers.mip.search.walk import walk
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
    return [
        Activity("walk", _walk(shared), share(3.0, 1.5)),
        Activity("dive", _dive(shared), share(2.0, 0.3), most=max(1, slots // 2)),
        Activity("root", _root(shared), share(2.0, 2.0), ROOT_SHARE * seconds, most=1, once=True),
        Activity("round", _round(shared), guided(1.0, 0.1), most=1),
        Activity("guided dive", _guided_dive(shared), guided(2.0, 0.3), most=max(1, slots // 2)),
        Activity(
            "probe", _probe(shared), share(1.0, 1.0), PROBING_SHARE * seconds, most=1, once=True
        ),
        Activity("pump", _pump(shared, cpu()), guided(3.0, 0.3), most=few),
        Activity("improve", _improve(shared), share(0.0, 0.3), most=1),
        Activity("neighbourhood", _neighbourhoods(shared), guided(1.5, 6.0), 20.0, 3.0),
    ]


def _walk(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        gate = shared.gate
        walk(shared.model, gate.offer, budget, seed, pool=gate.pool, near=gate.near)

    return work


def _dive(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        begin = seed % len(LP_FREE)
        strategies = (*LP_FREE[begin:], *LP_FREE[:begin])
        done = run_portfolio(
            shared.model, shared.gate.offer, budget, seed, strategies, cliques=shared.cliques
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
            found = round_point(shared.model, reference, budget, seed + draw, shared.cache)
            shared.gate.offer(found.x, "rounding")

    return work


def _probe(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        cache = build_cache(shared.model, None, budget, seed, cliques=shared.cliques)
        if cache.is_infeasible:
            shared.prove_infeasible()
            return
        shared.cache = cache

    return work


def _pump(shared: Shared, device: Device) -> Work:
    gate = shared.gate

    def make(number: int, alpha: float) -> Pump:
        seed = shared.seed_of(f"pump on {device.kind}", number)
        return Pump(
            shared.model,
            gate.offer,
            seed,
            rounder=_rounder(shared),
            search=by_walker(shared.model, seed, gate.pool),
            pool=gate.pool,
            root=shared.root,
            device=device,
            alpha0=alpha,
        )

    pumps = Pumps(make)

    def work(budget: Budget, seed: int) -> None:
        pumps.turn(budget)

    return work


def _rounder(shared: Shared) -> Rounder:
    """Return bulk rounding with what the probing cache knows by then."""

    def rounder(x: FloatArray, budget: Budget, seed: int) -> Rounded:
        found = round_point(shared.model, x, budget, seed, shared.cache)
        return Rounded(found.x, found.is_consistent)

    return rounder


def _improve(shared: Shared) -> Work:
    """Return moves of one and two columns from the best point, once for each."""
    tried = -1

    def work(budget: Budget, seed: int) -> None:
        nonlocal tried
        pool = shared.gate.pool
        version, best = pool.version, pool.best
        if best is None or version == tried:
            return
        tried = version
        better = improve(shared.model, best.x, budget, seed)
        if shared.model.objective_at(better) < best.objective:
            shared.gate.offer(better, "one-opt and two-opt")

    return work


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
            turns = Turns(
                [
                    Activity("dives on the GPU", _device_dives(shared, there), share(2.0, 1.0)),
                    Activity("pump on the GPU", _pump(shared, shared.device), share(2.0, 0.5)),
                ]
            )
            run_slot(turns, shared, budget)

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
        )

    return work
