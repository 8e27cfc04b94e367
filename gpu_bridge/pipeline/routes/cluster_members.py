"""Who takes part in solving one model on a cluster: seeds, emphases, and parts of the model."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from gpu_bridge.cluster.connection import Node, unpack, unpack_start
from gpu_bridge.interrupt import interruptible
from gpu_bridge.options import Options
from gpu_bridge.pipeline.routes.mip import mip_route
from solvers.core.errors import DeviceError
from solvers.core.outcome import Outcome, SolutionStatus
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.core.threads import start_thread

MEMBER_CORES = 8
"""Cores of a member: two branch and bounds, and six threads of heuristics."""

LEAST_FOR_LEAVES = 4
"""Members from which on half of them have parts of the model, as a power of two allows."""

DEEPEST = 6
"""Branching decisions, at most."""

SEED_STEP = 7919
"""Distance of the members' seeds, so that they are none that a user is likely to try next."""


@dataclass(frozen=True)
class Seat:
    """What a member has."""

    cores: int
    gpus: int


@dataclass(frozen=True)
class Member:
    """One of those who solve the model."""

    name: str
    seat: Seat
    seed: int
    points_only: bool = False
    """Only heuristics, no branch and bound."""
    leaf: int | None = None
    """Number of its part of the model; None for the whole."""


def seats(nodes: Sequence[Node], options: Options) -> list[Seat]:
    """Return what there is room for on the nodes, those with a GPU first.

    Raises
    ------
    DeviceError
        A GPU was asked for, and no node has one.
    """
    found: list[Seat] = []
    for node in nodes:
        gpus = 0 if options.device == "cpu" else node.gpus
        cores = node.cpus
        for _ in range(gpus):
            size = options.threads or max(1, min(MEMBER_CORES, node.cpus // gpus))
            found.append(Seat(size, 1))
            cores -= size
        if not options.device.startswith("cuda") and cores > 0:
            size = options.threads or min(MEMBER_CORES, cores)
            found += [Seat(size, 0)] * (cores // size)
    if options.device.startswith("cuda") and not found:
        raise DeviceError(
            f"device='{options.device}' was asked for, but no node of the cluster has a GPU; use "
            "device='cpu' or 'auto'."
        )
    # one in any case: a cluster that grows does so when there is something to do
    found = found or [Seat(options.threads or 1, 0)]
    return sorted(found, key=lambda seat: -seat.gpus)


def line_up(seats: Sequence[Seat], options: Options) -> list[Member]:
    """Return who takes which seat: the first is what one machine would do."""
    depth = 0
    if len(seats) >= LEAST_FOR_LEAVES and not options.heuristics_only:
        depth = min(DEEPEST, (len(seats) // 2).bit_length() - 1)
    leaves = 2**depth if depth else 0
    members: list[Member] = []
    for number, seat in enumerate(seats):
        seed = (options.seed + SEED_STEP * number) % 2**31
        leaf = number - (len(seats) - leaves)
        if leaf >= 0:
            members.append(Member(f"leaf {leaf}", seat, seed, leaf=leaf))
        elif number % 3 == 2 or options.heuristics_only:
            members.append(Member(f"points, seed {seed}", seat, seed, points_only=True))
        else:
            members.append(Member(f"seed {seed}", seat, seed))
    return members


def depth_of(members: Sequence[Member]) -> int:
    """Return how many branching decisions make the parts of these members."""
    return sum(member.leaf is not None for member in members).bit_length() - 1


# A few branching decisions that part a model: on columns that its relaxation leaves undecided.


UNDECIDED = 1e-3
"""Distance from a whole number from which a column counts as undecided."""

Bounds = tuple[int, float, float]
"""A column, and the bounds that a decision leaves it."""


def part(problem: Problem, depth: int, options: Options, progress: Progress) -> list[list[Bounds]]:
    """Return decisions that part a problem: every point keeps those of one of the parts.

    They are on the columns that are farthest from whole in the solution of the relaxation, weighted
    by their entries: both sides of such a decision change much.

    Returns
    -------
    list of list of Bounds
        2 to the power of ``depth`` parts; none where so many columns are not undecided, or where
        the relaxation was not solved.
    """
    from solvers import highs

    root = highs.solve(problem.relaxation(), options, progress)
    if root.x is None or root.solution_status is not SolutionStatus.OPTIMAL:
        return []
    distance = np.where(problem.integrality, np.abs(root.x - np.rint(root.x)), 0.0)
    score = distance * problem.columns.lengths
    columns = np.argsort(-score, kind="stable")[:depth]
    if columns.size < depth or distance[columns].min() < UNDECIDED:
        return []
    sides = [_sides(problem, int(j), float(root.x[j])) for j in columns]
    return [list(chosen) for chosen in product(*sides)]


def _sides(problem: Problem, column: int, value: float) -> tuple[Bounds, Bounds]:
    below = float(np.floor(value))
    down = (column, float(problem.lower[column]), below)
    return down, (column, below + 1.0, float(problem.upper[column]))


def within(problem: Problem, decisions: Sequence[Bounds]) -> Problem:
    """Return the part of a problem that some decisions leave."""
    lower, upper = problem.lower.copy(), problem.upper.copy()
    for column, low, high in decisions:
        lower[column], upper[column] = low, high
    return problem.with_limits(lower, upper, problem.row_lower.copy(), problem.row_upper.copy())


# A member at work: one solve on a worker, which hears of the others' points and bounds.


MEET_AGAIN = 0.1
"""Seconds between two meetings with the others."""

Point = tuple[float, FloatArray, str]
Meet = Callable[[int, Point | None, float, int | None], tuple[bool, int, Point | None, float]]
"""What :meth:`gpu_bridge.cluster.remote.Exchange.meet` takes and returns."""


class MemberProgress(Progress):
    """The progress of one member: what it finds goes to the others, and theirs comes to it.

    Parameters
    ----------
    time_limit : float
    name : str
        Of the member, for the source of its points.
    meet : callable
    leaf : int or None
        The member's part of the model. It ends where its bound shows that others have what is as
        good as all there.
    rel_gap, abs_gap : float
        Gaps at which that is so.
    """

    def __init__(
        self,
        time_limit: float,
        name: str,
        meet: Meet,
        leaf: int | None,
        rel_gap: float,
        abs_gap: float,
    ) -> None:
        super().__init__(time_limit)
        self._name, self._meet, self._leaf = name, meet, leaf
        self._gaps = rel_gap, abs_gap
        self._found: Point | None = None
        self._version = 0
        self._take: Callable[[FloatArray, str], object] | None = None
        self._latest: Point | None = None
        self._closed = threading.Event()

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Take note of a better point for the next meeting."""
        with self._lock:
            if not super().incumbent(objective, source, x):
                return False
            if x is not None:
                self._found = objective, np.array(x), f"{source} ({self._name})"
            return True

    def listen(self, take: Callable[[FloatArray, str], object]) -> None:
        """Let the others' points be given to ``take``, the latest at once."""
        self._take = take
        if self._latest is not None:
            take(*self._latest[1:])

    def meet_until_closed(self) -> None:
        """Meet the others again and again."""
        while not self._closed.wait(MEET_AGAIN):
            self.meet()

    def meet(self) -> None:
        """Tell the others of what is new, and hear of theirs."""
        with self._lock:
            found, self._found = self._found, None
            bound = self.best_bound
        told = -np.inf if np.isnan(bound) else bound
        over, self._version, news, proven = self._meet(self._version, found, told, self._leaf)
        if over:
            self.interrupt()
        if np.isfinite(proven):
            self.bound(proven, "the others")
        if news is not None:
            self._latest = news
            if self._take is not None:
                self._take(*news[1:])
        if self._leaf is not None and self._latest is not None and self._is_as_good(bound):
            self.interrupt()

    def _is_as_good(self, bound: float) -> bool:
        """Whether the others' best point is as good as all that a bound allows."""
        assert self._latest is not None  # asked by the caller
        best, (rel_gap, abs_gap) = self._latest[0], self._gaps
        return best - bound <= max(abs_gap, rel_gap * abs(best))

    def close(self) -> None:
        """Meet a last time, and no more."""
        self._closed.set()
        self.meet()


def solve_member(
    exchange: Any,
    base: Any,
    start: Any,
    options: dict[str, Any],
    name: str,
    decisions: Sequence[Bounds],
    leaf: int | None,
) -> Outcome:
    """Solve a model, or a part of it, on a worker; return what the engine says."""
    import ray

    def meet(*told: Any) -> Any:
        return ray.get(exchange.meet.remote(*told))

    own = Options(**options)
    problem = unpack(base) if leaf is None else within(unpack(base), decisions)
    limit = np.inf if own.time_limit is None else own.time_limit
    progress = MemberProgress(limit, name, meet, leaf, own.rel_gap, own.abs_gap)
    with interruptible(progress):
        # where the driver is gone there is nobody to solve for
        thread = start_thread(
            "exchange", progress.meet_until_closed, lambda failure: progress.interrupt()
        )
        try:
            found = mip_route(problem, own, progress, unpack_start(start), exactly=leaf is None)
        finally:
            progress.close()
            thread.join()
    return dataclasses.replace(found, seconds=progress.seconds)
