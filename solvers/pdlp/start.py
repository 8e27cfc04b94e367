"""From a problem to a state: the copy to the device, scaling, and the point to start from.

From a point that is decades off the method first has to come back, and the primal weight, which
begins with the sizes of costs and sides, is wrong for that way: starts of 1e4 at random took two to
four times the iterations of the usual start from zero (``docs/pdlp-constants.md``). So each part of
a start is compared with what there is without it (:func:`filtered`). A point is kept if its rows
are violated less, or little beside the terms they are sums of: so are those of what solved the
model before it changed a little, also where all sides are zero and a point of zeros violates
nothing. It is not kept if the point without it is feasible and costs less. The same goes for row
duals, reduced costs and the dual objective.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.lp_answer import Norms, allowed_duals, judge
from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.core.options import EngineOptions
from solvers.core.outcome import Start
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.core.vectors import euclidean
from solvers.pdlp.bounds import OTHERS, PAIR_BYTES, Coded
from solvers.pdlp.control import SIZE, Control
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.kernels.matrix import REAL_BYTES
from solvers.pdlp.layout import to_device
from solvers.pdlp.scaling import drawn_rows, find_scaling, spectral_norm, sums_of_blocks
from solvers.pdlp.settings import DEFAULT, ExecutionSettings, Settings
from solvers.pdlp.state import (
    Coefficients,
    DeviceProblem,
    Iterate,
    Matrix,
    Scaling,
    State,
    partial_sums,
    squares,
    zeros,
)
from solvers.pdlp.state import of_rows as of_side
from solvers.pdlp.termination import Criteria
from solvers.sparse.shape import CPU_PLAN, Plan
from solvers.sparse.slices import Packed, in_slices, pack

SMALL = 0.2
"""A violation below this part of its terms, in the norm, is a small one: that of random points is
one over the root of a row's entries."""


def filtered(problem: Problem, start: Start | None) -> Start | None:
    """Return a start without the parts that are farther off than the usual start."""
    if start is None:
        return None
    x, y = first_x(problem, start), first_y(problem, start)
    here = judge(problem, x, y).statistics
    cold = judge(problem, first_x(problem, None), first_y(problem, None)).statistics
    is_near = _is_near(here.primal_residual, cold.primal_residual, problem.matrix, x) and not (
        cold.primal_residual == 0.0 and here.primal_objective > cold.primal_objective
    )
    is_near_dual = _is_near(here.dual_residual, cold.dual_residual, problem.matrix.T, y) and not (
        cold.dual_residual == 0.0 and here.dual_objective < cold.dual_objective
    )
    return Start(x=start.x if is_near else None, row_dual=start.row_dual if is_near_dual else None)


def _is_near(violation: float, without: float, matrix: Any, point: FloatArray) -> bool:
    """Whether a point violates no more than another one, or little beside its terms."""
    if violation <= without:
        return True
    return violation <= SMALL * euclidean(abs(matrix) @ np.abs(point))


def first_x(problem: Problem, start: Start | None, threads: int = 1) -> FloatArray:
    """Return the start's values where known, else the point of the bounds nearest to zero.

    A column without coefficients moves by its own cost alone, a little at each iteration: it
    starts at the bound that its cost prefers, if there is one.
    """
    from solvers.native.core_lp_answer import clip, settle_alone

    x = np.zeros(problem.num_columns)
    if start is not None and start.x is not None:
        known = np.isfinite(start.x)
        x[known] = start.x[known]
    threads = threads_for(STEPS_PER_LOOK * problem.num_columns, threads)
    bounds = (problem.lower, problem.upper)
    clip(x, *bounds, threads)
    settle_alone(problem.by_column(threads).indptr, problem.cost, *bounds, x, threads)
    return x


def first_y(problem: Problem, start: Start | None) -> FloatArray:
    """Return the start's row duals with allowed signs, or zeros."""
    if start is None or start.row_dual is None:
        return np.zeros(problem.num_rows)
    row_dual = np.where(np.isfinite(start.row_dual), start.row_dual, 0.0)
    return allowed_duals(row_dual, problem.row_lower, problem.row_upper)


COLUMN_VECTORS, ROW_VECTORS = 17, 15
"""Vectors of a solve at the most: data, scaling, iterates, best points, and passing ones."""

PADDING = 1.4
"""Entries that slices store for each coefficient, at the most seen on models."""


def prepare(
    problem: Problem,
    options: EngineOptions,
    device: Device,
    progress: Progress,
    start: Start | None = None,
    settings: Settings = DEFAULT,
    norms: Norms | None = None,
    coefficients: Coefficients | None = None,
) -> State:
    """Copy a problem with at least one coefficient to the device, scale it and set it off.

    ``norms`` are those that errors are measured against where the problem's own are larger, and
    ``coefficients`` those of an earlier state of the same problem, which are used again.

    Raises
    ------
    Exception
        What the device raises when its memory is exhausted; see ``Device.is_out_of_memory``.
    """
    there = place(problem, device, settings, progress, options.threads, norms, coefficients)
    return begin(there, options, progress, Beginning.of(there, options, start), settings)


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a state begins with whatever the scaling, on the device.

    The first points ``x`` (n,) and ``y`` (m,), and ``drawn`` (m,) for the power iteration.
    """

    x: Any
    y: Any
    drawn: Any

    @classmethod
    def of(cls, there: DeviceProblem, options: EngineOptions, start: Start | None) -> Beginning:
        """Return the beginning of a problem that is on its device."""
        return cls(
            x=there.columns_to_device(first_x(there.original, start, options.threads)),
            y=zeros(there.coefficients.by_row, there.device)
            if start is None or start.row_dual is None
            else there.rows_to_device(first_y(there.original, start)),
            drawn=drawn_rows(there.coefficients, there.device, options.seed),
        )

    def copy(self) -> Beginning:
        """Return the same once more, for another state."""
        return Beginning(self.x.copy(), self.y.copy(), self.drawn.copy())


def begin(
    there: DeviceProblem,
    options: EngineOptions,
    progress: Progress,
    beginning: Beginning,
    settings: Settings,
) -> State:
    """Find the step size on a problem that is on its device and scaled, and set it off.

    The beginning becomes the state's.
    """
    device, coefficients, x, y = there.device, there.coefficients, beginning.x, beginning.y
    norm = spectral_norm(there, settings, progress, beginning.drawn, options.threads)
    control = _control(there, norm, settings, Criteria.uniform(options.tolerance))
    return State(
        problem=there,
        settings=settings,
        x=Iterate.starting_at(x),
        y=Iterate.starting_at(y),
        # neither written nor in memory before there is a feasible point
        feasible_x=np.zeros(x.size) if isinstance(x, np.ndarray) else x.copy(),
        reflected=x.copy(),
        control=device.to_device(control),
        row_partial=partial_sums(coefficients.by_row, device),
        column_partial=partial_sums(coefficients.by_column, device),
        threads=options.threads,
        norm=norm,
    )


def place(
    problem: Problem,
    device: Device,
    settings: Settings,
    progress: Progress,
    threads: int = 0,
    norms: Norms | None = None,
    coefficients: Coefficients | None = None,
) -> DeviceProblem:
    """Copy a problem to the device and find its scaling there."""
    own = Norms.of(problem)
    limit = own if norms is None else norms
    if coefficients is None:
        pack_from = settings.execution.pack_from
        plan = _plan(problem, settings.execution)
        if isinstance(device, DeviceGroup):
            from solvers.pdlp.distributed.sharing import share_out

            coefficients = share_out(problem, device, plan, pack_from, threads)
        elif device.kind == "cpu":
            coefficients = _as_they_are(problem, threads)
        else:
            coefficients = to_device(problem, device, plan, pack_from, threads)
    scaling = find_scaling(
        coefficients.by_row, coefficients.by_column, device, settings, progress, threads
    )

    is_shared = device.kind == "cpu" and not isinstance(device, DeviceGroup)

    def of_rows(values: FloatArray) -> Any:
        return values if is_shared else coefficients.rows_to_device(values, device)

    def of_columns(values: FloatArray) -> Any:
        return values if is_shared else coefficients.columns_to_device(values, device)

    def coded(lower: FloatArray, upper: FloatArray, order: Any, matrix: Matrix) -> Coded:
        if is_shared:
            return Coded(
                np.zeros(0, dtype=np.uint8), np.zeros((OTHERS, 2)), PAIR_BYTES * lower.size
            )
        whole = Coded.of(lower, upper, threads)
        return whole.to_device(device, order, lambda codes: of_side(matrix, codes, device))

    bounds, sides = (problem.lower, problem.upper), (problem.row_lower, problem.row_upper)
    return DeviceProblem(
        original=problem,
        device=device,
        coefficients=coefficients,
        cost=of_columns(problem.cost),
        lower=of_columns(problem.lower),
        upper=of_columns(problem.upper),
        row_lower=of_rows(problem.row_lower),
        row_upper=of_rows(problem.row_upper),
        **_metrics(scaling, coefficients),
        bounds=coded(*bounds, coefficients.column_order, coefficients.by_column),
        sides=coded(*sides, coefficients.row_order, coefficients.by_row),
        side_norm=min(own.sides, limit.sides),
        cost_norm=min(own.cost, limit.cost),
    )


def _as_they_are(problem: Problem, threads: int) -> Coefficients:
    """Return the coefficients as a CPU reads them, in the order of the problem."""
    none = np.zeros(0, dtype=np.int32)
    by_row, by_column = (
        in_slices(matrix, CPU_PLAN, none, none, Packed())
        for matrix in (problem.entries, problem.by_column(threads))
    )
    return Coefficients(by_row, by_column)


def rescaled(there: DeviceProblem, scaling: Scaling) -> DeviceProblem:
    """Return a problem on its device with another scaling; all else is shared."""
    return dataclasses.replace(there, **_metrics(scaling, there.coefficients))


def _metrics(scaling: Scaling, coefficients: Coefficients) -> dict[str, Any]:
    """Return the squares of both scales, by the names that they have in a problem."""
    return {
        "column_metric": squares(coefficients.by_column, scaling.column),
        "row_metric": squares(coefficients.by_row, scaling.row),
    }


def _plan(problem: Problem, settings: ExecutionSettings) -> Plan:
    """Give a row more lanes while there are more threads than work for them."""
    small = problem.num_nonzeros <= settings.latency_up_to
    steps = settings.steps_if_small if small else settings.steps_if_large
    return Plan(steps=steps, unit_from=64 * steps, joins=not small, reorders=not small)


def _control(
    problem: DeviceProblem, norm: float, settings: Settings, criteria: Criteria
) -> FloatArray:
    """Return the control array before the first block."""
    weight, step = _first_weight(problem), settings.step.fraction / max(norm, 1e-300)
    restart, weights = settings.restart, settings.weight
    values = {
        Control.TAU: step / weight,
        Control.SIGMA: step * weight,
        Control.REFLECTION: restart.reflection,
        Control.STEP: step,
        Control.WEIGHT: weight,
        Control.PREVIOUS_METRIC: np.inf,
        Control.BEST_WEIGHT: weight,
        Control.BEST_IMBALANCE: np.inf,
        Control.BEST_ERROR: np.inf,
        Control.BEST_OBJECTIVE: np.inf,
        Control.PRIMAL_TOLERANCE: criteria.primal,
        Control.DUAL_TOLERANCE: criteria.dual,
        Control.GAP_TOLERANCE: criteria.gap,
        Control.SIDE_NORM: problem.side_norm,
        Control.COST_NORM: problem.cost_norm,
        Control.OFFSET: problem.original.offset,
        Control.SUFFICIENT: restart.sufficient_decrease,
        Control.NECESSARY: restart.necessary_decrease,
        Control.ARTIFICIAL: restart.artificial_share,
        Control.STANDSTILL: restart.standstill,
        Control.STANDSTILL_SHARE: restart.standstill_share,
        Control.RESIDUAL_EXPONENT: weights.residual_exponent,
        Control.SHORTEST_DISTANCE: weights.shortest_distance,
        Control.LONGEST_DISTANCE: weights.longest_distance,
        Control.LARGEST_IMBALANCE: math.log10(weights.largest_imbalance),
        Control.REVERSAL: weights.reversal,
        Control.STEP_SHRINK: 1.0 / settings.step.norm_growth,
    }
    control = np.zeros(SIZE)
    control[list(values)] = list(values.values())
    return control


def _first_weight(there: DeviceProblem) -> float:
    """Return the weight to begin with, (1 + ||c||) / (1 + ||b||) of the scaled problem."""
    by_row, by_column = there.coefficients.by_row, there.coefficients.by_column
    squares = [
        sums_of_blocks("size_sums", matrix, there.device, 1, *values).item()
        for matrix, values in (
            (by_column, (there.cost, there.cost, there.column_metric)),
            (by_row, (there.row_lower, there.row_upper, there.row_metric)),  # an equation once
        )
    ]
    return float(suggested_weight(*np.sqrt(squares)))


def suggested_weight(cost_norm: Any, side_norm: Any) -> Any:
    """Return the primal weight that the norms of scaled cost and sides suggest."""
    return (1.0 + cost_norm) / (1.0 + side_norm)


def memory_needed(problem: Problem, *, packed: bool = False, settings: Settings = DEFAULT) -> int:
    """Return about how many bytes a solve takes on its device, at its height.

    A and A' in slices, their meta data, and the vectors. With ``packed`` entries count as they are
    going to be stored, which takes a look at each; else as plain ones.
    """
    stored = Packed()
    if packed and problem.num_nonzeros >= settings.execution.pack_from:
        stored = pack(problem.entries.data, problem.num_rows, problem.num_columns)
    entry = np.dtype(stored.kind).itemsize + np.dtype(stored.index_kind).itemsize
    entries = int(2 * PADDING * problem.num_nonzeros * entry)
    starts = 16 * (problem.num_columns + problem.num_rows + 2)
    return int(entries + vector_bytes(problem) + starts)


def vector_bytes(problem: Problem) -> int:
    """Return about how many bytes the vectors of a solve take, at their height."""
    return REAL_BYTES * (COLUMN_VECTORS * problem.num_columns + ROW_VECTORS * problem.num_rows)
