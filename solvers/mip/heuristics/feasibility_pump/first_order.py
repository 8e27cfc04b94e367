"""Projections by PDLP, on the GPU or the CPU, each from where the last one ended."""

from __future__ import annotations

import math

from solvers.core.device import Device, cpu
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.heuristics.feasibility_pump.projector import Projection
from solvers.mip.portfolio.budget import Budget, BudgetProgress
from solvers.pdlp.warm_started import WarmStarted


class FirstOrder:
    """A prepared sequence of PDLP solves.

    Parameters
    ----------
    problem : Problem
        With at least one coefficient.
    device : Device
    budget : Budget
        For preparing: scaling and step size are cut short when it is spent.
    threads : int
        CPU threads at most.
    seed : int
    """

    def __init__(
        self, problem: Problem, device: Device, budget: Budget, threads: int = 1, seed: int = 0
    ) -> None:
        self._watch = BudgetProgress(budget)
        options = EngineOptions(threads=threads, seed=seed)
        self._sequence = WarmStarted(problem, options, device, self._watch)
        owners = problem.num_rows + problem.num_columns
        self._iteration_work = 2 * problem.num_nonzeros + owners
        self.iterations = 0

    def project(self, request: Request, budget: Budget) -> Projection:
        """Solve with other vectors, from the last point or the request's, within the budget."""
        self._watch.present = budget
        work = budget.work_left
        limit = None if math.isinf(work) else max(1, int(work / self._iteration_work))
        found = self._sequence.solve(
            cost=request.cost,
            lower=request.lower,
            upper=request.upper,
            row_lower=request.row_lower,
            row_upper=request.row_upper,
            x=request.x,
            y=request.y,
            tolerance=request.tolerance,
            seconds=budget.seconds_left,
            iterations=limit,
        )
        self.iterations += found.iterations
        budget.charge(float(self._iteration_work) * found.iterations)
        return Projection(found.x, found.y, found.is_converged)


def first_order(
    problem: Problem, device: Device, budget: Budget, threads: int = 1, seed: int = 0
) -> FirstOrder:
    """Prepare PDLP on a device, or on the CPU where the device's memory does not suffice."""
    try:
        return FirstOrder(problem, device, budget, threads, seed)
    except Exception as error:
        if device.kind == "cpu" or not device.is_out_of_memory(error):
            raise
    device.release_memory()
    return FirstOrder(problem, cpu(), budget, threads, seed)
