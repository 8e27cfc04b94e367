"""Fix-and-propagate dives, 32 at a time, over a portfolio of orders and rules for values.

Section 2.3 of arXiv 2510.20499, and FPR (Salvagnin, Roberti, Fischetti 2025): which instances are
solved depends on the order of the columns most of all, so that many orders are tried.
"""

from solvers.mip.heuristics.diving.batched.run import Dived, run_dives

__all__ = ["Dived", "run_dives"]
