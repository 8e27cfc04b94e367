"""The LP over the continuous columns, kept in one HiGHS object from point to point.

HiGHS ties its scheduler to the operating-system thread it first ran in, so an object of this kind
is made, used and dropped in one thread; :class:`~solvers.mip.solutions.polish.polisher.Polisher`
sees to that. No callback is subscribed: simplex would take Python's lock at every iteration.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from highspy import _core

from solvers.core.errors import EngineError
from solvers.core.problem import FloatArray
from solvers.highs.task import Setting
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.solutions.polish.split import ContinuousPart

Status = _core.HighsModelStatus

PRIMAL_TOLERANCE = 1e-8
"""A hundredth of what points are checked by, because HiGHS measures on a scaled LP first."""

LONGEST = 1e9
"""Seconds that stand for "no limit" with HiGHS."""

WARM_FACTOR, WARM_AT_LEAST = 2, 500
"""A warm start may take so many times the iterations of the last solve from nothing, and at least
so many; what takes longer has lost its way, and presolve and a new basis are quicker. (Of a network
with 16 000 rows one warm start took 18 000 iterations, and presolve with a new basis 1 100.)"""

SIMPLEX_PART = 0.4
"""Part of the time of an LP from nothing that simplex has before interior point takes over: of a
network design with 14 000 columns simplex took 34 000 iterations in 24 s, interior point 2.5 s."""

MOST_ITERATIONS = 2**31 - 1
"""What stands for "no limit" with HiGHS."""

RAY_ENTRY = 1e-9
"""Entries of a Farkas ray below this part of its largest are rounding."""

SETTINGS: dict[str, Setting] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "presolve": "off",  # it would throw the basis away
    "primal_feasibility_tolerance": PRIMAL_TOLERANCE,
    "small_matrix_value": 1e-12,
    "large_matrix_value": float("inf"),
    "infinite_bound": float("inf"),
    "infinite_cost": float("inf"),
}


@dataclass(frozen=True, eq=False)
class Solved:
    """The answer of one LP.

    ``values`` (k,) are those of the continuous columns where there is an optimum, or where the LP
    is unbounded and they are merely feasible; ``ray_rows`` the rows of the Farkas ray, and ``ray``
    its entries there.
    """

    status: Any
    values: FloatArray | None
    ray_rows: IndexArray
    iterations: int
    ray: FloatArray

    @property
    def is_infeasible(self) -> bool:
        """Whether the LP is proven to have no solution."""
        return bool(self.status == Status.kInfeasible)

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time limit ended it."""
        return bool(self.status == Status.kTimeLimit)

    @property
    def is_too_long(self) -> bool:
        """Whether the limit of iterations ended it."""
        return bool(self.status == Status.kIterationLimit)

    @property
    def is_optimal(self) -> bool:
        """Whether ``values`` are optimal."""
        return bool(self.status == Status.kOptimal)


class WarmSimplex:
    """Dual simplex from the last basis, for one LP with changing row sides.

    ``is_warm`` says whether there is a basis to go on from.

    Parameters
    ----------
    model : MipModel
    part : ContinuousPart
        What is left of it with the integers fixed.
    """

    def __init__(self, model: MipModel, part: ContinuousPart) -> None:
        self.is_warm = False
        self._prefers_interior = False
        self._warm_limit = WARM_AT_LEAST
        self._rows = part.rows
        self._row_numbers = np.arange(part.rows.size, dtype=np.int32)
        self._column_numbers = np.arange(part.columns.size, dtype=np.int32)
        self._cost = model.cost[part.columns]
        self._highs: Any = _core._Highs()  # its stub file misses some methods
        for name, value in SETTINGS.items():
            self._highs.setOptionValue(name, value)
        free = np.full(part.rows.size, np.inf)
        matrix = part.matrix
        status = self._highs.passModel(
            part.columns.size,
            part.rows.size,
            matrix.nnz,
            int(_core.MatrixFormat.kRowwise),
            int(_core.ObjSense.kMinimize),
            0.0,
            self._cost,
            model.lower[part.columns],
            model.upper[part.columns],
            -free,
            free,
            matrix.indptr.astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data,
            np.zeros(part.columns.size, dtype=np.int32),
        )
        if status == _core.HighsStatus.kError:
            raise EngineError(
                "The reference engine refuses the continuous part of the model: its coefficients "
                "may be out of range; rescale the variables."
            )

    def solve_warm(self, low: FloatArray, high: FloatArray, seconds: float) -> Solved:
        """Solve like :meth:`solve`, within the iterations that a warm start may take."""
        self._highs.setOptionValue("simplex_iteration_limit", self._warm_limit)
        try:
            return self.solve(low, high, seconds)
        finally:
            self._highs.setOptionValue("simplex_iteration_limit", MOST_ITERATIONS)

    def solve(self, low: FloatArray, high: FloatArray, seconds: float) -> Solved:
        """Solve for row sides (r,) within ``seconds``, going on from the last basis."""
        self._highs.changeRowsBounds(self._row_numbers.size, self._row_numbers, low, high)
        status = self._run(seconds)
        self.is_warm = True
        if status == Status.kUnbounded:
            return self._any_feasible(seconds)
        return self._answer(status)

    def solve_afresh(self, low: FloatArray, high: FloatArray, seconds: float) -> Solved:
        """Solve from nothing and with presolve: at first, and where warm starts take too long.

        By simplex, and where that is slow by interior point, then and ever after. Where presolve
        finds that there is no solution, there is no ray either.
        """
        began = time.monotonic()
        if not self._prefers_interior:
            solved = self._presolved(low, high, SIMPLEX_PART * seconds)
            self.is_warm = solved.is_optimal
            self._warm_limit = max(WARM_AT_LEAST, WARM_FACTOR * solved.iterations)
            self._prefers_interior = solved.is_out_of_time
            if not solved.is_out_of_time:
                return solved
        return self._interior(low, high, seconds - (time.monotonic() - began))

    def _interior(self, low: FloatArray, high: FloatArray, seconds: float) -> Solved:
        """Solve by interior point, without a basis."""
        self._highs.setOptionValue("solver", "ipm")
        self._highs.setOptionValue("run_crossover", "off")
        try:
            return self._presolved(low, high, max(0.0, seconds))
        finally:
            self._highs.setOptionValue("solver", "simplex")
            self._highs.setOptionValue("run_crossover", "on")
            self._highs.clearSolver()
            self.is_warm = False

    def _presolved(self, low: FloatArray, high: FloatArray, seconds: float) -> Solved:
        self._highs.clearSolver()
        self._highs.setOptionValue("presolve", "on")
        try:
            return self.solve(low, high, seconds)
        finally:
            self._highs.setOptionValue("presolve", "off")

    def _run(self, seconds: float) -> Any:
        # HiGHS adds the time of all runs up before it compares
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + min(seconds, LONGEST))
        self._highs.run()
        return self._highs.getModelStatus()

    def _any_feasible(self, seconds: float) -> Solved:
        """Solve without costs, for a point of an LP that improves without limit."""
        count = self._column_numbers.size
        self._highs.changeColsCost(count, self._column_numbers, np.zeros(count))
        try:
            answer = self._answer(self._run(seconds))
        finally:
            self._highs.changeColsCost(count, self._column_numbers, self._cost)
        if answer.is_optimal:
            return replace(answer, status=Status.kUnbounded)
        return answer

    def _answer(self, status: Any) -> Solved:
        iterations = max(0, int(self._highs.getInfo().simplex_iteration_count))
        values = None
        if status == Status.kOptimal:
            values = np.array(self._highs.getSolution().col_value, dtype=np.float64)
        rows, ray = np.empty(0, dtype=np.int32), np.empty(0)
        if status == Status.kInfeasible:
            rows, ray = self._ray()
        return Solved(status, values, rows, iterations, ray)

    def _ray(self) -> tuple[IndexArray, FloatArray]:
        _, exists, ray = self._highs.getDualRay()
        if not exists:
            return np.empty(0, dtype=np.int32), np.empty(0)
        entries = np.array(ray, dtype=np.float64)
        size = np.abs(entries)
        large = size > RAY_ENTRY * np.max(size, initial=0.0)
        return self._rows[large], entries[large]
