"""Ranges of weights that lie far apart."""

from __future__ import annotations

import numpy as np

from solvers.knapsack.items import IntArray

LEAST_JUMP = 16.0
"""How many times as wide as the widest gap within clusters the narrowest between them has to be.
Uniform weights have gaps that differ by less from one to the next in size."""

FEWEST_ITEMS = 16
"""Items below which a few gaps say nothing."""

MOST_CLUSTERS = 64
"""Clusters beyond which numbers of items of each say too little."""


def find_clusters(weight: IntArray) -> IntArray | None:
    """Return the first place of each cluster, and the number of items behind the last one's.

    Parameters
    ----------
    weight : (n,) int64 array
        In rising order.

    Returns
    -------
    (k + 1,) int64 array or None
        None where there are no two clusters: sizes of gaps rise without a jump.
    """
    if weight.size < FEWEST_ITEMS:
        return None
    gap = np.diff(weight).astype(np.float64) + 1.0
    sizes = np.sort(gap)
    jump = sizes[1:] / sizes[:-1]
    widest = int(np.argmax(jump))
    cuts = np.flatnonzero(gap > sizes[widest]) + 1
    if jump[widest] < LEAST_JUMP or cuts.size + 1 > MOST_CLUSTERS:
        return None
    found: IntArray = np.concatenate([[0], cuts, [weight.size]]).astype(np.int64)
    return found
