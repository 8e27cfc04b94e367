"""Random numbers for compiled loops: one 64-bit state per dive, the same on every machine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

RandomState = npt.NDArray[np.uint64]


def seeded(*seeds: int) -> RandomState:
    """Return the state (1,) that belongs to a few whole numbers."""
    sequence = np.random.SeedSequence([seed % 2**63 for seed in seeds])
    state: RandomState = sequence.generate_state(1, dtype=np.uint64).astype(np.uint64)
    return state
