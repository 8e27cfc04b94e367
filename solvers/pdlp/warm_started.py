"""A sequence of linear programs with other row sides, each solved from where the last one ended.

Polishing solves the LP of the continuous columns anew for each point, with the same matrix and
other sides. What does not depend on the sides is prepared once and stays: the layout of the matrix
on the device, the scaling, the step size, and on a GPU the recorded graphs of iterations. A solve
then uploads the sides, starts from the last primal and dual point with the primal weight that the
last solve arrived at, and has limits of its own. Nothing is allocated on the device after the first
solve.

Infeasibility is not looked for here: the point of a problem without a solution is one of little
error, and does not claim to be converged.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.errors import EngineError
from solvers.core.lp_answer import allowed_duals
from solvers.core.options import EngineOptions
from solvers.core.outcome import StopReason
from solvers.core.problem import FloatArray, Problem, side_sizes
from solvers.core.progress import Progress
from solvers.core.rows import euclidean, inner
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.execution import iteration_blocks
from solvers.pdlp.restarts import go_back_to_best
from solvers.pdlp.start import prepare, suggested_weight
from solvers.pdlp.state import Iterate, overwrite
from solvers.pdlp.termination import Record

WEIGHT_RANGE = 1e3
"""How far the primal weight carried over may be from the one that the new data suggest, as a
factor: a solve that ended badly leaves an absurd one behind."""


@dataclass(frozen=True, eq=False)
class Point:
    """Where a solve of a sequence ended.

    Parameters
    ----------
    x : (n,) float64
        Within its bounds.
    y : (m,) float64
        Row duals of allowed signs.
    objective : float
        c'x + offset.
    error : float
        The largest of the relative primal residual, dual residual and gap; inf where none was
        measured.
    iterations : int
        Of this solve.
    is_converged : bool
        Whether ``error`` is within the tolerance asked for.
    """

    x: FloatArray
    y: FloatArray
    objective: float
    error: float
    iterations: int
    is_converged: bool


class Clock(Progress):
    """The limits of one solve of the sequence, and whatever stops all of it."""

    def __init__(self, outer: Progress) -> None:
        super().__init__()
        self._outer = outer

    def restart(self, seconds: float) -> None:
        """Let so many seconds pass from now."""
        self.time_limit = self.seconds + seconds

    def should_stop(self) -> StopReason | None:
        """Return the reason to stop now, or None to go on."""
        return self._outer.should_stop() or super().should_stop()


class OwnStream:
    """A stream of its own on a GPU for everything that one object does there."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._stream = None if device.kind == "cpu" else device.xp.cuda.Stream(non_blocking=True)

    def activate(self) -> AbstractContextManager[Any]:
        """Make the device and the stream the current ones."""
        if self._stream is None:
            return nullcontext()
        stack = ExitStack()
        stack.enter_context(self._device.xp.cuda.Device(self._device.index))
        stack.enter_context(self._stream)
        return stack


class WarmStarted:
    """A prepared problem whose row sides may change; for one thread at a time.

    Parameters
    ----------
    problem : Problem
        The matrix, and the row sides of the first solve; integrality is ignored. Sides may become
        infinite or finite later.
    options : EngineOptions
        ``threads``, ``seed`` and ``tolerance`` are read.
    device : Device
    progress : Progress
        Asked whether to stop, beside the limits of each solve.

    Raises
    ------
    EngineError
        The matrix has no coefficients.
    Exception
        What the device raises when its memory is exhausted; see ``Device.is_out_of_memory``.
    """

    def __init__(
        self,
        problem: Problem,
        options: EngineOptions,
        device: Device,
        progress: Progress,
    ) -> None:
        if problem.num_nonzeros == 0:
            raise EngineError(
                "A sequence of solves needs a matrix with coefficients, and this one has none; "
                "put each column at the bound that its cost prefers."
            )
        self._stream = OwnStream(device)
        self._clock = Clock(progress)
        self._problem = problem
        with self._stream.activate():
            self._state = prepare(problem, options, device, self._clock)
            self._blocks = iteration_blocks(self._state, self._clock)
            there = self._state.problem
            scaled_cost = problem.cost * there.columns_to_host(there.scaling.column)
            self._row_scale = there.rows_to_host(there.scaling.row)
            self._first_control = self._state.read_control()
        self._row_lower, self._row_upper = problem.row_lower, problem.row_upper
        self._scaled_cost_norm = euclidean(scaled_cost)
        self._x, self._y = np.zeros(problem.num_columns), np.zeros(problem.num_rows)
        self._weight = float(self._first_control[Control.WEIGHT])
        self._step = float(self._first_control[Control.STEP])

    def solve(
        self,
        *,
        row_lower: FloatArray | None = None,
        row_upper: FloatArray | None = None,
        x: FloatArray | None = None,
        seconds: float = math.inf,
        iterations: int | None = None,
    ) -> Point:
        """Solve with these row sides, or those of the solve before.

        Parameters
        ----------
        row_lower, row_upper : (m,) float64, optional
        x : (n,) float64, optional
            Where to start; by default where the last solve ended, at first from zero.
        seconds : float
            Time for this solve.
        iterations : int, optional
            Iterations at the most; the number is rounded up to whole blocks.

        Returns
        -------
        Point
            Converged, or the one of least error when a limit came.
        """
        self._clock.restart(seconds)
        there = self._state.problem
        order = there.coefficients.row_order
        with self._stream.activate():
            if row_lower is not None:
                self._row_lower = row_lower
                overwrite(there.row_lower, row_lower, order)
            if row_upper is not None:
                self._row_upper = row_upper
                overwrite(there.row_upper, row_upper, order)
            self._start(self._x if x is None else x)
            self._write_control()
            record = self._iterate(math.inf if iterations is None else iterations)
            return self._point(record)

    def _start(self, x: FloatArray) -> None:
        """Put the point to start from, and the last duals, everywhere a point is kept."""
        problem = self._problem
        self._x = x = np.clip(np.where(np.isfinite(x), x, 0.0), problem.lower, problem.upper)
        self._y = y = allowed_duals(self._y, self._row_lower, self._row_upper)
        orders = self._state.problem.coefficients
        for side, values, order in (
            (self._state.x, x, orders.column_order),
            (self._state.y, y, orders.row_order),
        ):
            for part in (side.point, side.anchor, side.projection, side.best):
                overwrite(part, values, order)

    def _write_control(self) -> None:
        """Write the control array of a solve that begins."""
        sides = side_sizes(self._row_lower, self._row_upper)
        suggested = suggested_weight(self._scaled_cost_norm, euclidean(sides * self._row_scale))
        weight = float(np.clip(self._weight, suggested / WEIGHT_RANGE, suggested * WEIGHT_RANGE))
        control = self._first_control.copy()
        for place, value in {
            Control.STEP: self._step,
            Control.WEIGHT: weight,
            Control.BEST_WEIGHT: weight,
            Control.TAU: self._step / weight,
            Control.SIGMA: self._step * weight,
            Control.SIDE_NORM: euclidean(sides),
        }.items():
            control[place] = value
        overwrite(self._state.control, control)

    def _iterate(self, limit: float) -> Record | None:
        """Run blocks until one converges or a limit comes; return the last one's record."""
        blocks, settings = self._blocks, self._state.settings
        submitted, breakdowns = 0, 0
        record: Record | None = None
        while True:
            while blocks.pending < blocks.depth and submitted < limit:
                if self._clock.should_stop() is not None:
                    break
                blocks.submit(settings.restart.check_interval)
                submitted += settings.restart.check_interval
            if not blocks.pending:
                return record
            record = blocks.take()
            if record.stop is Stop.NO:
                continue
            while blocks.pending:  # they did nothing
                record = blocks.take()
            if record.stop is Stop.OPTIMAL or breakdowns == settings.step.breakdowns_allowed:
                return record
            breakdowns += 1
            go_back_to_best(self._state, record)

    def _point(self, record: Record | None) -> Point:
        """Bring the point to the host and remember what the next solve starts from."""
        state = self._state
        converged = record is not None and record.stop is Stop.OPTIMAL
        self._x = self._on_host(state.x, converged, state.problem.columns_to_host)
        self._y = self._on_host(state.y, converged, state.problem.rows_to_host)
        error = math.inf
        if record is not None:
            error = record.statistics.worst if converged else record[Control.BEST_ERROR]
            weight, step = record[Control.WEIGHT], record[Control.STEP]
            self._weight = weight if math.isfinite(weight) and weight > 0.0 else self._weight
            self._step = step if math.isfinite(step) and step > 0.0 else self._step
        return Point(
            x=self._x,
            y=self._y,
            objective=inner(self._problem.cost, self._x) + self._problem.offset,
            error=error,
            iterations=0 if record is None else record.iterations,
            is_converged=converged,
        )

    @staticmethod
    def _on_host(side: Iterate, converged: bool, to_host: Any) -> FloatArray:
        found: FloatArray = to_host(side.projection if converged else side.best)
        return found
