"""Linear relaxations: of the model itself, and as heuristics change and solve them again.

:class:`Simplex` solves one linear program with changing vectors, from the basis where its last run
ended. :func:`root_relaxation` solves the model's own by whichever method is faster on this device
and size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers import highs
from solvers.core.device import Device, cpu
from solvers.core.errors import DeviceError, EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Basis, Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.highs.model import as_it_stands
from solvers.highs.warm_lp import WarmLp
from solvers.mip.budget import Budget, BudgetProgress
from solvers.mip.model import MipModel, Relaxation

TOLERANCE = 1e-6
"""Relative tolerance of a relaxation by PDLP."""


@dataclass(frozen=True, eq=False)
class LpPoint:
    """A point of a linear program, exact or not."""

    x: FloatArray
    """(columns,) float64: within its bounds."""
    y: FloatArray
    """(rows,) float64: row duals, zeros where there are none."""
    is_converged: bool
    """Whether the point is optimal within the tolerance asked for."""
    is_empty: bool = False
    """Whether simplex found that no point keeps the rows: good enough to give up a cut-off, and no
    proof."""
    is_cut_short: bool = False
    """Whether a limit of time or work ended an exact method."""


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
    presolve : bool
        Whether HiGHS may presolve a run without a basis. What a limit cuts short then leaves no
        basis either, and the next run starts from nothing again.

    Attributes
    ----------
    lp : WarmLp
        Has the last basis, and takes one to begin at.

    Raises
    ------
    EngineError
        HiGHS does not take the problem.
    """

    def __init__(self, problem: Problem, seed: int = 0, *, presolve: bool = True) -> None:
        self.lp = WarmLp(as_it_stands(problem), {"random_seed": seed % 2**31})
        self._lower, self._upper = problem.lower, problem.upper
        self._iteration_work = problem.num_nonzeros + problem.num_columns + problem.num_rows
        self._rows = problem.num_rows
        self._presolve = presolve

    def solve(self, budget: Budget, **vectors: FloatArray) -> LpPoint:
        """Solve from the last basis within the budget, with other vectors where they are given.

        These are what :meth:`~solvers.highs.warm_lp.WarmLp.change` takes.
        """
        if vectors:
            self.lp.change(**vectors)
        self._lower = vectors.get("lower", self._lower)
        self._upper = vectors.get("upper", self._upper)
        limit = None
        if np.isfinite(budget.work_left):
            limit = max(int(budget.work_left / self._iteration_work), LEAST_ITERATIONS)
        found = self.lp.solve_beside(BudgetProgress(budget), limit, presolve=self._presolve)
        budget.charge(self._iteration_work * (1.0 + found.iterations))
        is_cut_short = found.stop_reason not in (StopReason.CONVERGED, StopReason.NUMERICAL_TROUBLE)
        if (
            found.solution_status not in (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE)
            and not is_cut_short
        ):
            self.lp.forget()  # what is left may not be a basis to go on from
        x = np.zeros(self._lower.size) if found.x is None else np.nan_to_num(found.x)
        return LpPoint(
            np.clip(x, self._lower, self._upper),
            np.zeros(self._rows) if found.row_dual is None else found.row_dual,
            is_converged=found.solution_status is SolutionStatus.OPTIMAL,
            is_empty=found.solution_status is SolutionStatus.INFEASIBLE,
            is_cut_short=is_cut_short,
        )


# The relaxation of the model itself.


Log = Callable[[str], None]


def interior(problem: Problem, budget: Budget, seed: int = 0) -> tuple[LpPoint, Basis | None]:
    """Solve the relaxation of a problem within a timed budget.

    In a child process, as interior point hears of nothing while it runs.

    Parameters
    ----------
    problem : Problem
        Its integrality is left out of account.

    Returns
    -------
    LpPoint
        Of the costs alone; zeros where there was no time for any point.
    Basis or None
        Of the vertex that crossover has come to.
    """
    options = EngineOptions(lp_algorithm="ipm", crossover="on", threads=1, seed=seed)
    watch = _Watch(budget)
    try:
        outcome = highs.solve(problem.relaxation(), options, watch, in_child=True, retry=False)
    except EngineError:  # it is no more than an attempt
        return LpPoint(np.zeros(problem.num_columns), np.zeros(problem.num_rows), False), None
    has_vertex = outcome.stop_reason is StopReason.CONVERGED
    return _projection(problem, outcome), outcome.basis if has_vertex else None


def _projection(problem: Problem, outcome: Outcome) -> LpPoint:
    x, y = outcome.x, outcome.row_dual
    return LpPoint(
        np.zeros(problem.num_columns) if x is None else np.nan_to_num(x),
        np.zeros(problem.num_rows) if y is None else np.nan_to_num(y),
        outcome.solution_status is SolutionStatus.OPTIMAL and x is not None,
    )


class _Watch(BudgetProgress):
    """Keeps a budget; when it is spent, nobody waits any more."""

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits any more."""
        return self._budget.is_over()


FIRST_ORDER_FROM = 500_000
"""Nonzeros from which a GPU solves the relaxation by PDLP without trying simplex: sp97ar has
317,000 and takes simplex half a second, and neighbourhoods learn more from a vertex."""

FIRST_ORDER_ON_CPU_FROM = 2_000_000
"""Nonzeros from which a CPU does so, too: on a model with ten million simplex overran its limit of
six seconds by seventeen and had nothing. Who needs a vertex in time keeps to smaller models."""

SIMPLEX_SHARE, MOST_SIMPLEX_SECONDS_BESIDE_GPU = 0.35, 2.0
"""Part of the budget that simplex gets, and seconds at most where a GPU can take over."""

INTERIOR_SHARE, INTERIOR_SHARE_BESIDE_GPU = 0.8, 0.5
"""Part of what is left then that interior point with crossover gets before PDLP: of tbfp-network it
took 2 s of processor time, simplex not two minutes; of trento1 1.3 and 3.6 s."""

SIMPLEX_WORK = 2e10
"""Work that simplex gets where no clock counts: about 100 s."""

SIMPLEX, INTERIOR, PDLP = "simplex", "interior point", "pdlp"


def root_relaxation(
    model: MipModel,
    budget: Budget,
    *,
    device: Device | None = None,
    seed: int = 0,
    log: Log | None = None,
) -> Relaxation:
    """Solve the linear relaxation as well as the budget allows.

    PDLP from :data:`FIRST_ORDER_FROM` nonzeros on with a GPU, from
    :data:`FIRST_ORDER_ON_CPU_FROM` on without. Below, simplex until it takes too long, then
    interior point, then PDLP. Nothing is claimed about infeasible or unbounded relaxations; the
    point is then merely within its bounds.

    Parameters
    ----------
    device : Device, optional
        By default the CPU.

    Returns
    -------
    Relaxation
        Its ``is_exact`` says whether the point is optimal.
    """
    where = cpu() if device is None else device
    by_gpu = where.kind != "cpu"
    large = model.num_nonzeros >= (FIRST_ORDER_FROM if by_gpu else FIRST_ORDER_ON_CPU_FROM)
    found = None
    if not large:
        found = _by_simplex(model, _simplex_budget(model, budget, by_gpu), seed)
        if found.is_cut_short and budget.is_timed and not budget.spent():
            share = INTERIOR_SHARE_BESIDE_GPU if by_gpu else INTERIOR_SHARE
            found = _by_interior(model, budget.part(share * budget.seconds_left), seed)
    if found is None or (not found.is_exact and not budget.spent()):
        found = _by_first_order(model, budget, where, seed, found)
    if log is not None:
        kind = "optimal" if found.is_exact else "approximate"
        log(
            f"Relaxation by {found.method}: {kind}, objective {found.objective:.9g} "
            f"({found.seconds:.2f} s)"
        )
    return found


def _simplex_budget(model: MipModel, budget: Budget, by_gpu: bool) -> Budget:
    if not budget.is_timed:
        return budget.part(work=SIMPLEX_WORK)
    if model.num_nonzeros == 0:
        return budget.part()
    share = SIMPLEX_SHARE * budget.seconds_left
    return budget.part(min(share, MOST_SIMPLEX_SECONDS_BESIDE_GPU) if by_gpu else share)


def _by_simplex(model: MipModel, budget: Budget, seed: int) -> Relaxation:
    simplex = Simplex(model.problem, seed)
    found = simplex.solve(budget)
    basis = simplex.lp.basis() if found.is_converged else None
    return _found(model, found, SIMPLEX, budget.seconds, basis)


def _by_interior(model: MipModel, budget: Budget, seed: int) -> Relaxation:
    found, basis = interior(model.problem, budget, seed)
    return _found(model, found, INTERIOR, budget.seconds, basis)


def _by_first_order(
    model: MipModel, budget: Budget, device: Device, seed: int, before: Relaxation | None
) -> Relaxation:
    if model.num_nonzeros == 0 and before is not None:
        return before
    from solvers import pdlp  # most are left to simplex

    began, problem = budget.seconds, model.problem
    each = 2 * problem.num_nonzeros + problem.num_rows + problem.num_columns
    settings, limit = pdlp.DEFAULT, None
    if np.isfinite(budget.work_left):  # trials of other scalings go by the clock
        settings = settings.changed(alternation={"iterations": None})
        limit = max(1, int(budget.work_left / each))
    options = EngineOptions(
        device="cpu" if device.kind == "cpu" else f"cuda:{device.index}",
        threads=1,
        seed=seed,
        tolerance=TOLERANCE,
        iteration_limit=limit,
    )
    outcome = pdlp.solve(problem.relaxation(), options, BudgetProgress(budget), settings=settings)
    budget.charge(float(each) * float(outcome.statistics.get("iterations", 0)))
    point = _projection(problem, outcome)
    return _found(model, point, PDLP, budget.seconds - began, None)


def _found(
    model: MipModel, found: LpPoint, method: str, seconds: float, basis: Basis | None
) -> Relaxation:
    x = np.clip(found.x, model.lower, model.upper)
    reduced = model.cost - model.problem.matrix.T @ found.y
    return Relaxation(
        x=x,
        reduced_cost=np.asarray(reduced) if found.y.any() else np.zeros(x.size),
        objective=model.objective_at(x),
        is_exact=found.is_converged,
        method=method,
        seconds=seconds,
        basis=basis,
        is_cut_short=found.is_cut_short,
    )


# The analytic centre of the relaxation, a second point for dives to lean on.
#
# It is as far from rows and bounds as can be, where the relaxation's vertex lies on as many of them
# as there are columns: what it rounds to breaks fewer rows, for a worse objective. Interior point
# ends near it where there are no costs.


CENTRE_TOLERANCE = 1e-4
"""Of the centre's rows; the dives round it anyway."""

MOST_FILL = 10.0
"""Entries of the factor for each of the model up to which it is looked for. Of 48 models with 800
to 60,000 entries 40 have a centre within it, at 0.07 s each; four times as much gives it to four
more, and takes twice the time where it comes to nothing."""


def analytic_centre(model: MipModel, budget: Budget) -> FloatArray | None:
    """Return a point (n,) near the analytic centre; None if it is not had within the budget."""
    from solvers import interior_point  # once a solve, and not in each
    from solvers.interior_point.analysis import FillError

    problem = model.problem.relaxation().with_cost(np.zeros(model.num_columns))
    options = EngineOptions(device="cpu", threads=1, tolerance=CENTRE_TOLERANCE)
    most = MOST_FILL * model.num_nonzeros
    try:
        found = interior_point.solve(problem, options, BudgetProgress(budget), most_entries=most)
    except (DeviceError, FillError):
        return None
    work = float(found.statistics.get("solves", 0)) * (most + model.num_nonzeros)
    budget.charge(work)
    if found.solution_status is not SolutionStatus.OPTIMAL or found.x is None:
        return None
    return np.clip(found.x, model.lower, model.upper)
