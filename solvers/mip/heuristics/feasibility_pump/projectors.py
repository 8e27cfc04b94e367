"""Who solves a pump's projections: HiGHS's simplex, PDLP, or PDLP for several pumps at a time.

Each goes on from where its last projection ended: simplex from the basis, PDLP from the point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from solvers.core.device import Device, cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import Basis
from solvers.core.problem import FloatArray, Problem
from solvers.highs.model import as_it_stands
from solvers.highs.task import Ending, Finding
from solvers.highs.warm_lp import WarmLp
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.portfolio.budget import Budget, BudgetProgress
from solvers.pdlp.repeated import Point
from solvers.pdlp.shared_matrix import SharedMatrix
from solvers.pdlp.warm_started import WarmStarted

SECONDS = 1.0
"""Time of one projection (arXiv 2510.20499, section 2.5)."""

WORK = 2e8
"""Work of one projection where no clock counts: about as much as a core does in that time."""


OVERHEAD = 1e5
"""Work that an iteration of a pump costs beside its projection: half a millisecond."""


@dataclass(frozen=True, eq=False)
class Projection:
    """A point of the projection's linear program, exact or not.

    Parameters
    ----------
    x : (columns,) float64
        Within its bounds.
    y : (rows,) float64
        Row duals, zeros where there are none.
    is_converged : bool
        Whether the point is optimal within the tolerance asked for.
    is_empty : bool
        Whether the projector found that no point keeps the rows; an exact method's word that is
        good enough to give up a cut-off, and no proof.
    is_cut_short : bool
        Whether a limit of time or work ended an exact method.
    """

    x: FloatArray
    y: FloatArray
    is_converged: bool
    is_empty: bool = False
    is_cut_short: bool = False


class Projector(Protocol):
    """Solves linear programs that share their matrix; for one thread at a time."""

    def project(self, request: Request, budget: Budget) -> Projection:
        """Solve one, as far as the budget goes, and charge the budget."""


def projection_budget(budget: Budget) -> Budget:
    """Return what one projection may spend of a pump's budget."""
    return budget.part(seconds=SECONDS) if budget.is_timed else budget.part(work=WORK)


LEAST_ITERATIONS = 20
"""Iterations of a run at the least where work is counted."""


class Simplex:
    """One linear program in HiGHS; for one thread at a time.

    Parameters
    ----------
    problem : Problem
        The matrix, and what else the first run starts from.
    seed : int
        Of HiGHS's perturbations.
    basis : Basis, optional
        To start from; missing columns are at their lower bound, missing rows basic.
    presolve : bool
        Whether HiGHS may presolve a run without a basis. What a limit cuts short then leaves no
        basis either, and the next run starts from nothing again.

    Raises
    ------
    EngineError
        HiGHS does not take the problem.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int = 0,
        basis: Basis | None = None,
        *,
        presolve: bool = True,
    ) -> None:
        self._lp = WarmLp(as_it_stands(problem), {"random_seed": seed % 2**31})
        self._lower, self._upper = problem.lower, problem.upper
        self._iteration_work = problem.num_nonzeros + problem.num_columns + problem.num_rows
        self._rows = problem.num_rows
        self._presolve = presolve
        if basis is not None:
            self._lp.begin_at(basis)

    @property
    def iterations(self) -> int:
        """Iterations so far."""
        return self._lp.iterations

    def begin_at(self, basis: Basis) -> None:
        """Let the next run start from a basis; see the constructor's."""
        self._lp.begin_at(basis)

    def basis(self) -> Basis | None:
        """Return the last basis, if there is a valid one."""
        return self._lp.basis()

    def project(self, request: Request, budget: Budget) -> Projection:
        """Solve with other vectors, from the last basis, within the budget."""
        self._lp.change(
            cost=request.cost,
            lower=request.lower,
            upper=request.upper,
            row_lower=request.row_lower,
            row_upper=request.row_upper,
        )
        self._lower, self._upper = request.lower, request.upper
        return self.solve(budget)

    def solve(self, budget: Budget) -> Projection:
        """Solve with the present vectors, within the budget."""
        limit = None
        if np.isfinite(budget.work_left):
            limit = max(int(budget.work_left / self._iteration_work), LEAST_ITERATIONS)
        found = self._lp.solve_beside(BudgetProgress(budget), limit, presolve=self._presolve)
        budget.charge(self._iteration_work * (1.0 + found.iterations))
        is_cut_short = found.ending not in (Ending.CONVERGED, Ending.NUMERICAL_TROUBLE)
        if found.finding not in (Finding.OPTIMAL, Finding.INFEASIBLE) and not is_cut_short:
            self._lp.forget()  # what is left may not be a basis to go on from
        x = np.zeros(self._lower.size) if found.x is None else np.nan_to_num(found.x)
        return Projection(
            np.clip(x, self._lower, self._upper),
            np.zeros(self._rows) if found.row_dual is None else found.row_dual,
            is_converged=found.finding is Finding.OPTIMAL,
            is_empty=found.finding is Finding.INFEASIBLE,
            is_cut_short=is_cut_short,
        )


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
