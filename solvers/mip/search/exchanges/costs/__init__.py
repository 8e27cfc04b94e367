"""Exchanges for a better objective, once there is a point.

The moves of :mod:`solvers.mip.search.exchanges` on models whose columns are groups of binaries, of
which exactly one is 1, and slacks, whose values follow from the groups: assignments with
capacities, targets missed at a price, makespans. The LP that other searches need for their
continuous columns is done away with: a move knows at once what it costs.
"""

from solvers.mip.search.exchanges.costs.search import CostExchanges
from solvers.mip.search.exchanges.costs.structure import Structure, find_structure

__all__ = ["CostExchanges", "Structure", "find_structure"]
