"""What a dive fixes first, to which value, and what it does when that fails.

The three choices and most of the combinations are those of Salvagnin, Roberti and Fischetti, "A
fix-propagate-repair heuristic for mixed integer programming" (2025), whose results say that the
variety of orders does more than the care taken with any one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum


class Order(Enum):
    """Which integer columns are fixed first. Ties, and later seeds, are broken at random."""

    LEFT_TO_RIGHT = "left to right"
    TYPE = "binaries, then the narrower ones"
    RANDOM = "random"
    LOCKS = "most rows that stand in the way of a change"
    OBJECTIVE = "largest objective coefficient"
    CLIQUES = "clique by clique, the largest first"
    REFERENCE = "least fractional at the reference point"


class Value(IntEnum):
    """Which value a column is fixed to first. The numbers are those of the compiled loops."""

    UP = 0
    DOWN = 1
    RANDOM = 2
    GOOD_OBJECTIVE = 3
    BAD_OBJECTIVE = 4
    LOOSE = 5
    REFERENCE = 6


class Mode(IntEnum):
    """What happens on a contradiction. The numbers are those of the compiled loops.

    Whatever the mode, a dive goes on to its end, passing contradictions over once its search is
    out of nodes, and repairs the point it ends with.
    """

    DFS = 0
    """Depth-first search with backtracking."""
    DFS_REPAIR = 1
    """The same, but first the fixed columns are shifted to mend what is broken."""
    DIVE = 2
    """Fix without propagating."""
    DIVE_PROPAGATE = 3
    """Propagate, and pass over contradictions."""
    DIVE_REPAIR = 4
    """Propagate, and repair at once where that fails."""


@dataclass(frozen=True)
class Strategy:
    """One way to dive."""

    order: Order
    value: Value
    mode: Mode

    @property
    def needs_reference(self) -> bool:
        """Whether it reads a reference point."""
        return self.order is Order.REFERENCE or self.value is Value.REFERENCE

    def __str__(self) -> str:
        names = (self.mode.name, self.order.name, self.value.name)
        return " ".join(name.lower().replace("_", "-") for name in names)


LP_FREE = (
    Strategy(Order.CLIQUES, Value.BAD_OBJECTIVE, Mode.DFS),
    Strategy(Order.LOCKS, Value.LOOSE, Mode.DFS),
    Strategy(Order.LOCKS, Value.LOOSE, Mode.DIVE),
    Strategy(Order.LOCKS, Value.GOOD_OBJECTIVE, Mode.DFS_REPAIR),
    Strategy(Order.CLIQUES, Value.BAD_OBJECTIVE, Mode.DFS_REPAIR),
    Strategy(Order.RANDOM, Value.RANDOM, Mode.DIVE_PROPAGATE),
    Strategy(Order.CLIQUES, Value.GOOD_OBJECTIVE, Mode.DFS),
    Strategy(Order.LEFT_TO_RIGHT, Value.UP, Mode.DFS),
    Strategy(Order.OBJECTIVE, Value.GOOD_OBJECTIVE, Mode.DFS_REPAIR),
    Strategy(Order.LOCKS, Value.LOOSE, Mode.DIVE_REPAIR),
    Strategy(Order.TYPE, Value.DOWN, Mode.DFS),
    Strategy(Order.RANDOM, Value.LOOSE, Mode.DFS_REPAIR),
)
"""Dives that need no point to go by, in the order in which they are tried.

The first six are the published LP-free portfolio; the others add an order, a value or a mode that
those leave out.
"""

LP_GUIDED = (
    Strategy(Order.REFERENCE, Value.REFERENCE, Mode.DFS),
    Strategy(Order.CLIQUES, Value.REFERENCE, Mode.DFS_REPAIR),
    Strategy(Order.LOCKS, Value.REFERENCE, Mode.DFS),
    Strategy(Order.REFERENCE, Value.REFERENCE, Mode.DIVE_REPAIR),
    Strategy(Order.RANDOM, Value.REFERENCE, Mode.DIVE_PROPAGATE),
    Strategy(Order.REFERENCE, Value.LOOSE, Mode.DFS_REPAIR),
)
"""Dives along a point, mostly that of the relaxation."""
