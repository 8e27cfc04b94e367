"""The route of ``method='ipm'``: presolve, our interior point method, crossover, the way back.

Where its matrices do not fit into memory HiGHS's interior point takes over, and says so.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from gpu_bridge.options import Options
from gpu_bridge.pipeline.race import better
from gpu_bridge.pipeline.routes import ABANDONED, Choice
from gpu_bridge.pipeline.routes.pdlp import PRESOLVE_SHARE, crossed, mended
from gpu_bridge.pipeline.routes.shared_presolve import SharedPresolve
from gpu_bridge.verify.verify import verify
from solvers.core.errors import DeviceError
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import DetachableProgress, Progress
from solvers.core.threads import within_limit

TIGHTER = 1e-2
"""Part of the tolerance that is aimed at where a point misses it once presolve is undone."""

FILL = 4.0
"""Entries of the factor for each coefficient up to which this method is preferred to HiGHS's
interior point on one core. Of the models for choosing constants (``benchmarks/halves.py``: larger
ones of Netlib and ``lp-large``, families of 100,000 nonzeros) it took 0.50 of the processor time of
HiGHS's below in the geometric mean (16 models), and 1.65 times as much above, where it ended at
all. On those for reporting it took 0.85 of that below (24)."""

MOST_FILL = 8.0
"""Entries up to which it goes on beside that of HiGHS. Between :data:`FILL` and this it took 0.8 to
2.4 times the processor time of HiGHS's on six models of Netlib and ``lp-large``, and 0.6 s instead
of 2.2 on an energy system of 40,000 coefficients."""

FEW_ENTRIES = 150_000
"""Entries that are few whatever the model's size. With them a race of two took 0.66 of the time on
27 models of 10,000 to 36,000 coefficients with fewer entries and more than :data:`FILL` for each,
by processor times of each alone, and more on none. A PageRank with 178,000 took 1.6 times as long
as HiGHS's."""

PROOFS = (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)


def run(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Solve a linear program by interior point, with presolve and crossover as the options say.

    Returns
    -------
    Outcome
        In the space of ``problem``, not yet verified.
    """
    from solvers import highs

    def work(own: Progress) -> Outcome:
        return _by_engine(problem, options, own, choice.analyses or Analyses(), lambda: start)

    try:
        return within_limit(work, progress, "ipm")
    except DeviceError as failure:  # the matrices do not fit
        progress.log(f"{failure} HiGHS's interior point takes over.")
    # now that no frame of the error's holds them
    chosen = dataclasses.replace(options, lp_algorithm="ipm")
    return highs.solve(problem, chosen, progress, start)


class _BeforeIterating(DetachableProgress):
    """Progress of an interior point method whose first iteration is told of."""

    def __init__(self, parent: Progress, begin: Callable[[float], None]) -> None:
        super().__init__(parent)
        self._begin = begin
        self._has_begun = False

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Tell how many entries the factor has, once, and pass the iteration on.

        Those of a crossover that follows no iteration of the method know of none.
        """
        entries = figures.get("factor_entries")
        if entries is not None and not self._has_begun:
            self._has_begun = True
            self._begin(float(entries))
        super().iteration(count, **figures)


def run_where_sparse(
    problem: Problem,
    options: Options,
    progress: Progress,
    analyses: Analyses,
    begin: Callable[[bool], None],
    *,
    beside: bool = True,
) -> Outcome | None:
    """Solve a linear program on the CPU if its factor has few entries; None if it has not.

    ``begin`` is told before the second iteration whether they are so few that HiGHS need not be at
    work; without ``beside`` it never is, and more entries are too many. The answer is a vertex only
    if the caller insists on one. None comes also where the method ends in numerical trouble.
    """
    from solvers.interior_point.analysis import FillError

    crossover = "on" if options.crossover == "on" else "off"
    chosen = dataclasses.replace(options, device="cpu", threads=1, crossover=crossover)
    sparse = max(FEW_ENTRIES, FILL * problem.num_nonzeros)
    most = max(sparse, MOST_FILL * problem.num_nonzeros) if beside else sparse
    try:
        answer = _by_engine(
            problem,
            chosen,
            _BeforeIterating(progress, lambda entries: begin(entries <= sparse)),
            analyses,
            lambda: None,
            most_entries=most,
        )
    except (FillError, DeviceError):
        return None
    return None if answer.stop_reason is StopReason.NUMERICAL_TROUBLE else answer


def run_on_gpu(
    problem: Problem,
    options: Options,
    progress: Progress,
    analyses: Analyses,
    latest: Callable[[], Start | None],
    presolved: SharedPresolve,
) -> Outcome:
    """Solve a linear program on the GPU or not at all; a vertex only if the caller insists on it.

    ``latest`` is asked for a point near the optimum before the first iteration, and ``presolved``
    for what presolve leaves.

    Raises
    ------
    DeviceError
        The matrices do not fit, or cuDSS is missing.
    """
    from solvers.interior_point.cudss_library import library

    stopped = progress.should_stop()
    if stopped is not None:
        return Outcome(SolutionStatus.NOTHING, stopped, engine="ipm")
    library()
    crossover = "on" if options.crossover == "on" else "off"
    chosen = dataclasses.replace(options, device="cuda", crossover=crossover)
    return _by_engine(
        problem, chosen, progress, analyses, latest, only_there=True, presolved=presolved
    )


def _by_engine(
    problem: Problem,
    options: Options,
    progress: Progress,
    analyses: Analyses,
    latest: Callable[[], Start | None],
    *,
    most_entries: float = np.inf,
    only_there: bool = False,
    presolved: SharedPresolve | None = None,
) -> Outcome:
    """Run presolve, the engine, crossover and the way back."""
    from solvers import interior_point, presolve
    from solvers.core.lp_answer import Norms
    from solvers.highs import engine

    reduction = presolve.unchanged(problem)
    if options.presolve:
        # PDLP may wait for it
        seconds = np.inf if presolved is None else PRESOLVE_SHARE * progress.time_left
        presolved = presolved or SharedPresolve()
        with progress.budget(seconds):
            reduction = presolved.reduction(problem, progress, options.threads)
        if reduction.settled is not None:
            return reduction.settled
        if progress.abandoned:
            return ABANDONED

    def reduced() -> Start | None:
        start = latest()
        if start is None or reduction.forward is None:
            return None
        return reduction.forward(start)

    norms = Norms.of(problem)
    if options.wants_vertex:
        engine.expect_crossover(reduction.problem)
    solve = functools.partial(
        interior_point.solve,
        norms=norms,
        analyses=analyses,
        most_entries=most_entries,
        only_there=only_there,
        latest=reduced,
    )
    answer = solve(reduction.problem, options, progress)
    if progress.abandoned:
        return ABANDONED
    if answer.solution_status in PROOFS:
        return reduction.undo(answer)
    if options.wants_vertex and not progress.interrupted:
        return crossed(reduction, answer, options, progress)
    undone = mended(problem, reduction.undo(answer), options, progress)
    if answer.solution_status is not SolutionStatus.OPTIMAL:
        return undone
    if verify(problem, undone, options).solution_status is SolutionStatus.OPTIMAL:
        return undone
    progress.log("The point misses the tolerance on the original model; aiming at a tighter one.")
    tighter = dataclasses.replace(options, tolerance=TIGHTER * options.tolerance)
    again = solve(reduction.problem, tighter, progress)
    return better(verify(problem, undone, options), verify(problem, reduction.undo(again), options))
