"""Random numbers for compiled loops: one 64-bit state per dive, the same on every machine.

The generator is SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixing steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled

RandomState = npt.NDArray[np.uint64]


def seeded(*seeds: int) -> RandomState:
    """Return the state (1,) that belongs to a few whole numbers."""
    sequence = np.random.SeedSequence([seed % 2**63 for seed in seeds])
    state: RandomState = sequence.generate_state(1, dtype=np.uint64).astype(np.uint64)
    return state


@compiled
def uniform(state: RandomState) -> float:
    """Draw a number from [0, 1)."""
    z = state[0] + np.uint64(0x9E3779B97F4A7C15)
    state[0] = z
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(np.float64(z >> np.uint64(11)) / 9007199254740992.0)


@compiled
def below(state: RandomState, end: int) -> int:
    """Draw a whole number from 0 to ``end - 1``."""
    return min(end - 1, int(uniform(state) * end))
