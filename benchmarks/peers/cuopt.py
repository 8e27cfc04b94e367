"""PDLP of NVIDIA cuOpt on the GPU, through its Python package (``pip install cuopt-cu13``)."""

from __future__ import annotations

from importlib import import_module, metadata, util
from typing import Any

import numpy as np

from benchmarks.linear_programs import LinearProgram
from benchmarks.peers.solver import Answer, Solver, Task

STATUSES = {
    "Optimal": "optimal",
    "PrimalInfeasible": "infeasible",
    "DualInfeasible": "unbounded",
    "TimeLimit": "time_limit",
    "IterationLimit": "iteration_limit",
}
PDLP = 1
"""Number of the method in cuOpt's settings; 0 would run all methods at once."""


class CuOpt(Solver):
    """Its PDLP without crossover, the presolve as by default."""

    own_signs = True

    @property
    def label(self) -> str:
        """Name and version."""
        return f"cuopt {_version()}"

    def missing(self) -> str | None:
        """Say whether the package is installed."""
        return None if util.find_spec("cuopt") else "the package cuopt is not installed"

    def prepare(self, lp: LinearProgram, task: Task) -> Any:
        """Fill a data model."""
        model = import_module("cuopt.linear_programming").DataModel()
        matrix = lp.matrix
        model.set_csr_constraint_matrix(matrix.data, matrix.indices, matrix.indptr)
        model.set_objective_coefficients(lp.cost)
        model.set_objective_offset(lp.offset)
        model.set_constraint_lower_bounds(lp.row_lower)
        model.set_constraint_upper_bounds(lp.row_upper)
        model.set_variable_lower_bounds(lp.lower)
        model.set_variable_upper_bounds(lp.upper)
        return model

    def solve(self, model: Any, task: Task) -> Answer:
        """Solve and read the solution."""
        solution = import_module("cuopt.linear_programming").Solve(model, _settings(task))
        statistics = solution.get_lp_stats() or {}
        iterations = statistics.get("nb_iterations")
        reason = str(solution.get_termination_reason())
        return Answer(
            status=STATUSES.get(reason, "failed"),
            x=np.asarray(solution.get_primal_solution()),
            y=np.asarray(solution.get_dual_solution()),
            iterations=None if iterations is None else int(iterations),
            detail=reason,
        )


def _settings(task: Task) -> Any:
    settings = import_module("cuopt.linear_programming").SolverSettings()
    settings.set_optimality_tolerance(task.tolerance)
    for name, value in (
        ("method", PDLP),
        ("crossover", False),
        ("log_to_console", False),
        ("time_limit", task.time_limit),
        ("presolve", None if task.presolve else 0),
        ("iteration_limit", task.iteration_limit),
    ):
        if value is not None:
            settings.set_parameter(name, value)
    return settings


def _version() -> str:
    for package in ("cuopt-cu13", "cuopt-cu12", "cuopt"):
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return "of unknown version"
