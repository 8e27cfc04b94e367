"""The walkers' run: slices, harvest, rounds; the host's part of them, which is small."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.device import Device, cpu
from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.fleet import (
    Fleet,
    GridWideFleet,
    Plan,
    choose_walkers,
    plan_for,
    steps_for,
)
from solvers.mip.heuristics.local_search.grid_wide import GRID_KERNEL
from solvers.mip.heuristics.local_search.kernels.walk import NONE, Field
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.heuristics.local_search.restarts import (
    FIRST_ROUND,
    GROWTH,
    LONGEST_ROUND,
    Lives,
    Places,
    first_origins,
    gather_points,
    ranking,
    restarts,
)
from solvers.mip.heuristics.local_search.submissions import SOURCE, Submissions
from solvers.mip.model import MipModel, Submit, is_feasible
from solvers.mip.portfolio.credit import WALKS
from solvers.mip.solutions.incumbents import InfeasiblePoints, Pool, is_nearly_feasible

SLICE_SECONDS = 0.03
"""Length of a slice that the number of steps aims at."""

FIRST_STEPS = 64
"""Steps of the first slice where the clock decides; those of the next follow from what it took."""

UNTIMED_STEPS = 200
"""Steps of a slice where no clock may decide."""

MOST_SCORED = 4e7
"""Entries that a slice on the CPU should score at most, a quarter of a second: where columns are
long, a step may score all there are, some of them several times."""

ROUND_SECONDS = 2.0
"""Longest time between rounds where steps are slow."""

SUBMITTED = 3
"""Points submitted after a slice at most: the best, and others for the pool."""

POINTS = 8
"""Points that walkers may restart from: their own where there is no pool, and nearly feasible ones
while there is no feasible one."""

NEAR_TIME = 0.2
"""Part of the time that submitting infeasible points may take."""

NEAR_ROUNDS = 4
"""Rounds between such submissions where no clock may decide, and between looks at others'
points."""

GPU_WORK = 1.0 / 256.0
"""What an entry scored on a GPU counts of one that a core visits: the ratio of their rates."""

STEP_WORK = 120.0
"""Entries that a core visits while a step does all but score entries: 700 ns, at 5.9 ns an entry,
by 64 models of MIPLIB. With one figure for an entry the spread of the models' times is 1.6 times as
large. Loops of other heuristics take 6 ns an entry."""

LEAST_SHARE, LONGEST_PAUSE = 0.05, 0.2
"""Smallest part of the device's time that walkers take, and seconds that they pause at most."""

Log = Callable[[str], None]


@dataclass
class WalkerCounts:
    """What a run came to.

    Parameters
    ----------
    walkers : int
        Walkers at the end; 0 where there was no room for one.
    steps, moves : int
        Steps of all walkers, columns moved.
    visited : float
        Entries of the matrix scored.
    found, submitted, infeasible_points : int
        Better points kept by walkers, points submitted, and nearly feasible ones submitted.
    seconds : float
        Time on the device.
    """

    walkers: int = 0
    steps: int = 0
    moves: int = 0
    visited: float = 0.0
    slices: int = 0
    rounds: int = 0
    restarts: int = 0
    found: int = 0
    submitted: int = 0
    infeasible_points: int = 0
    seconds: float = 0.0


def run_walkers(
    model: MipModel,
    device: Device,
    submit: Submit,
    budget: Budget,
    seed: int,
    *,
    pool: Pool | None = None,
    infeasible_points: InfeasiblePoints | None = None,
    log: Log | None = None,
    share: Callable[[], float] | None = None,
) -> WalkerCounts:
    """Search with thousands of walkers on a GPU, or a few on the CPU, until the budget is spent.

    Blocks the calling thread, which gets a stream of its own; ends early where every walker is
    done, as in models without an objective, or where not even one fits the memory.

    Parameters
    ----------
    submit : callable
        Gets the best new points after each slice, checked on the host, and now and then a nearly
        feasible one of a model with continuous columns, for the LP behind it to complete.
    budget : Budget
        Asked after each slice. On a GPU an entry visited counts ``GPU_WORK``.
    pool : Pool, optional
        Its best objective is what walkers have to beat, its points are places to restart from.
    infeasible_points : InfeasiblePoints, optional
        Gets the least violated point of each round without a feasible one, and has those of others,
        from which walkers restart.
    log : callable, optional
        Gets sentences about the memory plan, the number of walkers, and the end.
    share : callable, optional
        Returns the part of the time that the device is due to the walkers; they pause for the rest.
        A slice fills the device, so that what runs beside it gets little. Only with a time limit.

    Returns
    -------
    WalkerCounts
    """
    if model.num_columns == 0 or budget.spent():
        return WalkerCounts()
    layout = Layout.of(model, wide=device.kind == "cpu")
    plan = plan_for(layout, device)
    say = log if log is not None else _silent
    task = Task(model, submit, seed, pool, infeasible_points)
    while plan.ladder:
        say(f"Local search plans {plan}.")
        try:
            with device.activate():
                # no name for the run: it would keep a failed attempt's arrays
                return Run(task, layout, device, plan, threaded=budget.is_timed).run_once(
                    budget, say, share
                )
        except Exception as error:
            if not device.is_out_of_memory(error):
                raise
        device.release_memory()  # here the failed attempt's arrays are gone
        say("The device's memory is full: local search tries half as many walkers.")
        plan = plan.halved()
    say("There is no memory for walkers on the device: local search goes on without it.")
    return WalkerCounts()


def walkers_on_cpu(
    model: MipModel,
    submit: Submit,
    seed: int,
    *,
    pool: Pool | None = None,
    infeasible_points: InfeasiblePoints | None = None,
    layout: Layout | None = None,
) -> Run:
    """Return a few walkers for one thread, which submits their points itself.

    Parameters
    ----------
    layout : Layout, optional
        Of the model, in 64 bits, where several share it.
    """
    layout = layout if layout is not None else Layout.of(model, wide=True)
    task = Task(model, submit, seed, pool, infeasible_points, WALKS)
    return Run(task, layout, cpu(), plan_for(layout, cpu()))


def _silent(_: str) -> None:
    pass


@dataclass(frozen=True, eq=False)
class Task:
    """What is searched: the arguments of :func:`run_walkers`."""

    model: MipModel
    submit: Submit
    seed: int
    pool: Pool | None = None
    infeasible_points: InfeasiblePoints | None = None
    source: str = SOURCE


class Run:
    """The fleet, what it has found, and where its rounds stand; for one thread at a time.

    Each call of :meth:`run` goes on where the last one ended.
    """

    def __init__(
        self, task: Task, layout: Layout, device: Device, plan: Plan, *, threaded: bool = False
    ) -> None:
        self._model = task.model
        self._layout = layout
        self._plan = plan
        self._budget = Budget(work=0.0)
        self._pool = task.pool
        self._infeasible_points = task.infeasible_points
        self._rng = np.random.default_rng([task.seed, 44])
        kind = GridWideFleet if plan.kernel == GRID_KERNEL else Fleet
        self._fleet = kind(layout, device, plan, task.seed)
        self._timed = False
        self._on_gpu = device.kind == "cuda"
        self._best = NONE
        self._seen = np.zeros(self._fleet.walkers)
        self._last_infeasible: bytes = b""
        self._version = -1
        self._renewed = False
        self._places: Places | None = None
        self._own: list[FloatArray] = []
        self._round_steps = float(FIRST_ROUND)
        self._charged = self._scored = 0.0
        self._submissions = Submissions(task.submit, task.source, threaded=threaded)
        self._threaded = threaded
        self._steps = self._walked = 0
        self._before = 0.0
        self.is_done = False
        self.counts = WalkerCounts()

    def run(
        self, budget: Budget, say: Log = _silent, share: Callable[[], float] | None = None
    ) -> WalkerCounts:
        """Walk, slice after slice, until the budget is spent or nothing is left to improve."""
        self._budget, self._timed = budget, budget.is_timed
        if not self._steps:
            self._steps = self._begin(say)
        self._walk(share)
        self._before += budget.seconds
        self._count_submissions()
        return self.counts

    def run_once(self, budget: Budget, say: Log, share: Callable[[], float] | None) -> WalkerCounts:
        """Walk as :meth:`run` does for the last time, and submit what is left."""
        try:
            self.run(budget, say, share)
        finally:
            self._submissions.close()
        self._count_submissions()
        say(self._summary())
        return self.counts

    def _count_submissions(self) -> None:
        self.counts.submitted = self._submissions.submitted
        self.counts.infeasible_points = self._submissions.infeasible_points

    def _walk(self, share: Callable[[], float] | None) -> None:
        round_began = time.monotonic()
        while not (self.is_done or self._budget.spent()):
            steps = self._steps
            self._fleet.launch(steps)
            self._submissions.hand_over()  # what the slice before has found, while this one runs
            records = self._fleet.records()
            self._count(records, steps)
            self.is_done = self._harvest(records)
            self._aim(records)
            self._fleet.steer(records)
            self._walked += steps
            late = self._timed and time.monotonic() - round_began > ROUND_SECONDS
            if self._walked >= self._round_steps or late:
                self._round(records)
                self._walked, round_began = 0, time.monotonic()
            if self._timed:
                if share is not None:
                    self._pause(share())
                self._steps = steps_for(SLICE_SECONDS, steps, self._fleet.seconds())
            elif not self._on_gpu:
                self._steps = min(UNTIMED_STEPS, steps_for(MOST_SCORED, steps, self._scored))
        if not self._threaded:
            self._submissions.hand_over()

    def _pause(self, share: float) -> None:
        """Leave the device to others after a slice, so that ``share`` of the time is walked."""
        part = min(max(share, LEAST_SHARE), 1.0)
        rest = self._fleet.seconds() * (1.0 - part) / part
        if rest > 0.0:
            time.sleep(min(rest, self._budget.seconds_left, LONGEST_PAUSE))

    # ---- begin --------------------------------------------------------------------------------

    def _begin(self, say: Log) -> int:
        """Set walkers to their starts and choose their number; return steps of a slice."""
        fleet, plan = self._fleet, self._plan
        places = self._refresh_places()
        fleet.restart(*first_origins(fleet.walkers, places, self._rng))
        records = fleet.records()
        self._aim(records)
        fleet.steer(records)
        steps = FIRST_STEPS if self._timed else UNTIMED_STEPS
        if not self._on_gpu:
            every = max(1, fleet.walkers * self._layout.entries)
            steps = max(1, min(steps, int(MOST_SCORED / every)))
        if not self._timed:
            fleet.keep_first(plan.first)
        elif len(plan.ladder) > 1:
            number, steps = choose_walkers(fleet, plan, self._budget)
            fleet.keep_first(number)
        self.counts.walkers = fleet.walkers
        say(f"Local search runs {fleet.walkers} walkers with numbers of type {self._layout.real}.")
        self._seen = np.zeros(fleet.walkers)
        self._lives = Lives(fleet.walkers, self._rng)
        self._renewed = False
        return steps

    # ---- between slices -----------------------------------------------------------------------

    def _count(self, records: np.ndarray, steps: int) -> None:
        counts = self.counts
        counts.slices += 1
        counts.steps += steps * self._fleet.walkers
        counts.moves = int(records[:, Field.MOVES].sum())
        visited = float(records[:, Field.VISITED].sum())
        self._scored, counts.visited = visited - counts.visited, visited
        counts.seconds += self._fleet.seconds()
        on_cpu = counts.visited + counts.steps * STEP_WORK
        work = counts.visited * GPU_WORK if self._on_gpu else on_cpu
        self._budget.charge(work - self._charged)
        self._charged = work

    def _incumbent(self) -> float:
        """Return the best objective known, without the constant term."""
        known = np.inf if self._pool is None else self._pool.objective - self._model.offset
        return min(self._best, known, NONE)

    def _aim(self, records: np.ndarray) -> None:
        """Give walkers the best objective known, and targets below it."""
        incumbent = self._incumbent()
        if incumbent >= NONE:
            return
        limits = np.minimum(records[:, Field.LIMIT], incumbent)
        step = np.maximum(
            records[:, Field.FRACTION] * np.maximum(1.0, np.abs(limits)),
            records[:, Field.GRANULARITY],
        )
        records[:, Field.LIMIT] = limits
        records[:, Field.TARGET] = np.minimum(records[:, Field.TARGET], limits - step)

    def _harvest(self, records: np.ndarray) -> bool:
        """Fetch the best new points; return whether nothing is left to search for."""
        fresh = np.flatnonzero(records[:, Field.KEPT] > self._seen)
        self._seen = records[:, Field.KEPT].copy()
        self.counts.found += int(fresh.size)
        self._lives.note(fresh, records)
        best_first = fresh[np.argsort(records[fresh, Field.BEST], kind="stable")]
        before, points = self._incumbent(), []
        for walker in best_first[:SUBMITTED]:
            if records[walker, Field.BEST] >= before:
                break
            point = self._model.rounded(self._fleet.kept(int(walker)))
            if is_feasible(self._model, point):
                self._best = min(self._best, float(self._model.cost @ point))
                points.append(point)
                self._own = [point, *self._own][:POINTS]
            else:  # slack has drifted: forget the point
                records[walker, Field.REFRESH] = 1.0
                records[walker, [Field.BEST, Field.LIMIT, Field.TARGET]] = NONE
        self._submissions.add(points[::-1])
        return self._layout.objectives == 0 and self._best < NONE

    def _seconds(self) -> float:
        """Return the time of all turns so far."""
        return self._before + self._budget.seconds

    # ---- rounds -------------------------------------------------------------------------------

    def _round(self, records: np.ndarray) -> None:
        """Let walkers restart near what is known by now, and show the least violated point."""
        self._show_infeasible(records)
        places = self._refresh_places()
        if places.known:
            origins, weights, shares = self._lives.restarts(
                records, places, self._incumbent(), renewed=self._renewed
            )
        else:
            origins, weights, shares = restarts(records, len(places.points), self._rng)
        self._renewed = False
        self._fleet.restart(origins, weights, shares)
        self._round_steps = min(GROWTH * self._round_steps, float(LONGEST_ROUND))
        self.counts.rounds += 1
        self.counts.restarts += int(np.sum(origins >= 0))

    def _refresh_places(self) -> Places:
        """Bring the points to start from up to date, and note whether there is a better one."""
        known = self._own
        version = self.counts.found
        if self._pool is not None:
            version, known = self._pool.version, [one.x for one in self._pool.points()]
        if not known:  # infeasible points come and go
            version = -2 - self.counts.rounds // NEAR_ROUNDS
        if self._places is None or version != self._version:
            self._places = gather_points(self._layout, self._nearest(), known)
            self._fleet.set_points(self._places.points)
            self._version, self._renewed = version, bool(known)
        return self._places

    def _nearest(self) -> list[FloatArray]:
        """Return the infeasible points that others have shown, while there is no better."""
        infeasible = self._infeasible_points
        if infeasible is None or (self._pool is not None and len(self._pool)):
            return []
        return [one.x for one in infeasible.points()[:POINTS]]

    def _show_infeasible(self, records: np.ndarray) -> None:
        walker = int(ranking(records)[0])
        violated = int(records[walker, Field.VIOLATED])
        if violated == 0 or records[walker, Field.BEST] < NONE:
            return
        incumbent = self._incumbent()
        if self._infeasible_points is not None and incumbent >= NONE:
            self._infeasible_points.add(self._model.rounded(self._fleet.point(walker)), violated)
        some = self._layout.integers < self._layout.columns
        if not some or not is_nearly_feasible(violated, self._layout.rows):
            return
        if self._timed and self._submissions.infeasible_seconds > NEAR_TIME * self._seconds():
            return
        if not self._timed and self.counts.rounds % NEAR_ROUNDS:
            return
        point = self._model.rounded(self._fleet.point(walker))
        key = point[self._model.integers].tobytes()
        if key != self._last_infeasible:
            self._submissions.add_infeasible(point)
            self._last_infeasible = key

    def _summary(self) -> str:
        counts = self.counts
        rate = counts.steps / counts.seconds if counts.seconds > 0.0 else 0.0
        return (
            f"Local search made {counts.steps:.3g} steps with {counts.walkers} walkers, "
            f"{rate:.3g} per second, in {counts.rounds} rounds, and submitted {counts.submitted} "
            "points."
        )
