"""The simplex solver of "GPU Accelerated Simplex Solver" (Tissier et al., ETH Zurich), repeated.

Primal revised simplex on ``min c'x, Ax = b, x >= 0`` with an explicit inverse of the basis, in the
paper's four variants. It is here so that its figures can be repeated and compared; the engines for
daily use are in the folders beside it. Its explorations without result, iterative basis solves
(appendix B) and several pivots in parallel (appendix C), are not repeated.

    standard_form.py    any problem as min c'x, Ax = b, x >= 0, and the way back
    scaling.py          equilibration, on the device
    workspace.py        the arrays of a solve where it runs; inverse.py fills the largest of them
    variants.py         who makes the pivots: cpu and naive (host_pivots.py, algebra.py),
                        resident and graphs (device_pivots.py)
    rules.py            pricing and ratio test of cpu and naive, in NumPy
    drive.py            phases, re-inversion, what ends a solve
    status.py            how that can be
    shifts.py           perturbation of the right-hand side
    tolerances.py       the constants of both
    basic_solution.py   the exact solution of a basis, by which claims are judged
    answer.py           the outcome that follows; start.py the way from a start to a basis
    engine.py           the entry point
"""

from solvers.papers.simplex_variants.engine import solve
from solvers.papers.simplex_variants.variants import VARIANTS

__all__ = ["VARIANTS", "solve"]
