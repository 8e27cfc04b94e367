"""Lists of undominated states: shifting, pruning, merging and pairing them.

A state is a selection: the items of the break solution, but for the classes in the core, of which
anything may be chosen. A list is sorted by weight, and profits rise with it.

Each state remembers its choices since the last checkpoint in 64 bits, as many for a class as tell
its remaining items apart, and by number its ancestor at that checkpoint.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.states import States


def chosen_states(states: States, count: int, flags: npt.NDArray[np.bool_]) -> States:
    """Return a list of those of the first ``count`` states whose flag is set."""
    return States(
        states.profit[:count][flags],
        states.weight[:count][flags],
        states.history[:count][flags],
        states.ancestor[:count][flags],
    )
