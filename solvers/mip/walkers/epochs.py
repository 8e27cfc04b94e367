"""Who starts again, and from where: the bottom quarter follows the best tenth, or known points."""

from __future__ import annotations

import numpy as np

from solvers.mip.walkers.kernels.fields import NONE, Field
from solvers.mip.walkers.kernels.restart import HALVE_WEIGHTS, KEEP_WEIGHTS

BOTTOM = 4
"""One walker of so many starts again in an epoch (notes 4.4)."""

TOP = 10
"""One of so many is followed."""

POINT_SHARE = 0.25
"""Part of the restarts that take a known point instead of a better walker's."""

LEAST_CHANGE, MOST_CHANGE = 0.02, 0.10
"""Share of the columns that change at random in a restart."""


def ranking(records: np.ndarray) -> np.ndarray:
    """Return the walkers (W,), best first: by objective if they kept a point, else by violation."""
    has_point = records[:, Field.BEST] < NONE
    violated = np.where(has_point, 0.0, records[:, Field.VIOLATED])
    weighted = np.where(has_point, 0.0, records[:, Field.WEIGHTED])
    objective = np.where(has_point, records[:, Field.BEST], records[:, Field.OBJECTIVE])
    return np.lexsort((objective, weighted, violated, ~has_point))


def restarts(
    records: np.ndarray, points: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return origins, weights and shares (W,) for the kernel ``restart``.

    Walkers that go on have origin -1; those that follow walker v have v, and those that take
    point p have W + p.
    """
    walkers: int = records.shape[0]
    origins = np.full(walkers, -1, dtype=np.int32)
    weights = np.full(walkers, HALVE_WEIGHTS, dtype=np.int32)
    shares = rng.uniform(LEAST_CHANGE, MOST_CHANGE, size=walkers)
    if walkers < 2:
        return origins, weights, shares
    order = ranking(records)
    bottom = order[-max(1, walkers // BOTTOM) :]
    top = order[: max(1, walkers // TOP)]
    origins[bottom] = rng.choice(top, size=bottom.size)
    weights[bottom] = rng.choice((KEEP_WEIGHTS, HALVE_WEIGHTS), size=bottom.size)
    elsewhere = bottom[rng.random(bottom.size) < (POINT_SHARE if points else 0.0)]
    origins[elsewhere] = walkers + rng.integers(0, max(1, points), size=elsewhere.size)
    weights[elsewhere] = HALVE_WEIGHTS
    return origins, weights, shares
