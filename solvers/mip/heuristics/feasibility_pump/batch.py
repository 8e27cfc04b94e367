"""Several pumps in lockstep, whose projections are solved side by side.

The pumps differ in seed and in the objective's share; their projections have one matrix, which a
GPU reads once for all of them (``solvers/pdlp/shared_matrix``), so that eight cost about as much
time as two or three. Each still goes its own way; they share the cut-off.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import partial

from solvers.core.device import Device, cpu
from solvers.mip.heuristics.feasibility_pump.augmented import Augmented
from solvers.mip.heuristics.feasibility_pump.counts import Counts, PumpCounts
from solvers.mip.heuristics.feasibility_pump.lockstep import Lockstep, lockstep
from solvers.mip.heuristics.feasibility_pump.neighbourhood import Neighbourhood, Search
from solvers.mip.heuristics.feasibility_pump.projector import OVERHEAD, projection_budget
from solvers.mip.heuristics.feasibility_pump.propagating import by_propagation
from solvers.mip.heuristics.feasibility_pump.root import Root, root_relaxation
from solvers.mip.heuristics.feasibility_pump.rounding import Rounder
from solvers.mip.heuristics.feasibility_pump.run import ALPHAS, ROOT_SHARE, Log
from solvers.mip.heuristics.feasibility_pump.target import Target
from solvers.mip.heuristics.feasibility_pump.trajectory import Manner, Trajectory
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Pool, Submit

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
    def counts(self) -> PumpCounts:
        """What the pumps did so far, together."""
        names = [field.name for field in fields(Counts)]
        sums = {name: sum(getattr(t.counts, name) for t in self._trajectories) for name in names}
        return PumpCounts(**sums, is_over=self._is_over, seconds=self._seconds)

    @property
    def _is_over(self) -> bool:
        started = bool(self._trajectories)
        return not self._is_possible or (started and any(t.is_over for t in self._trajectories))

    def run(self, budget: Budget) -> PumpCounts:
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
            share = ROOT_SHARE * budget.seconds_left if budget.is_timed else float("inf")
            root = root_relaxation(
                model, budget.part(share), device=self._device, seed=self._seed, log=self._log
            )
        bound = root.relaxation.objective if root.relaxation.is_exact else -float("inf")
        target = Target(model, self._pool, bound)
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
