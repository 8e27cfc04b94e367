"""Scalings tried one after the other before a large solve goes on with one.

Which scaling suits a model shows early. To an error of 1e-3 Curtis and Reid's without a ridge takes
half of the iterations of Ruiz's alone on unit commitment, and ten times as many on stochastic
programs, and so it goes on to the end (``docs/pdlp-constants.md``). So Ruiz's alone and Curtis and
Reid's without a ridge are given some hundred iterations, like the usual scaling and from the same
start. One that is clearly nearer then goes on from where it is, else the usual one does. On small
models, solved in a few thousand iterations, trying costs more than it brings.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.pdlp.compact import parked
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.execution import iteration_blocks
from solvers.pdlp.scaling import find_scaling, without_curtis_reid
from solvers.pdlp.settings import Settings
from solvers.pdlp.start import Beginning, begin, memory_needed, place, rescaled, vector_bytes
from solvers.pdlp.state import State
from solvers.pdlp.supervision import SolveRequest
from solvers.pdlp.termination import Record

SCALINGS = 3
"""Scalings that are tried at the most."""

CLEARLY = 2.0
"""Factor by which another scaling's error has to be less than that of the usual one."""

SAME = 1e-2
"""Scales that differ by one common factor but for this part are the same scaling."""

SAMPLE, RUNS = 1_000_000, 100
"""Rows, and columns, of which the scales are compared at the most, on a GPU in so many runs of
neighbours."""

SHARE = 0.25
"""Part of the time left that trying another scaling may take, by what the one before took. At 100
million nonzeros a trial takes two seconds on an H200, and a two-stage program hardly moves without
Ruiz's scaling."""


AGAIN = 2.0
"""Times of what the second half of a trial gained, in decades, within which the tolerance is near:
as much as another trial is long."""


@dataclass(frozen=True, eq=False)
class ScalingTrial:
    """What a trial came to: ``state`` goes on with ``settings``.

    ``iterations`` and ``restarts`` are those of the states that were left, and ``seconds`` what
    iterating took for all.
    """

    state: State
    settings: Settings
    iterations: int = 0
    restarts: int = 0
    seconds: float = 0.0

    def left_for(self, state: State, settings: Settings, seconds: float) -> ScalingTrial:
        """Return the trial with a better state, which took so many seconds."""
        kept = self.kept_from(Record(self.state.read_control()), seconds)
        return replace(kept, state=state, settings=settings)

    def kept_from(self, other: Record, seconds: float) -> ScalingTrial:
        """Return the trial after another state that is left, which took so many seconds."""
        return replace(
            self,
            iterations=self.iterations + other.iterations,
            restarts=self.restarts + int(other[Control.RESTARTS]),
            seconds=self.seconds + seconds,
        )

    @property
    def statistics(self) -> dict[str, float | int | str]:
        """What the trial adds to the statistics of the solve."""
        nonzeros = self.state.problem.original.num_nonzeros
        return {
            "restarts": self.restarts,
            "entries_visited": self.iterations * nonzeros,
            "loop_seconds": self.seconds,
        }


def is_worth_a_trial(request: SolveRequest, settings: Settings) -> bool:
    """Whether a large solve has room for a second set of vectors, and iterations for a trial."""
    trial, problem, device = settings.trial, request.problem, request.device
    needed = memory_needed(problem, settings=settings) + vector_bytes(problem)
    return request.iteration_limit > SCALINGS * trial.iterations and (
        not device.memory_free or needed < device.memory_free
    )


def try_scalings(request: SolveRequest, settings: Settings) -> ScalingTrial:
    """Iterate with each scaling from one start; return the state to go on with.

    No other is tried where the first reaches the tolerance, will soon, or took long for the time
    that is left, nor one whose scales are the same.
    """
    options, progress, start = request.options, request.progress, request.start
    there = place(
        request.problem, request.device, settings, progress, options.threads, request.norms
    )
    whole = time.perf_counter()
    make_beginning: Callable[[], Beginning] = functools.partial(Beginning.of, there, options, start)
    beginning = make_beginning()
    if there.device.kind != "cpu" and not isinstance(there.device, DeviceGroup):
        make_beginning = beginning.copy  # which takes less than the way to a GPU
        beginning = beginning.copy()
    state = begin(there, options, progress, beginning, settings)
    del beginning
    began = time.perf_counter()
    records = _advance(state, progress)
    found = ScalingTrial(state, settings, seconds=time.perf_counter() - began)
    del state
    metrics = (there.column_metric, there.row_metric)
    tried = [[np.sqrt(part) for part in _samples(metrics, there.device)]]
    errors = [_error(record) for record in records]
    least = errors[-1] / CLEARLY
    is_over = _is_nearly_done(errors, options.tolerance)
    make_ready: Callable[[], None] | None = None
    for rival in (without_curtis_reid(settings), _without_ridge(settings)):
        longest = SHARE * progress.time_left
        if is_over or time.perf_counter() - whole > longest or progress.should_stop():
            break
        whole = time.perf_counter()
        there = found.state.problem
        pair = (there.coefficients.by_row, there.coefficients.by_column)
        scaling = find_scaling(*pair, there.device, rival, progress, options.threads)
        samples = _samples((scaling.column, scaling.row), there.device)
        if any(_are_same(samples, earlier) for earlier in tried):
            continue
        if progress.should_stop():
            break
        tried.append(samples)
        make_ready = make_ready or parked(found.state)
        there = rescaled(there, scaling)
        del scaling
        state = begin(there, options, progress, make_beginning(), rival)
        began = time.perf_counter()
        records = _advance(state, progress, errors)
        seconds = time.perf_counter() - began
        error, is_over = _error(records[-1]), records[-1].stop is Stop.OPTIMAL
        progress.log(f"Tried another scaling: an error of {error:.1e} instead of {errors[-1]:.1e}.")
        if error < least:
            least, make_ready = error, None
            found = found.left_for(state, rival, seconds)
        else:
            found = found.kept_from(records[-1], seconds)
        del state  # one that has lost leaves its memory to the next
    if make_ready is not None:
        make_ready()
    return found


def _without_ridge(settings: Settings) -> Settings:
    return settings.changed(scaling={"curtis_reid_ridge": 0.0})


def _advance(state: State, progress: Progress, ahead: Sequence[float] = ()) -> list[Record]:
    """Iterate for the length of a trial, or until something is to be looked at.

    ``ahead`` are the errors of the one before, check by check: once half of the trial is over, a
    state that is behind them stops.
    """
    settings = state.settings
    blocks = iteration_blocks(state, progress)
    interval, length = settings.restart.check_interval, settings.trial.iterations
    records = [Record(state.read_control())]
    while records[-1].iterations < length and not progress.should_stop():
        blocks.submit(interval)
        records.append(blocks.take())
        if records[-1].stop is not Stop.NO:
            break
        is_late = 2 * records[-1].iterations >= length
        if is_late and _error(records[-1]) > min(ahead[: len(records)], default=math.inf):
            break
    return records


def _error(record: Record) -> float:
    """Return the least error of a trial; what reached the tolerance or broke down has no rival."""
    if record.stop is Stop.OPTIMAL:
        return 0.0
    return math.inf if record.stop is Stop.BROKEN else record[Control.BEST_ERROR]


def _is_nearly_done(errors: Sequence[float], tolerance: float) -> bool:
    """Whether as many iterations again as a trial's lead to the tolerance, at their latest pace.

    ``errors`` are those of a trial, check by check.
    """
    last, half = errors[-1], errors[len(errors) // 2]
    if last <= tolerance:
        return True
    if not (math.isfinite(last) and math.isfinite(half)):  # it broke down, or has hardly begun
        return False
    gained = math.log(half / last)
    return math.log(last / tolerance) <= AGAIN * gained


def _samples(scales: Sequence[Any], device: Device) -> list[FloatArray]:
    """Return some of the scales of columns and of rows, on the host."""

    def sample(scale: Any) -> FloatArray:
        if not isinstance(device, DeviceGroup):
            return _sample(scale, device)
        found = []
        for number, member in enumerate(device.members):
            with device.on(number):
                found.append(_sample(scale.own(number), member))
        return np.concatenate(found)

    return [sample(scale) for scale in scales]


def _are_same(one: Sequence[FloatArray], two: Sequence[FloatArray]) -> bool:
    """Whether two scalings differ by a factor for all columns, and one for all rows, at most."""
    ratios = (a / b for a, b in zip(one, two, strict=True))
    return all(bool(np.max(ratio) <= (1.0 + SAME) * np.min(ratio)) for ratio in ratios)


def _sample(scale: Any, device: Device) -> FloatArray:
    """Return some scales; whatever is not a copy would have a kernel compiled on a GPU."""
    if device.kind == "cpu" or scale.size <= SAMPLE:
        return device.to_host(scale)[:: 1 + scale.size // SAMPLE].copy()
    length, step = SAMPLE // RUNS, scale.size // RUNS
    runs = (scale[at * step : at * step + length] for at in range(RUNS))
    return np.concatenate([device.to_host(run) for run in runs])
