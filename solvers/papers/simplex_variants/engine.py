"""The entry point: the paper's solver on a problem, in one of its four variants (section 3.2).

========= =========================================================================================
cpu       dense LU of every basis by LAPACK, everything on the host
naive     the same LU on the GPU by cuSOLVER in every iteration, ratio test on the host
resident  an explicit inverse on the device, rank-one updates, ratio test in one block ("GPU-RS")
graphs    iterations in a CUDA graph, x updated, ratio test over the grid, snapshot and stream
          ("GPU-RS+G")
========= =========================================================================================

The last three run on a machine without GPU as well: ``naive`` by NumPy, the others by the twins of
their kernels.

``solve(problem, variant="graphs")`` writes the problem in standard form, lets a variant make the
pivots and hands back an outcome whose status was computed anew from the last basis
(``basic_solution.py``): optimal with duals, infeasible with Farkas multipliers, unbounded with a
point and a ray. What does not hold up to that is numerical trouble, not an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.core.device import Device, find_device
from solvers.core.errors import OptionError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.papers.simplex_variants.answer import (
    infeasible_outcome,
    optimal_outcome,
    stopped_outcome,
    unbounded_outcome,
    without_rows,
)
from solvers.papers.simplex_variants.basic_solution import (
    BasicSolution,
    basis_from_start,
    exact_solution,
)
from solvers.papers.simplex_variants.device_pivots import GraphsPivots, ResidentPivots
from solvers.papers.simplex_variants.drive import Drive, Ending, Found
from solvers.papers.simplex_variants.host_pivots import HostPivots
from solvers.papers.simplex_variants.pivots import Pivots
from solvers.papers.simplex_variants.standard_form import ScaledForm, scaled_form, standard_form

VARIANTS = ("cpu", "naive", "resident", "graphs")

INVERSES = 3
"""Dense matrices of the size of the basis that there are while an inverse is made."""


def make_pivots(variant: str, form: ScaledForm, device: Device) -> Pivots:
    """Return the pivots of a variant by its name.

    Raises
    ------
    OptionError
        There is no such variant.
    """
    makers: dict[str, Callable[[], Pivots]] = {
        "cpu": lambda: _host(form, None),
        "naive": lambda: _host(form, device),
        "resident": lambda: _on_device(form, device, "resident"),
        "graphs": lambda: _on_device(form, device, "graphs"),
    }
    if variant not in makers:
        raise OptionError(f"There is no variant '{variant}'; there are {', '.join(VARIANTS)}.")
    return makers[variant]()


def _host(form: ScaledForm, device: Device | None) -> Pivots:
    return HostPivots(form, device)


def _on_device(form: ScaledForm, device: Device, variant: str) -> Pivots:
    return (ResidentPivots if variant == "resident" else GraphsPivots)(form, device)


def solve(
    problem: Problem,
    options: EngineOptions | None = None,
    progress: Progress | None = None,
    start: Start | None = None,
    *,
    variant: str = "graphs",
) -> Outcome:
    """Solve a linear program by one of the paper's variants.

    Parameters
    ----------
    problem : Problem
        Integrality is ignored.
    options : EngineOptions, optional
        Device, seed, tolerance and iteration limit are read.
    progress : Progress, optional
        Asked about time and interruption after every batch of 100 pivots.
    start : Start, optional
        A basis to start from; a singular one is repaired.
    variant : str
        One of :data:`~solvers.papers.simplex_variants.engine.VARIANTS`.

    Returns
    -------
    Outcome
        In the minimised sense, not yet verified.

    Raises
    ------
    OptionError
        There is no such variant.
    DeviceError
        ``options.device`` asks for a GPU that is not there.
    """
    options = EngineOptions() if options is None else options
    progress = Progress() if progress is None else progress
    device = find_device("cpu" if variant == "cpu" else options.device)
    with device.activate():
        form = scaled_form(standard_form(problem), device)
        if form.num_rows == 0:
            return without_rows(form)
        try:
            return _with_rows(form, device, options, progress, start, variant)
        except Exception as error:
            if not device.is_out_of_memory(error):
                raise
            return _too_large(form, device)


def _too_large(form: ScaledForm, device: Device) -> Outcome:
    need = 8 * form.num_rows**2 / 2**30
    message = (
        f"The inverse of a basis of {form.num_rows} rows takes {need:.1f} GiB, and as much again "
        f"while it is made, which {device} does not have; use method='pdlp' or 'highs'."
    )
    return Outcome(
        SolutionStatus.NOTHING,
        StopReason.OUT_OF_MEMORY,
        engine="simplex",
        device=device.kind,
        message=message,
    )


def _with_rows(
    form: ScaledForm,
    device: Device,
    options: EngineOptions,
    progress: Progress,
    start: Start | None,
    variant: str,
) -> Outcome:
    def should_stop(iterations: int) -> StopReason | None:
        progress.iteration(iterations)
        return StopReason.INTERRUPTED if progress.abandoned else progress.should_stop()

    memory = device.memory_total if device.kind == "cpu" else device.memory_free
    if 0 < memory < INVERSES * 8 * form.num_rows**2:
        return _too_large(form, device)
    limit = np.inf if options.iteration_limit is None else options.iteration_limit
    pivots = make_pivots(variant, form, device)
    drive = Drive(form, pivots, options.seed, should_stop, limit, lambda: progress.seconds)
    found = drive.run(basis_from_start(form, start))
    exact = exact_solution(form, found.basic)
    about: dict[str, Any] = {
        "engine": "simplex",
        "device": device.kind,
        "seconds": progress.seconds,
        "statistics": {
            "variant": variant,
            "iterations": drive.iterations,
            "inversions": pivots.inversions,
            "loop_seconds": drive.pivot_seconds,
            "rows": form.num_rows,
            "columns": form.num_columns,
        },
    }
    return _answer(found, exact, options.tolerance, about)


def _answer(found: Found, exact: BasicSolution, tolerance: float, about: dict[str, Any]) -> Outcome:
    if found.gradient is not None:
        return infeasible_outcome(exact, found.gradient, about)
    if found.ending is Ending.UNBOUNDED:
        return unbounded_outcome(exact, found.entering, tolerance, about)
    if found.ending is Ending.OPTIMAL:
        return optimal_outcome(exact, tolerance, about)
    return stopped_outcome(exact, found.reason, tolerance, about)
