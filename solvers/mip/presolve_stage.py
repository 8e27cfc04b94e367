"""From the problem as it was given to what heuristics share: presolve, propagation, the acceptance.

Heuristics wait for presolve as far as ``reducer`` says; beyond that it goes on beside them.
Meanwhile the problem as it is is swept once for a first point, and searched by walkers. The least
violated points of these go to the heuristics on the reduced model, to begin from.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.device import Device, cpu, find_devices
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.mip.budget import Budget
from solvers.mip.context import SolveContext
from solvers.mip.model import MipModel
from solvers.mip.proof_stage import SOURCE as PROVER
from solvers.mip.reducer import Reduced
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.solutions.incumbents import InfeasiblePoints

if TYPE_CHECKING:
    from solvers.mip.portfolio.heuristic import HeuristicContext

START_SHARE, START_WORK = 0.05, 2e9
"""Part of the time left, and work, for completing a start."""

MUCH_SMALLER = 0.95
"""Part of the rows, columns or entries up to which a model that presolve has reduced further takes
the place of the one that heuristics are at work on."""

CLOSE = 0.05
"""Part of the rows that a sweep may leave violated for a walk to go on from there. On assignments
with little room, two rows in a hundred violated, that took a tenth of the work of a walk from
elsewhere; on a partition with one in four violated, it came to nothing."""

LEAST_WALK, WALK_PER_ENTRY = 2e6, 4.0
"""Work that this walk may do: in any case, and for each entry."""

Reduce = Callable[[Progress], Reduced]


class Reducing:
    """Reduces the problem of one solve and sets up what heuristics share.

    Attributes
    ----------
    acceptance : Acceptance or None
        Of the reduced model that is searched now.
    device : Device
        Where heuristics run; the first where there are several.
    """

    def __init__(self, solve: SolveContext) -> None:
        self._solve = solve
        self._acceptances: list[Acceptance] = []
        self._further: Reduce | None = None
        self._is_sweeping = False
        self._enough = threading.Event()
        self.acceptance: Acceptance | None = None
        self.device = cpu()

    @property
    def is_unfinished(self) -> bool:
        """Whether more time would reduce the problem further."""
        return self._further is not None

    def walk_on_original(self) -> None:
        """Search on the problem as it was given, until there is a reduced model."""
        solve = self._solve
        self._is_sweeping = True

        def search() -> None:
            left = solve.progress.time_left
            budget = Budget(left, stop=lambda: self._enough.is_set() or solve.is_over())
            self.sweep_original(solve.incumbents.infeasible_points)
            if not budget.spent():
                from solvers.mip.heuristics.local_search.heuristic import search_original

                search_original(solve.incumbents, solve.options.seed, budget)

        solve.spawn("local search before presolve", search)

    def sweep_original(self, infeasible_points: InfeasiblePoints) -> None:
        """Construct a point of the problem as it was given: where that works it takes no time."""
        from solvers.mip.heuristics.constructive import SOURCE, sweep

        incumbents = self._solve.incumbents
        try:
            swept = sweep(incumbents.model, Budget(stop=self._solve.is_over))
            if swept.is_feasible:
                incumbents.record(swept.x, SOURCE)
                return
        finally:
            self._is_sweeping = False  # nobody waits for a walk
        infeasible_points.add(swept.x, swept.violated_rows)
        if swept.violated_rows <= CLOSE * incumbents.model.num_rows:
            self._walk_on(infeasible_points)

    def _walk_on(self, infeasible_points: InfeasiblePoints) -> None:
        """Walk from infeasible points of the original to a feasible one, for a while."""
        from solvers.mip.heuristics.local_search.run import walkers_on_cpu

        solve, incumbents = self._solve, self._solve.incumbents
        work = LEAST_WALK + WALK_PER_ENTRY * incumbents.model.num_nonzeros
        budget = Budget(work=work, stop=lambda: solve.has_point or solve.is_over())
        seed = solve.options.seed
        walkers_on_cpu(
            incumbents.model,
            incumbents.record,
            seed,
            pool=incumbents.pool,
            infeasible_points=infeasible_points,
        ).run(budget)

    def prepare(self, reduce: Reduce) -> HeuristicContext | None:
        """Reduce the problem and set up what heuristics share; None if the matter is settled."""
        solve = self._solve
        reduced = reduce(solve.progress)
        if solve.is_sequential and reduced.further is not None:
            reduced = reduced.further(solve.progress)
        solve.settled = reduced.settled
        if reduced.problem is solve.problem:
            self._finish_sweep()
        if solve.settled is not None or solve.is_over():
            return None
        context = self._set_up(reduced)
        self._enough.set()
        if context is None:
            return None
        self._further = reduced.further
        solve.is_reducing = self.is_unfinished
        if not (solve.is_sequential or solve.has_point):
            points = solve.incumbents.infeasible_points.points()
            hand_on([point.x for point in points], context.acceptance)
        if solve.start is not None and solve.start_is_open:
            self._bring_in(solve.start, context.acceptance)
        return context

    def reduce_further(self, before: HeuristicContext) -> HeuristicContext | None:
        """Wait for presolve; return what heuristics share where much less is left then."""
        try:
            return self._reduce_further(before)
        finally:
            self._solve.is_reducing = False

    def _reduce_further(self, before: HeuristicContext) -> HeuristicContext | None:
        assert self._further is not None  # asked by the caller
        solve = self._solve
        reduced = self._further(solve.progress)
        if solve.is_over():
            return None
        if reduced.settled is not None:
            if reduced.settled.x is not None or not solve.has_point:
                solve.settled = reduced.settled
            return None
        if not is_much_smaller(reduced.problem, before.model):
            return None
        context = self._set_up(reduced)
        if context is not None:
            points = before.acceptance.infeasible_points.points()
            there = [before.acceptance.original_of(point.x) for point in points[:POINTS]]
            hand_on(there, context.acceptance)
        return context

    def take(self, x: FloatArray, source: str = PROVER) -> None:
        """Take a point (n,) found elsewhere into the reduced model, where there is a way."""
        if self.acceptance is not None:
            self.acceptance.take(x, source)

    def close(self) -> None:
        """End the threads of the acceptances."""
        for acceptance in self._acceptances:
            acceptance.close()

    def _set_up(self, reduced: Reduced) -> HeuristicContext | None:
        """Set up what heuristics share on a reduced problem; None if that has no point."""
        from solvers.mip.inference.domain import tighten_model
        from solvers.mip.portfolio.heuristic import HeuristicContext

        solve, options = self._solve, self._solve.options
        tightened = tighten_model(MipModel.of(reduced.problem), Budget(stop=solve.is_over))
        if tightened.is_infeasible:
            solve.prove_infeasible()
            return None
        timed = not options.deterministic
        acceptance = Acceptance(
            tightened.model, reduced, solve.incumbents, solve.progress, is_timed=timed
        )
        acceptance.take_all()
        self.acceptance = acceptance
        self._acceptances.append(acceptance)
        device, *further = self._find_devices()
        self.device = device
        return HeuristicContext(
            tightened.model, acceptance, tightened.domain, device, solve, further
        )

    def _finish_sweep(self) -> None:
        """Let nobody else begin on the original, and wait for the sweep.

        Its point comes sooner than the bounds that follow from all rows.
        """
        self._enough.set()
        solve = self._solve
        while self._is_sweeping and solve.anybody_works() and not solve.is_over():
            time.sleep(LOOK_AGAIN)

    def _bring_in(self, start: FloatArray, acceptance: Acceptance) -> None:
        """Complete the caller's start, in a part of the time."""
        solve = self._solve
        timed = not solve.options.deterministic
        seconds = START_SHARE * min(solve.progress.time_left, 3600.0) if timed else np.inf
        budget = Budget(seconds, START_WORK, solve.is_over)
        from solvers.mip.heuristics.fix_and_propagate.user_start import bring_in  # few have a start

        solve.progress.log(bring_in(start, acceptance, budget, solve.options.seed))

    def _find_devices(self) -> Sequence[Device]:
        """Find the devices only now: loading CuPy takes longer than many a small model."""
        options = self._solve.options
        if options.deterministic or options.device == "cpu":
            return (cpu(),)
        return find_devices(options.device)


def is_much_smaller(problem: Problem, model: MipModel) -> bool:
    """Whether it pays to begin again on a problem that is further reduced than a model."""
    sizes = (
        (problem.num_rows, model.num_rows),
        (problem.num_columns, model.num_columns),
        (problem.num_nonzeros, model.num_nonzeros),
    )
    return any(new <= MUCH_SMALLER * old for new, old in sizes)


POINTS = 3
"""Least violated points that are handed on."""


def hand_on(points: list[FloatArray], acceptance: Acceptance) -> None:
    """Show the best points (n,) of the original problem to the heuristics on a reduced model."""
    model = acceptance.model
    for point in points[:POINTS]:
        there = acceptance.reduced_of(point)
        if there is None:
            return
        x = model.rounded(np.where(np.isfinite(there), there, 0.0))
        acceptance.infeasible_points.add(x, model.violated_rows(x))
