"""PDLP, barrier and all methods at once of NVIDIA cuOpt on the GPU (``pip install cuopt-cu13``)."""

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
CONCURRENT, PDLP, BARRIER = 0, 1, 3
"""Numbers of the methods in cuOpt's settings."""


class CuOpt(Solver):
    """Its PDLP without crossover, the presolve as by default."""

    own_signs = True
    method, words = PDLP, ""

    @property
    def label(self) -> str:
        """Name, version, and the method if it is not PDLP."""
        return f"cuopt {_version()}{self.words}"

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
        solution = import_module("cuopt.linear_programming").Solve(
            model, _settings(task, self.method)
        )
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


class Barrier(CuOpt):
    """Its interior point method."""

    first_order = False
    method, words = BARRIER, " barrier"


class Concurrent(CuOpt):
    """All its methods at once, of which the first answer counts."""

    first_order = False
    method, words = CONCURRENT, " concurrent"


def _settings(task: Task, method: int) -> Any:
    settings = import_module("cuopt.linear_programming").SolverSettings()
    settings.set_optimality_tolerance(task.tolerance)
    for name, value in (
        ("method", method),
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
