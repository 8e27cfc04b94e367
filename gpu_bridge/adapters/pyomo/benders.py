"""Tells Pyomo's generator of Benders cuts how the signs of our duals are to be read.

It has a table by the names of solvers and refuses those that are not in it.
"""

from __future__ import annotations

from pyomo.contrib.benders.benders_cuts import solver_dual_sign_convention

AS_THE_SIDE_GROWS = -1
"""What the table says of duals that are d(objective)/d(side), as those of Gurobi and CBC are."""

for name in ("gpuheur", "gpuheur_persistent"):
    solver_dual_sign_convention[name] = AS_THE_SIDE_GROWS
