"""A linear program that stays in HiGHS between solves, for callers who solve it again and again.

HiGHS then needs only the costs, bounds and sides that have changed, and the rows and columns that
have come at the end, such as cuts; its simplex begins at the basis that it ended with. Anything but
a plain optimum ends that: the next solve begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from solvers.core.outcome import BasisStatus
from solvers.core.process_state import Analyses
from solvers.highs.session import Session
from solvers.highs.task import Brief, Channel, Reply, Setting, Task


class Live:
    """Holds the session of one model's last solve, if it ended well; used by one solve at a time.

    A second solve at the same time finds nothing here and begins anew. ``analyses`` are what
    another engine keeps of the model's structure.

    Whether a solve is a matter of moments depends on the model and on what else the machine does.
    Where one was not, the next is not tried, after a second one the next three, then seven.
    """

    def __init__(self) -> None:
        self._misses = 0
        self._passed_over = 0
        self.analyses = Analyses()
        self._kept: tuple[Session, Mapping[str, Setting], Reply] | None = None

    def __reduce__(self) -> tuple[type[Live], tuple[()]]:
        return Live, ()  # a copy of it has yet to solve

    @property
    def may_be_brief(self) -> bool:
        """Whether the next solve may be a matter of moments."""
        return self._passed_over == 0

    def was_brief(self, brief: bool | None) -> None:
        """Note whether a solve was a matter of moments; None where that was not tried."""
        if brief is None:
            self._passed_over = max(0, self._passed_over - 1)
            return
        self._misses = 0 if brief else self._misses + 1
        self._passed_over = 2**self._misses - 1

    def take(self, task: Task, channel: Channel) -> Session | None:
        """Return a session that holds the task's model as it is now, if one can be had."""
        kept, self._kept = self._kept, None
        if kept is None or not isinstance(channel, Brief):
            return None
        session, settings, reply = kept
        own_start = task.x is not None or task.basis is not None
        if own_start and not _is_the_basis_left(task, reply):
            return None
        if settings != task.settings or not session.change(task.model):
            return None
        session.channel = channel
        return session

    def keep(self, session: Session, task: Task, reply: Reply) -> None:
        """Keep the session of a plain optimum for the next solve."""
        self._kept = session, task.settings, reply
        del session.channel  # of a solve that has ended


def _is_the_basis_left(task: Task, reply: Reply) -> bool:
    """Whether a task starts from a reply's basis, with new rows basic and new columns not."""
    basis, left = task.basis, reply.basis
    if basis is None or left is None:
        return False
    if basis is left:
        return True
    columns, rows = basis.column_status, basis.row_status
    n, m = left.column_status.size, left.row_status.size
    return (
        np.array_equal(columns[:n], left.column_status)
        and np.array_equal(rows[:m], left.row_status)
        and not bool((columns[n:] == BasisStatus.BASIC).any())
        and bool((rows[m:] == BasisStatus.BASIC).all())
    )
