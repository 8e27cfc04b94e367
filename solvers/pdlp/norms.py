"""What errors are measured against: the sizes of a problem's sides and costs."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.problem import Problem, side_sizes
from solvers.core.vectors import euclidean


@dataclass(frozen=True)
class Norms:
    """2-norms of the finite sides, an equation's counted once, and of the cost.

    Presolve changes both: a column with an upper bound of 1e6 that becomes slack leaves a side of
    that size, and what is a small error beside it may be a large one on the original problem. So
    who stops on a reduced problem measures against the norms of the original where these are
    smaller.
    """

    sides: float
    cost: float

    @classmethod
    def of(cls, problem: Problem) -> Norms:
        """Return the norms of a problem."""
        sides = side_sizes(problem.row_lower, problem.row_upper)
        return cls(euclidean(sides), euclidean(problem.cost))
