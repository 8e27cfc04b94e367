"""The dual ratio test: which variable enters, and which boxed ones are flipped on the way.

Along a dual step t the reduced cost of candidate j, measured towards its allowed sign, is
``chosen_cost[j] - t * chosen_size[j]``. Where it would change sign, a boxed variable may go to its
other bound instead of ending the step; that lessens the violation of the leaving variable, the
slope, by ``chosen_size[j]`` times its range, and the step may go on while the slope is positive
(bound flipping; Maros, "A generalized dual phase-2 simplex algorithm", 2003).
"""

from __future__ import annotations

from solvers.simplex.factor.inner import inner
from solvers.simplex.pivots.arrays import Iterate, Vectors
from solvers.simplex.state import BASIC, LOWER, UPPER


@inner
def gather_candidates(
    iterate: Iterate, vectors: Vectors, listed: int, sign: float, smallest: float
) -> int:
    """List the variables whose reduced costs shrink along the step; return how many."""
    count = 0
    for k in range(listed):
        j = vectors.row_pattern[k]
        status = iterate.status[j]
        pivot = sign * vectors.row[j]
        if status == BASIC or iterate.lower[j] == iterate.upper[j]:
            continue
        if status == LOWER:
            size, cost = pivot, iterate.reduced_cost[j]
        elif status == UPPER:
            size, cost = -pivot, -iterate.reduced_cost[j]
        else:
            size, cost = abs(pivot), 0.0
        if size <= smallest:
            continue
        vectors.chosen[count] = j
        vectors.chosen_size[count] = size
        vectors.chosen_loss[count] = size * (iterate.upper[j] - iterate.lower[j])
        vectors.chosen_cost[count] = cost
        count += 1
    return count
