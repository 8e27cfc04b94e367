"""Local search that exchanges: groups of binaries, of which exactly one is 1, stay that way."""

from solvers.mip.search.exchanges.groups import Groups, find_groups
from solvers.mip.search.exchanges.walk import Exchanges

__all__ = ["Exchanges", "Groups", "find_groups"]
