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
    # The best primal weight so far, and the last change
    BEST_WEIGHT = 14
    BEST_IMBALANCE = 15
    LAST_CHANGE = 16  # logarithm of the weight's factor at the last restart
    # The best points so far
    BEST_ERROR = 17
    BEST_OBJECTIVE = 18
    # What the check decided
    RESTART = 19
    KEEP_BEST = 20
    KEEP_FEASIBLE = 21
    # Statistics of the check
    PRIMAL_RESIDUAL = 22
    DUAL_RESIDUAL = 23
    PRIMAL_OBJECTIVE = 24
    DUAL_OBJECTIVE = 25
    PRIMAL_DISTANCE = 26
    DUAL_DISTANCE = 27
    METRIC_SQUARED = 28
    # Constants of the solve
    PRIMAL_TOLERANCE = 29
    DUAL_TOLERANCE = 30
    GAP_TOLERANCE = 31
    SIDE_NORM = 32
    COST_NORM = 33
    OFFSET = 34
    SUFFICIENT = 35
    NECESSARY = 36
    ARTIFICIAL = 37
    STANDSTILL = 38
    STANDSTILL_SHARE = 39
    RESIDUAL_EXPONENT = 40
    SHORTEST_DISTANCE = 41
    LONGEST_DISTANCE = 42
    LARGEST_IMBALANCE = 43  # decades
    STEP_SHRINK = 44  # factor on the step when the metric proves it too long
    REVERSAL = 45  # part by which the weight changes where the last change went the other way


class Stop(IntEnum):
    """Why kernels do nothing until the host has had a look."""

    NO = 0
    OPTIMAL = 1
    BROKEN = 2


SIZE = len(Control)
