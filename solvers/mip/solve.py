"""The schedule of a mixed-integer solve: what runs when, where, and when it is over.

    at once        branch and bound of the problem as it was given, in a child process
    meanwhile      presolve, with a walker on the unreduced model beside it
    then           heuristics on the reduced model: turns on every CPU thread that is left, and on
                   the GPU, by the shares in ``activities``
    beside them    presolve in more time, where it was cut short; what it comes to takes the place
                   of the model where it is much smaller
    until          the gap is closed, branch and bound has ended, time is up or nobody improves

Every point goes through the gate, so that whatever stops the solve leaves a checked one.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from solvers.device import Device, cpu, find_device
from solvers.highs.place import SMALL_MIP
from solvers.highs.settings import usable_cores
from solvers.left_behind import leave
from solvers.mip.answer import Knowledge, answer, infeasible
from solvers.mip.bound import SOURCE as PROVER
from solvers.mip.bound import Prover
from solvers.mip.budget import Budget
from solvers.mip.gate import Gate
from solvers.mip.ledger import Ledger
from solvers.mip.model import MipModel
from solvers.mip.patience import LOOK_AGAIN, wait_for
from solvers.mip.reduced import Reduced, unreduced
from solvers.mip.start import bring_in, take_whole
from solvers.options import EngineOptions
from solvers.outcome import Outcome, Start, StopReason
from solvers.problem import FloatArray, Problem
from solvers.progress import Progress

if TYPE_CHECKING:
    from solvers.mip.early import EarlyWalks
    from solvers.mip.shared import Shared

HEAD_START = 0.5
"""Seconds that HiGHS has for a small model before anything else begins: most need no more."""

PATIENCE = 0.3
"""Seconds to wait at the end for threads to hear that it is over; after that they are left."""

STALL_SECONDS, STALL_SHARE = 60.0, 2.0
"""Heuristics alone, without a time limit, stop after this long without improvement: seconds, and
this multiple of the time of the last improvement."""

MOST_PROVER_THREADS = 4
"""Threads of branch and bound (notes on GPU heuristics, section 6.4)."""

START_SHARE, START_WORK = 0.05, 2e9
"""Part of the time left, and work, for completing a start."""

FIRST_TURN, ENTRIES_PER_TURN_SECOND, FIRST_TURN_SHARE = 0.5, 2e6, 0.1
"""Seconds of a first turn, entries of the matrix for each of which it is a second longer, and the
part of the time left that it may take: a walker needs four seconds for its first point of a model
with ten million entries."""

SHORT_TURN = 0.1
"""Seconds of a first turn where heuristics come one after the other."""

TROUBLE = (StopReason.NUMERICAL_TROUBLE, StopReason.OUT_OF_MEMORY)
"""Ends of branch and bound after which the heuristics go on."""

FIRST_NODES = 500
"""Nodes of branch and bound for a small model before heuristics begin, where they take turns."""

SHARE_BEFORE_PROOF, MOST_BEFORE_PROOF = 0.1, 10.0
"""Part of the time left, and seconds at most, for heuristics before branch and bound begins, where
there is one thread for both."""

WORK = 1.0
"""Billions of matrix entries that heuristics visit in turn before branch and bound, where the
options name no number."""


MUCH_SMALLER = 0.95
"""Part of the rows, columns or entries up to which a model that presolve has reduced further takes
the place of the one that heuristics are at work on."""

Reduce = Callable[[Progress], Reduced]


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
    *,
    reduce: Reduce | None = None,
) -> Outcome:
    """Search for good points of a mixed-integer problem, and prove how good they are.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        ``heuristics_only`` leaves branch and bound out. With ``deterministic``, or a single
        thread, heuristics come first, one after the other, and then branch and bound.
    progress : Progress
        Told of every better point, with its values, and of bounds.
    start : Start, optional
        ``x`` (n,), with NaN for what is unknown.
    reduce : callable, optional
        Reduces the problem; runs beside branch and bound.

    Returns
    -------
    Outcome
        In the space of ``problem``. OPTIMAL with a proven bound only; INFEASIBLE and UNBOUNDED
        only by branch and bound, presolve or safe propagation.
    """
    run = _Run(problem, options, progress, start)
    try:
        way = run.in_turn if options.deterministic or run.cores == 1 else run.side_by_side
        return wait_for(lambda: way(reduce), progress, run.end)
    finally:
        run.close()


class _Run:
    """One solve: who is at work, and whether it is over."""

    def __init__(
        self, problem: Problem, options: EngineOptions, progress: Progress, start: Start | None
    ) -> None:
        self.problem = problem
        self.options = options
        self.progress = progress
        self.start = None if start is None else start.x
        self.cores = options.threads or usable_cores()
        self.ledger = Ledger(problem, progress, options.tolerance, options.pool_size)
        self.device = cpu()
        self.gate: Gate | None = None
        self._gates: list[Gate] = []
        self._further: Reduce | None = None
        self.prover: Prover | None = None
        self.settled: Outcome | None = None
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._early: EarlyWalks | None = None
        self._best = np.inf
        self._improved_at = 0.0

    # The two ways to go

    def side_by_side(self, reduce: Reduce | None) -> Outcome:
        """Run everything at once."""
        self._take_start()
        if not self.options.heuristics_only and self._prove():
            return self.end()
        enough = self._walk_on_original()
        shared = self._prepare(reduce)
        enough.set()
        if shared is not None:
            replaced = self._begin(shared)
            if self._further is not None:
                self._spawn("presolve", lambda: self._reduce_further(shared, replaced))
            self._wait()
        elif self.prover is not None and self.settled is None:
            self._wait()
        return self.end()

    def in_turn(self, reduce: Reduce | None) -> Outcome:
        """Run the heuristics one after the other, then branch and bound from their best point."""
        from solvers.mip.activities import activities
        from solvers.mip.slots import run_in_turn, run_slot
        from solvers.mip.turns import Turns

        self._take_start()
        if not self.options.heuristics_only and self._prove_in_few_nodes():
            return self.end()
        shared = self._prepare(reduce)
        if shared is not None and self.options.deterministic:
            limit = 1e9 * (WORK if self.options.work_limit is None else self.options.work_limit)
            turns = Turns(activities(shared, np.inf, slots=1), shortest=SHORT_TURN)
            run_in_turn(turns, shared, Budget(work=limit, stop=self._is_over))
        elif shared is not None:
            turns = Turns(activities(shared, self.progress.time_left, slots=1))
            run_slot(turns, shared, self._budget_before_proof())
        over = self.settled is not None or self._is_over() or self._is_closed()
        if not over and not self.options.heuristics_only:
            best = self.ledger.pool.best
            self.prover = self._make_prover(self.cores)
            self._heed_the_end(self.prover)
            self.prover.run(self._begin_at(None if best is None else best.x))
        return self.end()

    def close(self) -> None:
        """Stop whoever is still at work, and wait a moment for them to hear of it."""
        self._over.set()
        if self.prover is not None:
            self.prover.stop()
        deadline = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        leave(*self._threads)
        for gate in self._gates:
            gate.close()
        self.ledger.close()

    # Branch and bound

    def _prove(self) -> bool:
        """Begin branch and bound; return whether it was over at once."""
        threads = self._prover_threads()
        if self._is_small():
            self.prover = self._make_prover(threads)
            self._heed_the_end(self.prover)
            self.prover.start(self._begin_at(self.start), apart=False)
            deadline = time.monotonic() + HEAD_START
            while time.monotonic() < deadline and self.progress.should_stop() is None:
                if self.prover.wait(LOOK_AGAIN):
                    break
            if self._is_proven():
                return True
            self.prover.stop()
        self.prover = self._make_prover(threads)
        self._heed_the_end(self.prover)
        best = self.ledger.pool.best
        self.prover.start(self._begin_at(self.start if best is None else best.x))
        return False

    def _is_proven(self) -> bool:
        """Whether branch and bound has ended as it should, and not for trouble of its own."""
        outcome = None if self.prover is None else self.prover.outcome
        return outcome is not None and outcome.stop_reason not in TROUBLE

    def _prove_in_few_nodes(self) -> bool:
        """Let branch and bound try a small model first, as most need no more than that."""
        if not self._is_small():
            return False
        limit = self.options.node_limit
        nodes = FIRST_NODES if limit is None else min(FIRST_NODES, limit)
        prover = self._make_prover(self.cores, node_limit=nodes)
        prover.run(self._begin_at(self.start), apart=False)
        outcome = prover.outcome
        if outcome is None or outcome.stop_reason in TROUBLE:
            return False
        if outcome.stop_reason is StopReason.ITERATION_LIMIT and nodes != limit:
            return False
        self.prover = prover
        return True

    def _is_small(self) -> bool:
        p = self.problem
        return max(p.num_rows, p.num_columns, p.num_nonzeros) <= SMALL_MIP

    def _make_prover(self, threads: int, node_limit: int | None = None) -> Prover:
        nodes = self.options.node_limit if node_limit is None else node_limit
        options = dataclasses.replace(self.options, threads=threads, node_limit=nodes)
        return Prover(self.problem, options, self.progress, self.ledger, self._from_prover)

    def _heed_the_end(self, prover: Prover) -> None:
        """Let no branch and bound begin after the end, when nobody would stop it."""
        if self._over.is_set():
            prover.stop()

    def _from_prover(self, x: FloatArray) -> None:
        """Take a point of branch and bound into the reduced model, where there is a way."""
        if self.gate is not None:
            self.gate.take(x, PROVER)

    def _prover_threads(self) -> int:
        return max(1, min(MOST_PROVER_THREADS, self.cores // 4))

    def _begin_at(self, x: FloatArray | None) -> Start | None:
        return None if x is None else Start(x=x)

    # Before the heuristics

    def _take_start(self) -> None:
        if self.start is not None:
            self.progress.log(take_whole(self.start, self.ledger))

    def _walk_on_original(self) -> threading.Event:
        """Let walkers search the problem as it was given; return the flag that ends that."""
        enough = threading.Event()

        def search() -> None:
            from solvers.mip.early import EarlyWalks

            self._early = EarlyWalks(self.ledger, self.options.seed)
            left = self.progress.time_left
            self._early.run(Budget(left, stop=lambda: enough.is_set() or self._is_over()))

        self._spawn("walk on the original", search)
        return enough

    def _prepare(self, reduce: Reduce | None) -> Shared | None:
        """Reduce the problem and set up what heuristics share; None if the matter is settled."""
        reduced = unreduced(self.problem) if reduce is None else reduce(self.progress)
        in_turn = self.options.deterministic or self.cores == 1
        if in_turn and reduced.further is not None:
            reduced = reduced.further(self.progress)
        self.settled = reduced.settled
        if self.settled is not None or self._is_over():
            return None
        shared = self._set_up(reduced)
        if shared is None:
            return None
        self._further = reduced.further
        gate = shared.gate
        if self._early is not None and not len(self.ledger.pool):
            self._early.hand_on(gate)
        if self.start is not None and not len(self.ledger.pool):
            timed = not self.options.deterministic
            seconds = START_SHARE * min(self.progress.time_left, 3600.0) if timed else np.inf
            budget = Budget(seconds, START_WORK, self._is_over)
            self.progress.log(bring_in(self.start, gate, budget, self.options.seed))
        return shared

    def _set_up(self, reduced: Reduced) -> Shared | None:
        """Set up what heuristics share on a reduced problem; None if that has no point."""
        from solvers.mip.domain import tighten_model
        from solvers.mip.shared import Shared

        tightened = tighten_model(MipModel.of(reduced.problem), Budget(stop=self._is_over))
        if tightened.is_infeasible:
            self._prove_infeasible()
            return None
        timed = not self.options.deterministic
        gate = Gate(tightened.model, reduced, self.ledger, self.progress, is_timed=timed)
        gate.take_all()
        self.gate = gate
        self._gates.append(gate)
        return Shared(
            model=tightened.model,
            gate=gate,
            domain=tightened.domain,
            device=self._find_device(),
            seed=self.options.seed,
            log=self.progress.log,
            prove_infeasible=self._prove_infeasible,
            prove_bound=None if self.options.heuristics_only else self.progress.bound,
        )

    def _reduce_further(self, before: Shared, replaced: threading.Event) -> None:
        """Presolve in more time, and let heuristics begin again where much less is left then."""
        from solvers.mip.early import hand_on

        assert self._further is not None  # asked by the caller
        reduced = self._further(self.progress)
        if self._is_over():
            return
        if reduced.settled is not None:
            if reduced.settled.x is not None or not len(self.ledger.pool):
                self.settled = reduced.settled
            return
        if not _is_much_smaller(reduced.problem, before.model):
            return
        shared = self._set_up(reduced)
        if shared is None:
            return
        hand_on(before.gate, shared.gate)
        self.progress.log("Heuristics begin again on the smaller model.")
        replaced.set()
        self._begin(shared)

    def _find_device(self) -> Device:
        """Find the device only now: loading CuPy takes longer than many a small model."""
        if not self.options.deterministic and self.options.device != "cpu":
            self.device = find_device(self.options.device)
        return self.device

    # The heuristics

    def _begin(self, shared: Shared) -> threading.Event:
        """Let heuristics begin; return the flag that ends them for others to take their place."""
        from solvers.mip.activities import activities
        from solvers.mip.device_activities import device_works
        from solvers.mip.slots import run_slot
        from solvers.mip.turns import Turns

        slots = max(1, self.cores - (0 if self.prover is None else self._prover_threads()))
        left = self.progress.time_left
        turns = Turns(activities(shared, left, slots), shortest=self._first_turn(shared.model))
        replaced = threading.Event()
        budget = self._budget(lambda: replaced.is_set() or self._is_over())
        for slot in range(slots):
            self._spawn(f"heuristics {slot}", lambda: run_slot(turns, shared, budget.part()))
        for name, work in device_works(shared).items():
            self._spawn(name, lambda work=work: work(budget.part()))  # type: ignore[misc]
        return replaced

    def _first_turn(self, model: MipModel) -> float:
        """Return the seconds of a first turn: enough to get going on a model of this size."""
        by_size = FIRST_TURN + model.num_nonzeros / ENTRIES_PER_TURN_SECOND
        return max(FIRST_TURN, min(by_size, FIRST_TURN_SHARE * self.progress.time_left))

    def _budget(self, stop: Callable[[], bool]) -> Budget:
        limit = self.options.work_limit
        work = np.inf if limit is None else 1e9 * limit
        return Budget(self.progress.time_left, work, stop)

    def _budget_before_proof(self) -> Budget:
        """Return what heuristics may spend while branch and bound waits for the only thread."""
        if self.options.heuristics_only:
            return self._budget(lambda: self._is_over() or self._has_stalled())
        share = SHARE_BEFORE_PROOF * self.progress.time_left
        return Budget(min(share, MOST_BEFORE_PROOF), stop=self._is_over)

    def _spawn(self, name: str, work: Callable[[], object]) -> None:
        def guarded() -> None:
            try:
                work()
            except Exception as failure:  # the rest goes on without it
                self.progress.log(f"'{name}' failed: {failure!r}")

        thread = threading.Thread(target=guarded, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _prove_infeasible(self) -> None:
        """Take note that propagation has proven that there is no feasible point."""
        if not len(self.ledger.pool):
            self.settled = infeasible()

    # The end

    def _is_closed(self) -> bool:
        """Whether the best point is proven to be as good as was asked for."""
        return self.ledger.is_closed(self.options.rel_gap, self.options.abs_gap)

    def _is_over(self) -> bool:
        settled = self._over.is_set() or self.settled is not None
        return settled or self.progress.should_stop() is not None

    def _wait(self) -> None:
        """Wait until the question is settled, time is up, or everybody has ended."""
        while not self._is_over():
            prover = self.prover
            if prover is not None and prover.wait(LOOK_AGAIN) and self._is_proven():
                return
            if prover is None or prover.has_ended:
                time.sleep(LOOK_AGAIN)
            if self._is_closed():
                return
            if not any(thread.is_alive() for thread in self._threads) and (
                prover is None or prover.has_ended
            ):
                return
            if (prover is None or prover.has_ended) and self._has_stalled():
                return

    def _has_stalled(self) -> bool:
        """Whether heuristics alone, without a time limit, have improved nothing for long."""
        if np.isfinite(self.progress.time_limit):
            return False
        now, best = self.progress.seconds, self.ledger.pool.objective
        if best < self._best:
            self._best, self._improved_at = best, now
        since = now - self._improved_at
        return since > STALL_SECONDS and since > STALL_SHARE * self._improved_at

    def end(self) -> Outcome:
        """Tell everybody that it is over, and return the answer."""
        self._over.set()
        proof = None if self.prover is None else self.prover.outcome
        known = Knowledge(self.ledger, self.gate, proof, self.settled, self.device.kind)
        return answer(known, self.options, self.progress)


def _is_much_smaller(problem: Problem, model: MipModel) -> bool:
    sizes = (
        (problem.num_rows, model.num_rows),
        (problem.num_columns, model.num_columns),
        (problem.num_nonzeros, model.num_nonzeros),
    )
    return any(new <= MUCH_SMALLER * old for new, old in sizes)
