"""The interior point of a race on the CPU: our own where its factor is sparse, HiGHS's else.

Which of the two it is, is known after presolve, layout and ordering. Of 50 models of Netlib and
``lp-large`` with 20 to 500 thousand coefficients these took 0.01 to 1.3 s of a core, and on 17 the
factor was not sparse: there they came on top of what HiGHS's interior point takes, up to three
quarters of it. So that one begins beside them after a moment, and ends as soon as the factor is
known to be sparse. Where it is neither sparse nor dense both go on, and the first answer counts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from solvers.core.outcome import Outcome, StopReason
from solvers.core.progress import DetachableProgress, Progress
from solvers.core.threads import leave, start_thread

HEAD_START = 1.5e-6
"""Seconds for each coefficient that ours has alone. 29 of the 33 models with a sparse factor were
known by then, and HiGHS's interior point gets 3.1 of the 4.7 s that the other 17 took."""

Own = Callable[[Progress, Callable[[bool], None]], "Outcome | None"]
"""Our own method: takes its progress and what to tell before it iterates, whether its factor is
sparse; returns None where it is dense, or where the method gives up."""


def fitting_interior_point(
    own: Own, reference: Callable[[Progress], Outcome], progress: Progress, num_nonzeros: int | None
) -> Outcome:
    """Return the answer of our own method if it fits the model, else that of HiGHS.

    Parameters
    ----------
    own : callable
    reference : callable
        HiGHS's method; takes its progress.
    progress : Progress
        That of both.
    num_nonzeros : int or None
        Coefficients of the model; None if the two may not be at work at the same time.

    Raises
    ------
    Exception
        What HiGHS's method raised, where ours has no answer either.
    """
    ours, theirs = DetachableProgress(progress), DetachableProgress(progress)
    found: list[Outcome | None] = []
    is_known = threading.Event()

    def begin(is_sparse: bool) -> None:
        if is_sparse:
            theirs.abandon()
        if is_sparse or num_nonzeros is not None:
            is_known.set()

    def work() -> None:
        try:
            found.append(own(ours, begin))
            if found[0] is not None and found[0].stop_reason is StopReason.CONVERGED:
                theirs.abandon()
        finally:
            is_known.set()

    # where ours fails HiGHS's goes on, as where ours gives up
    thread = start_thread("interior point", work, lambda failure: found.append(None))
    is_known.wait(None if num_nonzeros is None else HEAD_START * num_nonzeros)
    answer, raised = None, None
    if not found and not theirs.abandoned:
        try:
            answer = reference(theirs)
        except Exception as error:  # ours is still at work
            raised = error
    if answer is not None and answer.stop_reason is StopReason.CONVERGED:
        ours.abandon()
        leave(thread)
        return answer
    thread.join()
    if found[0] is not None:
        return found[0]
    if raised is not None and not theirs.abandoned:
        raise raised
    if answer is None or theirs.abandoned:
        return reference(progress)
    return answer
