"""The figures that a solve keeps on its device, by name and place.

One array of float64 holds everything that steers the iteration, so that kernels, a recorded graph
and the host read and write the same numbers: step sizes and counters, what the restart tests
remember, the best primal weight, the statistics of the last check, what to do next, and the
constants of the solve. ``kernels/control.cuh`` has the same names in the same order.
"""

from __future__ import annotations

from enum import IntEnum


class Control(IntEnum):
    """Places in the control array."""

    # Steering
    TAU = 0  # primal step size, step / weight
    SIGMA = 1  # dual step size, step * weight
    REFLECTION = 2
    ITERATIONS_SINCE_RESTART = 3  # before the block
    STOP = 4  # a Stop; other than zero makes every kernel return at once
    STEP = 5  # geometric mean of the step sizes
    WEIGHT = 6  # primal weight
    # Counts
    ITERATIONS = 7
    RESTARTS = 8
    CHECKS = 9
    # The memory of the restart tests
    FIRST_METRIC = 10  # of the first iteration since the restart
    PREVIOUS_METRIC = 11  # at the check before
    # The best primal weight so far
    BEST_WEIGHT = 12
    BEST_IMBALANCE = 13
    # The best points so far
    BEST_ERROR = 14
    BEST_OBJECTIVE = 15
    # What the check decided
    RESTART = 16
    KEEP_BEST = 17
    KEEP_FEASIBLE = 18
    # Statistics of the check
    PRIMAL_RESIDUAL = 19
    DUAL_RESIDUAL = 20
    PRIMAL_OBJECTIVE = 21
    DUAL_OBJECTIVE = 22
    PRIMAL_DISTANCE = 23
    DUAL_DISTANCE = 24
    METRIC_SQUARED = 25
    # Constants of the solve
    PRIMAL_TOLERANCE = 26
    DUAL_TOLERANCE = 27
    GAP_TOLERANCE = 28
    SIDE_NORM = 29
    COST_NORM = 30
    OFFSET = 31
    SUFFICIENT = 32
    NECESSARY = 33
    ARTIFICIAL = 34
    RESIDUAL_EXPONENT = 35
    SHORTEST_DISTANCE = 36
    LONGEST_DISTANCE = 37
    LARGEST_IMBALANCE = 38  # decades
    STEP_SHRINK = 39  # factor on the step when the metric proves it too long


class Stop(IntEnum):
    """Why kernels do nothing until the host has had a look."""

    NO = 0
    OPTIMAL = 1
    BROKEN = 2


SIZE = len(Control)
