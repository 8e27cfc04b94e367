"""Integer solutions of equations by lattice reduction, and local search among them.

Dives and local search change single columns. On equations of general integers with coefficients
other than one that leaves an equation open each time, and the last columns of a dive have no value
that closes it. In the coordinates of a reduced lattice every point keeps the equations, and bounds
are what is left to satisfy.
"""

from solvers.mip.heuristics.lattice.lattice_search import LatticeSearch, Status, suits

__all__ = ["LatticeSearch", "Status", "suits"]
