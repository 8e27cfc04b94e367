"""Pumps from the first rounding to the end of their budget: one by itself, or several in lockstep.

Pumps beside each other differ in seed and in the objective's share. In lockstep their projections
have one matrix, which a GPU reads once for all of them (``solvers/pdlp/shared_matrix``), so that
eight cost about as much time as two or three. Each still goes its own way; they share the cut-off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import partial

from solvers.core.device import Device, cpu
from solvers.mip.heuristics.feasibility_pump.projection import (
    OVERHEAD,
    Augmented,
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
from solvers.mip.inference.relaxation import LpPoint, Request, Root
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import Heuristic, HeuristicContext, Needs, Report
from solvers.mip.solutions.incumbents import Pool, Submit

ALPHAS = (FIRST_ALPHA, 0.0, 0.5, 0.9)
"""Shares of the objective with which pumps beside each other begin."""

Project = Callable[[Sequence[Request], Budget], Sequence[LpPoint]]
"""Solves a projection of each pump within a budget for all of them."""


class Pumps:
    """Pumps on one model that go on where their last turn ended; for one thread at a time.

    Parameters
    ----------
    model : MipModel
        With at least one integer column and one coefficient, or nothing is done.
    submit : Submit
        Gets every point that is integral or may become feasible by an LP; called from several
        threads, where there are ``workers``.
    root : Root
        Of :func:`root_relaxation`.
    manners : sequence of Manner
        One for each pump; several go in lockstep, and are 8, 16, 24 or 32.
    rounder_of, search_of : callable, optional
        Make the rounder and the local search of each pump from its seed. By default
        fix-and-propagate, with roundings to the nearest where it is slow, and no search.
    pool : Pool, optional
        Others' points: the cut-off is below the best of them.
    projector : Projector, optional
        Of a single pump, for the problem of its ``Augmented`` model; chosen by default.
    device : Device, optional
        Where projections are solved; by default the CPU.
    workers : int
        Threads that round and search between projections. With more than one, which pump's point
        comes first depends on the machine.
    """

    def __init__(
        self,
        model: MipModel,
        submit: Submit,
        root: Root,
        manners: Sequence[Manner],
        *,
        rounder_of: Callable[[int], Rounder] | None = None,
        search_of: Callable[[int], Search] | None = None,
        pool: Pool | None = None,
        projector: Projector | None = None,
        device: Device | None = None,
        workers: int = 1,
    ) -> None:
        self._augmented = Augmented.of(model)
        self._root = root
        self._device = cpu() if device is None else device
        self._seed = manners[0].seed
        bound = root.relaxation.objective if root.relaxation.is_exact else -float("inf")
        target = Target(model, pool, bound)
        self._trajectories = [
            Trajectory(
                self._augmented,
                root,
                submit,
                manner,
                rounder=by_propagation(model) if rounder_of is None else rounder_of(manner.seed),
                neighbourhood=Neighbourhood(None if search_of is None else search_of(manner.seed)),
                target=target,
                pool=pool,
            )
            for manner in manners
        ]
        self._project = None if projector is None else _one_by_one(projector)
        self._threads = ThreadPoolExecutor(workers, "pumps") if workers > 1 else None
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
        return not self._is_possible or any(each.is_over for each in self._trajectories)

    def run(self, budget: Budget) -> Counts:
        """Go on until the budget is spent or nothing is left to gain; return all counts so far.

        Untimed, each projection and rounding has an amount of work of its own, and the same
        seed takes the same way.
        """
        began = budget.seconds
        if not self._is_over:
            self._each([partial(each.resume, budget) for each in self._trajectories])
            while not self._is_over and not budget.spent():
                self._step(budget)
        self._seconds += budget.seconds - began
        return self.counts

    def close(self) -> None:
        """Give up what is held; no turn may follow."""
        self._project = None
        if self._threads is not None:
            self._threads.shutdown()

    def _step(self, budget: Budget) -> None:
        """Project all rounded points, and hand each pump its own."""
        if self._project is None:
            self._project = self._projection(budget)
        width = len(self._trajectories)
        part = projection_budget(budget)
        part.charge(OVERHEAD * width)
        found = self._project([each.request() for each in self._trajectories], part)
        effort = part.seconds if budget.is_timed else part.work / width
        pairs = zip(self._trajectories, found, strict=True)
        self._each([partial(each.receive, point, effort) for each, point in pairs])

    def _projection(self, budget: Budget) -> Project:
        augmented, width = self._augmented, len(self._trajectories)
        if width > 1:
            together = lockstep(augmented.problem, width, self._device, budget, self._seed)
            return together.solve_for
        chosen = choose_projector(
            augmented, self._root, budget, device=self._device, seed=self._seed
        )
        return _one_by_one(chosen)

    def _each(self, calls: list[Callable[[], None]]) -> None:
        """Make the calls, side by side where there are workers."""
        if self._threads is None:
            for call in calls:
                call()
            return
        for done in [self._threads.submit(call) for call in calls]:
            done.result()


def _one_by_one(projector: Projector) -> Project:
    return lambda requests, budget: [projector.solve_for(each, budget) for each in requests]


# The pumps as the schedule sees them.


WIDTH = 8
"""Pumps in lockstep on a GPU."""

DEVICE_WORKERS = 2
"""Threads that round for the pumps on the GPU."""


class FeasibilityPump(Heuristic[HeuristicContext, Pumps]):
    """Pumps on the CPU, one for each turn that runs at a time, until they have nothing to gain."""

    name = "pump"
    needs = Needs(integers=True, relaxation=True)

    def begin(self, prepared: HeuristicContext, number: int) -> Pumps:
        """Return a pump with its own seed and share of the objective."""
        manner = Manner(prepared.seed_of(self.name, number), ALPHAS[number % len(ALPHAS)])
        return _pumps(prepared, [manner])

    def run(self, state: Pumps, budget: Budget, seed: int) -> Report:
        """Let the pump go on."""
        return Report(is_over=state.run(budget).is_over)


class DevicePumps(FeasibilityPump):
    """Pumps in lockstep on the GPU."""

    name = "pumps on the GPU"
    needs = Needs(integers=True, relaxation=True, device=True)

    def begin(self, prepared: HeuristicContext, number: int) -> Pumps:
        """Return the pumps."""
        seed = prepared.seed_of(self.name, number + 1)
        manners = [Manner(seed + k, ALPHAS[k % len(ALPHAS)]) for k in range(WIDTH)]
        return _pumps(prepared, manners, device=prepared.device, workers=DEVICE_WORKERS)


def _pumps(
    context: HeuristicContext,
    manners: Sequence[Manner],
    device: Device | None = None,
    workers: int = 1,
) -> Pumps:
    """Return pumps that round with what probing found, and search around rounded points."""
    model, pool, root = context.model, context.acceptance.pool, context.root
    assert root is not None  # one of the needs
    return Pumps(
        model,
        context.submit,
        root,
        manners,
        rounder_of=lambda _: by_propagation(model, lambda: context.cache),
        search_of=lambda seed: by_walker(model, seed, pool),
        pool=pool,
        device=device,
        workers=workers,
    )
