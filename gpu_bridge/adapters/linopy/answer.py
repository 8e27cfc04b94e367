"""What a solve of a linopy model is told, and what its answer is called there.

linopy's status *ok* means that there are values.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from linopy.constants import SolverStatus, Status
from linopy.constants import TerminationCondition as Condition

from gpu_bridge.adapters.arrays import explanation, may_be_loaded, solve_made, why_not_loaded
from gpu_bridge.files.solution import read_basis, read_solution, write_basis, write_solution
from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.outcome import Start
from solvers.core.problem import FloatArray, Problem

logger = logging.getLogger(__name__)

_SETTLED = {
    SolutionStatus.OPTIMAL: Condition.optimal,
    SolutionStatus.APPROXIMATE: Condition.imprecise,
    SolutionStatus.INFEASIBLE: Condition.infeasible,
    SolutionStatus.UNBOUNDED: Condition.unbounded,
}
_STOPPED = {
    StopReason.CONVERGED: Condition.suboptimal,
    StopReason.TIME_LIMIT: Condition.time_limit,
    StopReason.ITERATION_LIMIT: Condition.iteration_limit,
    StopReason.INTERRUPTED: Condition.user_interrupt,
    StopReason.EXHAUSTED: Condition.suboptimal,
    StopReason.NUMERICAL_TROUBLE: Condition.imprecise,
    StopReason.OUT_OF_MEMORY: Condition.resource_interrupt,
}


def linopy_status(outcome: Outcome, *, has_values: bool) -> Status:
    """Return linopy's status, *ok* exactly where the model gets values.

    Without values an answer that linopy would call *ok*, such as one at a time limit, is a
    *warning*, as its infeasible and unbounded ones are.
    """
    settled = _SETTLED.get(outcome.solution_status)
    condition = _STOPPED[outcome.stop_reason] if settled is None else settled
    status = Status.from_termination_condition(condition)
    if has_values:
        status.status = SolverStatus.ok
    elif status.is_ok:
        status.status = SolverStatus.warning
    status.legacy_status = explanation(outcome) if has_values else why_not_loaded(outcome)
    return status


def read_start(path: Path, problem: Problem) -> Start:
    """Return the point of a solution file, or the basis of a basis file."""
    if not path.is_file() or not path.read_bytes().startswith(b"{"):
        return Start(x=read_solution(path, problem))
    return Start(basis=None if problem.is_mip else read_basis(path, problem))


def write_files(outcome: Outcome, solution_fn: Path | None, basis_fn: Path | None) -> None:
    """Write the files that a caller asks for: values, and the basis if there is one."""
    for path in (solution_fn, basis_fn):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    if solution_fn is not None:
        write_solution(outcome, solution_fn)
    if basis_fn is not None and not write_basis(outcome, basis_fn):
        logger.warning("The answer has no basis, so '%s' was not written.", basis_fn)


def solve_with_files(
    make: Callable[[], Problem],
    given: Mapping[str, Any],
    otherwise: Callable[[], Start | None] = lambda: None,
    *,
    solution_fn: Path | None = None,
    log_fn: Path | None = None,
    warmstart_fn: Path | None = None,
    basis_fn: Path | None = None,
    **ignored: Any,
) -> tuple[Outcome, bool]:
    """Solve a problem, with the files that linopy names; also return whether its point counts.

    Parameters
    ----------
    make : callable
        Returns the problem.
    given : mapping
        Options.
    otherwise : callable
        Returns where to start without the file ``warmstart_fn``.
    solution_fn, log_fn, warmstart_fn, basis_fn : Path, optional
        Where the values go, the log, where a point or a basis to start from is read, and where the
        basis goes.
    **ignored
        What linopy has for other solvers.
    """
    began = perf_counter()
    options = make_options(given, None if log_fn is None else {"log_file": log_fn})

    def start(problem: Problem) -> Start | None:
        return otherwise() if warmstart_fn is None else read_start(warmstart_fn, problem)

    outcome = solve_made(make, options, began, start)
    write_files(outcome, solution_fn, basis_fn)
    return outcome, may_be_loaded(outcome, options)


def duals_of(outcome: Outcome) -> FloatArray | None:
    """Return the duals of a linear program, which a mixed-integer one does not have."""
    is_mip = outcome.problem is not None and outcome.problem.is_mip
    return None if is_mip else outcome.row_dual
