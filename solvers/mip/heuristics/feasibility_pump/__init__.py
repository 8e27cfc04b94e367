"""The extended feasibility pump: rounding and projecting in turn, with local search between.

Of arXiv 2510.20499, section 2.5, with its two forebears: the objective feasibility pump
(Achterberg and Berthold 2007) and the pump for general integers in two stages (Bertacco, Fischetti
and Lodi 2007). ``augmented`` has the projection's linear program, ``trajectory`` the loop,
``cycles`` and ``perturb`` what keeps it from going round, ``target`` the cut-off that makes an
improvement heuristic of it, ``simplex`` and ``first_order`` who projects. ``root`` solves the
relaxation, for whoever needs it.
"""

from solvers.mip.heuristics.feasibility_pump.batch import PumpBatch
from solvers.mip.heuristics.feasibility_pump.counts import PumpCounts
from solvers.mip.heuristics.feasibility_pump.root import Root, root_relaxation
from solvers.mip.heuristics.feasibility_pump.rounding import Rounded, Rounder, nearest
from solvers.mip.heuristics.feasibility_pump.run import Pump, pump

__all__ = [
    "Pump",
    "PumpBatch",
    "PumpCounts",
    "Root",
    "Rounded",
    "Rounder",
    "nearest",
    "pump",
    "root_relaxation",
]
