"""Assignments: jobs to agents with capacities, and targets that are missed at a price."""

from __future__ import annotations

import numpy as np

from solvers.mip.model import MipModel
from tests.mip.inference.domain.models import INF, model_of


def assignment(jobs: int, agents: int, seed: int, room: float = 1.2) -> MipModel:
    """Return jobs to give to agents whose capacity is ``room`` times what they need on average.

    The column of job i and agent k is ``agents * i + k``.
    """
    rng = np.random.default_rng(seed)
    need = rng.integers(5, 20, (jobs, agents)).astype(float)
    by_job = np.kron(np.eye(jobs), np.ones(agents))
    by_agent = np.kron(np.ones(jobs), np.eye(agents)) * need.ravel()
    capacity = np.ceil(room * need.mean() * jobs / agents)
    return model_of(
        rng.integers(10, 50, jobs * agents).astype(float),
        np.vstack([by_job, by_agent]),
        np.r_[np.ones(jobs), np.full(agents, -INF)],
        np.r_[np.ones(jobs), np.full(agents, capacity)],
        lower=0.0,
        upper=1.0,
        integrality=True,
    )


def selection(groups: int, size: int, seed: int) -> MipModel:
    """Return items of which one of each group may be taken, and two for themselves, within limits.

    The column of item k of group i is ``size * i + k``; the last two columns are for themselves.
    """
    rng = np.random.default_rng(seed)
    n = groups * size + 2
    by_group = np.hstack([np.kron(np.eye(groups), np.ones(size)), np.zeros((groups, 2))])
    weights = rng.integers(1, 30, (3, n)).astype(float)
    return model_of(
        -rng.integers(5, 40, n).astype(float),
        np.vstack([by_group, weights]),
        -INF,
        np.r_[np.ones(groups), np.full(3, 8.0 * groups)],
        lower=0.0,
        upper=1.0,
        integrality=True,
    )


def with_slacks(seed: int) -> MipModel:
    """Return an assignment with slacks of all kinds beside it, in random rows.

    Deviations from a target on either side, one of them bounded; the largest of several sums, with
    and without a floor; whole units above a sum; and one column that pays below a sum.
    """
    rng = np.random.default_rng(seed)
    jobs, agents = 6, 3
    inner = assignment(jobs, agents, seed, room=5.0)
    n = inner.num_columns
    sums = rng.integers(-4, 9, (9, n)).astype(float)
    # columns: over, under, largest, floorless, whole, paying
    own = np.zeros((9, 6))
    own[0, 0], own[0, 1] = -1.0, 2.0  # an equation with two slacks
    own[1:4, 2] = [1.0, 3.0, 0.5]  # largest >= each of three sums
    own[4:6, 3] = -1.0  # sum - floorless <= 0, written the other way round
    own[6, 4] = 2.0
    own[7, 5] = -1.0  # sum - paying >= 0: the larger the better
    low = np.r_[7.0, np.zeros(3), np.full(2, -INF), 3.0, 0.0, -INF]
    high = np.r_[7.0, np.full(3, INF), np.zeros(2), INF, INF, 40.0]
    sums[1:4] *= -1.0
    sums[6] *= -1.0
    matrix = np.vstack(
        [
            np.hstack([inner.problem.matrix.toarray(), np.zeros((jobs + agents, 6))]),
            np.hstack([sums, own]),
        ]
    )
    return model_of(
        np.r_[inner.cost, 3.0, 5.0, 2.0, 1.0, 4.0, -2.0],
        matrix,
        np.r_[inner.row_lower, low],
        np.r_[inner.row_upper, high],
        lower=np.r_[np.zeros(n), 0.0, 0.0, 1.0, -INF, 0.0, -INF],
        upper=np.r_[np.ones(n), INF, 6.0, INF, INF, INF, 20.0],
        integrality=np.r_[np.ones(n, bool), False, False, False, False, True, False],
    )
