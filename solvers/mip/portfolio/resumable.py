"""Heuristics that go on from turn to turn, and are due nothing when there is no more to do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics import lattice
from solvers.mip.heuristics.feasibility_pump import Pump, Pumps, root_relaxation
from solvers.mip.heuristics.feasibility_pump.propagating import by_propagation
from solvers.mip.heuristics.feasibility_pump.walking import by_walker
from solvers.mip.heuristics.large_neighbourhood import Mending
from solvers.mip.heuristics.lazy_clause import SOURCE as CLAUSES
from solvers.mip.heuristics.lazy_clause import ClauseSearch, Status, suits
from solvers.mip.heuristics.one_opt import improve
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext

if TYPE_CHECKING:
    from solvers.mip.inference.propagation import DeviceModel

IMPROVE_FROM = 1_000_000
"""Nonzeros from which moves of one and two columns are scored on a GPU; below, a CPU takes
hundredths of a second for them."""

IMPROVE_SHARE = 50.0
"""Share of one-opt and two-opt for a new best point: they take moments."""

MEND_SHARE, QUICK_MEND_SHARE, SLOW_MEND_SHARE = 8.0, 24.0, 4.0
"""Shares of mending while an infeasible point is known: at first, while less and less is
violated, which is a sign that a point is near, and after a turn without success."""

FEW_VIOLATED = 30
"""Violated rows up to which a point is worth mending before the relaxation is solved: that may take
a third of a short solve, and mending germanrr's points of three to five rows some seconds."""


class ClauseTurns:
    """Searches that learn clauses, one for each turn that runs at a time, until one is through.

    ``prove`` is told of objectives that no feasible point is below, in the minimised sense, where
    a search has proven them without rounding errors, and who has.
    """

    def __init__(
        self,
        context: HeuristicContext,
        share: Callable[[], float],
        prove: Callable[[float, str], object] | None = None,
    ) -> None:
        self._context = context
        self._share = share
        self._prove = prove
        self._waiting: list[ClauseSearch] = []
        self._made = 0
        self._lock = threading.Lock()
        self._is_over = not suits(context.model)

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
        best = self._context.acceptance.pool.best
        if best is not None:
            search.beat(best.objective, best.x)
        self._is_over |= search.run(budget) is Status.EXHAUSTED
        self._tell(search.proven)
        with self._lock:
            self._waiting.append(search)

    def _tell(self, proven: float) -> None:
        """Pass on what is proven."""
        if proven == np.inf:
            self._context.prove_infeasible()
        elif self._prove is not None and np.isfinite(proven):
            self._prove(proven, CLAUSES)

    def _make(self, number: int) -> ClauseSearch:
        context = self._context
        seed = context.seed_of("clauses", number)
        acceptance = context.acceptance
        return ClauseSearch(
            context.model,
            context.domain,
            seed,
            acceptance.submit,
            self._starts,
            acceptance.settle,
            self._believed,
        )

    def _believed(self) -> float:
        """Return the relaxation's objective where it is to be relied on."""
        relaxation = self._context.relaxation()
        return relaxation.objective if relaxation is not None and relaxation.is_exact else -np.inf

    def _starts(self) -> list[FloatArray]:
        """Return points whose values are worth trying: the best, near ones, the relaxation's."""
        context = self._context
        found = [point.x for point in context.acceptance.pool.points()[:1]]
        infeasible_points = [point.x for point in context.acceptance.infeasible_points.points()[:2]]
        reference = context.reference()
        return [*found, *infeasible_points, *([] if reference is None else [reference])]


class LatticeTurns:
    """The search among integer solutions of equations, for one turn at a time, until it is over."""

    def __init__(self, context: HeuristicContext, share: Callable[[], float]) -> None:
        self._context = context
        self._share = share
        self._search: lattice.LatticeSearch | None = None
        self._is_over = not lattice.suits(context.model, context.domain.lower, context.domain.upper)

    def share(self) -> float:
        """Return what the search is due, which is nothing once it has no more to try."""
        return 0.0 if self._is_over else self._share()

    def work(self, budget: Budget, seed: int) -> None:
        """Let the search go on."""
        context = self._context
        if self._search is None and self._has_definitions_only():
            self._is_over = True
            return
        if self._search is None:
            seed = context.seed_of("lattice", 0)
            lower, upper = context.domain.lower, context.domain.upper
            self._search = lattice.LatticeSearch(
                context.model, lower, upper, seed, context.acceptance.submit
            )
        self._is_over = self._search.run(budget) is lattice.Status.OVER

    def _has_definitions_only(self) -> bool:
        """Whether the equations do no more than define columns, for which it takes no lattice."""
        sub = self._context.aggregated
        return sub is not None and not lattice.suits(sub.model, sub.model.lower, sub.model.upper)


class PumpTurns:
    """Pumps on the CPU, one for each turn that runs at a time, until they have nothing to gain."""

    def __init__(self, context: HeuristicContext, share: Callable[[], float]) -> None:
        self._context = context
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
        context, acceptance = self._context, self._context.acceptance
        seed = context.seed_of("pump", number)
        return Pump(
            context.model,
            acceptance.submit,
            seed,
            rounder=by_propagation(context.model, lambda: context.cache),
            search=by_walker(context.model, seed, acceptance.pool),
            pool=acceptance.pool,
            root=context.root,
            alpha0=alpha,
        )


class Improve:
    """Moves of one and two columns from the best point, once for each.

    With ``there``, the model in a GPU's memory, for models that are large enough; without it, on
    the CPU, for the others.
    """

    def __init__(self, context: HeuristicContext, there: DeviceModel | None = None) -> None:
        self._context = context
        self._there = there
        self._tried = 0
        by_gpu = context.device.kind == "cuda" and context.model.num_nonzeros >= IMPROVE_FROM
        self._is_mine = by_gpu == (there is not None)

    def share(self) -> float:
        """Return a large share while the best point is new."""
        is_new = self._context.acceptance.pool.version != self._tried
        return IMPROVE_SHARE if self._is_mine and is_new else 0.0

    def work(self, budget: Budget, seed: int) -> None:
        """Improve the best point."""
        model, acceptance = self._context.model, self._context.acceptance
        version, best = acceptance.pool.version, acceptance.pool.best
        if best is None or version == self._tried:
            return
        self._tried = version
        better = improve(model, best.x, budget, seed, self._there)
        if model.objective_at(better) < best.objective and acceptance.submit(
            better, "one-opt, two-opt"
        ):
            self._tried = acceptance.pool.version


class RootTurn:
    """The relaxation, which is solved once, as far as its time allows."""

    def __init__(self, context: HeuristicContext) -> None:
        self._context = context
        self.is_over = False

    def work(self, budget: Budget, seed: int) -> None:
        """Solve the relaxation."""
        context = self._context
        try:
            context.root = root_relaxation(
                context.model, budget, device=context.device, seed=seed, log=context.log
            )
        finally:
            self.is_over = True


class MendTurns:
    """Sub-MIPs around infeasible points, while there is no feasible one.

    Parameters
    ----------
    context : HeuristicContext
    root : RootTurn
        Comes before points that violate many rows are mended.
    """

    def __init__(self, context: HeuristicContext, root: RootTurn) -> None:
        self._context = context
        self._root = root
        self._mending: Mending | None = None

    def share(self) -> float:
        """Return what mending is due, which is nothing where no point may be mended."""
        points = self._context.acceptance.infeasible_points.points()
        if not points or self._context.has_point:
            return 0.0
        if not self._root.is_over and points[0].violated_rows > FEW_VIOLATED:
            return 0.0
        if self._mending is None:
            return MEND_SHARE
        if not self._mending.has_work(points):
            return 0.0
        return QUICK_MEND_SHARE if self._mending.is_getting_on else SLOW_MEND_SHARE

    def work(self, budget: Budget, seed: int) -> None:
        """Mend one of the points."""
        context, acceptance = self._context, self._context.acceptance
        if self._mending is None:
            self._mending = Mending(
                context.model, acceptance.submit, context.implied, acceptance.infeasible_points
            )
        self._mending.run(acceptance.infeasible_points.points(), budget, seed)
