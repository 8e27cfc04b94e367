"""Integers fixed, the rest by an LP: from a whole point to the best feasible one beside it."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, Start
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.mip.budget import LARGE_MODEL
from solvers.mip.model import SAME, IndexArray, MipModel, is_feasible
from solvers.mip.solutions.polish.continuous import TOLERANCE, ContinuousPart, Solved, WarmSimplex

# What came of polishing a point.


class PolishStatus(Enum):
    """What is known about the integers of a point that was polished."""

    OPTIMAL = "the continuous columns are optimal for these integers"
    FEASIBLE = "the point is feasible; its continuous columns may not be the best"
    INFEASIBLE = "no values of the continuous columns fit these integers"
    LIMIT = "time was up before anything was known"
    FAILED = "what the LP returned misses the tolerances"

    @property
    def has_point(self) -> bool:
        """Whether a feasible point comes with this status."""
        return self in (PolishStatus.OPTIMAL, PolishStatus.FEASIBLE)


def _no_rows() -> IndexArray:
    return np.empty(0, dtype=np.int32)


def _no_entries() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Polished:
    """A polished point."""

    status: PolishStatus
    x: FloatArray | None = None
    """(n,) float64: a point that passes :func:`~solvers.mip.model.is_feasible`, integers exactly
    whole."""
    objective: float = np.inf
    """c'x + offset there; inf without a point."""
    conflict: IndexArray = field(default_factory=_no_rows)
    """(k,) int32: where infeasible: rows that cannot hold together for these integers (those of a
    Farkas ray), or that cannot hold each by itself. Local search may raise their weights."""
    iterations: int = 0
    """Simplex iterations taken."""
    ray: FloatArray = field(default_factory=_no_entries)
    """(k,) float64: entries of the Farkas ray in the rows of ``conflict``, of either sign as a
    whole; empty where there is none."""


# The LP over the continuous columns by PDLP, where it is too large for simplex.


ITERATIONS = 20_000
"""Iterations of one LP, which PDLP would never end where there is no solution."""


class FirstOrder:
    """PDLP from the multipliers of the last LP; one run at a time, from any thread."""

    def __init__(self, model: MipModel, part: ContinuousPart, device: str) -> None:
        self._problem = part.problem(model)
        self._device = "cpu" if device == "cpu" else "auto"  # one GPU is enough
        self._row_dual: FloatArray | None = None
        self._lock = threading.Lock()

    def solve(
        self, low: FloatArray, high: FloatArray, guess: FloatArray, seconds: float
    ) -> tuple[FloatArray | None, bool]:
        """Return values (k,) for row sides (r,) and whether they are optimal.

        ``guess`` (k,) is where to start. What comes back at the time limit may be feasible
        enough or not: the caller checks. None where other threads' LPs took all the time.
        """
        from solvers import pdlp  # few LPs are that large

        progress = Progress(time_limit=seconds)
        options = EngineOptions(
            device=self._device, threads=1, tolerance=TOLERANCE, iteration_limit=ITERATIONS
        )
        with self._lock:
            if progress.should_stop() is not None:
                return None, False
            problem = replace(self._problem, row_lower=low, row_upper=high)
            start = Start(x=guess, row_dual=self._row_dual)
            found = pdlp.solve(problem, options, progress, start)
            self._row_dual = found.row_dual
        return found.x, found.solution_status is SolutionStatus.OPTIMAL


GRACE = 0.5
"""Seconds to wait for an LP beyond its time limit, which simplex keeps except while factorising."""


_Solve = Callable[[FloatArray, FloatArray, float], Solved]


class Polisher:
    """Polishes points of one model; safe to call from any thread, one LP at a time.

    It owns a thread, in which HiGHS lives. Close it, or let it be collected, to end that thread.
    PDLP solves the largest LPs, on a GPU unless ``device`` is "cpu".
    """

    def __init__(self, model: MipModel, device: str = "auto") -> None:
        self._model = model
        self._part = ContinuousPart.of(model)
        self._executor = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="polish")
        self._simplex: WarmSimplex | None = None
        self._first_order: FirstOrder | None = None
        if self._part.matrix.nnz > LARGE_MODEL:
            self._first_order = FirstOrder(model, self._part, device)
        self._has_cost = bool(np.any(model.cost[self._part.columns] != 0.0))

    def __enter__(self) -> Polisher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the thread once the LP under way is done; wait for nothing."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def polish(self, x: FloatArray, seconds: float = np.inf, *, explain: bool = True) -> Polished:
        """Round the integers of a point and give its continuous columns the best values.

        Parameters
        ----------
        x : (n,) float64
            Not changed. Its continuous values matter only where there is no time for the LP.
        seconds : float
            From now, for waiting for other threads' LPs too; inf for no limit.
        explain : bool
            Whether to go on where presolve alone finds that there is no solution, to say which
            rows stand in the way: that takes as long as the LP without presolve.

        Returns
        -------
        Polished
            Where the LP gives nothing but the rounded point itself is feasible, that point.
        """
        deadline = time.monotonic() + seconds
        point = self._model.rounded(np.where(np.isfinite(x), x, 0.0))
        fallback = self._checked(point, PolishStatus.FEASIBLE)
        if fallback is not None and not (self._part.columns.size and self._has_cost):
            return Polished(PolishStatus.OPTIMAL, fallback.x, fallback.objective)
        low, high = self._part.row_sides(self._model, point)
        if fallback is None:
            hopeless = self._part.hopeless_rows(low, high)
            if hopeless.size or not self._part.columns.size:
                return Polished(PolishStatus.INFEASIBLE, conflict=hopeless)
        rows = self._part.rows
        if self._first_order is None:
            answer = self._by_simplex(point, low[rows], high[rows], deadline, explain)
        else:
            answer = self._by_first_order(point, low[rows], high[rows], deadline)
        return fallback if fallback is not None and not answer.status.has_point else answer

    def _by_simplex(
        self, point: FloatArray, low: FloatArray, high: FloatArray, deadline: float, explain: bool
    ) -> Polished:
        def job() -> Polished:
            return self._in_own_thread(point, low, high, deadline, explain)

        left = max(0.0, deadline - time.monotonic())
        future = self._executor.submit(job)
        try:
            return future.result(timeout=left + GRACE if np.isfinite(left) else None)
        except concurrent.futures.TimeoutError:
            future.cancel()
            return Polished(PolishStatus.LIMIT)

    def _in_own_thread(
        self, point: FloatArray, low: FloatArray, high: FloatArray, deadline: float, explain: bool
    ) -> Polished:
        if self._simplex is None:
            self._simplex = WarmSimplex(self._model, self._part)
        simplex, iterations = self._simplex, 0
        tries: list[_Solve] = [simplex.solve_afresh]
        if simplex.is_warm:
            tries.insert(0, simplex.solve_warm)
        while tries:
            left = deadline - time.monotonic()
            if left <= 0:
                return Polished(PolishStatus.LIMIT, iterations=iterations)
            solve = tries.pop(0)
            solved = solve(low, high, left)
            iterations += solved.iterations
            if solved.is_out_of_time:
                break  # the next point goes on from this basis
            says_why = solved.is_infeasible and (solved.ray_rows.size or not explain)
            if solve == simplex.solve_afresh and solved.values is None and not says_why:
                tries.append(simplex.solve)  # presolve may say that it fails, but not why
            elif solved.is_infeasible:
                return Polished(
                    PolishStatus.INFEASIBLE,
                    conflict=solved.ray_rows,
                    iterations=iterations,
                    ray=solved.ray,
                )
            elif solved.values is not None:
                status = PolishStatus.OPTIMAL if solved.is_optimal else PolishStatus.FEASIBLE
                checked = self._with_values(point, solved.values, status, iterations)
                if checked is not None:
                    return checked
        late = solved.is_out_of_time or time.monotonic() >= deadline
        return Polished(PolishStatus.LIMIT if late else PolishStatus.FAILED, iterations=iterations)

    def _by_first_order(
        self, point: FloatArray, low: FloatArray, high: FloatArray, deadline: float
    ) -> Polished:
        assert self._first_order is not None  # chosen because it is there
        guess = point[self._part.columns]
        left = max(0.0, deadline - time.monotonic())
        values, optimal = self._first_order.solve(low, high, guess, left)
        status = PolishStatus.OPTIMAL if optimal else PolishStatus.FEASIBLE
        checked = None if values is None else self._with_values(point, values, status, 0)
        late = time.monotonic() >= deadline
        return checked or Polished(PolishStatus.LIMIT if late else PolishStatus.FAILED)

    def _with_values(
        self, point: FloatArray, values: FloatArray, status: PolishStatus, iterations: int
    ) -> Polished | None:
        """Return the point with these continuous values, tidied, if it is feasible then."""
        columns = self._part.columns
        lower, upper = self._model.lower[columns], self._model.upper[columns]
        inside = np.clip(values, lower, upper)
        snapped = np.where(inside - lower <= SAME, lower, inside)
        snapped = np.where(upper - inside <= SAME, upper, snapped)
        for tidy in (snapped, inside):
            x = point.copy()
            x[columns] = tidy
            checked = self._checked(x, status, iterations)
            if checked is not None:
                return checked
        return None

    def _checked(self, x: FloatArray, status: PolishStatus, iterations: int = 0) -> Polished | None:
        if not is_feasible(self._model, x):
            return None
        return Polished(status, x, self._model.objective_at(x), iterations=iterations)
