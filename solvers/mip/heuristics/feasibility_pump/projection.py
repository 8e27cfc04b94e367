"""The linear program that every projection of a pump solves, with one matrix for all of them.

A projection minimises the distance of the integer columns to a rounded point. Where that point is
at a bound of the column, the distance is the column itself, with cost +1 or -1. Elsewhere it is a
column of its own, ``d_j >= |x_j - xhat_j|``, with two rows::

    d_j + x_j >= xhat_j          d_j - x_j >= -xhat_j

Both stand there for every integer column that has values between its bounds, and are switched off
by their bounds and sides, so that from projection to projection the matrix never changes. A row
``c'x <= target`` is there for the improvement of a known point (Fischetti, Glover and Lodi 2005;
Bertacco, Fischetti and Lodi 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device, cpu
from solvers.core.options import EngineOptions
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.rows import euclidean
from solvers.mip.inference.relaxation import (
    FIRST_ORDER_FROM,
    SIMPLEX,
    LpPoint,
    Request,
    Root,
    Simplex,
    first_order,
)
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget, BudgetProgress

if TYPE_CHECKING:
    from solvers.pdlp.warm_started import Point


@dataclass(frozen=True, eq=False)
class Augmented:
    """A model's relaxation with room for distances and a cut-off.

    Columns n to n + k are the distances of the columns ``general``. Rows from m on are: the
    cut-off, if the model has an objective (``has_cutoff``); k rows ``d + x``; k rows ``d - x``.
    """

    model: MipModel
    problem: Problem
    general: IndexArray
    has_cutoff: bool

    @classmethod
    def of(cls, model: MipModel) -> Augmented:
        """Lay the program out, all of it switched off."""
        n, m = model.num_columns, model.num_rows
        wide = (model.is_integer == 1) & (model.upper - model.lower > 1.0)
        general = np.flatnonzero(wide).astype(np.int32)
        k = general.size
        has_cutoff = bool(model.cost.any())
        pick = sp.csr_array((np.ones(k), (np.arange(k), general)), shape=(k, n))
        own = sp.csr_array(sp.identity(k)) if k else sp.csr_array((0, 0))
        blocks = [[model.problem.matrix, sp.csr_array((m, k))]]
        if has_cutoff:
            blocks.append([sp.csr_array(model.cost[None, :]), sp.csr_array((1, k))])
        blocks += [[pick, own], [-pick, own]]
        extra = int(has_cutoff) + 2 * k
        problem = Problem(
            cost=np.concatenate([model.cost, np.zeros(k)]),
            matrix=sp.csr_array(sp.vstack([sp.hstack(block) for block in blocks])),
            row_lower=np.concatenate([model.row_lower, np.full(extra, -np.inf)]),
            row_upper=np.concatenate([model.row_upper, np.full(extra, np.inf)]),
            lower=np.concatenate([model.lower, np.zeros(k)]),
            upper=np.concatenate([model.upper, np.zeros(k)]),
            integrality=np.zeros(n + k, dtype=bool),
            offset=model.offset,
        )
        return cls(model, problem, general, has_cutoff)

    @property
    def movable(self) -> BoolArray:
        """Integer columns (n,) that may take more than one value."""
        model = self.model
        found: BoolArray = (model.is_integer == 1) & (model.lower < model.upper)
        return found

    @property
    def binary(self) -> BoolArray:
        """Movable integer columns (n,) with two values."""
        found = self.movable
        found[self.general] = False
        return found

    def projection(
        self, rounded: FloatArray, active: BoolArray, alpha: float, target: float
    ) -> Request:
        """Return the projection of a rounded point.

        The cost is ``(1 - alpha) distance + alpha sqrt(|active|) c / ||c||``: the objective with
        the length that the distance has (Achterberg and Berthold 2007, as scaled by Mexi et al.
        2023).

        Parameters
        ----------
        rounded : (n,) float64
            Where to; only the ``active`` columns count, which are whole there.
        active : (n,) bool
        alpha : float
            Share of the objective, from 0 to 1.
        target : float
            Largest c'x, without the offset; inf for any.
        """
        model, k = self.model, self.general.size
        n, m = model.num_columns, model.num_rows
        at_lower = active & (rounded <= model.lower)
        at_upper = active & ~at_lower & (rounded >= model.upper)
        between = (active & ~at_lower & ~at_upper)[self.general]
        cost = np.zeros(n + k)
        cost[:n] = self.objective_scale(active, alpha) * model.cost
        cost[:n] += (1.0 - alpha) * np.where(at_lower, 1.0, np.where(at_upper, -1.0, 0.0))
        cost[n:] = np.where(between, 1.0 - alpha, 0.0)
        upper = self.problem.upper.copy()
        value = rounded[self.general]
        reach = np.maximum(value - model.lower[self.general], model.upper[self.general] - value)
        upper[n:] = np.where(between, reach, 0.0)
        row_lower, row_upper = self.problem.row_lower.copy(), self.problem.row_upper.copy()
        if self.has_cutoff:
            row_upper[m] = target
        row_lower[row_lower.size - 2 * k : row_lower.size - k] = np.where(between, value, -np.inf)
        row_lower[row_lower.size - k :] = np.where(between, -value, -np.inf)
        return Request(cost, self.problem.lower, upper, row_lower, row_upper)

    def objective_scale(self, active: BoolArray, alpha: float) -> float:
        """Return the factor on c in the cost of a projection."""
        size = euclidean(self.model.cost)
        return alpha * math.sqrt(max(1, int(np.count_nonzero(active)))) / size if size else 0.0

    def start(
        self, x: FloatArray, row_dual: FloatArray, rounded: FloatArray, scale: float
    ) -> tuple[FloatArray, FloatArray]:
        """Extend a point (n,) and duals (m,) of the relaxation to a start for a projection.

        Distances are those of x; the duals, of cost c, are scaled by the factor on c.
        """
        distance = np.abs(x - rounded)[self.general]
        y = np.zeros(self.problem.num_rows)
        y[: row_dual.size] = scale * row_dual
        return np.concatenate([x, distance]), y


# Who solves the projections.


SECONDS = 1.0
"""Time of one projection (arXiv 2510.20499, section 2.5)."""

WORK_PER_SECOND = 2e8
"""Work that stands for a second where no clock counts: about as much as a core does."""


OVERHEAD = 1e5
"""Work that an iteration of a pump costs beside its projection: half a millisecond."""


class Projector(Protocol):
    """Solves linear programs that share their matrix; for one thread at a time."""

    def solve_for(self, request: Request, budget: Budget) -> LpPoint:
        """Solve one, as far as the budget goes, and charge the budget."""


def projection_budget(budget: Budget) -> Budget:
    """Return what one projection may spend of a pump's budget."""
    return part_for(budget, SECONDS)


def part_for(budget: Budget, seconds: float) -> Budget:
    """Return a part of a budget: of so many seconds, or of what work stands for them."""
    return budget.part(seconds) if budget.is_timed else budget.part(work=WORK_PER_SECOND * seconds)


MOST_OF_IT = 0.9
"""Part of a projection's limit from which it counts as reached."""


def choose_projector(
    augmented: Augmented,
    root: Root,
    budget: Budget,
    *,
    device: Device | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Projector:
    """Return the projector for a model of this size on this device.

    On a GPU PDLP, from :data:`FIRST_ORDER_FROM` nonzeros on or where simplex took longer for the
    relaxation than a projection may. Otherwise simplex, unless PDLP had to solve the relaxation,
    and only as long as it keeps to its limit.
    """
    where = cpu() if device is None else device
    by_gpu = where.kind != "cpu"
    slow = root.method != SIMPLEX or (by_gpu and root.seconds > SECONDS)
    large = by_gpu and augmented.model.num_nonzeros >= FIRST_ORDER_FROM
    if slow or large:
        return first_order(augmented.problem, where, budget, threads, seed)
    return _SimplexFirst(augmented, root, where, threads, seed)


class _SimplexFirst:
    """Simplex, until a projection takes all of its time."""

    def __init__(
        self, augmented: Augmented, root: Root, device: Device, threads: int, seed: int
    ) -> None:
        self._augmented = augmented
        self._device = device
        self._threads = threads
        self._seed = seed
        self._is_simplex = True
        self._inner: Projector = Simplex(augmented.problem, seed, root.basis)

    def solve_for(self, request: Request, budget: Budget) -> LpPoint:
        """Solve a projection."""
        found = self._inner.solve_for(request, budget)
        finished = found.is_converged or found.is_empty
        if self._is_simplex and not finished and _had_its_time(budget):
            self._is_simplex = False
            problem = self._augmented.problem
            self._inner = first_order(problem, self._device, budget, self._threads, self._seed)
        return found


def _had_its_time(budget: Budget) -> bool:
    """Whether a projection ran for as long as one may, and was not cut short by a turn's end."""
    if budget.is_timed:
        return budget.seconds >= MOST_OF_IT * SECONDS
    return budget.work >= MOST_OF_IT * WORK_PER_SECOND * SECONDS


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
        from solvers.pdlp.shared_matrix import SharedMatrix

        self._watch = BudgetProgress(budget)
        options = EngineOptions(threads=1, seed=seed)
        self._together = SharedMatrix(problem, width, options, device, self._watch)
        owners = problem.num_rows + problem.num_columns
        self._iteration_work = 2 * problem.num_nonzeros + owners
        self._last: tuple[Point, ...] = ()

    def solve_for(self, requests: Sequence[Request], budget: Budget) -> tuple[LpPoint, ...]:
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
        return tuple(LpPoint(point.x, point.y, point.is_converged) for point in points)

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
