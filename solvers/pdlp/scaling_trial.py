"""Two scalings tried side by side, for large models, on which the better one saves most iterations.

Which scaling suits a model shows early: to an error of 1e-3 Curtis and Reid's takes half of the
iterations of Ruiz's alone on unit commitment and ten times as many on stochastic programs, and so
it goes on to the end (``docs/pdlp-constants.md``). So each is given some hundred iterations from
the same start, and the one whose least error is less goes on from where it is. On small models,
solved in a few thousand iterations, trying costs more than it brings.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvers.core.device import Device
from solvers.core.lp_answer import Norms
from solvers.core.options import EngineOptions
from solvers.core.outcome import Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.execution import iteration_blocks
from solvers.pdlp.settings import Settings
from solvers.pdlp.start import begin, memory_needed, prepare, rescaled, vector_bytes
from solvers.pdlp.state import DeviceProblem, State
from solvers.pdlp.termination import Record

BEHIND = 2.0
"""So many times the error of the first scaling ends the trial of the second early."""

SAME = 1e-2
"""Scales that differ by one common factor but for this part are the same scaling."""


@dataclass(frozen=True, eq=False)
class ScalingTrial:
    """What a trial came to: ``state`` goes on with ``settings``, and ``other`` has lost.

    ``iterations`` and ``restarts`` are those of the state that was left, and ``seconds`` what
    iterating took for both.
    """

    state: State
    settings: Settings
    other: Settings
    iterations: int
    restarts: int
    seconds: float

    @property
    def statistics(self) -> dict[str, float | int | str]:
        """What the trial adds to the statistics of the solve."""
        nonzeros = self.state.problem.original.num_nonzeros
        return {
            "restarts": self.restarts,
            "entries_visited": self.iterations * nonzeros,
            "loop_seconds": self.seconds,
        }


def is_worth_a_trial(
    problem: Problem, options: EngineOptions, device: Device, settings: Settings
) -> bool:
    """Whether a solve is large enough, with room for a second set of vectors and for a trial."""
    trial = settings.trial
    needed = memory_needed(problem, settings=settings) + vector_bytes(problem)
    limit = math.inf if options.iteration_limit is None else options.iteration_limit
    return (
        problem.num_nonzeros >= trial.from_nonzeros
        and limit > 2 * trial.iterations
        and (not device.memory_free or needed < device.memory_free)
    )


def try_scalings(
    device: Device,
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None,
    candidates: tuple[Settings, Settings],
    norms: Norms | None,
) -> ScalingTrial:
    """Iterate with both settings from one start; return the state that has come nearer.

    The second is not tried where the first reaches the tolerance, or where its scales are the same.
    """
    first, second = candidates
    state = prepare(problem, options, device, progress, start, first, norms)
    began = time.perf_counter()
    records = _advance(state, progress)
    seconds = time.perf_counter() - began
    alone = ScalingTrial(state, first, second, 0, 0, seconds)
    if records[-1].stop is Stop.OPTIMAL or progress.should_stop():
        return alone
    there = rescaled(state.problem, second, progress, options.threads)
    if _are_same(state.problem, there):
        return alone
    rival = begin(there, options, progress, start, second)
    began = time.perf_counter()
    rivals = _advance(rival, progress, [_error(record) for record in records])
    seconds += time.perf_counter() - began
    error, rival_error = _error(records[-1]), _error(rivals[-1])
    progress.log(f"Tried two scalings, which led to errors of {error:.1e} and {rival_error:.1e}.")
    if rival_error < error:
        return ScalingTrial(rival, second, first, *_left(records[-1]), seconds)
    return ScalingTrial(state, first, second, *_left(rivals[-1]), seconds)


def _advance(state: State, progress: Progress, ahead: Sequence[float] = ()) -> list[Record]:
    """Iterate for the length of a trial, or until something is to be looked at.

    ``ahead`` are the errors of the one before, check by check: once half of the trial is over, a
    state that is far behind them stops.
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
        if is_late and _error(records[-1]) > BEHIND * min(ahead[: len(records)], default=math.inf):
            break
    return records


def _error(record: Record) -> float:
    """Return the least error of a trial; what reached the tolerance or broke down has no rival."""
    if record.stop is Stop.OPTIMAL:
        return 0.0
    return math.inf if record.stop is Stop.BROKEN else record[Control.BEST_ERROR]


def _left(record: Record) -> tuple[int, int]:
    return record.iterations, int(record[Control.RESTARTS])


def _are_same(one: DeviceProblem, two: DeviceProblem) -> bool:
    """Whether two scalings differ by a factor for all columns, and one for all rows, at most."""
    fetch = one.device.to_host  # arithmetic on a GPU would have a kernel compiled
    ratios = (
        fetch(one.scaling.column) / fetch(two.scaling.column),
        fetch(one.scaling.row) / fetch(two.scaling.row),
    )
    return all(bool(np.max(ratio) <= (1.0 + SAME) * np.min(ratio)) for ratio in ratios)
