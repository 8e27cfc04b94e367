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
    MARK_METRIC = 12  # at the last doubling of the iterations since the restart
    MARK_ITERATIONS = 13  # of that check, since the restart; 0 before the first
    # The best primal weight so far
    BEST_WEIGHT = 14
    BEST_IMBALANCE = 15
    # The best points so far
    BEST_ERROR = 16
    BEST_OBJECTIVE = 17
    # What the check decided
    RESTART = 18
    KEEP_BEST = 19
    KEEP_FEASIBLE = 20
    # Statistics of the check
    PRIMAL_RESIDUAL = 21
    DUAL_RESIDUAL = 22
    PRIMAL_OBJECTIVE = 23
    DUAL_OBJECTIVE = 24
    PRIMAL_DISTANCE = 25
    DUAL_DISTANCE = 26
    METRIC_SQUARED = 27
    # Constants of the solve
    PRIMAL_TOLERANCE = 28
    DUAL_TOLERANCE = 29
    GAP_TOLERANCE = 30
    SIDE_NORM = 31
    COST_NORM = 32
    OFFSET = 33
    SUFFICIENT = 34
    NECESSARY = 35
    ARTIFICIAL = 36
    STANDSTILL = 37
    STANDSTILL_SHARE = 38
    RESIDUAL_EXPONENT = 39
    SHORTEST_DISTANCE = 40
    LONGEST_DISTANCE = 41
    LARGEST_IMBALANCE = 42  # decades
    STEP_SHRINK = 43  # factor on the step when the metric proves it too long


class Stop(IntEnum):
    """Why kernels do nothing until the host has had a look."""

    NO = 0
    OPTIMAL = 1
    BROKEN = 2


SIZE = len(Control)
