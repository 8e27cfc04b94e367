"""Conjugate gradients for M x = b, with M symmetric positive definite, on CPU and GPU.

The form of Hestenes and Stiefel (1952) in two kernels for an iteration, three for A D A'; see
``kernels/iteration.py``. The scalars stay on the device: the host looks once in :data:`BATCH`
iterations, which a GPU runs as one recorded graph; once the residual is small enough the rest of
the batch does nothing.

The residual comes from recurrences that drift. It counts as converged by its true value only: if
that is larger than the recurrences said, the iteration starts again from where it is.

A semidefinite M is treated as far as b lies in its range. What cannot be reached leaves the
residual above the tolerance, and the iteration ends by its limit, or by a breakdown when no
direction of positive curvature is left; the best of the points looked at is returned, the first of
which is the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from solvers.core.errors import ProblemError
from solvers.core.problem import FloatArray
from solvers.linalg.kernels.iteration import (
    BREAKDOWN,
    CONTROL_SIZE,
    CONVERGED,
    ITERATION,
    ITERATIONS,
    LIMIT,
    OUT_OF_ITERATIONS,
    ROWS_PER_SLOT,
    RR,
    RUNNING,
    RZ,
    STOP,
    TARGET,
    launch_rows,
    launch_vector,
)
from solvers.linalg.operator import Operator, real_array

BATCH = 50
"""Iterations between two looks at the scalars; even."""

MOST_SUMS = 2

RESTARTS = 5
"""How often a residual that turned out too large is worked on again."""

RESTART_GAIN = 0.5
"""A restart must have left at most this part of the true residual, or the next is not tried."""


class Stopped(Enum):
    """Why conjugate gradients came to their end."""

    CONVERGED = "the true residual is within the tolerance"
    ITERATION_LIMIT = "the iteration limit was reached"
    BREAKDOWN = "no direction of positive curvature was left"
    STAGNATED = "rounding keeps the true residual above the tolerance"
    INTERRUPTED = "the caller asked to stop"


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution of M x = b as far as it went.

    Parameters
    ----------
    x : (m,) array
        On the operator's device.
    iterations : int
    residual : float
        True ||b - M x||_2.
    target : float
        What it was to be.
    stopped : Stopped
    """

    x: Any
    iterations: int
    residual: float
    target: float
    stopped: Stopped

    @property
    def converged(self) -> bool:
        """Whether the true residual is within the tolerance."""
        return self.stopped is Stopped.CONVERGED


@dataclass(eq=False)
class Workspace:
    """Vectors of conjugate gradients on the operator's device; nothing is allocated later.

    All vectors are (m,), but ``q`` (n,) holds D A' times one. ``inverse`` is the diagonal of the
    preconditioner. ``control`` holds the scalars (see ``kernels/iteration.py``), ``partial`` and
    ``ticket`` serve the reductions. ``other_p`` takes turns with ``p``, which a kernel may not
    write while it gathers it.
    """

    operator: Operator
    inverse: Any
    side: Any
    x: Any
    r: Any
    u: Any
    p: Any
    s: Any
    other_p: Any
    q: Any
    control: Any
    partial: Any
    ticket: Any
    row_slots: int
    vector_slots: int
    graph: Any = None


def never() -> bool:
    """Return False: the answer of a caller who lets it run."""
    return False


def prepare(operator: Operator, inverse: Any = None) -> Workspace:
    """Allocate what conjugate gradients need, for any number of right-hand sides.

    Parameters
    ----------
    operator : Operator
    inverse : (m,) array, optional
        Diagonal of the preconditioner, on the operator's device: :func:`~.operator.jacobi`'s.
        None for plain conjugate gradients.

    Raises
    ------
    ProblemError
        The preconditioner was made for an operator of another size.
    """
    xp = operator.device.xp
    m = operator.size
    if inverse is not None and inverse.shape != (m,):
        raise ProblemError(
            f"The preconditioner has shape {inverse.shape}, the operator {m} rows; make it from "
            "this operator."
        )
    row_slots, vector_slots = _slots(operator)
    columns = 0 if operator.by_column is None else operator.by_column.rows
    return Workspace(
        operator=operator,
        inverse=xp.ones(m) if inverse is None else inverse,
        **{name: xp.zeros(m) for name in ("side", "x", "r", "u", "p", "s", "other_p")},
        q=xp.zeros(columns),
        control=xp.zeros(CONTROL_SIZE),
        partial=xp.zeros(MOST_SUMS * max(row_slots, vector_slots)),
        ticket=xp.zeros(1, dtype=operator.by_row.arguments[1].dtype),
        row_slots=row_slots,
        vector_slots=vector_slots,
    )


def conjugate_gradients(
    operator: Operator,
    side: Any,
    inverse: Any = None,
    *,
    start: Any = None,
    tolerance: float = 1e-10,
    iteration_limit: int | None = None,
) -> Solution:
    """Solve M x = b once; see :func:`run` for the parameters and :func:`prepare` for errors."""
    space = prepare(operator, inverse)
    return run(space, side, start=start, tolerance=tolerance, iteration_limit=iteration_limit)


def run(
    space: Workspace,
    side: Any,
    *,
    start: Any = None,
    tolerance: float = 1e-10,
    absolute: float = 0.0,
    iteration_limit: int | None = None,
    should_stop: Callable[[], bool] = never,
) -> Solution:
    """Solve M x = b in a prepared workspace, which may be used again.

    Parameters
    ----------
    space : Workspace
    side : (m,) array
        b, on the host or on the operator's device.
    start : (m,) array, optional
        Where to begin; zero if absent.
    tolerance, absolute : float
        Stop at ||b - M x|| <= max(tolerance * ||b||, absolute).
    iteration_limit : int, optional
        Iterations at most; ten for each row, but at least 100, if absent.
    should_stop : callable
        Asked after every batch.

    Raises
    ------
    ProblemError
        A vector has the wrong length or an entry that is not finite, or a tolerance is NaN.
    """
    if np.isnan(tolerance) or np.isnan(absolute):
        raise ProblemError(f"The tolerances are {tolerance} and {absolute}; give them numbers.")
    m = space.operator.size
    space.side[...] = _vector(space, side, "side")
    space.x[...] = 0.0 if start is None else _vector(space, start, "start")
    target = max(tolerance * _norm(space.side), absolute)
    most = max(100, 10 * m) if iteration_limit is None else iteration_limit
    if m == 0:
        return Solution(space.x.copy(), 0, 0.0, target, Stopped.CONVERGED)
    return _restarted(space, target, most, should_stop)


def _restarted(
    space: Workspace, target: float, most: int, should_stop: Callable[[], bool]
) -> Solution:
    """Iterate until the true residual is small enough or nothing helps any more."""
    done, before = 0, np.inf
    best = space.x.copy()
    _true_residual(space)
    least = _norm(space.r)
    if not np.isfinite(least):  # of products too large; what follows may still be looked at
        least = np.inf
    stopped = Stopped.STAGNATED
    for _ in range(RESTARTS + 1):
        done, reason = _iterate(space, target, done, most, should_stop)
        _true_residual(space)
        residual = _norm(space.r)
        if residual < least:
            best[...] = space.x
            least = residual
        if residual <= target:
            stopped = Stopped.CONVERGED
            break
        if reason is not Stopped.CONVERGED:
            stopped = reason
            if reason is not Stopped.BREAKDOWN or not residual <= RESTART_GAIN * before:
                break
        elif not residual <= RESTART_GAIN * before:
            break
        before = residual
    return Solution(best, done, least, target, stopped)


def _iterate(
    space: Workspace, target: float, done: int, most: int, should_stop: Callable[[], bool]
) -> tuple[int, Stopped]:
    """Run batches from x until the device stops; return the iterations so far and why."""
    _begin(space, target, done, most)
    while True:
        _run_batch(space)
        control = space.operator.device.to_host(space.control)
        done = int(control[ITERATIONS])
        if control[STOP] != RUNNING:
            break
        if should_stop():
            return done, Stopped.INTERRUPTED
    if control[STOP] == BREAKDOWN:
        return done, Stopped.BREAKDOWN
    within = control[RR] <= control[TARGET]
    return done, Stopped.CONVERGED if within else Stopped.ITERATION_LIMIT


def _begin(space: Workspace, target: float, done: int, most: int) -> None:
    """Set the scalars for a fresh start from x, and the residual that belongs to it."""
    device = space.operator.device
    control = np.zeros(CONTROL_SIZE)
    control[TARGET], control[LIMIT], control[ITERATIONS] = target * target, most, done
    space.control[...] = device.to_device(control)
    for vector in (space.p, space.s, space.other_p):
        vector[...] = 0.0
    _true_residual(space)
    _first_look(space, control)


def _first_look(space: Workspace, control: FloatArray) -> None:
    """Judge the first residual on the host, as the device does at an iteration's end."""
    device = space.operator.device
    squared, gamma = float((space.r * space.r).sum()), float((space.r * space.u).sum())
    control[RR], control[RZ] = squared, gamma
    if squared <= control[TARGET]:
        control[STOP] = CONVERGED
    elif not (np.isfinite(squared) and gamma > 0.0):
        control[STOP] = BREAKDOWN
    elif control[ITERATIONS] >= control[LIMIT]:
        control[STOP] = OUT_OF_ITERATIONS
    space.control[...] = device.to_device(control)


def _run_batch(space: Workspace) -> None:
    """Run a batch of iterations; on a GPU as a graph, recorded at the first time.

    The default stream cannot be recorded: enter ``device.activate()`` to have one that can.
    """
    device = space.operator.device
    if device.kind == "cpu":
        for _ in range(BATCH // 2):
            _launch_batch(space, 2)
            if space.control[STOP] != RUNNING:
                return
        return
    if device.xp.cuda.get_current_stream().ptr == 0:
        _launch_batch(space)
        return
    if space.graph is None:
        space.graph = _record(space)
    space.graph.launch()


def _record(space: Workspace) -> Any:
    """Record the launches of a batch, after kernels are loaded by a run that does nothing."""
    device = space.operator.device
    kept = space.control.copy()
    space.control[STOP] = BREAKDOWN
    _launch_batch(space, 2)
    space.control[...] = kept
    device.synchronize()
    stream = device.xp.cuda.get_current_stream()
    stream.begin_capture()
    try:
        _launch_batch(space)
    finally:
        graph = stream.end_capture()
    return graph


def _launch_batch(space: Workspace, count: int = BATCH) -> None:
    """Run, or record, ``count`` iterations; an even count brings every buffer back."""
    operator, threads = space.operator, space.operator.threads
    for _ in range(count):
        gathered = space.u
        if operator.by_column is not None:
            gathered = space.q
            ITERATION["columns_step"](
                *operator.by_column.arguments,
                operator.weight,
                space.u,
                space.p,
                space.control,
                space.q,
                threads=threads,
            )
        sums = (space.partial, space.ticket, space.control)
        ITERATION["product"](
            *operator.by_row.arguments,
            gathered,
            int(not operator.is_normal),
            space.u,
            space.p,
            space.other_p,
            space.s,
            space.row_slots,
            *sums,
            threads=threads,
        )
        space.p, space.other_p = space.other_p, space.p
        ITERATION["update"](
            operator.size,
            space.inverse,
            space.p,
            space.s,
            space.x,
            space.r,
            space.u,
            space.vector_slots,
            *sums,
            threads=threads,
        )


def _true_residual(space: Workspace) -> None:
    """Put r = b - M x and u = B r in place of what the recurrences have made of them."""
    operator = space.operator
    ITERATION["residual"](
        *operator.by_row.arguments,
        operator.gather(space.x),
        space.side,
        space.r,
        threads=operator.threads,
    )
    space.u[...] = space.inverse * space.r


def _slots(operator: Operator) -> tuple[int, int]:
    """Return the numbers of partial sums of row steps and of vector steps."""
    m = operator.size
    if operator.device.kind == "cpu":
        return 1 + m // ROWS_PER_SLOT, 1 + m // ROWS_PER_SLOT
    rows = operator.by_row
    values = {"rows": m, "lanes": rows.lanes, "long_count": rows.arguments[4]}
    return max(1, launch_rows(values).grid), max(1, launch_vector(values).grid)


def _vector(space: Workspace, values: Any, name: str) -> Any:
    vector = real_array(space.operator.device.xp, values, name)
    if vector.shape != (space.operator.size,):
        raise ProblemError(
            f"'{name}' has shape {vector.shape}; the operator has {space.operator.size} rows."
        )
    if not bool(space.operator.device.xp.isfinite(vector).all()):
        raise ProblemError(f"'{name}' has entries that are not finite.")
    return vector


def _norm(vector: Any) -> float:
    """Return the 2-norm, without the linear algebra library that ``linalg.norm`` would load."""
    return float(np.sqrt(float((vector * vector).sum())))
