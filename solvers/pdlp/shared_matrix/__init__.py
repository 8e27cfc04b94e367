"""PDLP for several problems that share their matrix: each entry is read once for all of them.

They are 8 to 32 of any size that differ in cost, bounds and sides only, such as the projections of
feasibility pumps that run in lockstep. ``solve.SharedMatrix`` is the entry point.
"""

from solvers.pdlp.shared_matrix.solve import SharedMatrix, solve_with_shared_matrix

__all__ = ["SharedMatrix", "solve_with_shared_matrix"]
