"""First-order linear programming: restarted, reflected Halpern PDHG ("PDLP").

The method is that of cuPDLPx (Lu, Peng, Yang: "cuPDLPx: a further enhanced GPU-based first-order
solver for linear programming", arXiv 2507.14051), written once for CPU and GPU. ``kernels/step.py``
has the iteration, ``kernels/decide.py`` termination, restarts and the primal weight; ``scaling``,
``restarts`` and ``termination`` (with certificates) are nouns of the paper with files of their own.
``loop.run`` is the main loop: it submits blocks of iterations (``execution``) and reads what came
of them.
"""

from __future__ import annotations

import dataclasses
from typing import TypeVar

from solvers.core.device import (
    Device,
    cpu,
    find_devices,
    gpu_numbers,
    names_several,
    seen_gpu,
)
from solvers.core.errors import DeviceError
from solvers.core.lp_answer import Norms, solve_with_rows_given, with_feasible_point
from solvers.core.machine import give_back, mapped_arrays
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start
from solvers.core.problem import Problem, side_sizes
from solvers.core.progress import Progress
from solvers.core.vectors import euclidean
from solvers.pdlp.alternate_scalings import run_with_alternate_scalings
from solvers.pdlp.distributed.communication import expect_links
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.loop import run
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.start import filtered, memory_needed, prepare
from solvers.pdlp.supervision import IntermediatePoints, Milestone, SolveRequest

__all__ = [
    "DEFAULT",
    "IntermediatePoints",
    "Milestone",
    "Norms",
    "Settings",
    "expect_place",
    "find_place",
    "memory_needed",
    "prepare",
    "run",
    "solve",
    "where_it_ran",
]

Asked = TypeVar("Asked", bound=EngineOptions)

TIGHTEST = 1e-10
"""Tightest tolerance ever used inside."""


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
    *,
    settings: Settings = DEFAULT,
    norms: Norms | None = None,
    milestone: Milestone | None = None,
    points: IntermediatePoints | None = None,
) -> Outcome:
    """Solve the linear relaxation of ``problem`` to ``options.tolerance``.

    Parameters
    ----------
    problem : Problem
        Integrality is ignored.
    options : EngineOptions
        ``device``, ``threads``, ``seed``, ``tolerance`` and ``iteration_limit`` are read.
    progress : Progress
        Asked about time and interruption about ten times a second.
    start : Start, optional
        ``x`` and ``row_dual`` are used; a basis is not.
    settings : Settings
        Constants of the method.
    norms : Norms, optional
        What errors are measured against where the problem's own norms are larger: those of the
        original, if this is a reduced problem.
    milestone : Milestone, optional
        A looser tolerance at which to hand out a point and go on.
    points : IntermediatePoints, optional
        Are given points on the way, for a caller who may not wait for the end.

    Returns
    -------
    Outcome
        OPTIMAL only if the three relative errors hold on the original data; INFEASIBLE with
        ``dual_ray`` and UNBOUNDED with ``primal_ray`` and a feasible ``x`` only if the ray is
        proven there. On a limit: the point whose largest relative error was the least so far, which
        is what it is judged by, and the statistics of how near it is.

    Raises
    ------
    DeviceError
        A GPU was asked for where there is none.
    """
    device = _choose_device(problem, options, progress, settings)
    if problem.num_nonzeros == 0:
        return solve_with_rows_given(problem, "pdlp", device.kind)
    request = SolveRequest(
        device, problem, options, progress, filtered(problem, start), norms, milestone, points
    )
    outcome = None
    while outcome is None:
        full = None
        try:
            on_host = request.device.kind == "cpu"
            with mapped_arrays(problem.num_nonzeros if on_host else 0):
                outcome = run_with_alternate_scalings(request, settings)
            if isinstance(request.device, DeviceGroup):
                request.device.disconnect()
        except Exception as error:
            full = _full_device(request.device, error, progress)
            from_there = None if points is None else points.latest
            start = request.start if from_there is None else from_there
            request = dataclasses.replace(request, device=cpu(), start=start)
            options = dataclasses.replace(options, device="cpu")
        if full is not None:
            full.release_memory()  # now that no frame of the error's holds arrays there
    give_back(problem.num_nonzeros)  # the state's, before others make vectors of the whole model
    if outcome.solution_status is SolutionStatus.UNBOUNDED:
        outcome = _with_feasible_point(problem, outcome, options, progress, settings)
    return dataclasses.replace(outcome, seconds=progress.seconds)


def _full_device(device: Device, error: Exception, progress: Progress) -> Device | None:
    """Say that the CPU goes on after a device failed; raise its error where it does not.

    The device is returned if its memory is full, and None if work there will not end.
    """
    is_stuck = isinstance(device, DeviceGroup) and device.is_stuck
    if device.kind != "cpu" and device.is_out_of_memory(error):
        progress.log(f"{device.name} is out of memory; going on on the CPU.")
        return None if is_stuck else device
    if not is_stuck:
        raise error
    # CUDA then fails in the whole process, on the other GPUs, too
    progress.log(f"A GPU of {device.name} was lost, or a link ({error}); going on on the CPU.")
    return None


def _choose_device(
    problem: Problem, options: EngineOptions, progress: Progress, settings: Settings
) -> Device:
    if options.device == "auto" and problem.num_nonzeros < settings.execution.gpu_from_nonzeros:
        return cpu()
    device = find_place(options.device)
    if not isinstance(device, DeviceGroup):
        return device
    try:
        device.connect()
    except DeviceError as failure:
        progress.log(f"{failure} PDLP runs on one GPU.")
        return device.members[0]
    progress.log(f"PDLP runs on {device.name}, each with a part of the model.")
    return device


def _with_feasible_point(
    problem: Problem,
    outcome: Outcome,
    options: EngineOptions,
    progress: Progress,
    settings: Settings,
) -> Outcome:
    """Find a feasible point for an improving ray, by the same method.

    It is sought so tightly that each single row holds within the tolerance.
    """
    size = 1.0 + euclidean(side_sizes(problem.row_lower, problem.row_upper))
    tight = dataclasses.replace(options, tolerance=max(TIGHTEST, options.tolerance / size))
    return with_feasible_point(
        problem,
        outcome,
        progress,
        lambda costless: solve(costless, tight, progress, settings=settings),
    )


def expect_place(wanted: str) -> None:
    """Begin to connect the GPUs that are meant, where these are several, in a thread.

    Where one is not there, who needs them finds out.
    """
    numbers = gpu_numbers(wanted) if names_several(wanted) and seen_gpu() is not None else ()
    if len(numbers) > 1:
        expect_links(numbers)


def where_it_ran(answer: Outcome, options: Asked) -> Asked:
    """Return options for what follows an answer of PDLP: on the CPU if that had to go on there.

    A GPU that was lost, or was full, would only fail again.
    """
    return dataclasses.replace(options, device="cpu") if answer.device == "cpu" else options


def find_place(wanted: str) -> Device:
    """Return the device that is meant, or the group of several GPUs that are.

    GPUs of different models get shares by the bandwidth of their memory.

    Raises
    ------
    DeviceError
        A GPU was asked for that is not there, or cannot be used.
    """
    found = find_devices(wanted)
    if len(found) == 1:
        return found[0]
    if len({member.name for member in found}) == 1:
        return DeviceGroup.of(found)
    rates = [
        member.attribute("MemoryClockRate") * member.attribute("GlobalMemoryBusWidth")
        for member in found
    ]
    return DeviceGroup.of(found, [rate / sum(rates) for rate in rates])
