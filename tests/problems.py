"""A table of small problems with known answers, for tests over engines and doors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem

INF = np.inf


@dataclass(frozen=True, eq=False)
class Case:
    """A problem and what every engine must say of it."""

    name: str
    problem: Problem
    status: SolutionStatus
    objective: float = np.nan

    def __str__(self) -> str:
        return self.name


def _lp(*args: object, **more: object) -> Problem:
    return Problem.from_arrays(*args, **more)  # type: ignore[arg-type]


OPTIMAL, INFEASIBLE, UNBOUNDED = (
    SolutionStatus.OPTIMAL,
    SolutionStatus.INFEASIBLE,
    SolutionStatus.UNBOUNDED,
)

LINEAR = [
    Case("diet", _lp([2, 3], [[1, 1]], [4], upper=[3, INF]), OPTIMAL, 9.0),
    Case("max", _lp([3, 2], [[1, 1], [1, 3]], row_upper=[4, 6], maximize=True), OPTIMAL, 12.0),
    Case("equality", _lp([1, 1], [[1, 2]], [4], [4]), OPTIMAL, 2.0),
    Case("ranged", _lp([1, -1], [[1, 1], [1, -1]], [2, -1], [6, 1]), OPTIMAL, -1.0),
    Case("free", _lp([1, 0], [[1, 1], [1, -1]], [2, 0], lower=-INF), OPTIMAL, 1.0),
    Case("fixed", _lp([1, 1], [[1, 1]], [3], lower=[1, 0], upper=[1, INF]), OPTIMAL, 3.0),
    Case("negative", _lp([1], [[1]], [-5], lower=-INF, upper=-2.0), OPTIMAL, -5.0),
    Case("offset", _lp([1], [[1]], [1], offset=10.0), OPTIMAL, 11.0),
    Case("max offset", _lp([1], [[1]], row_upper=[1], offset=10, maximize=True), OPTIMAL, 11.0),
    Case("no rows", _lp([1, -1], lower=-2.0, upper=3.0), OPTIMAL, -5.0),
    Case("no columns", _lp([], np.zeros((1, 0)), [-1.0], [1.0], offset=7.0), OPTIMAL, 7.0),
    Case("no objective", _lp([0, 0], [[1, 1]], [1], [1]), OPTIMAL, 0.0),
    Case("free row", _lp([1], [[1], [1]], [1, -INF], [INF, INF]), OPTIMAL, 1.0),
    Case("empty row", _lp([1], [[1], [0]], [1, -1]), OPTIMAL, 1.0),
    Case("redundant", _lp([1, 1], [[1, 1], [2, 2]], [1, 2], [1, 2]), OPTIMAL, 1.0),
    Case("degenerate", _lp([-1, -1], [[1, 0], [1, 1], [0, 1]], row_upper=[1, 1, 1]), OPTIMAL, -1.0),
    Case("wide scale", _lp([1e-6, 1e4], [[1e-5, 1e5]], [1e2]), OPTIMAL, 10.0),
    Case("empty row fails", _lp([1], [[0]], [1]), INFEASIBLE),
    Case("infeasible", _lp([1, 1], [[1, 1], [1, 1]], [3, -INF], [INF, 2]), INFEASIBLE),
    Case("infeasible by bounds", _lp([1], [[1]], [3], upper=2.0), INFEASIBLE),
    Case("no columns fails", _lp([], np.zeros((1, 0)), [1.0], [2.0]), INFEASIBLE),
    Case("unbounded", _lp([-1, 0], [[1, -1]], [0], [0]), UNBOUNDED),
    Case("unbounded max", _lp([1], [[1]], [0], maximize=True), UNBOUNDED),
    Case("unbounded without rows", _lp([-1.0]), UNBOUNDED),
    Case(  # HiGHS 1.15's presolve calls this one infeasible
        "unbounded below",
        _lp(
            [0, 0, 0, 0, 1],
            [[0, 0, 1, 1, -1]] * 2,
            [0, -INF],
            [INF, 1],
            lower=[0, 0, -INF, -INF, -INF],
            upper=0.0,
        ),
        UNBOUNDED,
    ),
    Case("neither", _lp([-1, 0], [[1, -1], [0, 1], [0, 1]], [0, 3, -INF], [0, INF, 2]), INFEASIBLE),
]

INTEGER = [
    Case(
        "knapsack",
        _lp([5, 4, 3], [[2, 3, 1]], row_upper=[5], upper=1.0, integrality=True, maximize=True),
        OPTIMAL,
        9.0,
    ),
    Case("rounded up", _lp([1], [[2]], [3], integrality=True), OPTIMAL, 2.0),
    Case("mixed", _lp([1, 1], [[2, 1]], [3.5], integrality=[1, 0], upper=[1, INF]), OPTIMAL, 2.5),
    Case("fractional bounds", _lp([1], lower=0.3, upper=1.7, integrality=True), OPTIMAL, 1.0),
    Case("integer free", _lp([1], [[1]], [-2.5], lower=-INF, integrality=True), OPTIMAL, -2.0),
    Case(  # a ray within HiGHS's absolute tolerance, but not one of the model
        "integer far away",
        _lp([1, 0], [[1e-7, 0], [1, -1]], row_upper=[1, 0], maximize=True, integrality=[1, 0]),
        OPTIMAL,
        1e7,
    ),
    Case("no integer between", _lp([1], lower=0.3, upper=0.7, integrality=True), INFEASIBLE),
    Case("parity", _lp([0, 0], [[2, 2]], [3], [3], upper=5.0, integrality=True), INFEASIBLE),
    Case("integer unbounded", _lp([-1], [[1]], [0], integrality=True), UNBOUNDED),
    Case(
        "integer unbounded below",
        _lp(
            [0, 0, 0, 0, 1],
            [[0, 0, 1, 1, -1]] * 2,
            [0, -INF],
            [INF, 1],
            lower=[0, 0, -INF, -INF, -INF],
            upper=0.0,
            integrality=[0, 0, 1, 1, 0],
        ),
        UNBOUNDED,
    ),
]
