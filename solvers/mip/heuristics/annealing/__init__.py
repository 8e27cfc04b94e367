"""Annealing by swap moves: groups of binaries, of which exactly one is 1, stay that way."""

from solvers.mip.heuristics.annealing.group_annealing import SwapMoves
from solvers.mip.heuristics.annealing.groups import Groups, find_groups

__all__ = ["Groups", "SwapMoves", "find_groups"]
