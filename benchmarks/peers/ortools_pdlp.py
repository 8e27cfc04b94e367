"""PDLP of OR-tools on the CPU, through its own interface (``pip install ortools``)."""

from __future__ import annotations

from importlib import import_module, metadata, util
from typing import Any

import numpy as np

from benchmarks.linear_programs import LinearProgram
from benchmarks.peers.solver import Answer, Solver, Task

STATUSES = {
    "OPTIMAL": "optimal",
    "PRIMAL_INFEASIBLE": "infeasible",
    "DUAL_INFEASIBLE": "unbounded",
    "TIME_LIMIT": "time_limit",
    "ITERATION_LIMIT": "iteration_limit",
}


class OrToolsPdlp(Solver):
    """With its presolve and as many threads as the task allows."""

    @property
    def label(self) -> str:
        """Name and version."""
        return f"OR-tools {metadata.version('ortools')} pdlp"

    def missing(self) -> str | None:
        """Say whether the package is installed."""
        return None if util.find_spec("ortools") else "the package ortools is not installed"

    def prepare(self, lp: LinearProgram, task: Task) -> Any:
        """Make a quadratic program without quadratic part."""
        program = import_module("ortools.pdlp.python.pdlp").QuadraticProgram()
        program.resize_and_initialize(len(lp.cost), len(lp.row_lower))
        program.objective_vector = lp.cost
        program.objective_offset = lp.offset
        program.constraint_matrix = lp.matrix.tocsc()
        program.constraint_lower_bounds = lp.row_lower
        program.constraint_upper_bounds = lp.row_upper
        program.variable_lower_bounds = lp.lower
        program.variable_upper_bounds = lp.upper
        return program

    def solve(self, model: Any, task: Task) -> Answer:
        """Solve with relative tolerances alone, as everybody here."""
        reasons = import_module("ortools.pdlp.solve_log_pb2").TerminationReason
        pdlp = import_module("ortools.pdlp.python.pdlp")
        result = pdlp.primal_dual_hybrid_gradient(model, _parameters(task))
        log = result.solve_log
        reason = reasons.Name(log.termination_reason)
        words = reason.removeprefix("TERMINATION_REASON_")
        return Answer(
            status=STATUSES.get(words, "failed"),
            x=np.array(result.primal_solution),
            y=np.array(result.dual_solution),
            iterations=int(log.iteration_count),
            loop_seconds=float(log.solve_time_sec - log.preprocessing_time_sec),
            detail=words,
        )


def _parameters(task: Task) -> Any:
    parameters = import_module("ortools.pdlp.solvers_pb2").PrimalDualHybridGradientParams()
    parameters.num_threads = task.threads
    parameters.presolve_options.use_glop = task.presolve
    criteria = parameters.termination_criteria
    criteria.simple_optimality_criteria.eps_optimal_absolute = task.tolerance
    criteria.simple_optimality_criteria.eps_optimal_relative = task.tolerance
    criteria.time_sec_limit = task.time_limit
    if task.iteration_limit is not None:
        criteria.iteration_limit = task.iteration_limit
    return parameters
