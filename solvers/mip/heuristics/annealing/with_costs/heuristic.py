"""Turns of exchanges with costs: one search for each that runs at a time, once there is a point."""

from __future__ import annotations

import threading

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.annealing.heuristic import MOST_ENTRIES
from solvers.mip.heuristics.annealing.with_costs.rounds import CostSwapMoves
from solvers.mip.heuristics.annealing.with_costs.structure import Structure, find_structure
from solvers.mip.heuristics.local_search.on_cpu import SearchSpace, aggregated_space, full_space
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext

SHARE, LEAST_SHARE = 3.0, 0.15
"""What these searches are due at first and at least."""

IN_VAIN = 0.4
"""Factor of their share for each turn without a better point."""


class CostExchangeTurns:
    """Searches that go on from turn to turn; safe to use from any thread.

    They are on the model as it is, or without its implied columns, whichever consists of groups and
    slacks.

    Parameters
    ----------
    context : HeuristicContext
    """

    def __init__(self, context: HeuristicContext) -> None:
        self._context = context
        self._found: tuple[SearchSpace, Structure] | None = None
        self._was_looked_for = False
        self._waiting: list[CostSwapMoves] = []
        self._made = 0
        self._due = SHARE
        self._lock = threading.Lock()
        self._is_over = context.model.num_nonzeros > MOST_ENTRIES

    def share(self) -> float:
        """Return what exchanges are due now."""
        if self._is_over or self._context.acceptance.pool.best is None:
            return 0.0
        return self._due

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the searches go on."""
        found = self._look()
        if found is None:
            self._is_over = True
            return
        search, pool = self._take(*found), self._context.acceptance.pool
        before = pool.objective
        if not search.run(budget):
            self._is_over = True
            return
        with self._lock:
            better = pool.objective < before
            self._due = SHARE if better else max(LEAST_SHARE, IN_VAIN * self._due)
            self._waiting.append(search)

    def _look(self) -> tuple[SearchSpace, Structure] | None:
        with self._lock:
            if not self._was_looked_for:
                self._was_looked_for = True
                self._found = _space_with_structure(self._context)
            return self._found

    def _take(self, space: SearchSpace, structure: Structure) -> CostSwapMoves:
        with self._lock:
            if self._waiting:
                return self._waiting.pop(0)
            number, self._made = self._made, self._made + 1

        def best() -> FloatArray | None:
            found = self._context.acceptance.pool.best
            return None if found is None else space.here(found.x)

        seed = self._context.seed_of("exchanges with costs", number)
        return CostSwapMoves(space.model, structure, space.submit, best, seed)


def _space_with_structure(context: HeuristicContext) -> tuple[SearchSpace, Structure] | None:
    for make in (full_space, aggregated_space):
        space = make(context)
        structure = None if space is None else find_structure(space.model)
        if space is not None and structure is not None:
            return space, structure
    return None
