"""Projections by HiGHS's simplex, each from the basis in which the last one ended."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from highspy import _core

from solvers.core.errors import EngineError
from solvers.core.problem import FloatArray, Problem
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.heuristics.feasibility_pump.projector import Projection
from solvers.mip.portfolio.budget import Budget

Status = _core.HighsModelStatus
CALL_OK = (_core.HighsStatus.kOk, _core.HighsStatus.kWarning)
LIMITS = (Status.kTimeLimit, Status.kIterationLimit, Status.kInterrupt)
SMALLEST_KEPT = 1e-12
"""Smallest matrix entry that HiGHS can be told to keep."""

LEAST_ITERATIONS = 20
"""Iterations of a run at the least where work is counted."""

DUAL = 1
"""HiGHS's number of the dual simplex method."""


@dataclass(frozen=True, eq=False)
class Basis:
    """HiGHS's statuses of the columns (n,) and rows (m,)."""

    columns: Sequence[Any]
    rows: Sequence[Any]


class Simplex:
    """One HiGHS object with one matrix, in a thread of its own.

    HiGHS ties its scheduler to the thread of the first run and to the number of threads asked
    for then; the thread keeps that, and the waiting caller, out of each other's way.

    Parameters
    ----------
    problem : Problem
        The matrix, and what else the first run starts from.
    seed : int
        Of HiGHS's perturbations.
    basis : Basis, optional
        To start from; missing columns are at their lower bound, missing rows basic.
    presolve : bool
        Whether HiGHS may presolve a run without a basis. What a limit cuts short then leaves no
        basis either, and the next run starts from nothing again.

    Raises
    ------
    EngineError
        HiGHS does not take the problem.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int = 0,
        basis: Basis | None = None,
        *,
        presolve: bool = True,
    ) -> None:
        self._problem = problem
        self._columns = np.arange(problem.num_columns, dtype=np.int32)
        self._rows = np.arange(problem.num_rows, dtype=np.int32)
        self._now = _vectors_of(problem)
        self._iteration_work = problem.num_nonzeros + problem.num_columns + problem.num_rows
        self._budget: Budget | None = None
        self.iterations = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="simplex")
        self._highs: Any = None
        self._presolve = "choose" if presolve else "off"
        self._thread.submit(self._open, seed, basis).result()

    def close(self) -> None:
        """Drop the HiGHS object and end its thread."""
        self._thread.submit(self._drop).result()
        self._thread.shutdown()

    def project(self, request: Request, budget: Budget) -> Projection:
        """Solve with other vectors, from the last basis, within the budget."""
        return self._thread.submit(self._project, request, budget).result()

    def solve(self, budget: Budget) -> Projection:
        """Solve with the present vectors; stops soon when the budget's ``stop`` says so."""
        return self._thread.submit(self._solve_interruptibly, budget).result()

    def begin_at(self, basis: Basis) -> None:
        """Let the next run start from a basis; see the constructor's."""
        self._thread.submit(self._set_basis, basis).result()

    def basis(self) -> Basis | None:
        """Return the last basis, if there is a valid one."""
        return self._thread.submit(self._read_basis).result()

    def _open(self, seed: int, basis: Basis | None) -> None:
        problem = self._problem
        self._highs = highs = _core._Highs()
        smallest = float(np.min(np.abs(problem.matrix.data), initial=np.inf))
        settings: dict[str, bool | int | str | float] = {
            "output_flag": False,
            "threads": 1,
            "solver": "simplex",
            "simplex_strategy": DUAL,
            "presolve": self._presolve,
            "random_seed": seed % 2**31,
            **({"small_matrix_value": SMALLEST_KEPT} if smallest <= 1e-9 else {}),
        }
        for name, value in settings.items():
            highs.setOptionValue(name, value)
        A = problem.matrix
        found = highs.passModel(
            problem.num_columns,
            problem.num_rows,
            problem.num_nonzeros,
            int(_core.MatrixFormat.kRowwise),
            int(_core.ObjSense.kMinimize),
            problem.offset,
            problem.cost,
            problem.lower,
            problem.upper,
            problem.row_lower,
            problem.row_upper,
            A.indptr.astype(np.int32),
            A.indices.astype(np.int32),
            A.data,
            np.zeros(problem.num_columns, dtype=np.int32),
        )
        if found not in CALL_OK:
            raise EngineError("The reference engine does not take the projection's matrix.")
        if basis is not None:
            self._set_basis(basis)

    def _drop(self) -> None:
        self._highs = None

    def _set_basis(self, basis: Basis) -> None:
        kinds = _core.HighsBasisStatus
        made = _core.HighsBasis()
        new_columns = self._columns.size - len(basis.columns)
        new_rows = self._rows.size - len(basis.rows)
        made.col_status = [*basis.columns, *[kinds.kLower] * new_columns]
        made.row_status = [*basis.rows, *[kinds.kBasic] * new_rows]
        made.valid = True
        made.alien = True
        self._highs.setBasis(made)

    def _read_basis(self) -> Basis | None:
        basis = self._highs.getBasis()
        return Basis(list(basis.col_status), list(basis.row_status)) if basis.valid else None

    def _project(self, request: Request, budget: Budget) -> Projection:
        self._update(request)
        return self._run(budget)

    def _solve_interruptibly(self, budget: Budget) -> Projection:
        """Run with a callback, which costs the interpreter's lock at every iteration."""

        def on_callback(kind: Any, message: str, out: Any, into: Any, user: Any) -> None:
            if into is not None:
                into.user_interrupt = budget.spent()

        interrupt = _core.cb.HighsCallbackType.kCallbackSimplexInterrupt
        self._highs.setCallback(on_callback, None)
        self._highs.startCallback(interrupt)
        try:
            return self._run(budget)
        finally:
            self._highs.stopCallback(interrupt)

    def _update(self, request: Request) -> None:
        """Hand over the vectors that differ from the last ones."""
        now, new = self._now, _vectors_of(request)
        highs = self._highs
        if not np.array_equal(now["cost"], new["cost"]):
            highs.changeColsCost(self._columns.size, self._columns, new["cost"])
        for low, high, numbers, change in (
            ("lower", "upper", self._columns, highs.changeColsBounds),
            ("row_lower", "row_upper", self._rows, highs.changeRowsBounds),
        ):
            differs = (now[low] != new[low]) | (now[high] != new[high])
            places = numbers[differs]
            if places.size:
                change(places.size, places, new[low][differs], new[high][differs])
        self._now = new

    def _run(self, budget: Budget) -> Projection:
        highs = self._highs
        before = highs.getRunTime()  # HiGHS's limit is on the time of all runs together
        highs.setOptionValue("time_limit", min(before + budget.seconds_left, 1e9))
        if np.isfinite(budget.work_left):
            iterations = int(budget.work_left / self._iteration_work)
            limit = min(max(iterations, LEAST_ITERATIONS), 2**31 - 1)
            highs.setOptionValue("simplex_iteration_limit", limit)
        highs.run()
        status = highs.getModelStatus()
        count = max(0, int(highs.getInfo().simplex_iteration_count))
        self.iterations += count
        budget.charge(self._iteration_work * (1.0 + count))
        found = highs.getSolution()
        x, y = np.zeros(self._columns.size), np.zeros(self._rows.size)
        if found.value_valid:
            x = np.array(found.col_value, dtype=np.float64)
        if found.dual_valid:
            y = np.array(found.row_dual, dtype=np.float64)
        if status not in (Status.kOptimal, Status.kInfeasible, *LIMITS):
            highs.clearSolver()  # what is left may not be a basis to go on from
        x = np.clip(np.nan_to_num(x), self._now["lower"], self._now["upper"])
        return Projection(
            x,
            y,
            is_converged=status == Status.kOptimal,
            is_empty=status == Status.kInfeasible,
            is_cut_short=status in LIMITS,
        )


def _vectors_of(source: Problem | Request) -> dict[str, FloatArray]:
    names = ("cost", "lower", "upper", "row_lower", "row_upper")
    return {name: getattr(source, name) for name in names}
