"""Fix-and-propagate dives, 32 at a time, over a portfolio of orders and rules for values.

Paper 2.3, FPR (Salvagnin, Roberti, Fischetti 2025), notes 3.3: which instances are solved depends
on the order of the columns more than on anything else, so that many orders are tried.
"""

from solvers.mip.heuristics.diving.batched.run import Dived, run_dives

__all__ = ["Dived", "run_dives"]
