"""From the problem as it was given to what heuristics share: presolve, propagation, the gate.

Meanwhile the problem as it is is swept once for a first point, and searched by walkers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.concurrency import LOOK_AGAIN
from solvers.core.device import Device, cpu, find_device
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.mip.bound import SOURCE as PROVER
from solvers.mip.context import Course
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.reduced import Reduced, unreduced
from solvers.mip.solutions.acceptance import Gate
from solvers.mip.solutions.infeasible_points import Near
from solvers.mip.solutions.start import bring_in

if TYPE_CHECKING:
    from solvers.mip.heuristics.before_presolve import EarlyWalks
    from solvers.mip.portfolio.shared import Shared

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
    gate : Gate or None
        Of the reduced model that is searched now.
    device : Device
        Where heuristics run.
    """

    def __init__(self, course: Course) -> None:
        self._course = course
        self._gates: list[Gate] = []
        self._further: Reduce | None = None
        self._early: EarlyWalks | None = None
        self._is_sweeping = False
        self._enough = threading.Event()
        self.gate: Gate | None = None
        self.device = cpu()

    @property
    def is_unfinished(self) -> bool:
        """Whether more time would reduce the problem further."""
        return self._further is not None

    def walk_on_original(self) -> None:
        """Sweep and walk on the problem as it was given, until there is a reduced model."""
        course = self._course
        self._is_sweeping = True

        def search() -> None:
            from solvers.mip.heuristics.before_presolve import EarlyWalks

            left = course.progress.time_left
            budget = Budget(left, stop=lambda: self._enough.is_set() or course.is_over())
            self._early = EarlyWalks(course.ledger, course.options.seed)
            self.sweep_original(self._early.near)
            if not budget.spent():
                self._early.run(budget)

        course.spawn("walk on the original", search)

    def sweep_original(self, near: Near) -> None:
        """Construct a point of the problem as it was given: where that works it takes no time."""
        from solvers.mip.heuristics.constructive import SOURCE, sweep

        ledger = self._course.ledger
        try:
            swept = sweep(ledger.model, Budget(stop=self._course.is_over))
            if swept.is_feasible:
                ledger.record(swept.x, SOURCE)
                return
        finally:
            self._is_sweeping = False  # nobody waits for a walk
        near(swept.x, swept.violated_rows)
        if swept.violated_rows <= CLOSE * ledger.model.num_rows:
            self._walk_from(swept.x, near)

    def _walk_from(self, x: FloatArray, near: Near) -> None:
        """Walk from a nearly feasible point (n,) of the original to a feasible one, for a while."""
        from solvers.mip.heuristics.local_search.cpu.walk import walk

        course, ledger = self._course, self._course.ledger
        work = LEAST_WALK + WALK_PER_ENTRY * ledger.model.num_nonzeros
        budget = Budget(work=work, stop=lambda: course.has_point or course.is_over())
        seed = course.options.seed
        walk(ledger.model, ledger.record, budget, seed, pool=ledger.pool, start=x, near=near)

    def prepare(self, reduce: Reduce | None) -> Shared | None:
        """Reduce the problem and set up what heuristics share; None if the matter is settled."""
        course = self._course
        reduced = unreduced(course.problem) if reduce is None else reduce(course.progress)
        if course.takes_turns and reduced.further is not None:
            reduced = reduced.further(course.progress)
        course.settled = reduced.settled
        if reduced.problem is course.problem:
            self._finish_sweep()
        if course.settled is not None or course.is_over():
            return None
        shared = self._set_up(reduced)
        self._enough.set()
        if shared is None:
            return None
        self._further = reduced.further
        course.is_reducing = self.is_unfinished
        if self._early is not None and not course.has_point:
            self._early.hand_on(shared.gate)
        if course.start is not None and course.start_is_open:
            self._bring_in(course.start, shared.gate)
        return shared

    def reduce_further(self, before: Shared) -> Shared | None:
        """Wait for presolve; return what heuristics share where much less is left then."""
        try:
            return self._reduce_further(before)
        finally:
            self._course.is_reducing = False

    def _reduce_further(self, before: Shared) -> Shared | None:
        from solvers.mip.heuristics.before_presolve import hand_on

        assert self._further is not None  # asked by the caller
        course = self._course
        reduced = self._further(course.progress)
        if course.is_over():
            return None
        if reduced.settled is not None:
            if reduced.settled.x is not None or not course.has_point:
                course.settled = reduced.settled
            return None
        if not is_much_smaller(reduced.problem, before.model):
            return None
        shared = self._set_up(reduced)
        if shared is not None:
            hand_on(before.gate, shared.gate)
        return shared

    def take(self, x: FloatArray) -> None:
        """Take a point (n,) of branch and bound into the reduced model, where there is a way."""
        if self.gate is not None:
            self.gate.take(x, PROVER)

    def close(self) -> None:
        """End the threads of the gates."""
        for gate in self._gates:
            gate.close()

    def _set_up(self, reduced: Reduced) -> Shared | None:
        """Set up what heuristics share on a reduced problem; None if that has no point."""
        from solvers.mip.inference.domain import tighten_model
        from solvers.mip.portfolio.shared import Shared

        course, options = self._course, self._course.options
        tightened = tighten_model(MipModel.of(reduced.problem), Budget(stop=course.is_over))
        if tightened.is_infeasible:
            course.prove_infeasible()
            return None
        timed = not options.deterministic
        gate = Gate(tightened.model, reduced, course.ledger, course.progress, is_timed=timed)
        gate.take_all()
        self.gate = gate
        self._gates.append(gate)
        return Shared(
            model=tightened.model,
            gate=gate,
            domain=tightened.domain,
            device=self._find_device(),
            seed=options.seed,
            log=course.progress.log,
            prove_infeasible=course.prove_infeasible,
            is_over=course.is_over,
            is_temporary=lambda: course.is_reducing,
            prove_bound=None if options.heuristics_only else course.progress.bound,
        )

    def _finish_sweep(self) -> None:
        """Let nobody else begin on the original, and wait for the sweep.

        Its point comes sooner than the bounds that follow from all rows.
        """
        self._enough.set()
        course = self._course
        while self._is_sweeping and course.anybody_works() and not course.is_over():
            time.sleep(LOOK_AGAIN)

    def _bring_in(self, start: FloatArray, gate: Gate) -> None:
        """Complete the caller's start, in a part of the time."""
        course = self._course
        timed = not course.options.deterministic
        seconds = START_SHARE * min(course.progress.time_left, 3600.0) if timed else np.inf
        budget = Budget(seconds, START_WORK, course.is_over)
        course.progress.log(bring_in(start, gate, budget, course.options.seed))

    def _find_device(self) -> Device:
        """Find the device only now: loading CuPy takes longer than many a small model."""
        options = self._course.options
        if not options.deterministic and options.device != "cpu":
            self.device = find_device(options.device)
        return self.device


def is_much_smaller(problem: Problem, model: MipModel) -> bool:
    """Whether it pays to begin again on a problem that is further reduced than a model."""
    sizes = (
        (problem.num_rows, model.num_rows),
        (problem.num_columns, model.num_columns),
        (problem.num_nonzeros, model.num_nonzeros),
    )
    return any(new <= MUCH_SMALLER * old for new, old in sizes)
