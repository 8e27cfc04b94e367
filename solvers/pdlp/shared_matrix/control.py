"""The figures that steer several solves at once, by name and place.

One array (fields, K) of float64, a column for each problem. ``kernels/fields.cuh`` has the same
names in the same order.
"""

from __future__ import annotations

from enum import IntEnum


class Field(IntEnum):
    """Rows of the control array."""

    # Steering
    TAU = 0  # primal step size, step / weight
    SIGMA = 1  # dual step size, step * weight
    ITERATIONS_SINCE_RESTART = 2  # before the block
    STOP = 3  # a Stop; other than zero leaves the problem alone
    STEP = 4
    WEIGHT = 5  # primal weight
    # Counts
    ITERATIONS = 6
    RESTARTS = 7
    CHECKS = 8
    # The memory of the restart tests and of the weight
    FIRST_METRIC = 9
    PREVIOUS_METRIC = 10
    BEST_WEIGHT = 11
    BEST_IMBALANCE = 12
    BEST_ERROR = 13
    # What the check decided
    RESTART = 14
    KEEP_BEST = 15
    # Statistics of the check
    PRIMAL_RESIDUAL = 16
    DUAL_RESIDUAL = 17
    PRIMAL_OBJECTIVE = 18
    DUAL_OBJECTIVE = 19
    PRIMAL_DISTANCE = 20
    DUAL_DISTANCE = 21
    # Constants of the solve
    TOLERANCE = 22
    SIDE_NORM = 23
    COST_NORM = 24
    SUFFICIENT = 25
    NECESSARY = 26
    ARTIFICIAL = 27
    PROPORTIONAL = 28


FIELDS = len(Field)
