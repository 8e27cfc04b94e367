"""The one place that looks at what a task asks for."""

from __future__ import annotations

from solvers.highs.channel import Channel
from solvers.highs.lp import solve_lp
from solvers.highs.mip import solve_mip
from solvers.highs.task import Reply, Task, Work
from solvers.highs.vertex import move_to_vertex


def run(task: Task, channel: Channel) -> Reply:
    """Do a task with HiGHS in the calling thread."""
    if task.work is Work.CROSSOVER:
        return move_to_vertex(task, channel)
    return solve_mip(task, channel) if task.model.is_mip else solve_lp(task, channel)
