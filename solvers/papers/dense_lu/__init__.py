"""Dense LU: the paper's elimination by three kernels, and the libraries' for comparison.

``elimination`` is the algorithm of De Luca, Fiorillo and Marcellino as published; ``lu`` is what
its figures are compared with, and ``examples/papers/angiogenesis_imex.py`` is the run of IMEX steps
that it serves.
"""

from solvers.papers.dense_lu.elimination import Elimination, solve_by_elimination

__all__ = ["Elimination", "solve_by_elimination"]
