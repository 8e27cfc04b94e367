"""Large-neighbourhood search: parts of the model around good points, solved by HiGHS.

``catalogue`` lists the neighbourhoods, which are functions from a :class:`Situation` and a fix rate
to a sub-MIP: ``guided`` ones follow the linear relaxation, ``recombined`` ones need feasible points
only, ``without_point`` ones look for a first feasible point. ``bandit`` decides which to search
next and how large, ``search`` is the loop. Several searches may run side by side in threads and
share one bandit. ``mending`` stays with one infeasible point until it is feasible.
"""

from solvers.mip.heuristics.large_neighbourhood.bandit import Bandit
from solvers.mip.heuristics.large_neighbourhood.loop import (
    Counts,
    make_bandit,
    search_neighbourhoods,
)
from solvers.mip.heuristics.large_neighbourhood.mending import Mending
from solvers.mip.heuristics.large_neighbourhood.situation import Situation

__all__ = ["Bandit", "Counts", "Mending", "Situation", "make_bandit", "search_neighbourhoods"]
