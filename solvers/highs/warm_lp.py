"""A linear program that stays in HiGHS: vectors change, each solve begins at the last basis.

Heuristics, exact proofs and the values of continuous columns all solve many linear programs with
one matrix. HiGHS answers by simplex, or by interior point where that is asked for; what it says is
good enough to go on with, and is no proof: :mod:`solvers.highs.lp` has those.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Basis, BasisStatus, SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.highs.in_process import ProgressChannel, in_thread
from solvers.highs.lp import LIMITS, SOLVED
from solvers.highs.model import lp_settings
from solvers.highs.session import SMALLEST_KEPT, Session, Status
from solvers.highs.task import Brief, Channel, FloatArray, Model, Setting

MOST_ITERATIONS = 2**31 - 1
"""What stands for "no limit" with HiGHS."""

CERTAIN = {
    **dict.fromkeys(SOLVED, SolutionStatus.OPTIMAL),
    Status.kInfeasible: SolutionStatus.INFEASIBLE,
    Status.kUnbounded: SolutionStatus.UNBOUNDED,
}


@dataclass(frozen=True, eq=False)
class Solved:
    """What came of one solve."""

    solution_status: SolutionStatus
    """NOTHING unless the solve ended by itself."""
    stop_reason: StopReason
    """CONVERGED, a limit, or NUMERICAL_TROUBLE, after which the basis may be none to go on from."""
    x: FloatArray | None
    row_dual: FloatArray | None
    """(n,), (m,) float64: the point at the end, whatever it is worth; None where HiGHS
    has none."""
    iterations: int
    """Of simplex."""


class WarmLp:
    """One linear program with changing vectors; for one thread at a time.

    Every solve asks HiGHS for one core, and so has to run in a thread where nothing asks it for
    more: :meth:`solve_beside` sees to that, :meth:`solve` leaves it to the caller.

    Parameters
    ----------
    model : Model
        Integrality is ignored, and so are entries too small for HiGHS to hold.
    settings : mapping, optional
        HiGHS options besides or instead of those of :func:`solvers.highs.model.lp_settings`.
    channel : Channel, optional
        Who is asked and told while it runs; by default nobody.

    Attributes
    ----------
    iterations : int
        Of simplex in all solves.

    Raises
    ------
    EngineError
        HiGHS refuses the model.
    """

    def __init__(
        self,
        model: Model,
        settings: Mapping[str, Setting] | None = None,
        channel: Channel | None = None,
    ) -> None:
        options = EngineOptions(lp_algorithm="simplex", crossover="off", presolve=False)
        channel = for_seconds(np.inf) if channel is None else channel
        relaxed = replace(model, integer=np.zeros(model.num_columns, dtype=np.int8))
        own = {"output_flag": not isinstance(channel, Brief), **(settings or {})}
        self._session = Session(
            relaxed.without_traces(SMALLEST_KEPT), {**lp_settings(options), **own}, channel
        )
        self.iterations = 0

    def change(self, **vectors: Any) -> None:
        """Replace some of ``cost``, ``lower``, ``upper`` (n,), ``row_lower``, ``row_upper`` (m,).

        Raises
        ------
        EngineError
            HiGHS refuses them, such as a lower bound of inf.
        """
        if not self._session.change(replace(self._session.model, **vectors)):
            raise EngineError(
                f"The reference engine does not take the new {' and '.join(vectors)} of a linear "
                "program: lower bounds have to be below inf, upper ones above -inf, costs finite."
            )

    def solve(
        self,
        channel: Channel,
        iterations: int | None = None,
        *,
        presolve: bool = False,
        interior: bool = False,
    ) -> Solved:
        """Solve in the calling thread.

        Parameters
        ----------
        channel : Channel
            Has the time, and the wish to stop.
        iterations : int, optional
            Limit on those of simplex.
        presolve : bool
            Whether HiGHS may presolve where it has no basis. What a limit then cuts short leaves
            no basis either, and the next solve begins at nothing again.
        interior : bool
            By interior point, which leaves no basis.
        """
        session = self._session
        session.channel = channel
        session.set("presolve", "choose" if presolve else "off")
        session.set("solver", "ipm" if interior else "simplex")
        limit = MOST_ITERATIONS if iterations is None else min(iterations, MOST_ITERATIONS)
        session.set("simplex_iteration_limit", limit)
        status = session.run()
        count = max(0, int(session.highs.getInfo().simplex_iteration_count))
        self.iterations += count
        found = CERTAIN.get(status, SolutionStatus.NOTHING)
        reason = StopReason.CONVERGED
        if found is SolutionStatus.NOTHING:
            reason = LIMITS.get(status, StopReason.NUMERICAL_TROUBLE)
        return Solved(found, reason, *session.solution(), count)

    def solve_beside(
        self, progress: Progress, iterations: int | None = None, *, presolve: bool = False
    ) -> Solved:
        """Solve in a thread of HiGHS's, and stop simplex soon after ``progress`` says so.

        It never asks, which would take Python's lock at every iteration. Where ``progress`` says
        so already, nothing is solved.
        """
        reason = progress.should_stop()
        if reason is not None:
            return Solved(SolutionStatus.NOTHING, reason, None, None, 0)
        channel = ProgressChannel(progress, halting=True)
        channel.takes(weakref.ref(self._session))
        brief = Brief(channel)
        return in_thread(
            lambda: self.solve(brief, iterations, presolve=presolve), channel, kept=True
        )

    def begin_at(self, basis: Basis) -> None:
        """Begin at a basis next; columns that it lacks are at their lower bound, rows basic."""
        model, columns, rows = self._session.model, basis.column_status, basis.row_status
        more = model.num_columns - columns.size, model.num_rows - rows.size
        self._session.set_basis(
            Basis(
                np.pad(columns, (0, more[0]), constant_values=BasisStatus.LOWER),
                np.pad(rows, (0, more[1]), constant_values=BasisStatus.BASIC),
            )
        )

    def basis(self) -> Basis | None:
        """Return the last basis, if there is a valid one."""
        return self._session.basis()

    def dual_ray(self) -> FloatArray | None:
        """Return what proves the last solve's infeasibility (m,), of either sign."""
        return self._session.dual_ray()

    def forget(self) -> None:
        """Let the next solve begin at nothing."""
        self._session.highs.clearSolver()


def for_seconds(seconds: float) -> Channel:
    """Return a channel that has a time limit from now, and tells nobody."""
    return Brief(ProgressChannel(Progress(seconds)))
