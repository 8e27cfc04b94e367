"""Thousands of small knapsack problems, solved exactly in one call.

``batch`` is what may be given, ``packings`` what comes back. ``solve`` has the entry point: it
sends all problems to the kernel of ``kernels/many.py`` (``run``), adds every answer up again
(``check.cpp``), and solves one by one what the kernel leaves.
"""

from __future__ import annotations

from solvers.knapsack.batch.packings import ManyPackings
from solvers.knapsack.batch.solve import solve_many_knapsacks

__all__ = ["ManyPackings", "solve_many_knapsacks"]
