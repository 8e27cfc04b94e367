"""Keeping the limit of a mixed-integer solve: whoever is deaf has a moment."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.concurrency import run_beside
from solvers.core.outcome import Outcome
from solvers.core.progress import Progress

PATIENCE_SHARE, PATIENCE_LOW, PATIENCE_HIGH = 0.03, 0.5, 3.0
"""How long a solve may go on after the limit or an interruption to come to its end: this part of
the time used, within bounds in seconds."""


def wait_for(
    work: Callable[[], Outcome],
    progress: Progress,
    otherwise: Callable[[], Outcome],
    is_settled: Callable[[], bool],
) -> Outcome:
    """Run work in a thread and return what it returns; soon after the end, what is known without.

    Parameters
    ----------
    work : callable
        Ends by itself when ``progress`` says so, unless it is at something that cannot.
    progress : Progress
    otherwise : callable
        Returns the answer when nobody waits for the work any longer.
    is_settled : callable
        Whether that answer leaves nothing to wish for, so that the end has come before the limit.

    Raises
    ------
    Exception
        What the work raised.
    """
    found = run_beside(
        work,
        progress,
        "schedule",
        patience=lambda: _patience(progress),
        is_over=lambda: progress.should_stop() is not None or is_settled(),
    )
    if found is not None:
        return found[0]
    if progress.should_stop() is not None:
        progress.log("The time was up while heuristics were busy.")
    return otherwise()


def _patience(progress: Progress) -> float:
    return float(np.clip(PATIENCE_SHARE * progress.seconds, PATIENCE_LOW, PATIENCE_HIGH))
