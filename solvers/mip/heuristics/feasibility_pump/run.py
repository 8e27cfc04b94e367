"""A pump from its first rounding to the end of its budget, in one turn or several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from solvers.core.device import Device
from solvers.mip.heuristics.feasibility_pump.augmented import Augmented
from solvers.mip.heuristics.feasibility_pump.choose import choose_projector
from solvers.mip.heuristics.feasibility_pump.counts import PumpCounts
from solvers.mip.heuristics.feasibility_pump.neighbourhood import Neighbourhood, Search
from solvers.mip.heuristics.feasibility_pump.projector import OVERHEAD, Projector, projection_budget
from solvers.mip.heuristics.feasibility_pump.propagating import by_propagation
from solvers.mip.heuristics.feasibility_pump.root import Root, root_relaxation
from solvers.mip.heuristics.feasibility_pump.rounding import Rounder
from solvers.mip.heuristics.feasibility_pump.target import Target
from solvers.mip.heuristics.feasibility_pump.trajectory import FIRST_ALPHA, Manner, Trajectory
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Pool, Submit

ROOT_SHARE = 0.3
"""Part of the budget for the relaxation, where none is given."""

ALPHAS = (FIRST_ALPHA, 0.0, 0.5, 0.9)
"""Shares of the objective with which pumps beside each other begin."""

Log = Callable[[str], None]


class Pump:
    """A pump that goes on where its last turn ended; for one thread at a time.

    Parameters
    ----------
    model : MipModel
        With at least one integer column, or nothing is done.
    submit : Submit
        Gets every point that is integral or may become feasible by an LP.
    seed : int
    projector : Projector, optional
        Of :class:`Augmented.of(model)
        <solvers.mip.heuristics.feasibility_pump.augmented.Augmented>`'s problem; by default chosen
        by size and device.
    rounder : Rounder, optional
        By default fix-and-propagate; roundings to the nearest come between where it is slow.
    search : Search, optional
        Local search; by default none.
    pool : Pool, optional
        Others' points: the cut-off is below the best of them.
    root : Root, optional
        Of :func:`root_relaxation`; by default solved in the first turn.
    device : Device, optional
        By default the CPU.
    alpha0 : float
        Share of the objective in the first projection.
    log : callable, optional
    """

    def __init__(
        self,
        model: MipModel,
        submit: Submit,
        seed: int,
        *,
        projector: Projector | None = None,
        rounder: Rounder | None = None,
        search: Search | None = None,
        pool: Pool | None = None,
        root: Root | None = None,
        device: Device | None = None,
        alpha0: float = FIRST_ALPHA,
        log: Log | None = None,
    ) -> None:
        self._model = model
        self._submit = submit
        self._manner = Manner(seed, alpha0)
        self._projector = projector
        self._rounder = by_propagation(model) if rounder is None else rounder
        self._search = search
        self._pool = pool
        self._root = root
        self._device = device
        self._log = log
        self._trajectory: Trajectory | None = None
        self._seconds = 0.0
        self._is_possible = bool(model.is_integer.any() and (model.lower <= model.upper).all())

    @property
    def counts(self) -> PumpCounts:
        """What the pump did so far."""
        if self._trajectory is None:
            return PumpCounts(is_over=not self._is_possible, seconds=self._seconds)
        return PumpCounts(
            **asdict(self._trajectory.counts),
            is_over=self._trajectory.is_over,
            seconds=self._seconds,
        )

    def run(self, budget: Budget) -> PumpCounts:
        """Go on until the budget is spent or nothing is left to gain; return all counts so far.

        Untimed, each projection and rounding has an amount of work of its own, and the same
        seed takes the same way.
        """
        began = budget.seconds
        if self._is_possible and not self.counts.is_over:
            self._run(budget)
        self._seconds += budget.seconds - began
        return self.counts

    def _run(self, budget: Budget) -> None:
        trajectory = self._trajectory
        if trajectory is None:
            trajectory = self._trajectory = self._prepare(budget)
        trajectory.resume(budget)
        while not trajectory.is_over and not budget.spent():
            projector = self._ready(budget)
            part = projection_budget(budget)
            part.charge(OVERHEAD)
            projection = projector.project(trajectory.request(), part)
            trajectory.receive(projection, part.seconds if budget.is_timed else part.work)

    def _prepare(self, budget: Budget) -> Trajectory:
        model, root = self._model, self._root
        if root is None:
            share = ROOT_SHARE * budget.seconds_left if budget.is_timed else float("inf")
            seed = self._manner.seed
            root = root_relaxation(
                model, budget.part(share), device=self._device, seed=seed, log=self._log
            )
            self._root = root
        bound = root.relaxation.objective if root.relaxation.is_exact else -float("inf")
        self._augmented = Augmented.of(model)
        return Trajectory(
            self._augmented,
            root,
            self._submit,
            self._manner,
            rounder=self._rounder,
            neighbourhood=Neighbourhood(self._search),
            target=Target(model, self._pool, bound),
            pool=self._pool,
        )

    def _ready(self, budget: Budget) -> Projector:
        if self._projector is None:
            assert self._root is not None
            self._projector = choose_projector(
                self._augmented, self._root, budget, device=self._device, seed=self._manner.seed
            )
        return self._projector


def pump(
    model: MipModel,
    submit: Submit,
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
    log: Log | None = None,
) -> PumpCounts:
    """Look for feasible points by the extended feasibility pump, then for better ones.

    In one turn; see :class:`Pump` for the parameters.
    """
    made = Pump(
        model,
        submit,
        seed,
        projector=projector,
        rounder=rounder,
        search=search,
        pool=pool,
        root=root,
        device=device,
        alpha0=alpha0,
        log=log,
    )
    counts = made.run(budget)
    if log is not None:
        log(
            f"Pump: {counts.projections} projections ({counts.converged} converged), "
            f"{counts.cycles} circles, {counts.found} improvements in {counts.seconds:.2f} s"
        )
    return counts
