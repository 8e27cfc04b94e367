"""Interior point linear programming: a homogeneous primal-dual method on the CPU or a GPU.

``loop.py`` is the method; ``standard_form.py`` prepares a problem for it, ``starting_point.py`` and
``directions.py`` are words of the papers, and ``linear_system.py`` with ``assembly.py`` solves the
equations of each iteration by ``on_host.py`` on the CPU and ``cudss.py`` on a GPU, after an
``analysis.py`` that later solves may share. ``docs/interior-point.md`` explains the method and its
measurements.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from solvers.core.device import Device, cpu, find_device
from solvers.core.errors import DeviceError
from solvers.core.lp_answer import Norms, solve_with_rows_given, with_feasible_point
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import Progress
from solvers.interior_point import outcomes
from solvers.interior_point.analysis import Analysis, smallest_system, structure_of
from solvers.interior_point.cudss import CuDSS
from solvers.interior_point.linear_system import Factorisation, SingularError
from solvers.interior_point.loop import Run, solve_form
from solvers.interior_point.on_device import array_on, made_beside
from solvers.interior_point.on_host import OnHost
from solvers.interior_point.standard_form import Look, Outline
from solvers.interior_point.starting_point import Known

__all__ = ["solve"]

GPU_FROM_NONZEROS = 20_000
"""Coefficients from which ``device='auto'`` takes a GPU: below, copies and launches are most of a
solve."""

FEWEST_FACTORISATIONS = 10
"""That a model takes at the least: 107 of 123 of Netlib and ``lp-large`` take ten iterations or
more."""


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
    *,
    norms: Norms | None = None,
    analyses: Analyses | None = None,
    most_entries: float = np.inf,
    only_there: bool = False,
    latest: Callable[[], Start | None] | None = None,
) -> Outcome:
    """Solve the linear relaxation of ``problem`` to ``options.tolerance``.

    Parameters
    ----------
    problem : Problem
        Integrality is ignored.
    options : EngineOptions
        ``device``, ``tolerance`` and ``iteration_limit`` are read.
    progress : Progress
        Asked about time and interruption before each iteration.
    start : Start, optional
        A point with row duals whose relative errors are small shortens the way, like that of a
        first-order method; others are not used.
    norms : Norms, optional
        What errors are measured against where the problem's own norms are larger.
    analyses : Analyses, optional
        What earlier solves have left; a problem of the same structure needs no ordering then.
    most_entries : float
        Entries of the factor above which the solve is not begun.
    only_there : bool
        Do not go on on the CPU where the GPU cannot do it.
    latest : callable, optional
        Asked for the start instead, once the system is analysed.

    Returns
    -------
    Outcome
        OPTIMAL only if the three relative errors hold on the problem as it is given; INFEASIBLE
        with ``dual_ray`` and UNBOUNDED with ``primal_ray`` and a feasible ``x`` only if the ray is
        proven there. On a limit the point whose largest relative error was the least so far.

    Raises
    ------
    DeviceError
        The matrices of the method do not fit into memory, or its factorisations into the time
        limit, or a GPU was asked for where there is none.
    FillError
        The factor has more entries than asked for.
    """

    def look() -> None:
        if progress.should_stop() is not None:
            raise outcomes.OverError

    try:
        outline = Outline.of(problem)
        look()
        if not (outline.rows.size and outline.structural.size and problem.num_nonzeros):
            return solve_with_rows_given(problem, "ipm", "cpu")
        measured = Norms.of(problem).smaller(norms)

        def solve_on(place: Device) -> Outcome:
            kept = analyses or Analyses()
            given = latest or (lambda: start)
            rest = progress, kept, most_entries, given, look
            return _solve_on(place, outline, options, measured, *rest)

        device, small = _choose_device(problem, options), problem.num_nonzeros < GPU_FROM_NONZEROS
        outcome = _where_it_ends(device, solve_on, progress, only_there, small)
    except outcomes.OverError:
        return outcomes.before_iterating(progress)
    if outcome.solution_status is SolutionStatus.UNBOUNDED:
        outcome = with_feasible_point(
            problem, outcome, progress, lambda costless: solve(costless, options, progress)
        )
    return dataclasses.replace(outcome, seconds=progress.seconds)


def _where_it_ends(
    device: Device,
    solve_on: Callable[[Device], Outcome],
    progress: Progress,
    only_there: bool,
    small: bool,
) -> Outcome:
    """Solve on a device, or on the CPU where it cannot be done there.

    A ``small`` problem that ends in numerical trouble on a GPU is sooner tried on the CPU than
    given to another method: SuperLU's factors are other ones. The GPU's point comes back where that
    attempt is refused or comes less near.
    """
    if device.kind != "cuda":
        return solve_on(device)
    outcome = None
    try:
        with device.activate_first():
            outcome = solve_on(device)
    except Exception as error:
        if not (isinstance(error, DeviceError) or device.is_out_of_memory(error)):
            raise
        if only_there:
            raise DeviceError(str(error)) from error
        progress.log(f"{str(error).rstrip('.')}. Going on on the CPU.")
    if outcome is None:  # the error, which holds what was there, is gone
        return solve_on(cpu())
    if only_there or not (small and outcome.stop_reason is StopReason.NUMERICAL_TROUBLE):
        return outcome
    progress.log("The factors of the GPU ended in numerical trouble. Going on on the CPU.")
    try:
        return outcomes.nearer(outcome, solve_on(cpu()))
    except outcomes.OverError:
        return outcomes.nearer(outcome, outcomes.before_iterating(progress))
    except DeviceError as refusal:
        progress.log(f"{refusal} The point of the GPU comes back.")
        return outcome


def _choose_device(problem: Problem, options: EngineOptions) -> Device:
    if options.device == "auto" and problem.num_nonzeros < GPU_FROM_NONZEROS:
        return cpu()
    return find_device(options.device)


def _solve_on(
    device: Device,
    outline: Outline,
    options: EngineOptions,
    norms: Norms,
    progress: Progress,
    analyses: Analyses,
    most_entries: float,
    latest: Callable[[], Start | None],
    look: Look,
) -> Outcome:
    """Analyse the linear system and iterate on a device, the current one if it is a GPU."""
    structure = structure_of(outline, f"{device.kind} {device.index}")
    with made_beside(outline, device, look, options.threads) as made:
        known: Analysis | None = analyses.take(structure)
        try:
            analysis = known or smallest_system(
                outline, lambda: _factorisation(device, progress, look), most_entries, look
            )
        except SingularError:  # the library was told to end
            look()
            raise
    if progress.abandoned or progress.should_stop() is not None:
        analyses.keep(structure, analysis)
        return outcomes.before_iterating(progress)
    try:
        _check_time(analysis.factorisation, progress)
    except DeviceError:  # with more time it may be of use
        analyses.keep(structure, analysis)
        raise
    progress.log(
        f"Interior point on {device.kind}: {outline.rows.size:,} equations, "
        f"{outline.free.size:,} columns, of "
        f"which {analysis.pattern.kept.size:,} stay in the linear system; "
        f"{analysis.pattern.row.size:,} entries in its lower triangle, "
        f"{analysis.factorisation.entries:,} in its factor."
    )
    with analysis.factorisation.begin(progress):
        there, seconds = made(), 0.0 if known is analysis else analysis.seconds
        system = analysis.system(there.form, device, seconds)
        near = _start_on(device, latest())
        begin = Known.of(there.form, there.judged, near, norms)
        run = Run(
            outline.problem,
            there.form,
            there.judged,
            system,
            options,
            norms,
            progress,
            device,
            begin,
        )
        outcome = dataclasses.replace(solve_form(run), device=device.kind)
    analyses.keep(structure, analysis)
    return outcome


def _start_on(device: Device, start: Start | None) -> Start | None:
    """Return what is used of a start on a device, if it has that."""
    if start is None or start.x is None or start.row_dual is None:
        return None
    return Start(array_on(start.x, device), array_on(start.row_dual, device))


def _check_time(factorisation: Factorisation, progress: Progress) -> None:
    """Refuse what the time limit leaves no time for."""
    needed = FEWEST_FACTORISATIONS * factorisation.seconds_needed
    if needed > progress.time_left:
        raise DeviceError(
            f"The interior point method needs more than {needed:.0f} s for its factorisations, of "
            f"{factorisation.entries:,} entries each, and {progress.time_left:.0f} s are left."
        )


def _factorisation(device: Device, progress: Progress, look: Look) -> Factorisation:
    return CuDSS(device, progress) if device.kind == "cuda" else OnHost(look)
