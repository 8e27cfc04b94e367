"""A linear program that stays in HiGHS between solves, for callers who solve it again and again.

HiGHS then needs only the costs, bounds and sides that have changed, and its simplex begins at the
basis that it ended with. Anything but a plain optimum ends that: the next solve begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.highs.channel import Brief, Channel
from solvers.highs.session import Session
from solvers.highs.task import Model, Reply, Setting, Task


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
        if settings != task.settings or not _change(session, task.model):
            return None
        session.channel = channel
        return session

    def keep(self, session: Session, task: Task, reply: Reply) -> None:
        """Keep the session of a plain optimum for the next solve."""
        self._kept = session, task.settings, reply
        del session.channel  # of a solve that has ended


def _change(session: Session, model: Model) -> bool:
    """Bring the model of a session up to date; False where another session is needed."""
    old = session.model
    highs: Any = session.highs  # its stub file misses one of the methods
    if not (
        _are_same(old.start, model.start)
        and _are_same(old.index, model.index)
        and _are_same(old.value, model.value)
        and not model.is_mip
        and old.num_columns == model.num_columns
    ):
        return False
    taken = []
    places = _different(old.cost, model.cost)
    if places.size:
        taken.append(highs.changeColsCost(places.size, places, model.cost[places]))
    places = _different(old.lower, model.lower, old.upper, model.upper)
    if places.size:
        bounds = model.lower[places], model.upper[places]
        taken.append(highs.changeColsBounds(places.size, places, *bounds))
    places = _different(old.row_lower, model.row_lower, old.row_upper, model.row_upper)
    if places.size:
        bounds = model.row_lower[places], model.row_upper[places]
        taken.append(highs.changeRowsBounds(places.size, places, *bounds))
    if old.offset != model.offset:
        taken.append(highs.changeObjectiveOffset(model.offset))
    session.model = model
    return session.has_taken(taken)


def _are_same(one: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> bool:
    return one is other or np.array_equal(one, other)


def _different(*pairs: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    """Return where one of several pairs of vectors differs, which come one after the other."""
    differs = pairs[0] != pairs[1]
    for k in range(2, len(pairs), 2):
        differs |= pairs[k] != pairs[k + 1]
    return np.flatnonzero(differs).astype(np.int32)
