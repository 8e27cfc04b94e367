"""Local search from the points of a pump, within its share of the time."""

from __future__ import annotations

from collections.abc import Callable

from solvers.core.problem import FloatArray
from solvers.mip.portfolio.budget import Budget

Search = Callable[[FloatArray, Budget], tuple[FloatArray, bool]]
"""Takes a point (n,) and what it may spend; returns the best point it saw, and whether that is
feasible."""

NEAR_SHARE = 0.2
"""Part of the time of projection and rounding that is spent around each rounded point
(arXiv 2510.20499, section 2.5)."""

LONG_SECONDS, LONG_WORK = 3.0, 6e8
"""What a search that is to leave a circle may spend."""

LONG_SHARE = 0.3
"""Part of the pump's time that such searches may take together."""

SHORTEST, LEAST_WORK = 1e-3, 1e5
"""No search for less than this."""


class Neighbourhood:
    """A local search, if there is one, and its account."""

    def __init__(self, search: Search | None = None) -> None:
        self._search = search
        self._spent = 0.0
        self._elapsed = 0.0

    @property
    def is_there(self) -> bool:
        """Whether there is a search at all."""
        return self._search is not None

    def account(self, effort: float) -> None:
        """Take down seconds, or work, that the pump spent otherwise."""
        self._elapsed += effort

    def near(self, x: FloatArray, budget: Budget, effort: float) -> tuple[FloatArray, bool]:
        """Search around a rounded point for a share of the effort that led to it."""
        share = NEAR_SHARE * effort
        if budget.is_timed:
            return self._run(x, budget.part(max(share, SHORTEST)))
        return self._run(x, budget.part(work=max(share, LEAST_WORK)))

    def around(self, x: FloatArray, budget: Budget) -> tuple[FloatArray, bool]:
        """Search for long, to find a solution or another region."""
        if budget.is_timed:
            part = budget.part(min(LONG_SECONDS, LONG_SHARE * budget.seconds_left))
            found = self._run(x, part)
            self._spent += part.seconds
            return found
        part = budget.part(work=min(LONG_WORK, LONG_SHARE * budget.work_left))
        found = self._run(x, part)
        self._spent += part.work
        return found

    @property
    def may_search_long(self) -> bool:
        """Whether long searches have not had their share yet."""
        return self.is_there and self._spent <= LONG_SHARE * (self._elapsed + self._spent)

    def _run(self, x: FloatArray, budget: Budget) -> tuple[FloatArray, bool]:
        return (x, False) if self._search is None else self._search(x, budget)
