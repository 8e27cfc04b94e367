"""Primal heuristics for mixed-integer programs, on the GPU and the CPU, beside branch and bound.

The parts are those of "GPU-Accelerated Primal Heuristics for Mixed Integer Programming" (arXiv
2510.20499), as far as ablation has kept them (propagation, fix-and-propagate and local search),
with the improvement heuristics that the field has found since. ``model`` holds the problem as the
heuristics read it, ``budget`` how long each may go on. ``solve`` is the schedule,
``table`` says which heuristics there are and what each is due; every point goes through
``solutions.acceptance`` and ``solutions.incumbents``.
"""

from solvers.mip.reducer import Reduced
from solvers.mip.solve import solve

__all__ = ["Reduced", "solve"]
