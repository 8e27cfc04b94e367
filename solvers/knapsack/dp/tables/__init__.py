"""Dynamic programming over capacities, where a table of them is cheaper than a list of states.

``plan`` finds what may be otherwise than in the break solution, and the stages and the columns of
the table that this leaves. ``dense`` makes a table of profits, or one of bits where
profits are proportional to weights, and ``offer`` says when which of them is due.
"""

from __future__ import annotations

from solvers.knapsack.dp.tables.dense import MOST_BYTES
from solvers.knapsack.dp.tables.offer import Tables

__all__ = ["MOST_BYTES", "Tables"]
