"""Several linear programs with one matrix, solved side by side.

Each has a cost, bounds and sides of its own, and in the iteration a step size, primal weight and
restarts of its own; they share the matrix, whose entries are read once for all, and the scaling.
A problem that has converged is left alone while the others go on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.concurrency import threads_for
from solvers.core.device import Device
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray, Problem, side_sizes
from solvers.core.progress import Progress
from solvers.core.rows import inner
from solvers.pdlp.control import Stop
from solvers.pdlp.execution.on_cpu import (
    BlockKernels,
    Speed,
    dual_arguments,
    primal_arguments,
    run_block,
)
from solvers.pdlp.scaling import spectral_norm
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.shared_matrix.kernels.check import CHECK, SUMS
from solvers.pdlp.shared_matrix.kernels.step import STEP
from solvers.pdlp.shared_matrix.state import (
    FIELDS,
    WIDTHS,
    Field,
    Matrix,
    State,
    check_arguments,
    interleaved,
    separated,
)
from solvers.pdlp.start import place, suggested_weight
from solvers.pdlp.state import Iterate, overwrite
from solvers.pdlp.warm_started import (
    VECTORS,
    Clock,
    OwnStream,
    Point,
    near_suggested,
    within_limits,
)

STEP_FRACTION = 0.95
"""Step size as a part of 1 / ||A||: the estimate of the norm is not corrected on the way here."""

MOST_SLOTS = 1024
"""Partial sums of a check at the most."""

UNITS_OF_SLOT = 64
"""Units that the CPU adds up one after the other."""

CHECK_INTERVAL = 100
"""Iterations between two checks: fewer than for one problem alone, because every check may let
one of many stop."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Column scale C (n,) and row scale R (m,) on the host, and the step size."""

    column: FloatArray
    row: FloatArray
    step: float


def scales_of(
    problem: Problem, options: EngineOptions, device: Device, progress: Progress, settings: Settings
) -> Scales:
    """Find scaling and step size with the layout of a single solve, which is dropped again."""
    there = place(problem, device, settings, progress, options.threads)
    norm = spectral_norm(there, settings, progress, options.seed, options.threads)
    return Scales(
        column=there.columns_to_host(there.scaling.column),
        row=there.rows_to_host(there.scaling.row),
        step=STEP_FRACTION / max(norm, 1e-300),
    )


def state_of(problem: Problem, width: int, device: Device, scales: Scales) -> State:
    """Copy the matrix and the vectors of every problem to the device; all points are zero."""
    csr, csc = problem.matrix, problem.matrix_csc
    by_row = Matrix.of(csr.indptr, csr.indices, csr.data, width, device)
    by_column = Matrix.of(csc.indptr, csc.indices, csc.data, width, device)
    vectors = {
        name: device.to_device(interleaved(getattr(problem, name), width)) for name in VECTORS
    }
    zeros = device.xp.zeros

    def side(size: int) -> Iterate:
        return Iterate(*(zeros(size * width) for _ in range(6)))

    return State(
        width=width,
        by_row=by_row,
        by_column=by_column,
        vectors=vectors,
        column_metric=device.to_device(scales.column**2),
        row_metric=device.to_device(scales.row**2),
        x=side(problem.num_columns),
        y=side(problem.num_rows),
        reflected=zeros(problem.num_columns * width),
        control=zeros((FIELDS, width)),
        row_partial=zeros((_slots(by_row, device), SUMS, width)),
        column_partial=zeros((_slots(by_column, device), SUMS, width)),
    )


def _slots(matrix: Matrix, device: Device) -> int:
    """Return into how many partial sums a check divides its work."""
    each = UNITS_OF_SLOT if device.kind == "cpu" else 1
    return max(1, min(MOST_SLOTS, -(-matrix.units // each)))


class SharedMatrix:
    """Prepared for up to ``width`` problems with one matrix; for one thread at a time.

    Parameters
    ----------
    problem : Problem
        The matrix, and the vectors of every problem until others are given.
    width : int
        8, 16, 24 or 32.
    options : EngineOptions
        ``threads``, ``seed`` and ``tolerance`` are read.
    device : Device
    progress : Progress
        Asked whether to stop, beside the limits of each solve.
    settings : Settings
        Constants of the method; what is simpler here than for one problem is not read.

    Raises
    ------
    EngineError
        The matrix has no coefficients, or the width is another one.
    Exception
        What the device raises when its memory is exhausted; see ``Device.is_out_of_memory``.
    """

    def __init__(
        self,
        problem: Problem,
        width: int,
        options: EngineOptions,
        device: Device,
        progress: Progress,
        settings: Settings = DEFAULT,
    ) -> None:
        if problem.num_nonzeros == 0:
            raise EngineError(
                "Problems solved side by side need a matrix with coefficients, and this one has "
                "none; put each column at the bound that its cost prefers."
            )
        if width not in WIDTHS:
            raise EngineError(
                f"{width} problems cannot be solved side by side; make it one of "
                f"{', '.join(map(str, WIDTHS))} and leave some out."
            )
        self.width = width
        self._problem = problem
        self._device = device
        self._tolerance = options.tolerance
        self._settings = settings
        self._clock = Clock(progress)
        self._stream = OwnStream(device)
        with self._stream.activate():
            self._scales = scales_of(problem, options, device, self._clock, settings)
            self._state = state_of(problem, width, device, self._scales)
            self._blocks = iteration_blocks(self._state, device, self._clock, options.threads)
        self._vectors: dict[str, FloatArray] = {name: getattr(problem, name) for name in VECTORS}
        self._x = np.zeros((width, problem.num_columns))
        self._y = np.zeros((width, problem.num_rows))
        self._weights = np.full(width, np.nan)

    def solve(
        self,
        count: int | None = None,
        *,
        cost: FloatArray | None = None,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
        row_lower: FloatArray | None = None,
        row_upper: FloatArray | None = None,
        x: FloatArray | None = None,
        y: FloatArray | None = None,
        tolerance: FloatArray | float | None = None,
        seconds: float = math.inf,
        iterations: int | None = None,
    ) -> tuple[Point, ...]:
        """Solve the first ``count`` problems, all by default.

        Parameters
        ----------
        count : int, optional
            At most the width.
        cost, lower, upper : (count, n) or (n,) float64, optional
            One for each, or one for all; by default those of the solve before.
        row_lower, row_upper : (count, m) or (m,) float64, optional
        x, y : (count, n) and (count, m) float64, optional
            Where to start; by default where the last solve ended, at first from zero.
        tolerance : float or (count,), optional
            On the three relative errors; by default that of the options.
        seconds : float
            Time for this solve.
        iterations : int, optional
            Iterations of each at the most, rounded up to whole blocks.

        Returns
        -------
        tuple of Point
            One for each problem, as of :meth:`solvers.pdlp.warm_started.WarmStarted.solve`.
        """
        self._clock.restart(seconds)
        count = self.width if count is None else count
        given = (cost, lower, upper, row_lower, row_upper)
        with self._stream.activate():
            for name, values in zip(VECTORS, given, strict=True):
                if values is not None:
                    self._vectors[name] = values
                    overwrite(self._state.vectors[name], interleaved(values, self.width))
            self._start(x, y)
            self._write_control(count, self._tolerance if tolerance is None else tolerance)
            self._iterate(math.inf if iterations is None else iterations)
            return self._points(count)

    def _start(self, x: FloatArray | None, y: FloatArray | None) -> None:
        """Put the points to start from everywhere points are kept."""
        if x is not None:
            self._x[: x.shape[0]] = x
        if y is not None:
            self._y[: y.shape[0]] = y
        limits = {name: self._rows_of(name) for name in VECTORS if name != "cost"}
        self._x, self._y = within_limits(self._x, self._y, **limits)
        for side, values in ((self._state.x, self._x), (self._state.y, self._y)):
            vectors = interleaved(values, self.width)
            for part in (side.point, side.anchor, side.projection, side.best):
                overwrite(part, vectors)

    def _rows_of(self, name: str) -> FloatArray:
        """Return a vector of all problems, (width, size) or what broadcasts to it."""
        values = self._vectors[name]
        if values.ndim == 1 or values.shape[0] == self.width:
            return values
        missing = np.broadcast_to(values[0], (self.width - values.shape[0], values.shape[1]))
        return np.concatenate([values, missing])

    def _write_control(self, count: int, tolerance: FloatArray | float) -> None:
        """Write the control array of a solve that begins."""
        sides = side_sizes(self._rows_of("row_lower"), self._rows_of("row_upper"))
        cost = self._rows_of("cost")
        suggested = suggested_weight(
            _norms(cost * self._scales.column), _norms(sides * self._scales.row)
        )
        weight = np.where(np.isfinite(self._weights), self._weights, suggested)
        weight = near_suggested(weight, suggested)
        step, settings = self._scales.step, self._settings
        control = np.zeros((FIELDS, self.width))
        control[Field.STEP] = step
        control[Field.WEIGHT] = control[Field.BEST_WEIGHT] = weight
        control[Field.TAU], control[Field.SIGMA] = step / weight, step * weight
        control[Field.STOP, count:] = float(Stop.OPTIMAL)
        for field in (Field.PREVIOUS_METRIC, Field.BEST_IMBALANCE, Field.BEST_ERROR):
            control[field] = np.inf
        control[Field.TOLERANCE, :count] = tolerance
        control[Field.SIDE_NORM], control[Field.COST_NORM] = _norms(sides), _norms(cost)
        control[Field.SUFFICIENT] = settings.restart.sufficient_decrease
        control[Field.NECESSARY] = settings.restart.necessary_decrease
        control[Field.ARTIFICIAL] = settings.restart.artificial_share
        control[Field.RESIDUAL_EXPONENT] = settings.weight.residual_exponent
        overwrite(self._state.control, control)

    def _iterate(self, limit: float) -> None:
        done = 0
        while done < limit and self._clock.should_stop() is None:
            self._blocks.run(CHECK_INTERVAL)
            done += CHECK_INTERVAL
            if self._device.to_host(self._state.control)[Field.STOP].all():
                return

    def _points(self, count: int) -> tuple[Point, ...]:
        """Bring the points to the host and remember what the next solve starts from."""
        device, state = self._device, self._state
        control = device.to_host(state.control)
        self._x = separated(device.to_host(state.x.best), self.width)
        self._y = separated(device.to_host(state.y.best), self.width)
        weight = control[Field.WEIGHT]
        usable = np.isfinite(weight) & (weight > 0.0) & (control[Field.STOP] != Stop.BROKEN)
        self._weights = np.where(usable, weight, np.nan)
        cost = np.broadcast_to(self._rows_of("cost"), self._x.shape)
        return tuple(
            Point(
                x=self._x[p].copy(),
                y=self._y[p].copy(),
                objective=inner(cost[p], self._x[p]) + self._problem.offset,
                error=float(control[Field.BEST_ERROR, p]),
                iterations=int(control[Field.ITERATIONS, p]),
                is_converged=bool(control[Field.STOP, p] == Stop.OPTIMAL),
            )
            for p in range(count)
        )


def solve_with_shared_matrix(
    problem: Problem,
    costs: FloatArray,
    *,
    options: EngineOptions,
    device: Device,
    progress: Progress,
    **others: Any,
) -> tuple[Point, ...]:
    """Solve problems with costs (K, n) once; ``others`` as in ``SharedMatrix.solve``."""
    count = costs.shape[0]
    width = next((width for width in WIDTHS if width >= count), WIDTHS[-1])
    return SharedMatrix(problem, width, options, device, progress).solve(
        count, cost=costs, **others
    )


def _norms(vectors: FloatArray) -> FloatArray:
    """Return the 2-norms of rows (K, size), or of one vector (size,)."""
    return np.asarray(np.sqrt(np.sum(vectors * vectors, axis=-1)))


SLICE_SECONDS = 0.03
"""About how long a CPU computes between two looks at the clock."""


class BlocksOnCpu:
    """Runs a block at once, or as much of it as there is time for; at least one iteration."""

    def __init__(self, state: State, progress: Progress, threads: int) -> None:
        work = 2 * state.by_row.values.size * state.width
        self._speed = Speed((threads_for(work, threads),))
        self._kernels = kernels_of(state, threads)
        self._progress = progress

    def run(self, count: int) -> None:
        """Run a block of so many iterations and its check."""
        run_block(self._kernels, count, self._speed, self._progress, SLICE_SECONDS)


class BlocksOnGpu:
    """Queues a block as one recorded graph on the current stream."""

    def __init__(self, state: State, device: Device) -> None:
        self._state = state
        self._cupy = device.xp
        self._graphs: dict[int, Any] = {}

    def run(self, count: int) -> None:
        """Queue a block of so many iterations and its check."""
        from solvers.pdlp.execution.on_gpu import recorded, single_steps

        if count not in self._graphs:
            state = self._state
            launches = single_steps(STEP, primal_arguments(state), dual_arguments(state), count)
            for name, arguments in check_arguments(state, count).items():
                launches.append(CHECK.bind(name, *arguments))
            self._graphs[count] = recorded(self._cupy.cuda.get_current_stream(), launches)
        self._graphs[count].launch()


def iteration_blocks(
    state: State, device: Device, progress: Progress, threads: int
) -> BlocksOnCpu | BlocksOnGpu:
    """Return what runs blocks of iterations on the device of a state."""
    if device.kind == "cpu":
        return BlocksOnCpu(state, progress, threads)
    return BlocksOnGpu(state, device)


def kernels_of(state: State, threads: int) -> BlockKernels:
    """Return the kernels of a block with their arguments."""

    def step(offset: int, keep: int) -> None:
        STEP["primal_step"](*primal_arguments(state), offset, keep, threads=threads)
        STEP["dual_step"](*dual_arguments(state), offset, keep, threads=threads)

    def steps(first: int, count: int, threads: int) -> None:
        STEP.twin.steps_fast(first, count, primal_arguments(state), dual_arguments(state), threads)

    def check(count: int) -> None:
        for name, arguments in check_arguments(state, count).items():
            CHECK[name](*arguments, threads=threads)

    return BlockKernels(step, steps, check)
