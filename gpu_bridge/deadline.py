"""Keeping a time limit while engines are compiled, which nothing can interrupt.

The first solve of an installation compiles loops and kernels, a second or more for each, and a
limit of a few seconds would be missed by many. So the first solve of a process that has a limit
runs in a thread, and the caller waits for it no longer than it said.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable

import numpy as np

from gpu_bridge.race import LOOK_AGAIN
from gpu_bridge.race_progress import Deputy
from solvers.left_behind import leave
from solvers.outcome import Outcome, SolutionStatus
from solvers.progress import Progress

PATIENCE_SHARE, PATIENCE_LOW, PATIENCE_HIGH = 0.03, 0.4, 3.0
"""How long work may go on after the limit or an interruption to hand over what it has: this part of
the time used, within bounds."""

COMPILED = {"cpu": "solvers.pdlp.kernels.decide_cpu", "cuda": "cupy"}
"""Modules that are there once an engine has run on a device in this process."""


def may_compile(device: str, progress: Progress) -> bool:
    """Whether a solve on a device has a limit that compiling could make it miss."""
    loaded = COMPILED[device.partition(":")[0]] in sys.modules
    return bool(np.isfinite(progress.time_limit)) and not loaded


def within_limit(
    work: Callable[[Progress], Outcome],
    progress: Progress,
    engine: str,
    patience: float = PATIENCE_LOW,
) -> Outcome:
    """Run work in a thread and return what it returns, or nothing soon after the limit.

    ``patience`` is the least number of seconds that count as soon.

    Raises
    ------
    Exception
        What the work raised.
    """
    deputy = Deputy(progress)
    ended: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()
    thread = threading.Thread(target=_run, args=(work, deputy, ended), name=engine, daemon=True)
    thread.start()
    give_up_at = np.inf
    while progress.seconds < give_up_at:
        try:
            found = ended.get(timeout=LOOK_AGAIN)
        except queue.Empty:
            if np.isinf(give_up_at) and progress.should_stop() is not None:
                share = PATIENCE_SHARE * progress.seconds
                give_up_at = progress.seconds + np.clip(share, patience, PATIENCE_HIGH)
            continue
        if isinstance(found, BaseException):
            raise found
        return found
    deputy.abandon()
    leave(thread)
    progress.log(f"The time was up while {engine} was being compiled, or busy.")
    stopped = progress.should_stop()
    assert stopped is not None  # nothing else ends the wait
    return Outcome(SolutionStatus.NOTHING, stopped, engine=engine)


def _run(
    work: Callable[[Progress], Outcome],
    deputy: Progress,
    ended: queue.SimpleQueue[Outcome | BaseException],
) -> None:
    try:
        ended.put(work(deputy))
    except BaseException as error:  # the caller raises it in its own thread
        ended.put(error)
