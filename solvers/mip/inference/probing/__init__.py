"""Probing: what follows from each half of a column's range, computed once and used all along.

``build_cache`` probes columns in the order of their priority, by a ``DomainProber`` on the CPU or a
``BatchProber`` on a device, and returns a ``ProbingCache``. Its ``choose`` rounds a bulk of columns
so that what they imply agrees.

Sections 2.2 and 2.3 of "GPU-Accelerated Primal Heuristics for Mixed Integer Programming"
(arXiv 2510.20499).
"""

from solvers.mip.inference.probing.build import build_cache, prioritised
from solvers.mip.inference.probing.store import ProbingCache

__all__ = ["ProbingCache", "build_cache", "prioritised"]
