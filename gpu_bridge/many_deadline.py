"""Keeping the time limit of many problems while their engine is compiled.

The first batch of an installation has loops compiled that are longer than those of single solves:
that takes more time than many a limit and cannot be interrupted. So batches are solved in a thread.
Where the compiler takes a good part of the limit of the first one of a process, the reference
engine stands in, as it does in single solves (:mod:`gpu_bridge.deadline`), and Ctrl-C does not wait
for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from gpu_bridge.deadline import PATIENCE_HIGH, STAND_IN_SHARE, is_compiling, patience_at
from gpu_bridge.many_batch import Batch
from gpu_bridge.many_outcomes import Singles
from gpu_bridge.many_singles import labelled, solve_singles
from gpu_bridge.options import Options
from gpu_bridge.progress import BridgeProgress
from gpu_bridge.race_progress import Deputy
from solvers.apart import apart
from solvers.progress import Progress

Answer = TypeVar("Answer")

_have_run: set[str] = set()
"""Engines that have solved a batch in this process, and so are compiled."""


def in_time(engine: str, work: Callable[[Progress], Answer], progress: Progress) -> Answer | None:
    """Return what the work returns, or None if its engine is still being compiled.

    Parameters
    ----------
    engine : str
        Name of the engine, which the work is the first of in this process or not.
    work : callable
        Gets the progress to ask; ends soon after the limit by itself once it is compiled.
    progress : Progress

    Raises
    ------
    Exception
        What the work raised.
    """
    stand_in_at = np.inf
    if engine not in _have_run:
        stand_in_at = progress.seconds + STAND_IN_SHARE * progress.time_left
    deputy = Deputy(progress)
    try:
        found = apart(
            lambda: work(deputy),
            progress,
            engine,
            patience=lambda: _patience(progress),
            is_over=lambda: progress.should_stop() is not None,
            enough=lambda: progress.seconds >= stand_in_at and is_compiling(),
        )
    finally:
        deputy.abandon()
    if found is None:
        return None
    _have_run.add(engine)
    return found[0]


def stood_in(batch: Batch, engine: str, options: Options, progress: BridgeProgress) -> Singles:
    """Have the reference engine solve all members, in the time that the compiler has left."""
    progress.log(f"The reference engine stands in: {engine} is still being compiled, or busy.")
    singly = dataclasses.replace(options, method="highs")
    members = [batch.member_or_crossing(k) for k in range(len(batch))]
    return Singles(labelled(solve_singles(members, singly, progress), batch), batch)


def _patience(progress: Progress) -> float:
    """Return the seconds for which an engine that was told to stop is waited for.

    A launch on a GPU ends by itself only; who pressed Ctrl-C would rather have what it finds.
    """
    if progress.interrupted and not is_compiling():
        return PATIENCE_HIGH
    return patience_at(progress)
