"""Going on without idle columns and rows, for as long as leaving them out stays right.

A look at the whole problem, at iteration counts that grow geometrically, finds the idle columns
and rows (``part``). Once they hold most of the matrix, the iteration goes on with the rest, from
where it is and with what it has learnt. Further looks price what
was left out, which costs one product with the whole matrix each way: what turns out wrong comes
back when it hides an error of the whole problem or the part stands still, and a part that has
become much smaller still is replaced. Where another part would cost more than was gained by the
last one, the whole problem comes back instead; after a number of returns it takes over for good,
from the point there is.

Nothing here decides about answers: points, rays and limits are judged by ``run`` on the whole
problem, into whose state :meth:`Compaction.write_back` writes where the part stands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.lp_answer import Answer
from solvers.core.machine import give_back
from solvers.core.options import EngineOptions
from solvers.core.outcome import Start
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.pdlp.compact import Compact, is_the_hosts, without_iterate, without_passing
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.shrinking.part import (
    ANSWER,
    STANDING,
    Kept,
    Movement,
    Part,
    enter,
    keep_best,
    leave_out,
    not_idle,
    set_weight,
    take_over,
    weight_factor,
    write_back,
    wrongly_left_out,
)
from solvers.pdlp.state import State
from solvers.pdlp.termination import Record, on_original


@dataclass(frozen=True, eq=False)
class _Snapshot:
    """Where the iteration was at a look: point (n,) and duals (m,) of the whole."""

    iterations: int
    x: Compact
    y: Compact


@dataclass(eq=False)
class _Inside:
    """The part that the iteration is in.

    The whole's vectors of the names ``written`` say where it was when its control array, which
    changes with whatever changes in it, was ``control``.
    """

    part: Part
    state: State
    weight_factor: float
    control: FloatArray | None = None
    written: frozenset[str] = frozenset()

    def write_back(self, whole: State, names: tuple[str, ...]) -> None:
        """Write those of its vectors into the state of the whole that are not there yet."""
        control = self.state.read_control()
        if self.control is None or not np.array_equal(control, self.control, equal_nan=True):
            self.control, self.written = control, frozenset()
        missing = tuple(name for name in names if name not in self.written)
        write_back(self.part, self.state, whole, missing)
        self.written |= {*names}


class Compaction:
    """Decides on which part of a problem the iteration goes on, and moves it there and back."""

    def __init__(
        self, whole: State, options: EngineOptions, progress: Progress, began: int
    ) -> None:
        self._whole = whole
        self._options = options
        self._progress = progress
        self._problem = whole.problem.original
        self._settings = settings = whole.settings.shrinking
        self._inside: _Inside | None = None
        self._returns = 0
        self.parts = 0
        self._visited = began * self._problem.num_nonzeros  # an earlier run has left no parts
        self._last_error = np.inf
        self._is_far = False
        self._snapshots: list[_Snapshot] = []
        self._on_gpu = whole.problem.device.kind != "cpu"
        least = settings.from_nonzeros_on_gpu if self._on_gpu else settings.from_nonzeros
        self._is_on = settings.enabled and self._problem.num_nonzeros >= least
        self._moved_at = began
        if self._is_on:
            self._snapshots.append(self._snapshot(began))
        self._next_look: float = self._moved_at + settings.first_look

    @property
    def here(self) -> State:
        """The state that iterations work on now."""
        return self._whole if self._inside is None else self._inside.state

    @property
    def is_inside(self) -> bool:
        """Whether the iteration is in a part of the problem."""
        return self._inside is not None

    def entries_visited(self, iterations: int) -> int:
        """Return the matrix entries of all iterations so far, each counted as often as used.

        Those of an earlier run from the same state count as iterations on the whole problem.
        """
        here = self.here.problem.original.num_nonzeros
        return self._visited + here * (iterations - self._moved_at)

    def is_due(self, record: Record) -> bool:
        """Whether it is time for a look at the whole problem."""
        return self._is_on and record.iterations >= self._next_look

    def reconsider(self, record: Record) -> bool:
        """Look at the whole problem; return whether the iteration goes on in another state.

        No blocks may be under way, and ``record`` is that of the last one. If its stop is
        OPTIMAL, the part is solved and the whole problem is not.
        """
        if not (self.is_inside or self._has_paid(record.iterations)):
            # too early for a part, but later looks are to know where things were
            self._snapshots.append(self._snapshot(record.iterations))
            self._schedule(record.iterations)
            return False
        self.write_back(ANSWER)
        whole = self._whole
        without_passing(whole)
        now = on_original(whole, whole.x.projection, whole.y.projection)
        if not np.isfinite(now.statistics.worst):
            return False
        before = self._earlier(record.iterations)
        kept = self._next_part(record, before, now)
        self._remember(record, now)
        if kept is None:
            return False
        x, y = now.x, now.row_dual
        del now  # what else it tells takes as much memory as they
        here = self.here
        if self._returns > self._settings.returns:
            self._progress.log("What is left out keeps coming back; going on with everything.")
            self.give_up(record)
            return True
        if self._has_paid(record.iterations):
            self._enter(kept, record, before, x, y)
        else:  # everything is there already
            self._progress.log("Something that was left out comes back, and with it everything.")
            self.leave(record)
        return self.here is not here

    def write_back(self, names: tuple[str, ...] = STANDING) -> None:
        """Write where the part stands, or only vectors of some names, into the whole's state.

        A whole that is no part's forgets what only the check of its last block read.
        """
        if self._inside is not None:
            self._inside.write_back(self._whole, names)
        else:
            without_passing(self._whole, ("first_difference",))

    def give_up(self, record: Record) -> None:
        """Go on with the whole problem for good."""
        self.leave(record)
        self._is_on = False

    def leave(self, record: Record, *, with_best: bool = True) -> None:
        """Go on with the whole problem from where the part stands.

        Comparing the best points costs products with the whole matrix.
        """
        if self._inside is None:
            return
        control = self._whole.read_control()
        for place in (Control.ITERATIONS, Control.RESTARTS, Control.CHECKS):
            control[place] = record[place]
        set_weight(control, record, 1.0 / self._inside.weight_factor)
        control[Control.ITERATIONS_SINCE_RESTART] = 0.0
        control[Control.STOP] = Stop.NO
        if with_best:
            keep_best(self._inside.part, self._inside.state, self._whole, control)
        self.write_back()  # what was left out of the whole comes last, as it takes memory
        if is_the_hosts(self._whole):  # see ``without_iterate``
            self._whole.reflected = np.zeros(self._problem.num_columns)
        self._whole.problem.device.overwrite(self._whole.control, control)
        self._moved(record)
        self._inside = None

    def _next_part(self, record: Record, before: _Snapshot, now: Answer) -> Kept | None:
        """Return what to go on with, or None to go on as it is."""
        settings, problem = self._settings, self._problem
        if self._inside is None and self._is_hopeless(now):
            self._is_far = True
            return None
        threads = self._whole.threads
        moved = Movement.between(problem, before.x.vector, before.y.vector, now, threads)
        wanted = not_idle(problem, now, moved, settings.margin, threads)
        if self._inside is None:
            most = settings.share * problem.num_nonzeros
        else:
            kept = self._inside.part.kept
            if self._has_to_return(wrongly_left_out(problem, now, kept, threads), record, now):
                self._returns += 1
                return kept.with_those(wanted)
            most = settings.share_of_part * self._inside.part.problem.num_nonzeros
        entries = wanted.entries_at_most(problem, threads)
        self._is_far = entries > settings.far * most
        return wanted if entries <= most and self._has_paid(record.iterations) else None

    def _is_hopeless(self, now: Answer) -> bool:
        """Whether too much is not idle however little things move, which needs no products.

        On a CPU only if it is far too much, since the time of the next look depends on that.
        """
        settings, problem, threads = self._settings, self._problem, self._whole.threads
        least = not_idle(problem, now, None, 0.0, threads)
        most = settings.share * problem.num_nonzeros
        far = 1.0 if self._on_gpu else settings.far
        return least.entries_at_most(problem, threads) > far * most

    def _has_to_return(self, wrong: Kept, record: Record, now: Answer) -> bool:
        """Whether what is wrongly left out has to come back now."""
        if not (wrong.columns.any() or wrong.rows.any()):
            return False
        error, settings = record.statistics.worst, self._settings
        hidden = now.statistics.worst > settings.hidden_error * error
        stagnates = error > settings.progress * self._last_error
        return hidden or stagnates or record.stop is Stop.OPTIMAL

    def _has_paid(self, iterations: int) -> bool:
        """Whether iterations here have taken as long as it takes to prepare a part.

        Who then does so never loses more than twice, however soon the end comes.
        """
        if not self._on_gpu:
            return True
        settings = self._settings
        each = settings.entries_of_launch + self.here.problem.original.num_nonzeros
        more = max(0, self._problem.num_nonzeros - settings.part_entries)
        part = settings.entries_of_part + settings.entries_of_part_each * more
        return each * (iterations - self._moved_at) >= part

    def _enter(
        self, kept: Kept, record: Record, before: _Snapshot, x: FloatArray, y: FloatArray
    ) -> None:
        """Make a part and go on there, unless it is empty or there is no memory for it."""
        whole, problem = self._whole, self._problem
        part = leave_out(problem, kept, x, whole.threads)
        if part.problem.num_nonzeros == 0:
            return
        old_factor = 1.0 if self._inside is None else self._inside.weight_factor
        self.leave(record)
        make_ready = without_iterate(whole)
        if is_the_hosts(whole):
            give_back(problem.num_nonzeros)
        try:
            state = enter(part, whole, x, y, self._options, self._progress)
        except Exception as error:
            if not whole.problem.device.is_out_of_memory(error):
                raise
            make_ready()
            self._is_on = False
            return
        del make_ready  # the part writes back what it holds
        then = Start(before.x.vector, before.y.vector)
        factor = weight_factor(part, state, whole, Start(x, y), then)
        take_over(state, record, factor / old_factor)
        self._moved(record)
        self._inside = _Inside(part, state, factor)
        self.parts += 1
        self._progress.log(
            f"Leaving out {problem.num_columns - part.columns.size:,} of "
            f"{problem.num_columns:,} columns and {problem.num_rows - part.rows.size:,} of "
            f"{problem.num_rows:,} rows: {part.problem.num_nonzeros:,} of "
            f"{problem.num_nonzeros:,} entries are left."
        )

    def _moved(self, record: Record) -> None:
        """Count what was done in the state that is left now."""
        self._visited = self.entries_visited(record.iterations)
        self._moved_at = record.iterations

    def _schedule(self, iterations: int) -> None:
        """Set the time of the next look."""
        settings, growth = self._settings, self._settings.growth
        if self._on_gpu and not self.is_inside:
            growth *= settings.wait_on_gpu
        elif self._is_far:
            growth *= settings.wait_if_far
        self._next_look = max(growth * iterations, iterations + settings.first_look)

    def _remember(self, record: Record, now: Answer) -> None:
        """Note where the iteration is, and forget what is too long ago to matter."""
        self._last_error = record.statistics.worst
        first = self._snapshots.index(self._earlier(record.iterations))
        here = self._kept(record.iterations, now.x, now.row_dual)
        self._snapshots = [*self._snapshots[first:], here]
        self._schedule(record.iterations)

    def _earlier(self, iterations: int) -> _Snapshot:
        """Return the latest snapshot of at most half so many iterations, or the first."""
        early = [snapshot for snapshot in self._snapshots if 2 * snapshot.iterations <= iterations]
        return early[-1] if early else self._snapshots[0]

    def _snapshot(self, iterations: int) -> _Snapshot:
        """Return where the projected point of the whole problem is, which is no work."""
        there, whole = self._whole.problem, self._whole
        x, y = there.columns_to_host(whole.x.projection), there.rows_to_host(whole.y.projection)
        return self._kept(iterations, x, y)

    def _kept(self, iterations: int, x: FloatArray, y: FloatArray) -> _Snapshot:
        threads = self._whole.threads
        return _Snapshot(iterations, Compact.of(x, threads), Compact.of(y, threads))
