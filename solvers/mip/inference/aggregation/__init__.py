"""The model without the columns that its equations imply, for searches that take single steps.

A stock is what was there before and what has come and gone; a start time is the sum of the periods
times the binary of each. Such columns are there for the reader and for the LP, whose matrix they
keep sparse. For a local search they are a trap: to move one binary, the stock of every later period
has to move with it, and every step on the way violates an equation. Put in for the column, its
equation becomes a row with two sides, the column's bounds, which one step may cross and another
one mend.

``eliminate`` chooses columns and equations, ``aggregated`` has the smaller model and the ways
between the two, and ``view`` shows the pool of points in the smaller model's columns.
"""

from solvers.mip.inference.aggregation.aggregated import Aggregated
from solvers.mip.inference.aggregation.eliminate import eliminate
from solvers.mip.inference.aggregation.view import PoolView

__all__ = ["Aggregated", "PoolView", "eliminate"]
