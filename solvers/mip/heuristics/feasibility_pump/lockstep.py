"""Projections of several pumps at a time, by PDLP with one matrix for all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.core.device import Device, cpu
from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray, Problem
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.heuristics.feasibility_pump.projector import Projection
from solvers.mip.portfolio.budget import Budget, BudgetProgress
from solvers.pdlp.repeated import Point
from solvers.pdlp.shared_matrix import SharedMatrix


class Lockstep:
    """Prepared solves of ``width`` linear programs side by side.

    Parameters
    ----------
    problem : Problem
        With at least one coefficient; its lower bounds are those of all requests.
    width : int
        8, 16, 24 or 32.
    device : Device
    budget : Budget
        For preparing: scaling and step size are cut short when it is spent.
    seed : int
    """

    def __init__(
        self, problem: Problem, width: int, device: Device, budget: Budget, seed: int = 0
    ) -> None:
        self._watch = BudgetProgress(budget)
        options = EngineOptions(threads=1, seed=seed)
        self._together = SharedMatrix(problem, width, options, device, self._watch)
        owners = problem.num_rows + problem.num_columns
        self._iteration_work = 2 * problem.num_nonzeros + owners
        self._last: tuple[Point, ...] = ()

    def project(self, requests: Sequence[Request], budget: Budget) -> tuple[Projection, ...]:
        """Solve as many requests as the width, within the budget of them all."""
        self._watch.present = budget
        each = self._iteration_work * len(requests)
        is_counted = np.isfinite(budget.work_left)
        points = self._together.solve(
            cost=np.stack([request.cost for request in requests]),
            upper=np.stack([request.upper for request in requests]),
            row_lower=np.stack([request.row_lower for request in requests]),
            row_upper=np.stack([request.row_upper for request in requests]),
            x=self._starts(requests, "x"),
            y=self._starts(requests, "y"),
            tolerance=np.array([request.tolerance for request in requests]),
            seconds=budget.seconds_left,
            iterations=max(1, int(budget.work_left / each)) if is_counted else None,
        )
        self._last = points
        budget.charge(float(self._iteration_work) * sum(point.iterations for point in points))
        return tuple(Projection(point.x, point.y, point.is_converged) for point in points)

    def _starts(self, requests: Sequence[Request], side: str) -> FloatArray | None:
        """Return the points to start from, if any pump asks for another than its last one."""
        given = [getattr(request, side) for request in requests]
        if all(values is None for values in given):
            return None
        return np.stack(
            [
                getattr(self._last[number], side) if values is None else values
                for number, values in enumerate(given)
            ]
        )


def lockstep(problem: Problem, width: int, device: Device, budget: Budget, seed: int) -> Lockstep:
    """Prepare on a device, or on the CPU where the device's memory does not suffice."""
    try:
        return Lockstep(problem, width, device, budget, seed)
    except Exception as error:
        if device.kind == "cpu" or not device.is_out_of_memory(error):
            raise
    device.release_memory()
    return Lockstep(problem, width, cpu(), budget, seed)
