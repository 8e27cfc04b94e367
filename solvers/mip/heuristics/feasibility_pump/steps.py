"""What a pump does between two projections: it rounds, searches nearby, and submits points.

A projection is rounded to the nearest integers, or by fix-and-propagate, bulk by bulk. Local search
from the rounded point has its share of the time. Submitted are points that are whole or may be
feasible, and each once; the cut-off below the best objective is what lets a pump go on to improve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.feasibility_pump.projection import WORK_PER_SECOND, part_for
from solvers.mip.heuristics.fix_and_propagate.bulk import BulkChooser, round_point
from solvers.mip.heuristics.local_search.cpu.walker import Walker
from solvers.mip.inference.domain import Domain
from solvers.mip.model import SAME, MipModel, is_feasible
from solvers.mip.portfolio.budget import SLICE, Budget
from solvers.mip.solutions.incumbents import Pool, Submit

# How a projection is rounded.


ROUNDING_SECONDS = 0.7
"""Time of one rounding (arXiv 2510.20499)."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """A point (n,) with whole integer columns, within its bounds.

    ``is_consistent`` says that propagation met no contradiction on the way, so that an LP over
    the continuous columns is worth its time.
    """

    x: FloatArray
    is_consistent: bool = False


Rounder = Callable[[FloatArray, Budget, int], Rounded]
"""Takes a point (n,) within its bounds, what it may spend and a seed."""


def nearest(model: MipModel) -> Rounder:
    """Return the rounder to the nearest integer."""

    def rounder(x: FloatArray, budget: Budget, seed: int) -> Rounded:
        budget.charge(model.num_columns)
        return Rounded(model.rounded(x))

    return rounder


class Roundings:
    """Rounds carefully while that takes less time than projecting, and to the nearest otherwise.

    On small models propagation takes ten times as long as a warm-started projection, and a pump
    that always waited for it went a tenth of the way.

    Parameters
    ----------
    model : MipModel
    careful : Rounder
    """

    def __init__(self, model: MipModel, careful: Rounder) -> None:
        self._careful = careful
        self._quick = nearest(model)
        self._projecting = 0.0
        self._rounding = 0.0

    def round(
        self, x: FloatArray, budget: Budget, seed: int, effort: float
    ) -> tuple[Rounded, float]:
        """Round a projection that took so long; return the point and what both took.

        Effort is seconds, or work where no clock counts.
        """
        self._projecting += effort
        part = part_for(budget, ROUNDING_SECONDS)
        if self._rounding > self._projecting:
            return self._quick(x, part, seed), effort
        rounded = self._careful(x, part, seed)
        spent = part.seconds if budget.is_timed else part.work
        self._rounding += spent
        return rounded, effort + spent


def by_propagation(
    model: MipModel, chooser_of: Callable[[], BulkChooser | None] | None = None
) -> Rounder:
    """Return the rounder that fixes integers and propagates what follows.

    Parameters
    ----------
    model : MipModel
    chooser_of : callable, optional
        Returns a probing cache, which chooses values that agree, once there is one; asked before
        every rounding.
    """
    domains: list[Domain] = []  # made at the first rounding, which propagates

    def rounder(x: FloatArray, budget: Budget, seed: int) -> Rounded:
        if not domains:
            domain = Domain.of(model)
            domains.append(domain if domain.propagate() else Domain.of(model))
        chooser = None if chooser_of is None else chooser_of()
        found = round_point(model, x, budget, seed, chooser, domains[0])
        return Rounded(found.x, found.is_consistent)

    return rounder


# Local search from the points of a pump, within its share of the time.


Search = Callable[[FloatArray, Budget], tuple[FloatArray, bool]]
"""Takes a point (n,) and what it may spend; returns the best point it saw, and whether that is
feasible."""

NEAR_SHARE = 0.2
"""Part of the time of projection and rounding that is spent around each rounded point
(arXiv 2510.20499, section 2.5)."""

LONG_SECONDS = 3.0
"""What a search that is to leave a circle may spend."""

LONG_SHARE = 0.3
"""Part of the pump's time that such searches may take together."""

SHORTEST = 1e-3
"""No search for fewer seconds than this."""


class Neighbourhood:
    """A local search, if there is one, and its account."""

    def __init__(self, search: Search | None = None) -> None:
        self._search = search
        self._spent = 0.0
        self._elapsed = 0.0

    @property
    def is_there(self) -> bool:
        """Whether there is a search at all."""
        return self._search is not None

    def account(self, effort: float) -> None:
        """Take down seconds, or work, that the pump spent otherwise."""
        self._elapsed += effort

    def near(self, x: FloatArray, budget: Budget, effort: float) -> tuple[FloatArray, bool]:
        """Search around a rounded point for a share of the effort that led to it."""
        seconds = effort if budget.is_timed else effort / WORK_PER_SECOND
        return self._run(x, part_for(budget, max(NEAR_SHARE * seconds, SHORTEST)))

    def around(self, x: FloatArray, budget: Budget) -> tuple[FloatArray, bool]:
        """Search for long, to find a solution or another region."""
        timed = budget.is_timed
        left = budget.seconds_left if timed else budget.work_left / WORK_PER_SECOND
        part = part_for(budget, min(LONG_SECONDS, LONG_SHARE * left))
        found = self._run(x, part)
        self._spent += part.seconds if timed else part.work
        return found

    @property
    def may_search_long(self) -> bool:
        """Whether long searches have not had their share yet."""
        return self.is_there and self._spent <= LONG_SHARE * (self._elapsed + self._spent)

    def _run(self, x: FloatArray, budget: Budget) -> tuple[FloatArray, bool]:
        return (x, False) if self._search is None else self._search(x, budget)


WEIGHTS_KEPT = 0.1
"""Part of the rows' weights that the next search starts with: what was hard before is likely to
be hard again (cuOpt divides them by ten at a restart)."""


def by_walker(model: MipModel, seed: int = 0, pool: Pool | None = None) -> Search:
    """Return a local search for one pump.

    Parameters
    ----------
    model : MipModel
    seed : int
        Of the walker.
    pool : Pool, optional
        The walker looks for points better than the best of them.
    """
    walkers: list[Walker] = []  # made at the first search, which allocates

    def search(x: FloatArray, budget: Budget) -> tuple[FloatArray, bool]:
        if not walkers:
            walkers.append(Walker(model, seed=seed))
        walker = walkers[0]
        walker.start(x, weights=WEIGHTS_KEPT)
        while not budget.spent():
            work = int(min(SLICE, max(1.0, budget.work_left)))
            report = walker.run(work, np.inf if pool is None else pool.objective)
            budget.charge(report.work)
            if report.x is not None:
                return report.x, True
            if report.stale or not report.work:
                break
        return walker.least_violated[0], False

    return search


# Which points are submitted, and how good the next one has to be.


@dataclass
class Counts:
    """What a pump did.

    Parameters
    ----------
    projections, converged : int
        Projections, and how many of them reached their tolerance.
    consistent : int
        Roundings without a contradiction.
    searches, cycles, restarts : int
        Local searches, circles left, beginnings from another point.
    found : int
        Points submitted that were the best so far.
    is_over : bool
        Whether the pump ended by itself: no objective is left to improve, or nothing better than
        the cut-off was there to project on.
    seconds : float
        The time it took.
    """

    projections: int = 0
    converged: int = 0
    consistent: int = 0
    searches: int = 0
    cycles: int = 0
    restarts: int = 0
    found: int = 0
    is_over: bool = False
    seconds: float = 0.0


ASKED = 1e-3
"""Part of the best objective by which a new point has to be better (arXiv 2510.20499)."""

LEAST_ASKED = 1e-6
"""Improvement asked for at the least, as a part of max(1, |objective|)."""


class Target:
    """The best objective known, and what is asked of the next point.

    Parameters
    ----------
    model : MipModel
    pool : Pool, optional
        Where others leave what they find; without one only this pump's own points count.
    bound : float
        Objective, with offset, that no point can beat; -inf where none is known.
    """

    def __init__(self, model: MipModel, pool: Pool | None, bound: float = -np.inf) -> None:
        self._offset = model.offset
        self._pool = pool
        self._own = np.inf
        self._bound = bound
        self._has_objective = bool(model.cost.any())
        self._step = (1.0 - LEAST_ASKED) * model.objective_step

    @property
    def best(self) -> float:
        """Best objective known, with offset; inf without a point."""
        return self._own if self._pool is None else min(self._own, self._pool.objective)

    def note(self, objective: float) -> None:
        """Take down the objective of a point that was accepted."""
        self._own = min(self._own, objective)

    @property
    def cutoff(self) -> float:
        """Largest c'x, without offset, that is good enough; inf where any is."""
        best = self.best
        if not np.isfinite(best):
            return np.inf
        improvement = max(ASKED * abs(best), LEAST_ASKED * max(1.0, abs(best)), self._step)
        return best - improvement - self._offset

    @property
    def is_out_of_reach(self) -> bool:
        """Whether there is a point and nothing to gain: no objective, or a bound in the way."""
        best = self.best
        if not np.isfinite(best):
            return False
        if not self._has_objective:
            return True
        room = SAME * max(1.0, abs(self._bound)) if np.isfinite(self._bound) else 0.0
        return self.cutoff + self._offset < self._bound - room


ACCEPTED = 0.01
"""Sum of the integers' distances from whole numbers up to which a point is worth an LP
(arXiv 2510.20499)."""

TRIED_EVERY = 5
"""Rounded points of which one is submitted although its rows do not hold: an LP may find values of
the continuous columns for it."""


class Proposals:
    """Submits the points of one pump, without repeating itself.

    Parameters
    ----------
    model : MipModel
    submit : Submit
    name : str
        Of the pump.
    target : Target
        Told of what was accepted.
    counts : Counts
        Whose ``found`` is counted up.
    """

    def __init__(
        self, model: MipModel, submit: Submit, name: str, target: Target, counts: Counts
    ) -> None:
        self._model = model
        self._submit = submit
        self._name = name
        self._target = target
        self._counts = counts
        self._known: set[int] = set()
        self._has_continuous = model.integers.size < model.num_columns

    def try_integral(self, x: FloatArray) -> bool:
        """Submit a point (n,) if its integers are nearly whole; return whether it is the best."""
        values = x[self._model.integers]
        if float(np.sum(np.abs(values - np.round(values)))) >= ACCEPTED:
            return False
        return self.propose(self._model.rounded(x), "projection")

    def try_rounded(self, point: FloatArray, is_consistent: bool) -> bool:
        """Submit a rounded point if it is feasible or an LP might make it so."""
        due = is_consistent or self._counts.projections % TRIED_EVERY == 0
        if (self._has_continuous and due) or is_feasible(self._model, point):
            return self.propose(point, "rounding")
        return False

    def propose(self, point: FloatArray, how: str) -> bool:
        """Submit a point unless one with its integers was; return whether it is the best."""
        key = hash((point[self._model.integers] + 0.0).tobytes())  # without the sign of zeros
        if key in self._known:
            return False
        self._known.add(key)
        if not self._submit(point, f"{self._name} {how}"):
            return False
        self._counts.found += 1
        if is_feasible(self._model, point):
            self._target.note(self._model.objective_at(point))
        return True
