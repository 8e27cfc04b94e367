"""The best values of the continuous columns once the integers are decided, by an LP.

Heuristics decide integers well and continuous columns badly: a walker moves one column at a time,
a fixing stops where the rows hold. So every point that is whole, feasible or not, goes through
:class:`Polisher`, which fixes its integers and solves for the rest. What is left of the model is
always the same matrix with the same costs and other row sides; therefore the last optimal basis
stays dual feasible, and dual simplex from there takes few steps. Before that, rows that no
continuous column can mend are found by one product with the matrix, which settles most hopeless
points. Beyond a million entries PDLP takes simplex's place. ``continuous`` has what is left of the
model and its LP.
"""

from solvers.mip.solutions.polish.polisher import Polished, Polisher, PolishStatus

__all__ = ["PolishStatus", "Polished", "Polisher"]
