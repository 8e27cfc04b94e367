"""Which heuristics run, how much of the time each is due, and in what order they come first.

The shares are of two situations: while there is no point, whatever finds one; afterwards mostly
neighbourhoods and local search, with the rest kept up because some models fall to it alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from solvers.mip import lattice
from solvers.mip.budget import Budget
from solvers.mip.ends import offer_ends
from solvers.mip.learning import ClauseSearch, Status, suits
from solvers.mip.neighbourhoods import Mending
from solvers.mip.opt import improve
from solvers.mip.probing import ProbingCache, build_cache
from solvers.mip.pump import Pump, Pumps, root_relaxation
from solvers.mip.pump.propagating import by_propagation
from solvers.mip.pump.walking import by_walker
from solvers.mip.rounding import LP_FREE, LP_GUIDED, round_point, run_portfolio
from solvers.mip.shared import Shared
from solvers.mip.turns import Activity, Work
from solvers.mip.walks import both_walks
from solvers.problem import FloatArray

if TYPE_CHECKING:
    from solvers.mip.propagation import DeviceModel

ROOT_SHARE = 0.25
"""Part of the time left that the relaxation may take."""

ENDS_SHARE = 0.05
"""Part of the time left for points at the ends of the bounds: up to four LPs."""

PROBING_SHARE = 0.05
"""Part of the time left for probing (notes on GPU heuristics, section 2)."""

UNLIMITED = 3600.0
"""Seconds that count as the time left where there is no limit."""

IMPROVE_FROM = 1_000_000
"""Nonzeros from which moves of one and two columns are scored on a GPU; below, a CPU takes
hundredths of a second for them."""

IMPROVE_SHARE = 50.0
"""Share of one-opt and two-opt for a new best point: they take moments."""

MOSTLY_WHOLE = 0.9
"""Share of integer columns from which learning clauses is due most while there is no point: of what
found one on such models it was the soonest."""

MEND_SHARE, SLOW_MEND_SHARE = 8.0, 4.0
"""Shares of mending while a nearly feasible point is known: while less and less is violated, and
after a turn without success."""

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
    improving, pumps = Improve(shared), _Pumps(shared, guided(3.0, 0.3))
    walks, without_defined = both_walks(shared)
    mends = _Mends(shared)
    is_whole = shared.model.integers.size >= MOSTLY_WHOLE * shared.model.num_columns
    clauses = _Clauses(shared, share(8.0 if is_whole else 3.0, 0.5))
    among_integers = _Lattice(shared, share(8.0, 0.3))
    first = 1.5 if is_whole else 1.0  # some models fall to it in a second and to nothing else
    return [
        Activity("improve", improving.work, improving.share, most=1),
        Activity("walk", walks.work, walks.share),
        Activity("walk without defined", without_defined.work, without_defined.share),
        Activity("lattice", among_integers.work, among_integers.share, most=1, shortest=4.0),
        Activity("dive", _dive(shared), share(2.0, 0.3), most=max(1, slots // 2)),
        Activity("ends", _ends(shared), share(2.0, 0.0), ENDS_SHARE * seconds, most=1, once=True),
        Activity("clauses", clauses.work, clauses.share, most=few, shortest=first),
        Activity("root", _root(shared), share(2.0, 2.0), ROOT_SHARE * seconds, most=1, once=True),
        Activity("round", _round(shared), guided(1.0, 0.1), most=1),
        Activity("guided dive", _guided_dive(shared), guided(2.0, 0.3), most=max(1, slots // 2)),
        Activity(
            "probe", _probe(shared), share(1.0, 1.0), PROBING_SHARE * seconds, most=1, once=True
        ),
        Activity("pump", pumps.work, pumps.share, most=few),
        Activity("mend", mends.work, mends.share, most=1, shortest=5.0),
        Activity("neighbourhood", _neighbourhoods(shared), guided(1.5, 6.0), 20.0, 3.0),
    ]


class _Clauses:
    """Searches that learn clauses, one for each turn that runs at a time, until one is through."""

    def __init__(self, shared: Shared, share: Callable[[], float]) -> None:
        self._shared = shared
        self._share = share
        self._waiting: list[ClauseSearch] = []
        self._made = 0
        self._lock = threading.Lock()
        self._is_over = not suits(shared.model)

    def share(self) -> float:
        """Return what these searches are due, which is nothing once everything is excluded."""
        return 0.0 if self._is_over else self._share()

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the searches go on, for points better than the best."""
        with self._lock:
            number, search = self._made, self._waiting.pop(0) if self._waiting else None
            self._made += search is None
        if search is None:
            search = self._make(number)
        if len(self._shared.gate.pool):
            search.beat(self._shared.gate.pool.objective)
        self._is_over |= search.run(budget) is Status.EXHAUSTED
        with self._lock:
            self._waiting.append(search)

    def _make(self, number: int) -> ClauseSearch:
        shared = self._shared
        seed = shared.seed_of("clauses", number)
        gate = shared.gate
        return ClauseSearch(
            shared.model, shared.domain, seed, gate.offer, self._starts, gate.settle
        )

    def _starts(self) -> list[FloatArray]:
        """Return points whose values are worth trying: the best, near ones, the relaxation's."""
        shared = self._shared
        found = [point.x for point in shared.gate.pool.points()[:1]]
        near = [point.x for point in shared.gate.near.points()[:2]]
        reference = shared.reference()
        return [*found, *near, *([] if reference is None else [reference])]


def _ends(shared: Shared) -> Work:
    def work(budget: Budget, seed: int) -> None:
        offer_ends(shared.model, shared.gate.offer, budget)

    return work


class _Lattice:
    """The search among integer solutions of equations, for one turn at a time, until it is over."""

    def __init__(self, shared: Shared, share: Callable[[], float]) -> None:
        self._shared = shared
        self._share = share
        self._search: lattice.LatticeSearch | None = None
        self._is_over = not lattice.suits(shared.model, shared.domain.lower, shared.domain.upper)

    def share(self) -> float:
        """Return what the search is due, which is nothing once it has no more to try."""
        return 0.0 if self._is_over else self._share()

    def work(self, budget: Budget, seed: int) -> None:
        """Let the search go on."""
        shared = self._shared
        if self._search is None:
            seed = shared.seed_of("lattice", 0)
            lower, upper = shared.domain.lower, shared.domain.upper
            self._search = lattice.LatticeSearch(
                shared.model, lower, upper, seed, shared.gate.offer
            )
        self._is_over = self._search.run(budget) is lattice.Status.OVER


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
        take_cache(shared, build_cache(shared.model, None, budget, seed, cliques=shared.cliques))

    return work


def take_cache(shared: Shared, cache: ProbingCache) -> None:
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


class Improve:
    """Moves of one and two columns from the best point, once for each.

    With ``there``, the model in a GPU's memory, for models that are large enough; without it, on
    the CPU, for the others.
    """

    def __init__(self, shared: Shared, there: DeviceModel | None = None) -> None:
        self._shared = shared
        self._there = there
        self._tried = 0
        by_gpu = shared.device.kind == "cuda" and shared.model.num_nonzeros >= IMPROVE_FROM
        self._is_mine = by_gpu == (there is not None)

    def share(self) -> float:
        """Return a large share while the best point is new."""
        is_new = self._shared.gate.pool.version != self._tried
        return IMPROVE_SHARE if self._is_mine and is_new else 0.0

    def work(self, budget: Budget, seed: int) -> None:
        """Improve the best point."""
        model, gate = self._shared.model, self._shared.gate
        version, best = gate.pool.version, gate.pool.best
        if best is None or version == self._tried:
            return
        self._tried = version
        better = improve(model, best.x, budget, seed, self._there)
        if model.objective_at(better) < best.objective and gate.offer(better, "one-opt, two-opt"):
            self._tried = gate.pool.version


class _Mends:
    """Sub-MIPs around nearly feasible points, while there is no feasible one."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._mending: Mending | None = None

    def share(self) -> float:
        """Return what mending is due, which is nothing where no point may be mended."""
        points = self._shared.gate.near.points()
        if not points or self._shared.has_point:
            return 0.0
        if self._mending is None:
            return MEND_SHARE
        if not self._mending.has_work(points):
            return 0.0
        return MEND_SHARE if self._mending.is_getting_on else SLOW_MEND_SHARE

    def work(self, budget: Budget, seed: int) -> None:
        """Mend one of the points."""
        shared, gate = self._shared, self._shared.gate
        if self._mending is None:
            self._mending = Mending(shared.model, gate.offer, shared.defined, gate.near)
        self._mending.run(gate.near.points(), budget, seed)


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
            defined=shared.defined,
        )

    return work
