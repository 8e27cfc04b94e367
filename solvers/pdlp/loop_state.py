"""What the main loop remembers from window to window, and the windows that it has under way."""

from __future__ import annotations

import math
from dataclasses import dataclass

from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.pdlp.execution.iteration_blocks import Windows
from solvers.pdlp.intermediate_points import Keeping
from solvers.pdlp.milestone import Milestone
from solvers.pdlp.one_sided_weight import OneSided
from solvers.pdlp.polishing_schedule import Finishing
from solvers.pdlp.scaling_stagnation import Patience
from solvers.pdlp.shrinking import Compaction
from solvers.pdlp.stagnation import Stalling
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Record
from solvers.pdlp.termination import Criteria
from solvers.pdlp.weight_correction import Balance

TRIALS = 2
"""Windows of a state whose records are waited for before a queue is kept: a GPU tries its ways of
running a window in them, and whatever were queued behind would run in the first way, which on some
models takes four times as long as the other (``windows_gpu``)."""


@dataclass(eq=False)
class Course:
    """What the loop remembers from window to window.

    ``windows`` may run on a part of the problem only (``compaction``); ``state`` is that of the
    whole, and is brought up to date before anybody looks at a point in it. Of ``windows``,
    ``tried`` counts the first records that were taken, up to ``TRIALS``. ``error_then`` is the
    error when a look for a certificate was due last, and before that of the first window.
    """

    state: State
    options: EngineOptions
    progress: Progress
    whole_windows: Windows
    windows: Windows
    compaction: Compaction
    balance: Balance
    one_sided: OneSided
    criteria: Criteria
    began: float
    record: Record
    submitted: int = 0
    tried: int = 0
    next_certificate: float = 0.0
    error_then: float = math.inf
    breakdowns: int = 0
    rejections: int = 0
    milestone: Milestone | None = None
    next_milestone: float = math.inf
    keeping: Keeping | None = None
    earlier: int = 0
    patience: Patience | None = None
    finishing: Finishing | None = None
    stalling: Stalling | None = None


def submit(course: Course) -> None:
    """Keep as many windows under way as the device takes, within the iteration limit."""
    limit = course.options.iteration_limit
    depth = course.windows.depth
    if course.tried < TRIALS:
        depth = min(depth, TRIALS - course.tried)
    while course.windows.pending < depth:
        count = course.state.settings.check_interval
        if limit is not None:
            count = min(count, limit - course.submitted)
        if count <= 0:
            return
        course.windows.submit(count)
        course.submitted += count


def take(course: Course) -> None:
    """Wait for the record of the next window."""
    course.record = course.windows.take()
    course.tried = min(TRIALS, course.tried + 1)


def settle(course: Course) -> None:
    """Wait for the windows under way, and take the last one's record."""
    course.windows.drain()
    while course.windows.pending:
        take(course)


def flush(course: Course) -> None:
    """Take the records of windows that did nothing because the one before said stop."""
    course.windows.drain()
    while course.windows.pending:
        course.windows.take()
    course.submitted = course.record.iterations
