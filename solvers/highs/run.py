"""The one place that looks at what a task asks for."""

from __future__ import annotations

from dataclasses import replace

from solvers.highs.channel import Channel
from solvers.highs.live import Live
from solvers.highs.lp import solve_lp
from solvers.highs.mip import solve_mip
from solvers.highs.task import Finding, Reply, Task, Work


def run(task: Task, channel: Channel, live: Live | None = None) -> Reply:
    """Do a task with HiGHS in the calling thread; a linear program from where it ended last."""
    if task.work is Work.CONFLICT:
        from solvers.highs.conflict import find_conflict

        return find_conflict(task, channel)
    if task.work is Work.CROSSOVER:
        from solvers.highs.vertex import move_to_vertex

        return move_to_vertex(task, channel)
    if task.model.is_mip:
        return solve_mip(task, channel)
    reply = solve_lp(task, channel, live)
    if not task.crossover or reply.column_status is not None or channel.stop() is not None:
        return reply
    point = reply.candidate if reply.x is None else reply.x
    if point is None or reply.finding is Finding.UNBOUNDED:
        return reply
    from solvers.highs.vertex import move_to_vertex  # few need it

    return move_to_vertex(replace(task, x=point, row_dual=reply.row_dual), channel)
