"""Branch and bound of the whole model for any point at all, as if nothing had a cost.

Costs draw the relaxation to where integers are furthest from being whole: designs are hardly built,
lines hardly open. Without them it has whole parts by itself, its bound is reached at once, and the
first point found ends the search. ``first_point`` says what is searched and ``heuristic`` when: in
threads of their own, once the heuristics have had some seconds and found none.
"""

from solvers.mip.heuristics.zero_objective.first_point import SOURCE, search_zero_objective

__all__ = ["SOURCE", "search_zero_objective"]
