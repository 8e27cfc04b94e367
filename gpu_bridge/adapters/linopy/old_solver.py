"""The solver class of linopy 0.7, which gives a solver a file or, if asked, the model.

It looks for a solver in a list of names, and for what it can do in a table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import linopy.solvers
import pandas as pd
from linopy.constants import Result, Solution
from linopy.solver_capabilities import SOLVER_REGISTRY, SolverFeature, SolverInfo
from linopy.solvers import Solver

from gpu_bridge.adapters.linopy.answer import duals_of, linopy_status, solve_with_files
from gpu_bridge.adapters.linopy.model import read_model
from gpu_bridge.files import read_problem
from gpu_bridge.interrupt import solving
from gpu_bridge.outcome import Outcome

FEATURES = (
    *("INTEGER_VARIABLES", "DIRECT_API", "LP_FILE_NAMES", "READ_MODEL_FROM_FILE"),
    *("SOLUTION_FILE_NOT_NEEDED", "GPU_ACCELERATION"),
)
"""What linopy's table says of the solver."""


class GpuHeur(Solver):  # type: ignore[misc]
    """gpu-bridge as a solver of linopy; options go by our names or those of other solvers."""

    @solving()
    def solve_problem_from_model(
        self, model: Any, *, explicit_coordinate_names: bool = False, **files: Any
    ) -> Result:
        """Solve a model without a file, as ``io_api="direct"`` asks for."""
        held, matrices = read_model(model), model.matrices
        held.outcome, loaded = solve_with_files(held.problem, self.solver_options, **files)
        return _result(held.outcome, loaded, matrices.vlabels, matrices.clabels, held)

    @solving()
    def solve_problem_from_file(self, problem_fn: Path, **files: Any) -> Result:
        """Solve the model that linopy has written to a file, whose names are its labels."""
        outcome, loaded = solve_with_files(
            lambda: read_problem(problem_fn), self.solver_options, **files
        )
        problem = outcome.problem
        names = (None, None) if problem is None else (problem.column_names, problem.row_names)
        return _result(outcome, loaded, *names, outcome)


def register(name: str) -> None:
    """Put the solver into linopy's lists."""
    linopy.solvers.available_solvers.append(name)
    known = frozenset(getattr(SolverFeature, feature) for feature in FEATURES)
    SOLVER_REGISTRY[name] = SolverInfo(name=name, features=known, display_name="gpu-bridge")


def _result(outcome: Outcome, loaded: bool, columns: Any, rows: Any, held: Any) -> Result:
    solution = Solution()
    if loaded and outcome.x is not None and columns is not None:
        y = duals_of(outcome)
        dual = solution.dual if y is None else pd.Series(y, list(rows), dtype=float)
        x = pd.Series(outcome.x, list(columns), dtype=float)
        solution = Solution(x, dual, outcome.objective)
    return Result(linopy_status(outcome, has_values=loaded), solution, held)
