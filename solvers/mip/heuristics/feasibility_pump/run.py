"""Pumps from the first rounding to the end of their budget: one by itself, or several in lockstep.

The pumps of a batch differ in seed and in the objective's share; their projections have one matrix,
which a GPU reads once for all of them (``solvers/pdlp/shared_matrix``), so that eight cost about as
much time as two or three. Each still goes its own way; they share the cut-off.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from functools import partial

from solvers.core.device import Device, cpu
from solvers.mip.heuristics.feasibility_pump.augmented import Augmented, Request
from solvers.mip.heuristics.feasibility_pump.neighbourhood import Neighbourhood, Search
from solvers.mip.heuristics.feasibility_pump.projectors import (
    OVERHEAD,
    SECONDS,
    WORK,
    Lockstep,
    Projection,
    Projector,
    Simplex,
    first_order,
    lockstep,
    projection_budget,
)
from solvers.mip.heuristics.feasibility_pump.proposals import Counts, Target
from solvers.mip.heuristics.feasibility_pump.root import (
    FIRST_ORDER_FROM,
    SIMPLEX,
    Root,
    root_relaxation,
)
from solvers.mip.heuristics.feasibility_pump.rounding import Rounder, by_propagation
from solvers.mip.heuristics.feasibility_pump.trajectory import FIRST_ALPHA, Manner, Trajectory
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Pool, Submit

WATCHED = 5
"""Latest projections of simplex that are looked at,"""

ALLOWED = 2
"""and how many of them may end at their limit before PDLP takes over."""

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
    if augmented.problem.num_nonzeros and (slow or large):
        return first_order(augmented.problem, where, budget, threads, seed)
    return _SimplexFirst(augmented, root, where, threads, seed)


class _SimplexFirst:
    """Simplex, until it fails to finish too often."""

    def __init__(
        self, augmented: Augmented, root: Root, device: Device, threads: int, seed: int
    ) -> None:
        self._augmented = augmented
        self._device = device
        self._threads = threads
        self._seed = seed
        self._finished: deque[bool] = deque(maxlen=WATCHED)
        self._is_simplex = True
        self._inner: Projector = Simplex(augmented.problem, seed, root.basis)

    def project(self, request: Request, budget: Budget) -> Projection:
        """Solve a projection."""
        found = self._inner.project(request, budget)
        finished = found.is_converged or found.is_empty
        if self._is_simplex and (finished or _had_its_time(budget)):
            self._finished.append(finished)
            if self._finished.count(False) > ALLOWED and self._augmented.problem.num_nonzeros:
                self._hand_over(budget)
        return found

    def _hand_over(self, budget: Budget) -> None:
        self._is_simplex = False
        problem = self._augmented.problem
        self._inner = first_order(problem, self._device, budget, self._threads, self._seed)


def _had_its_time(budget: Budget) -> bool:
    """Whether a projection ran for as long as one may, and was not cut short by a turn's end."""
    if budget.is_timed:
        return budget.seconds >= MOST_OF_IT * SECONDS
    return budget.work >= MOST_OF_IT * WORK


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
            projection = projector.project(trajectory.request(), part)
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


COUNTED = tuple(one.name for one in fields(Counts) if one.name not in ("is_over", "seconds"))
"""What is added up over the pumps of a batch."""

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
            for name in COUNTED:
                setattr(total, name, getattr(total, name) + getattr(trajectory.counts, name))
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
        found = self._projector.project([each.request() for each in self._trajectories], part)
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
