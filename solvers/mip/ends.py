"""The plainest points of all: every integer at an end of its bounds.

Many a model has something feasible there: everything built, nothing sold, every switch closed.
Where there are continuous columns it takes an LP to know, which walkers and dives come to late.
"""

from __future__ import annotations

from solvers.mip.budget import Budget
from solvers.mip.learning.wishes import plain_wishes
from solvers.mip.model import MipModel
from solvers.mip.pool import Offer

SOURCE = "ends of bounds"


def offer_ends(model: MipModel, offer: Offer, budget: Budget) -> None:
    """Offer the points at the ends of the bounds, those with the fewest rows in the way first.

    Parameters
    ----------
    model : MipModel
    offer : Offer
        Sets the continuous columns by an LP.
    budget : Budget
        Looked at between points.
    """
    for x in reversed(plain_wishes(model)):
        if budget.spent():
            return
        offer(x, SOURCE)
