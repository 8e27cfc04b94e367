"""What makes walkers differ: scores, samples, tabu, smoothing and targets, drawn for each."""

from __future__ import annotations

import numpy as np

from solvers.mip.heuristics.local_search.gpu.kernels.fields import Field

SAMPLED_ROWS = (1, 2, 4, 4, 8, 12)
"""Violated rows sampled in a step: few are fast, many choose well."""

FRACTIONS = (1e-4, 1e-4, 1e-4, 1e-3, 1e-2)
"""How far below the best point targets lie (staggered against creeping; near a good point what
lies far below it may not be feasible)."""

SMOOTHINGS = (0.0, 1e-4, 3e-4, 3e-4, 1e-3)
"""Probability of smoothing: Local-MIP has 3e-4 in its first version and none in its second."""

LEAST_TENURES = (3, 4)
"""Steps that a change lasts at least, in both versions of Local-MIP."""

TENURE_SPREADS = (6, 9)
"""How many more steps are drawn at random, likewise."""

BREAKTHROUGHS = (8, 16, 32)
PAIR_CHANCES = (0.25, 0.5, 1.0)

JUMP_SHARE = 2
"""One walker of so many takes the decrease of weighted violation for its score."""


def draw_parameters(records: np.ndarray, seed: int) -> None:
    """Draw the parameters of each walker into its record (W, RECORD)."""
    rng = np.random.default_rng([seed, 4])
    walkers = records.shape[0]
    for field, values in (
        (Field.ROWS, SAMPLED_ROWS),
        (Field.FRACTION, FRACTIONS),
        (Field.SMOOTHING, SMOOTHINGS),
        (Field.TENURE, LEAST_TENURES),
        (Field.SPREAD, TENURE_SPREADS),
        (Field.BREAKTHROUGHS, BREAKTHROUGHS),
        (Field.PAIRS, PAIR_CHANCES),
    ):
        records[:, field] = rng.choice(np.asarray(values, dtype=float), size=walkers)
    records[:, Field.JUMP] = np.arange(walkers) % JUMP_SHARE == JUMP_SHARE - 1
