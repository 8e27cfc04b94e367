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
from solvers.pdlp.start import begin, prepare, rescaled, vector_bytes
from solvers.pdlp.state import DeviceProblem, State
from solvers.pdlp.termination import Record

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
    limit = math.inf if options.iteration_limit is None else options.iteration_limit
    return (
        problem.num_nonzeros >= trial.from_nonzeros
        and limit > 2 * trial.iterations
        and (not device.memory_free or vector_bytes(problem) < device.memory_free)
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
    record = _advance(state, progress)
    seconds = time.perf_counter() - began
    alone = ScalingTrial(state, first, second, 0, 0, seconds)
    if record.stop is Stop.OPTIMAL or progress.should_stop():
        return alone
    there = rescaled(state.problem, second, progress, options.threads)
    if _are_same(state.problem, there):
        return alone
    rival = begin(there, options, progress, start, second)
    began = time.perf_counter()
    rival_record = _advance(rival, progress)
    seconds += time.perf_counter() - began
    found = f"errors of {_error(record):.1e} and {_error(rival_record):.1e}"
    progress.log(f"Tried two scalings for {record.iterations:,} iterations each: {found}.")
    if _error(rival_record) < _error(record):
        return ScalingTrial(rival, second, first, *_left(record), seconds)
    return ScalingTrial(state, first, second, *_left(rival_record), seconds)


def _advance(state: State, progress: Progress) -> Record:
    """Iterate for the length of a trial, or until something is to be looked at."""
    settings = state.settings
    blocks = iteration_blocks(state, progress)
    record = Record(state.read_control())
    interval = settings.restart.check_interval
    while record.iterations < settings.trial.iterations and not progress.should_stop():
        blocks.submit(interval)
        record = blocks.take()
        if record.stop is not Stop.NO:
            break
    return record


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
