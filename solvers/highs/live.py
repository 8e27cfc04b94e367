"""A linear program that stays in HiGHS between solves, for callers who solve it again and again.

HiGHS then needs only the costs, bounds and sides that have changed, and its simplex begins at the
basis that it ended with. Anything but a plain optimum ends that: the next solve begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping

from solvers.highs.channel import Brief, Channel
from solvers.highs.session import Session
from solvers.highs.task import Reply, Setting, Task


class Live:
    """Holds the session of one model's last solve, if it ended well; used by one solve at a time.

    A second solve at the same time finds nothing here and begins anew.
    """

    def __init__(self) -> None:
        self._kept: tuple[Session, Mapping[str, Setting], Reply] | None = None

    def __reduce__(self) -> tuple[type[Live], tuple[()]]:
        return Live, ()  # a copy of it has yet to solve

    def take(self, task: Task, channel: Channel) -> Session | None:
        """Return a session that holds the task's model as it is now, if one can be had."""
        kept, self._kept = self._kept, None
        if kept is None or not isinstance(channel, Brief):
            return None
        session, settings, reply = kept
        own_start = task.x is not None or task.column_status is not None
        if own_start and task.column_status is not reply.column_status:
            return None
        if settings != task.settings or not session.change(task.model):
            return None
        session.channel = channel
        return session

    def keep(self, session: Session, task: Task, reply: Reply) -> None:
        """Keep the session of a plain optimum for the next solve."""
        self._kept = session, task.settings, reply
        del session.channel  # of a solve that has ended
