"""What an implementation of the pivots offers to the driver, wherever it runs.

The driver decides on phases, perturbation, scaling and when an answer may be believed; a core
knows only the working cost and bounds that it is given, and does pivots until it has a reason to
stop.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from solvers.problem import FloatArray
from solvers.simplex.state import SimplexState


class Halt(Enum):
    """Why a core stopped making pivots."""

    DONE = "no variable violates its bounds (dual) or prices out (primal)"
    NO_PIVOT = "no ratio is bounded: dual unbounded (primal infeasible), or primal unbounded"
    LIMIT = "the pivots it was given are used up"
    TROUBLE = "pivots stayed inaccurate after a fresh factorisation"
    STOPPED = "the time is up or somebody asked to stop"


class Core(Protocol):
    """Pivots on one basis; ``load`` copies the arrays of a ``SimplexState`` in, ``store`` out."""

    def load(self, state: SimplexState) -> None:
        """Take over basis, statuses, point, cost, bounds and weights; factorise a new basis.

        Recomputes basic values and reduced costs for what was loaded. A singular basis is repaired
        by slacks; ``store`` then shows it.
        """

    def dual(self, most: int, should_stop: Callable[[], bool]) -> Halt:
        """Run at most ``most`` dual pivots from a dual feasible basis; refactorise as needed.

        ``DONE`` and ``NO_PIVOT`` are said only of a fresh factorisation.
        """

    def primal(self, most: int, should_stop: Callable[[], bool]) -> Halt:
        """Run at most ``most`` primal pivots; from an infeasible point with composite costs."""

    def store(self, state: SimplexState) -> None:
        """Copy everything back, with duals and basic values as of a fresh computation."""

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """Return y with B'y = ``right``, (m,) by position, for duals and Farkas rows."""

    def solve_basis(self, right: FloatArray) -> FloatArray:
        """Return v with B v = ``right``, (m,) by row, for rays and refinement."""

    @property
    def pivot_row(self) -> int:
        """Position at which the dual found no ratio, for the Farkas certificate; -1 if none."""

    @property
    def pivot_column(self) -> int:
        """Variable for which the primal found no ratio, for the ray; -1 if none."""
