"""The simplex solver of "GPU Accelerated Simplex Solver" (Tissier et al., ETH Zurich), repeated.

Primal revised simplex on ``min c'x, Ax = b, x >= 0`` with an explicit inverse of the basis, in the
paper's four variants. It is here so that its figures can be repeated and compared; the engines for
daily use are in the folders beside it. Its explorations without result, iterative basis solves
(appendix B) and several pivots in parallel (appendix C), are not repeated.

    standard_form.py    any problem as min c'x, Ax = b, x >= 0, scaled, and the way back
    host_pivots.py      the pivots of the variants cpu and naive
    device_pivots.py    the arrays of a solve where it runs; the pivots of resident and graphs
    drive.py            phases, perturbation, re-inversion, what ends a solve
    basic_solution.py   the exact solution of a basis, by which claims are judged
    engine.py           the entry point, the four variants, and the outcome
"""

from solvers.papers.simplex_variants.engine import VARIANTS, solve

__all__ = ["VARIANTS", "solve"]
