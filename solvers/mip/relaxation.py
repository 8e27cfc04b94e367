"""The linear relaxation's solution, as the heuristics that lean on it see it."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.problem import FloatArray


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A point of the linear relaxation, whoever computed it; in the minimised sense.

    Parameters
    ----------
    x : (n,) float64
        The point. Integer columns are anywhere within their bounds.
    reduced_cost : (n,) float64
        ``c - A'y``; zeros where no duals are known.
    objective : float
        c'x + offset.
    is_exact : bool
        Whether the point is optimal to the usual tolerances, so that ``objective`` says what a
        feasible point cannot beat. A first-order method stopped early gives an inexact one.
    """

    x: FloatArray
    reduced_cost: FloatArray
    objective: float
    is_exact: bool
