"""Turns of linear dives: one search for each that runs at a time, while there is no point."""

from __future__ import annotations

import threading
from collections.abc import Callable

from solvers.mip.heuristics.diving.linear.dive import LinearDives
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.solutions.completion import show

MOST_ENTRIES = 2_000_000
"""Entries of a model up to which its relaxation is left to simplex, as in the pumps."""

FIRST_SHARE, SHARE = 24.0, 8.0
"""What dives are due while there is no point: the first few, and those after these."""

WHOLE_PART, FIRST_SHARE_OF_WHOLE = 0.9, 12.0
"""Part of integer columns from which the first few are due less: a turn that learns clauses is half
as long as one of dives, and on such models it more often finds the first point. Before the dives,
it finds one of neos-905856 after 93 and 154 million entries in place of 375 (seeds 0, 1) and of
bnatt400 after 192 in place of 441."""

FIRST_DIVES = 4
"""Dives that count as the first: of 59 models eight found one of 48, most of them at once."""


def suits(model: MipModel) -> bool:
    """Whether a model has integers to decide and a relaxation that simplex solves in time."""
    return model.integers.size > 0 and model.num_nonzeros <= MOST_ENTRIES


class LinearDiveTurns:
    """Dives that go on from turn to turn; safe to use from any thread.

    Parameters
    ----------
    context : HeuristicContext
        Its relaxation's basis, once there is one, is where LPs with the model's costs begin.
    share : callable, optional
        What dives are due while they have anything to do; by default :data:`SHARE` while there is
        no point, more at first.
    """

    def __init__(self, context: HeuristicContext, share: Callable[[], float] | None = None) -> None:
        self._context = context
        self._share = share
        self._waiting: list[LinearDives] = []
        self._made, self._dives = 0, 0
        self._lock = threading.Lock()
        self._is_over = not suits(context.model)
        is_whole = context.model.integers.size >= WHOLE_PART * context.model.num_columns
        self._first_share = FIRST_SHARE_OF_WHOLE if is_whole else FIRST_SHARE

    def share(self) -> float:
        """Return what the dives are due now."""
        if self._is_over:
            return 0.0
        if self._share is not None:
            return self._share()
        if self._context.has_point:
            return 0.0
        return self._first_share if self._dives <= FIRST_DIVES else SHARE

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the searches go on until there is a point."""
        with self._lock:
            number, dives = self._made, self._waiting.pop(0) if self._waiting else None
            self._made += dives is None
        if dives is None:
            dives = self._make(number)
        try:
            dives.run(budget, lambda: self._context.has_point)
        finally:
            with self._lock:
                self._is_over |= dives.is_over
                self._dives = max(self._dives, dives.dives)
                self._waiting.append(dives)
        if self._context.has_point or dives.is_over:
            self._close()

    def _close(self) -> None:
        """Give up what the searches hold that are not at work."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for dives in waiting:
            dives.close()

    def _make(self, number: int) -> LinearDives:
        context = self._context
        return LinearDives(
            context.model,
            context.domain,
            lambda x, source: show(context, x, source),
            context.acceptance.infeasible_points,
            context.seed_of("linear dive", number),
            lambda: None if context.root is None else context.root.basis,
            number,
        )
