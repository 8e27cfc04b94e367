"""Turns of exchanges: one search for each that runs at a time, while there is no point."""

from __future__ import annotations

import threading

from solvers.mip.heuristics.annealing.group_annealing import SwapMoves
from solvers.mip.heuristics.annealing.groups import Groups, find_groups
from solvers.mip.heuristics.local_search.on_cpu import SearchSpace, aggregated_space, full_space
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext

SHARE = 4.0
"""What exchanges are due while there is no point, on a model that consists of groups."""

MOST_ENTRIES = 5_000_000
"""Entries of a model up to which groups are looked for: beyond, that takes seconds."""


class ExchangeTurns:
    """Searches that go on from turn to turn; safe to use from any thread.

    They are on the model without its implied columns, or on the model as it is: columns outside
    groups do not move, and defined ones would have to.

    Parameters
    ----------
    context : HeuristicContext
    """

    def __init__(self, context: HeuristicContext) -> None:
        self._context = context
        self._found: tuple[SearchSpace, Groups] | None = None
        self._was_looked_for = False
        self._waiting: list[SwapMoves] = []
        self._made = 0
        self._lock = threading.Lock()
        self._is_over = context.model.num_nonzeros > MOST_ENTRIES

    def share(self) -> float:
        """Return what exchanges are due now."""
        return 0.0 if self._is_over or self._context.has_point else SHARE

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the searches go on."""
        found = self._look()
        if found is None:
            self._is_over = True
            return
        search = self._take(*found)
        search.run(budget, lambda: self._context.has_point)
        with self._lock:
            if search.is_over:
                self._is_over = True
            else:
                self._waiting.append(search)

    def _look(self) -> tuple[SearchSpace, Groups] | None:
        with self._lock:
            if not self._was_looked_for:
                self._was_looked_for = True
                self._found = _space_with_groups(self._context)
            return self._found

    def _take(self, space: SearchSpace, groups: Groups) -> SwapMoves:
        with self._lock:
            if self._waiting:
                return self._waiting.pop(0)
            number, self._made = self._made, self._made + 1
        seed = self._context.seed_of("exchanges", number)
        return SwapMoves(space.model, groups, space.submit, space.infeasible_points, seed)


def _space_with_groups(context: HeuristicContext) -> tuple[SearchSpace, Groups] | None:
    for make in (aggregated_space, full_space):
        space = make(context)
        groups = None if space is None else find_groups(space.model)
        if space is not None and groups is not None:
            return space, groups
    return None
