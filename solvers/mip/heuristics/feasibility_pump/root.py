"""The relaxation of the model itself, by whichever method is faster on this device and size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers import highs
from solvers.core.device import Device, cpu
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Basis, Outcome, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.heuristics.feasibility_pump.projectors import Projection, Simplex, first_order
from solvers.mip.model import MipModel, Relaxation
from solvers.mip.portfolio.budget import Budget, BudgetProgress


def interior(problem: Problem, budget: Budget, seed: int = 0) -> tuple[Projection, Basis | None]:
    """Solve the relaxation of a problem within a timed budget.

    In a child process, as interior point hears of nothing while it runs.

    Parameters
    ----------
    problem : Problem
        Its integrality is left out of account.
    budget : Budget
    seed : int

    Returns
    -------
    Projection
        Of the costs alone; zeros where there was no time for any point.
    Basis or None
        Of the vertex that crossover has come to.
    """
    options = EngineOptions(lp_algorithm="ipm", crossover="on", threads=1, seed=seed)
    watch = _Watch(budget)
    try:
        outcome = highs.solve(problem.relaxation(), options, watch, in_child=True, retry=False)
    except EngineError:  # it is no more than an attempt
        return Projection(np.zeros(problem.num_columns), np.zeros(problem.num_rows), False), None
    has_vertex = outcome.stop_reason is StopReason.CONVERGED
    return _projection(problem, outcome), outcome.basis if has_vertex else None


def _projection(problem: Problem, outcome: Outcome) -> Projection:
    x, y = outcome.x, outcome.row_dual
    return Projection(
        np.zeros(problem.num_columns) if x is None else np.nan_to_num(x),
        np.zeros(problem.num_rows) if y is None else np.nan_to_num(y),
        outcome.stop_reason is StopReason.CONVERGED and x is not None,
    )


class _Watch(BudgetProgress):
    """Keeps a budget; when it is spent, nobody waits any more."""

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits any more."""
        return self.present.is_over()


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

Log = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Root:
    """The relaxation's point, with what a pump starts from.

    Parameters
    ----------
    relaxation : Relaxation
    row_dual : (m,) float64
        Zeros where none are known.
    method : str
        'simplex', 'interior point' or 'pdlp'.
    seconds : float
    basis : Basis or None
        Of simplex or crossover.
    is_cut_short : bool
        Whether a limit ended it.
    """

    relaxation: Relaxation
    row_dual: FloatArray
    method: str
    seconds: float
    basis: Basis | None = None
    is_cut_short: bool = False


def root_relaxation(
    model: MipModel,
    budget: Budget,
    *,
    device: Device | None = None,
    threads: int = 1,
    seed: int = 0,
    log: Log | None = None,
) -> Root:
    """Solve the linear relaxation as well as the budget allows.

    PDLP from :data:`FIRST_ORDER_FROM` nonzeros on with a GPU, from
    :data:`FIRST_ORDER_ON_CPU_FROM` on without. Below, simplex until it takes too long, then
    interior point, then PDLP. Nothing is claimed about infeasible or unbounded relaxations; the
    point is then merely within its bounds.

    Parameters
    ----------
    model : MipModel
    budget : Budget
    device : Device, optional
        By default the CPU.
    threads : int
        CPU threads of PDLP.
    seed : int
    log : callable, optional

    Returns
    -------
    Root
        Its ``relaxation.is_exact`` says whether the point is optimal.
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
    if found is None or (not found.relaxation.is_exact and not budget.spent()):
        found = _by_first_order(model, budget, where, threads, seed, found)
    if log is not None:
        kind = "optimal" if found.relaxation.is_exact else "approximate"
        log(
            f"Relaxation by {found.method}: {kind}, objective {found.relaxation.objective:.9g} "
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


def _by_simplex(model: MipModel, budget: Budget, seed: int) -> Root:
    simplex = Simplex(model.problem, seed)
    found = simplex.solve(budget)
    basis = simplex.basis() if found.is_converged else None
    return _root(model, found, SIMPLEX, budget.seconds, basis)


def _by_interior(model: MipModel, budget: Budget, seed: int) -> Root:
    found, basis = interior(model.problem, budget, seed)
    return _root(model, found, INTERIOR, budget.seconds, basis)


def _by_first_order(
    model: MipModel, budget: Budget, device: Device, threads: int, seed: int, before: Root | None
) -> Root:
    if model.num_nonzeros == 0 and before is not None:
        return before
    began = budget.seconds
    solver = first_order(model.problem, device, budget, threads, seed)
    p = model.problem
    request = Request(p.cost, p.lower, p.upper, p.row_lower, p.row_upper)
    found = solver.project(request, budget.part())
    return _root(model, found, PDLP, budget.seconds - began, None)


def _root(
    model: MipModel, found: Projection, method: str, seconds: float, basis: Basis | None
) -> Root:
    x = np.clip(found.x, model.lower, model.upper)
    reduced = model.cost - model.problem.matrix.T @ found.y
    relaxation = Relaxation(
        x=x,
        reduced_cost=np.asarray(reduced) if found.y.any() else np.zeros(x.size),
        objective=model.objective_at(x),
        is_exact=found.is_converged,
    )
    return Root(relaxation, found.y, method, seconds, basis, found.is_cut_short)
