"""Cliques: sets of binary literals of which at most one, or exactly one, can be true.

``find_cliques(model)`` reads them off the rows; ``Cliques`` is the table by clique and by literal.
"""

from solvers.mip.inference.cliques.find import find_cliques
from solvers.mip.inference.cliques.table import Cliques, clique_table

__all__ = ["Cliques", "clique_table", "find_cliques"]
