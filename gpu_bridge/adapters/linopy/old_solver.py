"""The solver class of linopy 0.7, which gives a solver a file or, if asked, the model.

It looks for a solver in a list of names, and for what it can do in a table.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import linopy.solvers
import pandas as pd
from linopy.constants import Result, Solution
from linopy.solver_capabilities import SOLVER_REGISTRY, SolverFeature, SolverInfo
from linopy.solvers import Solver

from gpu_bridge.adapters.arrays import may_be_loaded, solve_made
from gpu_bridge.adapters.linopy.answer import (
    duals_of,
    linopy_status,
    read_options,
    read_start,
    write_files,
)
from gpu_bridge.adapters.linopy.model import read_model
from gpu_bridge.files import read_problem
from gpu_bridge.interrupt import solving
from gpu_bridge.outcome import Outcome
from solvers.core.outcome import Start
from solvers.core.problem import Problem

FEATURES = (
    *("INTEGER_VARIABLES", "DIRECT_API", "LP_FILE_NAMES", "READ_MODEL_FROM_FILE"),
    *("SOLUTION_FILE_NOT_NEEDED", "GPU_ACCELERATION"),
)
"""What linopy's table says of the solver."""


class GpuHeur(Solver):  # type: ignore[misc]
    """gpu-bridge as a solver of linopy; options go by our names or those of other solvers."""

    @solving()
    def solve_problem_from_model(
        self,
        model: Any,
        solution_fn: Path | None = None,
        log_fn: Path | None = None,
        warmstart_fn: Path | None = None,
        basis_fn: Path | None = None,
        env: None = None,
        explicit_coordinate_names: bool = False,
    ) -> Result:
        """Solve a model without a file, as ``io_api="direct"`` asks for."""
        held, files = read_model(model), (solution_fn, log_fn, warmstart_fn, basis_fn)
        matrices = model.matrices
        held.outcome, result = self._solve(held.problem, *files)
        if held.outcome.x is not None and result.status.is_ok:
            labels = matrices.vlabels, matrices.clabels
            result.solution = _solution(held.outcome, *labels)
        result.solver_model = held
        return result

    @solving()
    def solve_problem_from_file(
        self,
        problem_fn: Path,
        solution_fn: Path | None = None,
        log_fn: Path | None = None,
        warmstart_fn: Path | None = None,
        basis_fn: Path | None = None,
        env: None = None,
    ) -> Result:
        """Solve the model that linopy has written to a file, whose names are its labels."""
        files = (solution_fn, log_fn, warmstart_fn, basis_fn)
        outcome, result = self._solve(lambda: read_problem(problem_fn), *files)
        if outcome.problem is not None and outcome.x is not None and result.status.is_ok:
            names = outcome.problem.column_names, outcome.problem.row_names
            result.solution = _solution(outcome, *names)
        result.solver_model = outcome
        return result

    def _solve(
        self,
        make: Any,
        solution_fn: Path | None,
        log_fn: Path | None,
        warmstart_fn: Path | None,
        basis_fn: Path | None,
    ) -> tuple[Outcome, Result]:
        began = perf_counter()
        options = read_options(self.solver_options, log_fn)

        def start(problem: Problem) -> Start | None:
            return None if warmstart_fn is None else read_start(warmstart_fn, problem)

        outcome = solve_made(make, options, began, start)
        write_files(outcome, solution_fn, basis_fn)
        status = linopy_status(outcome, has_values=may_be_loaded(outcome, options))
        return outcome, Result(status, Solution())


def register(name: str) -> None:
    """Put the solver into linopy's lists."""
    linopy.solvers.available_solvers.append(name)
    known = frozenset(getattr(SolverFeature, feature) for feature in FEATURES)
    SOLVER_REGISTRY[name] = SolverInfo(name=name, features=known, display_name="gpu-bridge")


def _solution(outcome: Outcome, columns: Any, rows: Any) -> Solution:
    y = duals_of(outcome)
    dual = Solution().dual if y is None else pd.Series(y, list(rows), dtype=float)
    return Solution(pd.Series(outcome.x, list(columns), dtype=float), dual, outcome.objective)
