"""Thousands of small knapsack problems, solved exactly in one call.

``problems`` is what may be given. ``solve`` has the entry point and what comes back: it sends all
problems to the kernel of ``kernels/many.py`` (``run``), adds every answer up again (``check.cpp``),
and solves one by one what the kernel leaves.
"""

from __future__ import annotations

from solvers.knapsack.batch.solve import ManyPackings, solve_many_knapsacks

__all__ = ["ManyPackings", "solve_many_knapsacks"]
