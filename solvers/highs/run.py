"""The one place that looks at what a task asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from solvers.highs.channel import Channel
from solvers.highs.lp import settle, solve_lp
from solvers.highs.mip import solve_mip
from solvers.highs.session import Session
from solvers.highs.task import Finding, Reply, Task, Work


def run(task: Task, channel: Channel, begun: tuple[Session, Any] | None = None) -> Reply:
    """Do a task with HiGHS in the calling thread.

    ``begun`` is the session of a linear program after its first run, with its status.
    """
    if task.work is Work.CONFLICT:
        from solvers.highs.conflict import find_conflict

        return find_conflict(task, channel)
    if task.work is Work.CROSSOVER:
        from solvers.highs.vertex import move_to_vertex

        return move_to_vertex(task, channel)
    if task.model.is_mip:
        return solve_mip(task, channel)
    reply = solve_lp(task, channel) if begun is None else settle(*begun, task, channel)
    if not task.crossover or reply.column_status is not None or channel.stop() is not None:
        return reply
    point = reply.candidate if reply.x is None else reply.x
    if point is None or reply.finding is Finding.UNBOUNDED:
        return reply
    from solvers.highs.vertex import move_to_vertex  # few need it

    return move_to_vertex(replace(task, x=point, row_dual=reply.row_dual), channel)
