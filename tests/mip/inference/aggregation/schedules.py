"""Models with stocks: jobs that start once, and the use of a resource carried on over periods."""

from __future__ import annotations

import numpy as np

from solvers.mip.model import MipModel
from tests.mip.solutions.polish.test_polisher import model_of

MOST_IN_USE = 7


def schedule(seed: int, jobs: int = 6, periods: int = 10, *, cost: bool = True) -> MipModel:
    """Return a model of jobs of some length and use, which one resource has room for.

    Columns: a binary for each job and first period, then the use in each period, then when each job
    ends. Use is that of the period before, and what begins, less what ends.
    """
    rng = np.random.default_rng(seed)
    lengths, uses = rng.integers(2, 4, jobs), rng.integers(2, 5, jobs)
    starts = [(j, t) for j in range(jobs) for t in range(periods - int(lengths[j]) + 1)]
    n = len(starts) + periods + jobs
    once, stock, end = np.zeros((jobs, n)), np.zeros((periods, n)), np.zeros((jobs, n))
    for place, (j, t) in enumerate(starts):
        once[j, place] = 1.0
        stock[t, place] += uses[j]
        if t + lengths[j] < periods:
            stock[t + lengths[j], place] -= uses[j]
        end[j, place] = -float(t + lengths[j])
    for t in range(periods):
        stock[t, len(starts) + t] = -1.0
        if t:
            stock[t, len(starts) + t - 1] = 1.0
    end[:, len(starts) + periods :] = np.eye(jobs)
    sides = np.concatenate([np.ones(jobs), np.zeros(periods), np.zeros(jobs)])
    upper = np.concatenate([np.ones(len(starts)), np.full(periods, MOST_IN_USE), np.full(jobs, 99)])
    costs = np.zeros(n)
    costs[len(starts) + periods :] = cost
    return model_of(costs, np.vstack([once, stock, end]), sides, sides, 0.0, upper, True)
