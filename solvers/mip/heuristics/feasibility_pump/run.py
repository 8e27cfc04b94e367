"""Pumps from the first rounding to the end of their budget: one by itself, or several in lockstep.

The pumps of a batch differ in seed and in the objective's share; their projections have one matrix,
which a GPU reads once for all of them (``solvers/pdlp/shared_matrix``), so that eight cost about as
much time as two or three. Each still goes its own way; they share the cut-off.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import partial

from solvers.core.device import Device, cpu
from solvers.mip.heuristics.feasibility_pump.projection import (
    OVERHEAD,
    Augmented,
    Lockstep,
    Projector,
    choose_projector,
    lockstep,
    projection_budget,
)
from solvers.mip.heuristics.feasibility_pump.steps import (
    Counts,
    Neighbourhood,
    Rounder,
    Search,
    Target,
    by_propagation,
    by_walker,
)
from solvers.mip.heuristics.feasibility_pump.trajectory import FIRST_ALPHA, Manner, Trajectory
from solvers.mip.inference.relaxation import Root, root_relaxation
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import Heuristic, HeuristicContext, Needs, Report
from solvers.mip.solutions.incumbents import Pool, Submit

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
        <solvers.mip.heuristics.feasibility_pump.projection.Augmented>`'s problem; by default chosen
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
    def counts(self) -> Counts:
        """What the pump did so far."""
        if self._trajectory is None:
            return Counts(is_over=not self._is_possible, seconds=self._seconds)
        return replace(
            self._trajectory.counts, is_over=self._trajectory.is_over, seconds=self._seconds
        )

    def run(self, budget: Budget) -> Counts:
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
            projection = projector.solve_for(trajectory.request(), part)
            trajectory.receive(projection, part.seconds if budget.is_timed else part.work)

    def _prepare(self, budget: Budget) -> Trajectory:
        if self._root is None:
            self._root = _relax(self._model, budget, self._device, self._manner.seed, self._log)
        self._augmented = Augmented.of(self._model)
        return Trajectory(
            self._augmented,
            self._root,
            self._submit,
            self._manner,
            rounder=self._rounder,
            neighbourhood=Neighbourhood(self._search),
            target=_target(self._model, self._pool, self._root),
            pool=self._pool,
        )

    def _ready(self, budget: Budget) -> Projector:
        if self._projector is None:
            assert self._root is not None
            self._projector = choose_projector(
                self._augmented, self._root, budget, device=self._device, seed=self._manner.seed
            )
        return self._projector


def _relax(
    model: MipModel, budget: Budget, device: Device | None, seed: int, log: Log | None
) -> Root:
    """Solve the relaxation within its share of the budget."""
    share = ROOT_SHARE * budget.seconds_left if budget.is_timed else float("inf")
    return root_relaxation(model, budget.part(share), device=device, seed=seed, log=log)


def _target(model: MipModel, pool: Pool | None, root: Root) -> Target:
    bound = root.relaxation.objective if root.relaxation.is_exact else -float("inf")
    return Target(model, pool, bound)


WIDTH = 8
"""Pumps of a batch by default."""

RoundersOf = Callable[[int], Rounder]
SearchesOf = Callable[[int], Search]


class PumpBatch:
    """Pumps in lockstep, which go on where their last turn ended; for one thread at a time.

    Parameters
    ----------
    model : MipModel
        With at least one integer column and one coefficient, or nothing is done.
    submit : Submit
        Gets every point that is integral or may become feasible by an LP; called from several
        threads, where there are ``workers``.
    seed : int
        Of the first pump; the others count on from there.
    width : int
        Pumps: 8, 16, 24 or 32.
    rounder_of, search_of : callable, optional
        Make the rounder and the local search of each pump from its seed; by default
        fix-and-propagate, and no search.
    pool : Pool, optional
        Others' points: the cut-off is below the best of them.
    root : Root, optional
        Of :func:`root_relaxation`; by default solved in the first turn.
    device : Device, optional
        Where projections are solved; by default the CPU.
    workers : int
        Threads that round and search between projections. With more than one, which pump's point
        comes first depends on the machine.
    log : callable, optional
    """

    def __init__(
        self,
        model: MipModel,
        submit: Submit,
        seed: int,
        *,
        width: int = WIDTH,
        rounder_of: RoundersOf | None = None,
        search_of: SearchesOf | None = None,
        pool: Pool | None = None,
        root: Root | None = None,
        device: Device | None = None,
        workers: int = 1,
        log: Log | None = None,
    ) -> None:
        self._model = model
        self._submit = submit
        self._seed = seed
        self._width = width
        self._rounder_of = rounder_of
        self._search_of = search_of
        self._pool = pool
        self._root = root
        self._device = cpu() if device is None else device
        self._log = log
        self._threads = ThreadPoolExecutor(workers, "pumps") if workers > 1 else None
        self._trajectories: list[Trajectory] = []
        self._augmented = Augmented.of(model)
        self._projector: Lockstep | None = None
        self._seconds = 0.0
        self._is_possible = bool(
            model.is_integer.any() and model.num_nonzeros and (model.lower <= model.upper).all()
        )

    @property
    def counts(self) -> Counts:
        """What the pumps did so far, together."""
        total = Counts(is_over=self._is_over, seconds=self._seconds)
        for trajectory in self._trajectories:
            for one in fields(Counts):
                if one.name not in ("is_over", "seconds"):
                    count = getattr(total, one.name) + getattr(trajectory.counts, one.name)
                    setattr(total, one.name, count)
        return total

    @property
    def _is_over(self) -> bool:
        started = bool(self._trajectories)
        return not self._is_possible or (started and any(t.is_over for t in self._trajectories))

    def run(self, budget: Budget) -> Counts:
        """Go on until the budget is spent or nothing is left to gain; return all counts so far."""
        began = budget.seconds
        if not self._is_over:
            if not self._trajectories:
                self._prepare(budget)
            self._each([partial(each.resume, budget) for each in self._trajectories])
            while not self._is_over and not budget.spent():
                self._step(budget)
        self._seconds += budget.seconds - began
        return self.counts

    def close(self) -> None:
        """Give up what is held; no turn may follow."""
        self._projector = None
        if self._threads is not None:
            self._threads.shutdown()

    def _prepare(self, budget: Budget) -> None:
        model, root = self._model, self._root
        if root is None:
            root = _relax(model, budget, self._device, self._seed, self._log)
        target = _target(model, self._pool, root)
        for number in range(self._width):
            seed = self._seed + number
            rounder = by_propagation(model) if self._rounder_of is None else self._rounder_of(seed)
            search = None if self._search_of is None else self._search_of(seed)
            manner = Manner(seed, ALPHAS[number % len(ALPHAS)])
            self._trajectories.append(
                Trajectory(
                    self._augmented,
                    root,
                    self._submit,
                    manner,
                    rounder=rounder,
                    neighbourhood=Neighbourhood(search),
                    target=target,
                    pool=self._pool,
                )
            )

    def _step(self, budget: Budget) -> None:
        """Project all rounded points, and hand each pump its own."""
        if self._projector is None:
            problem = self._augmented.problem
            self._projector = lockstep(problem, self._width, self._device, budget, self._seed)
        part = projection_budget(budget)
        part.charge(OVERHEAD * self._width)
        found = self._projector.solve_for([each.request() for each in self._trajectories], part)
        effort = part.seconds if budget.is_timed else part.work / self._width
        pairs = zip(self._trajectories, found, strict=True)
        self._each([partial(each.receive, point, effort) for each, point in pairs])

    def _each(self, calls: list[Callable[[], None]]) -> None:
        """Make the calls, side by side where there are workers."""
        if self._threads is None:
            for call in calls:
                call()
            return
        for done in [self._threads.submit(call) for call in calls]:
            done.result()


# The pumps as the schedule sees them.


DEVICE_WORKERS = 2
"""Threads that round for the pumps on the GPU."""


class FeasibilityPump(Heuristic[HeuristicContext, Pump]):
    """Pumps on the CPU, one for each turn that runs at a time, until they have nothing to gain."""

    name = "pump"
    needs = Needs(relaxation=True)

    def begin(self, prepared: HeuristicContext, number: int) -> Pump:
        """Return a pump with its own seed and share of the objective."""
        context, pool = prepared, prepared.acceptance.pool
        seed = context.seed_of(self.name, number)
        return Pump(
            context.model,
            context.submit,
            seed,
            rounder=by_propagation(context.model, lambda: context.cache),
            search=by_walker(context.model, seed, pool),
            pool=pool,
            root=context.root,
            alpha0=ALPHAS[number % len(ALPHAS)],
        )

    def run(self, state: Pump, budget: Budget, seed: int) -> Report:
        """Let the pump go on."""
        return Report(is_over=state.run(budget).is_over)


class DevicePumps(Heuristic[HeuristicContext, PumpBatch]):
    """Pumps in lockstep on the GPU."""

    name = "pumps on the GPU"
    needs = Needs(relaxation=True, device=True)

    def begin(self, prepared: HeuristicContext, number: int) -> PumpBatch:
        """Return a batch of pumps."""
        context, pool = prepared, prepared.acceptance.pool
        return PumpBatch(
            context.model,
            context.submit,
            context.seed_of(self.name, number + 1),
            rounder_of=lambda _: by_propagation(context.model, lambda: context.cache),
            search_of=lambda number: by_walker(context.model, number, pool),
            pool=pool,
            root=context.root,
            device=context.device,
            workers=DEVICE_WORKERS,
        )

    def run(self, state: PumpBatch, budget: Budget, seed: int) -> Report:
        """Let the pumps go on."""
        state.run(budget)
        return Report(is_over=state.counts.is_over)
