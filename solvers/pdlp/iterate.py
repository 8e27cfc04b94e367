"""Driving the iteration: windows of iterations between two checks, cut into slices of time.

The first and the last iteration of a window are *kept*: they leave the projected point and the
step, which the metric, the restart and the answer need. The rest runs without a word to the
host: as one compiled loop on the CPU, as one recorded graph of launches on a GPU. Where slices
end has no influence on the numbers, only on how soon a limit or an interruption is noticed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.outcome import StopReason
from solvers.pdlp.kernels.step import STEP
from solvers.pdlp.state import State
from solvers.pdlp.statistics import measure
from solvers.progress import Progress


@dataclass(frozen=True, eq=False)
class Window:
    """What a window left: the sums of its first iteration if that began an epoch."""

    first_sums: Any
    stopped: StopReason | None


def advance(state: State, count: int, progress: Progress) -> Window:
    """Run ``count`` iterations, or fewer when ``progress`` says to stop; the last one is kept."""
    tau = state.step_size / state.weight.value
    sigma = state.step_size * state.weight.value
    base = float(state.epoch_iterations)
    _write(state, (tau, sigma, state.settings.reflection, base))
    first_sums = None
    done, stopped = 0, None
    if count > 1:
        _kept_step(state, 0)
        done = 1
        if state.epoch_iterations == 0:
            first_sums = measure(state)
        done, stopped = _inner_steps(state, count - 2, progress)
    _kept_step(state, done)
    done += 1
    if first_sums is None and state.epoch_iterations == 0:
        first_sums = measure(state)
    state.iterations += done
    state.epoch_iterations += done
    return Window(first_sums, stopped)


def restart(state: State) -> None:
    """Begin a new epoch at the projected point."""
    for side in (state.x, state.y):
        side.point[...] = side.projection
        side.anchor[...] = side.projection
    state.epoch_iterations = 0
    state.restarts += 1


def _inner_steps(state: State, count: int, progress: Progress) -> tuple[int, StopReason | None]:
    """Run iterations 1 to ``count`` of the window; return the next offset and why it stopped."""
    offset, last = 1, 1 + count
    while offset < last:
        stopped = progress.should_stop()
        if stopped is not None:
            return offset, stopped
        threads = state.pace.choose()
        wanted = state.pace.slice_length(threads, state.settings.slice_seconds)
        size = min(last - offset, wanted)
        began = time.perf_counter()
        _run_slice(state, offset, size, threads)
        state.pace.note(threads, size, time.perf_counter() - began)
        offset += size
    return offset, None


def _run_slice(state: State, first: int, count: int, threads: int) -> None:
    if state.problem.device.kind == "cpu":
        from solvers.kernels.twin import run_twin

        steps = STEP.twin.steps_fast
        run_twin(steps, (first, count, primal_arguments(state), dual_arguments(state)), threads)
        return
    if count == state.settings.check_interval - 2:
        if state.graph is None:
            state.graph = _record(state, first, count)
        state.graph.launch()
    else:
        _launch_steps(state, first, count)
    state.problem.device.synchronize()


def _record(state: State, first: int, count: int) -> Any:
    """Record the launches of a window's inner iterations as a CUDA graph."""
    stream = state.problem.device.xp.cuda.get_current_stream()
    stream.begin_capture()
    try:
        _launch_steps(state, first, count)
    finally:
        graph = stream.end_capture()
    return graph


def _launch_steps(state: State, first: int, count: int) -> None:
    primal, dual = primal_arguments(state), dual_arguments(state)
    primal_step, dual_step = STEP["primal_step"], STEP["dual_step"]
    for offset in range(first, first + count):
        primal_step(*primal, offset, 0)
        dual_step(*dual, offset, 0)


def _kept_step(state: State, offset: int) -> None:
    STEP["primal_step"](*primal_arguments(state), offset, 1, threads=state.threads)
    STEP["dual_step"](*dual_arguments(state), offset, 1, threads=state.threads)


def primal_arguments(state: State) -> tuple[Any, ...]:
    """Return the arguments of the primal step up to ``control``."""
    problem, x = state.problem, state.x
    return (
        *problem.by_column.arguments,
        state.y.point,
        x.point,
        x.anchor,
        problem.cost,
        problem.lower,
        problem.upper,
        state.reflected,
        x.projection,
        x.difference,
        state.control,
    )


def dual_arguments(state: State) -> tuple[Any, ...]:
    """Return the arguments of the dual step up to ``control``."""
    problem, y = state.problem, state.y
    return (
        *problem.by_row.arguments,
        state.reflected,
        y.point,
        y.anchor,
        problem.row_lower,
        problem.row_upper,
        y.projection,
        y.difference,
        state.control,
    )


def _write(state: State, values: tuple[float, ...]) -> None:
    """Put step sizes and counters where the kernels, and a recorded graph, read them."""
    state.control[...] = state.problem.device.to_device(np.array(values))
