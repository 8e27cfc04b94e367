"""Probing: what follows from each half of a column's range, computed once and used all along.

``build_cache`` probes columns in the order of their priority, by a ``DomainProber`` on the CPU or a
``BatchProber`` on a device, and returns a ``ProbingCache``. Its ``choose`` rounds a bulk of columns
so that what they imply agrees. ``NoGoods`` collects sets of decisions that cannot stand together.

Sections 2.2 and 2.3 of "GPU-Accelerated Primal Heuristics for Mixed Integer Programming"
(arXiv 2510.20499).
"""

from solvers.mip.probing.batch import BatchProber
from solvers.mip.probing.build import build_cache
from solvers.mip.probing.cache import ProbingCache
from solvers.mip.probing.nogoods import NoGoods, learned, with_rows
from solvers.mip.probing.priority import Priority, prioritised
from solvers.mip.probing.prober import DomainProber, Prober, Probes

__all__ = [
    "BatchProber",
    "DomainProber",
    "NoGoods",
    "Priority",
    "Prober",
    "Probes",
    "ProbingCache",
    "build_cache",
    "learned",
    "prioritised",
    "with_rows",
]
