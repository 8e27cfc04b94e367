"""A pump from its first rounding to the end of its budget."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict

from solvers.device import Device
from solvers.mip.budget import Budget
from solvers.mip.model import MipModel
from solvers.mip.pool import Offer, Pool
from solvers.mip.pump.augmented import Augmented
from solvers.mip.pump.choose import choose_projector
from solvers.mip.pump.counts import PumpCounts
from solvers.mip.pump.neighbourhood import Neighbourhood, Search
from solvers.mip.pump.projector import OVERHEAD, Projector, projection_budget
from solvers.mip.pump.root import Root, root_relaxation
from solvers.mip.pump.rounding import Rounder, randomised
from solvers.mip.pump.target import Target
from solvers.mip.pump.trajectory import FIRST_ALPHA, Manner, Trajectory

ROOT_SHARE = 0.3
"""Part of the budget for the relaxation, where none is given."""


def pump(
    model: MipModel,
    offer: Offer,
    budget: Budget,
    seed: int,
    *,
    projector: Projector | None = None,
    rounder: Rounder | None = None,
    search: Search | None = None,
    pool: Pool | None = None,
    root: Root | None = None,
    device: Device | None = None,
    alpha0: float = FIRST_ALPHA,
    log: Callable[[str], None] | None = None,
) -> PumpCounts:
    """Look for feasible points by the extended feasibility pump, then for better ones.

    Parameters
    ----------
    model : MipModel
        With at least one integer column, or nothing is done.
    offer : Offer
        Gets every point that is integral or may become feasible by an LP.
    budget : Budget
        Untimed, each projection and rounding has an amount of work of its own, and the same seed
        takes the same way.
    seed : int
    projector : Projector, optional
        Of :class:`Augmented.of(model) <solvers.mip.pump.augmented.Augmented>`'s problem; by
        default chosen by size and device, and closed at the end.
    rounder : Rounder, optional
        By default randomised rounding.
    search : Search, optional
        Local search; by default none.
    pool : Pool, optional
        Others' points: the cut-off is below the best of them.
    root : Root, optional
        Of :func:`root_relaxation`; by default solved here.
    device : Device, optional
        By default the CPU.
    alpha0 : float
        Share of the objective in the first projection.
    log : callable, optional

    Returns
    -------
    PumpCounts
    """
    if not (model.is_integer.any() and (model.lower <= model.upper).all()):
        return PumpCounts(0, 0, 0, 0, 0, 0, 0, True, 0.0)
    began = budget.seconds
    if root is None:
        share = ROOT_SHARE * budget.seconds_left if budget.is_timed else float("inf")
        root = root_relaxation(model, budget.part(share), device=device, seed=seed, log=log)
    augmented = Augmented.of(model)
    bound = root.relaxation.objective if root.relaxation.is_exact else -float("inf")
    trajectory = Trajectory(
        augmented,
        root,
        offer,
        budget,
        Manner(seed, alpha0),
        randomised(model) if rounder is None else rounder,
        Neighbourhood(search),
        Target(model, pool, bound),
        pool,
    )
    trajectory.begin()
    if not trajectory.is_over:
        if projector is None:
            made = choose_projector(augmented, root, budget, device=device, seed=seed)
            with closing(made):
                _run(trajectory, made, budget)
        else:
            _run(trajectory, projector, budget)
    counts = PumpCounts(
        **asdict(trajectory.counts),
        is_over=trajectory.is_over and not budget.spent(),
        seconds=budget.seconds - began,
    )
    if log is not None:
        log(
            f"Pump: {counts.projections} projections ({counts.converged} converged), "
            f"{counts.cycles} circles, {counts.found} improvements in {counts.seconds:.2f} s"
        )
    return counts


def _run(trajectory: Trajectory, projector: Projector, budget: Budget) -> None:
    while not trajectory.is_over and not budget.spent():
        part = projection_budget(budget)
        part.charge(OVERHEAD)
        projection = projector.project(trajectory.request(), part)
        trajectory.receive(projection, part.seconds if budget.is_timed else part.work)
