"""Dives along the linear relaxation, which is solved anew after every few decisions.

Fix-and-propagate asks the relaxation once and follows its point to the end, however wrong that has
become. Here the LP says again and again where the rest is to go, from the basis in which it ended
(dual simplex, some iterations for changed bounds), and an LP without a point turns back decisions
that propagation took no offence at: flow balances and long knapsacks say little about bounds and
much together. (Berthold, "Primal heuristics for mixed integer programs", 2006, chapter 3.)

Of germanrr's presolved model this finds a point after 24 to 31 LPs (seeds 0, 1, 2), in some four
seconds from nothing, where walks stop at three violated rows; of nursesched-sprint02 after 8 or 9,
of dano3_5 after 6.
"""

from solvers.mip.heuristics.diving.linear.dive import LinearDives
from solvers.mip.heuristics.diving.linear.heuristic import LinearDive
from solvers.mip.heuristics.diving.linear.improving import ImprovingDive
from solvers.mip.heuristics.diving.linear.rules import RULES, Rule

__all__ = ["RULES", "ImprovingDive", "LinearDive", "LinearDives", "Rule"]
