"""The table of neighbourhoods: name, maker, and how many points are wanted of its sub-MIP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.mip.heuristics.large_neighbourhood.guided import by_objective, rens, rins, soft_bounds
from solvers.mip.heuristics.large_neighbourhood.recombined import (
    crossover,
    graph_induced,
    local_branching,
    mutation,
    proximity,
)
from solvers.mip.heuristics.large_neighbourhood.situation import Situation
from solvers.mip.heuristics.large_neighbourhood.without_point import partial_fixing, repair
from solvers.mip.submip import SubMip

Maker = Callable[[Situation, np.random.Generator, float], "SubMip | None"]
"""Makes a neighbourhood at a fix rate within [0, 1]; None where something it needs is missing."""


@dataclass(frozen=True)
class Neighbourhood:
    """One line of the table.

    ``solutions`` is the number of improving points after which its sub-MIP stops, 0 for none:
    where the objective is a distance or a violation, later points are not better ones.
    ``needs_no_point`` says that a better point does not make another neighbourhood of it.
    """

    name: str
    make: Maker
    solutions: int = 0
    needs_no_point: bool = False


CATALOGUE = (
    Neighbourhood("rins", rins),
    Neighbourhood("rens", rens, needs_no_point=True),
    Neighbourhood("crossover", crossover),
    Neighbourhood("soft bounds", soft_bounds),
    Neighbourhood("mutation", mutation),
    Neighbourhood("graph induced", graph_induced),
    Neighbourhood("objective", by_objective),
    Neighbourhood("proximity", proximity, solutions=3),
    Neighbourhood("local branching", local_branching),
    Neighbourhood("partial fixing", partial_fixing, solutions=1),
    Neighbourhood("repair", repair),
)
"""All neighbourhoods, the most promising first: unplayed arms are tried in this order."""
