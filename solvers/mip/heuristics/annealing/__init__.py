"""Local search that exchanges: groups of binaries, of which exactly one is 1, stay that way."""

from solvers.mip.heuristics.annealing.group_annealing import Exchanges
from solvers.mip.heuristics.annealing.groups import Groups, find_groups

__all__ = ["Exchanges", "Groups", "find_groups"]
