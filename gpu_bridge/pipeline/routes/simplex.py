"""The route of ``method='simplex'``: HiGHS's simplex on the CPU, our engine on a GPU.

The engine keeps a dense inverse on the device. Both get the model from presolve. A proof of
infeasibility or unboundedness is not mapped back by presolve, so it is found again on the model as
it was given, from the slack basis, where it can be checked. A sparse engine of our own on the CPU
took three times as long as HiGHS's simplex (geometric mean over Netlib) and was removed.
"""

from __future__ import annotations

import dataclasses

from gpu_bridge.options import Options
from gpu_bridge.pipeline.routes import Choice
from solvers.core.device import find_device
from solvers.core.errors import DeviceError, EngineError
from solvers.core.outcome import Outcome, SolutionStatus, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.core.threads import within_limit

PROOFS = (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)

HIGHS = "highs"
"""What the variant ``auto`` means where our engine gains nothing."""

PROOF_SECONDS, PROOF_SHARE = 10.0, 0.5
"""Seconds, and part of the time left, that a proof of what presolve said may take."""

DENSE_SHARE = 0.2
"""Part of the coefficients that are not zero from which ``auto`` calls a model dense.

Only there does an inverse on the GPU save more than sparse triangular solves on the CPU do.
"""

DENSE_ROWS = 500
"""Rows from which the GPU is worth its start on a dense model."""


def run(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Solve a linear program by revised simplex, with presolve as the options say.

    Parameters
    ----------
    problem : Problem
    options : Options
        ``simplex_variant`` and ``device`` say which implementation runs and where.
    choice : Choice
    progress : Progress
    start : Start, optional
        A basis or a point to start from; with a basis presolve is left out.

    Returns
    -------
    Outcome
        In the space of ``problem``, not yet verified.
    """
    if implementation(problem, options) == HIGHS:
        progress.log("On the CPU the simplex method is that of HiGHS.")
        return _by_highs(problem, options, progress, start)
    try:
        return within_limit(
            lambda own: _by_engine(problem, options, own, start), progress, "simplex"
        )
    except DeviceError as failure:  # the inverse does not fit
        progress.log(f"{failure} HiGHS's simplex takes over.")
        return _by_highs(problem, options, progress, start)


def implementation(problem: Problem, options: Options) -> str:
    """Return the variant that ``simplex_variant`` means for a problem: ``auto`` is resolved."""
    if options.simplex_variant != "auto":
        return options.simplex_variant
    if options.device.startswith("cuda"):
        return "dense"
    m, n = problem.num_rows, problem.num_columns
    dense = problem.num_nonzeros >= DENSE_SHARE * m * n and m >= DENSE_ROWS
    return "dense" if dense and find_device(options.device).kind == "cuda" else HIGHS


def place(problem: Problem, options: Options) -> str:
    """Return the device on which the implementation for a problem runs."""
    if implementation(problem, options) == HIGHS:
        return "cpu"
    return options.device if options.device.startswith("cuda") else find_device(options.device).kind


def _by_highs(
    problem: Problem, options: Options, progress: Progress, start: Start | None
) -> Outcome:
    """Run HiGHS's simplex, which presolves by itself, to a vertex."""
    from solvers import highs

    chosen = dataclasses.replace(options, lp_algorithm="simplex", crossover="on")
    return highs.solve(problem, chosen, progress, start)


def _by_engine(
    problem: Problem, options: Options, progress: Progress, start: Start | None
) -> Outcome:
    """Run presolve, our engine, and the way back."""
    from solvers import presolve
    from solvers.simplex.solve import solve

    if not options.presolve or (start is not None and start.basis is not None):
        return solve(problem, options, progress, start)
    reduction = presolve.apply(problem, progress, "highs")
    if reduction.settled is not None:
        return _checked(problem, reduction.settled, options, progress)
    answer = solve(reduction.problem, options, progress)
    if reduction.problem is problem or reduction.undo is None:
        return answer
    if answer.solution_status in PROOFS:
        progress.log("The reduced model has no optimum; looking for a proof on the original one.")
        return solve(problem, options, progress)
    return _on_original(problem, reduction.undo(answer), options, progress)


def _checked(problem: Problem, settled: Outcome, options: Options, progress: Progress) -> Outcome:
    """Find a proof where presolve only says that a model is infeasible, or a point of it.

    Presolve measures absolutely and without regard to what cancels, so that it calls some models
    infeasible that only rounding contradicts. Where the proof takes long, its word stands.
    """
    from solvers.simplex.solve import solve

    if settled.solution_status is not SolutionStatus.INFEASIBLE or settled.dual_ray is not None:
        return settled
    progress.log("Presolve calls the model infeasible; looking for a proof on the original one.")
    with progress.budget(min(PROOF_SECONDS, PROOF_SHARE * progress.time_left)):
        found = solve(problem, options, progress)
    decided = found.solution_status is not SolutionStatus.NOTHING
    return found if decided else settled


def _on_original(
    problem: Problem, undone: Outcome, options: Options, progress: Progress
) -> Outcome:
    """Compute the vertex of a postsolved basis afresh: a pivot or none, and no digit is lost."""
    if undone.solution_status is not SolutionStatus.OPTIMAL or undone.basis is None:
        return undone
    try:
        found = _by_highs(problem, options, progress, Start(basis=undone.basis))
    except EngineError as failure:
        progress.log(f"HiGHS does not take the basis: {failure}")
        return undone
    if found.solution_status is not SolutionStatus.OPTIMAL:
        return undone
    return dataclasses.replace(
        found, engine=undone.engine, device=undone.device, statistics=undone.statistics
    )
