"""PDLP's route to an answer: presolve, PDLP, crossover to a vertex, and the way back.

Crossover starts from a point that is right to 1e-5 and makes it exact, usually in moments; on some
large models it takes hours. There PDLP is better let go on to the tolerance by itself, so the two
can be run side by side (``hedge``).
"""

from __future__ import annotations

import dataclasses
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.options import Options
from gpu_bridge.pipeline.race import SETTLED, Contender, race
from gpu_bridge.pipeline.routes import ABANDONED, Choice
from gpu_bridge.pipeline.routes.shared_presolve import SharedPresolve
from gpu_bridge.report.log_text import byte_size
from gpu_bridge.verify.verify import verify
from solvers.core.device import ALL_GPUS
from solvers.core.errors import DeviceError
from solvers.core.machine import WORTH_IT
from solvers.core.options import VERTEX_TOLERANCE
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.core.threads import within_limit

if TYPE_CHECKING:
    from solvers.presolve import Reduction

PRESOLVE_SHARE = 0.2
"""Part of the time limit after which presolve ends with what it has removed. Of the families of
``benchmarks`` energy systems take the most, half a second of a core for a million nonzeros."""

PDLP_SHARE = 0.6
"""Part of the time limit PDLP may use when a crossover and its clean-up are to follow."""

FURTHER = 2.0
"""Times of what PDLP took to a point for a crossover, which it has left to go on to the tolerance
where ``crossover='auto'`` does not end. Of 48 models of Netlib nine in ten took up to 0.6 times as
many iterations again from 1e-5 to 1e-6, and 1.3 times to 1e-8."""

CROSSOVER_NONZEROS = 1_000_000
"""From this size of what presolve leaves ``crossover='auto'`` is left to a race, where PDLP goes on
beside it. On six families of ``benchmarks`` at 4 million nonzeros and 1e-6 PDLP had a point right
to 1e-5 when four seconds on an H200 were over, and no crossover from it had ended."""

CROSSOVER_WAITS = 0.05
"""Seconds that crossover leaves PDLP on a GPU alone after its point. Handing over a task takes the
interpreter's lock from PDLP, which is often there by then: on an H200 races on four models that
PDLP ends in 0.07 to 0.12 s took 1.04 to 1.23 times as long with crossover from the first moment on,
and 1.02 to 1.09 without it."""

POLISH_ITERATIONS = 10_000
"""Iterations for each phase of polishing; those that succeeded took 1000 in the median."""

SEVERAL_FROM = 100_000_000
"""Nonzeros from which all GPUs take part where none was named. On two H100s programs of 42 and 70
million took 0.84 of one's time in all, and their iterations 0.50 and 0.57 of it."""

MEMORY_SHARE = 0.9
"""Part of the GPU's free memory that a solve may need; the rest is for what is not counted."""


def run(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Solve a linear program by PDLP on the device chosen.

    The CPU takes over where a GPU fails that nobody asked for.
    """

    def work(own: Progress) -> Outcome:
        there = dataclasses.replace(options, device=choice.device)
        try:
            return pdlp_route(problem, there, own, start, unasked=options.device == "auto")
        except DeviceError as failure:
            if options.device != "auto":
                raise
            own.log(f"{failure} The CPU takes over.")
            return pdlp_route(problem, dataclasses.replace(options, device="cpu"), own, start)

    return within_limit(work, progress, "pdlp")


def pdlp_route(
    problem: Problem,
    options: Options,
    progress: Progress,
    start: Start | None = None,
    *,
    hedge: bool = False,
    unasked: bool = False,
    presolved: SharedPresolve | None = None,
) -> Outcome:
    """Solve a linear program by PDLP, with presolve and crossover as the options say.

    Parameters
    ----------
    problem : Problem
    options : Options
        ``device`` is where PDLP runs, unless the model does not fit there.
    progress : Progress
    start : Start, optional
        A point to start from.
    hedge : bool
        Let PDLP go on beside crossover where ``crossover='auto'``, and take whichever is first;
        a vertex if it comes within a short grace. What comes out then depends on time.
    unasked : bool
        Nobody named a GPU, so that all may take part.
    presolved : SharedPresolve, optional
        That of the engines which race beside.

    Returns
    -------
    Outcome
        In the space of ``problem``, not yet verified.
    """
    from gpu_bridge.pipeline.routes.fallback_presolve import solve_reduced
    from solvers import pdlp, presolve

    if progress.abandoned:  # another was first while this one waited for its turn
        return ABANDONED
    is_large = problem.num_nonzeros >= SEVERAL_FROM
    together = unasked and is_large and options.device != "cpu"
    pdlp.expect_place(ALL_GPUS if together else options.device)
    reduction = presolve.unchanged(problem)
    if options.presolve:
        with progress.budget(PRESOLVE_SHARE * progress.time_left):
            shared = presolved or SharedPresolve()
            reduction = shared.reduction(problem, progress, options.threads)
            del shared  # what nobody else holds goes with the reduction
        if reduction.settled is not None:
            return reduction.settled
        if start is not None:
            start = reduction.forward(start) if reduction.forward is not None else None
        if progress.abandoned:
            return ABANDONED
    reduced = reduction.problem
    norms = pdlp.Norms.of(problem)
    hedge = hedge and options.crossover == "auto"
    to_vertex = options.wants_vertex
    if to_vertex and options.crossover == "auto" and not hedge:
        to_vertex = reduced.num_nonzeros < CROSSOVER_NONZEROS
    place = fitting_device(reduced, options, progress, unasked=unasked)
    if reduced is not problem and (place == "cpu" or problem.num_nonzeros >= WORTH_IT):
        problem.forget_columns()  # half of the model, and made anew in 10 ms a million nonzeros
    first_order = dataclasses.replace(options, device=place)
    if to_vertex and hedge:
        undo = reduction.undo if options.presolve else None
        return _hedged(problem, reduced, start, undo, first_order, progress)
    share, began = np.inf, progress.seconds
    if to_vertex:
        from solvers.highs import engine  # and HiGHS, without which many a solve does

        engine.expect_crossover(reduced)
        # crossover and its simplex clean-up make the rest of the way
        tolerance = max(options.tolerance, VERTEX_TOLERANCE)
        first_order = dataclasses.replace(first_order, tolerance=tolerance)
        share = PDLP_SHARE * progress.time_left
    points = pdlp.IntermediatePoints(progress.hold, lambda: progress.wants_point)
    with progress.budget(share):
        answer, reduction = solve_reduced(
            problem, reduction, first_order, progress, start, norms, points
        )
    if to_vertex and _leads_on(answer, options) and not progress.interrupted:
        vertex = _crossed_in_time(reduction, answer, options, progress, progress.seconds - began)
        if not _has_to_go_on(problem, vertex, options, progress):
            return vertex
        progress.log("Crossover has not ended; PDLP goes on to the tolerance.")
        first_order = dataclasses.replace(first_order, tolerance=options.tolerance)
        point = answer.candidate if answer.x is None else answer.x
        there = Start(point, answer.row_dual)
        made = answer.statistics
        answer, reduction = solve_reduced(
            problem, reduction, first_order, progress, there, norms, points
        )
        answer, to_vertex = _after(made, answer, vertex.message), False
    is_back = options.presolve and not progress.abandoned
    answer = reduction.undo(answer) if is_back else answer
    del reduced, reduction  # a second model, which the check of the answer has no use for
    polishes = is_back and not to_vertex
    return _polish(problem, answer, first_order, progress) if polishes else answer


def _leads_on(answer: Outcome, options: Options) -> bool:
    """Whether there is a way from PDLP's answer to a vertex, within the limits asked for."""
    if answer.solution_status in (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED):
        return False
    return options.crossover == "on" or answer.stop_reason is not StopReason.ITERATION_LIMIT


def _crossed_in_time(
    reduction: Reduction, answer: Outcome, options: Options, progress: Progress, spent: float
) -> Outcome:
    """Move a point to a vertex, with time left for PDLP where that does not end.

    ``spent`` are the seconds that PDLP took to the point.
    """
    left = progress.time_left
    reserve = min(FURTHER * spent, left / 2.0) if _may_go_on(options) else 0.0
    with progress.budget(left - reserve):
        return crossed(reduction, answer, options, progress)


def _may_go_on(options: Options) -> bool:
    """Whether nobody insists on a vertex, and PDLP has stopped short of the tolerance for it."""
    is_short = options.tolerance < VERTEX_TOLERANCE and options.iteration_limit is None
    return options.crossover == "auto" and is_short


def _has_to_go_on(problem: Problem, vertex: Outcome, options: Options, progress: Progress) -> bool:
    """Whether PDLP has to go on after a crossover."""
    if not _may_go_on(options) or vertex.basis is not None or progress.should_stop() is not None:
        return False
    return verify(problem, vertex, options).solution_status not in SETTLED


def _after(made: Mapping[str, float | int | str], answer: Outcome, message: str) -> Outcome:
    """Return an answer with the iterations made before it, and a message."""
    iterations = sum(int(one.get("iterations", 0)) for one in (made, answer.statistics))
    statistics = {**answer.statistics, "iterations": iterations}
    return dataclasses.replace(answer, message=message, statistics=statistics)


def _hedged(
    problem: Problem,
    reduced: Problem,
    start: Start | None,
    undo: Callable[[Outcome], Outcome] | None,
    options: Options,
    progress: Progress,
) -> Outcome:
    """Run PDLP to the tolerance, and crossover from its point at a looser one beside it."""
    from solvers import pdlp

    handed: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
    norms = pdlp.Norms.of(problem)
    one_at_a_time = threading.Lock()

    def back(found: Outcome, contender: Progress) -> Outcome:
        if undo is None or contender.abandoned:
            return found
        with one_at_a_time:
            return undo(found)

    def first_order(contender: Progress) -> Outcome:
        milestone = pdlp.Milestone(max(options.tolerance, VERTEX_TOLERANCE), handed.put)
        points = pdlp.IntermediatePoints(contender.hold, lambda: contender.wants_point)
        points = points.through(lambda found: back(found, contender))
        try:
            found = pdlp.solve(
                reduced, options, contender, start, norms=norms, milestone=milestone, points=points
            )
        finally:
            handed.put(None)  # whoever still waits waits in vain
        found = back(found, contender)
        return found if undo is None else _polish(problem, found, options, contender)

    def to_vertex(contender: Progress) -> Outcome:
        from solvers.highs import engine  # beside PDLP, which a small model is soon done by

        if contender.should_stop() is None:
            engine.expect_crossover(reduced)
        while (stopped := contender.should_stop()) is None:
            try:
                point = handed.get(timeout=LOOK_AGAIN)
            except queue.Empty:
                continue
            if point is None:
                break
            if options.device != "cpu" and not _left_alone(contender, CROSSOVER_WAITS):
                continue
            return back(engine.to_vertex(reduced, point, options, contender), contender)
        reason = StopReason.NUMERICAL_TROUBLE if stopped is None else stopped
        return Outcome(SolutionStatus.NOTHING, reason, engine="crossover")

    contenders = [Contender("pdlp", first_order), Contender("crossover", to_vertex)]
    return race(problem, contenders, options, progress, prefer="crossover", within=True)


def _left_alone(progress: Progress, seconds: float) -> bool:
    """Wait so long; return whether there is still something to do."""
    begin = progress.seconds + seconds
    while progress.should_stop() is None:
        left = begin - progress.seconds
        if left <= 0.0:
            return True
        time.sleep(min(LOOK_AGAIN, left))
    return False


def _polish(problem: Problem, answer: Outcome, options: Options, progress: Progress) -> Outcome:
    """Go on from a postsolved first-order point that misses the tolerance on the original."""
    if answer.solution_status is not SolutionStatus.OPTIMAL:
        return answer
    answer = mended(problem, answer, options, progress)
    if verify(problem, answer, options).solution_status is SolutionStatus.OPTIMAL:
        return answer
    from solvers import pdlp
    from solvers.pdlp.repair import polish

    options = pdlp.where_it_ran(answer, options)
    limit = min(POLISH_ITERATIONS, options.iteration_limit or POLISH_ITERATIONS)
    brief = dataclasses.replace(options, iteration_limit=limit)
    polished = polish(problem, answer, brief, progress)
    if verify(problem, polished, options).solution_status is SolutionStatus.OPTIMAL:
        progress.log("Feasibility polishing brought the point within the tolerance there.")
        return polished
    progress.log("The point misses the tolerance on the original model; going on from it there.")
    return pdlp.solve(problem, options, progress, Start(answer.x, answer.row_dual))


def mended(problem: Problem, answer: Outcome, options: Options, progress: Progress) -> Outcome:
    """Project a point that misses the tolerance on the original by little on to its rows.

    Any engine's: HiGHS's is right to 1e-7 in scaled rows, which on `greenbea` leaves 1.5e-8 where
    1e-8 is asked for.
    """
    ended = (StopReason.CONVERGED, StopReason.NUMERICAL_TROUBLE)
    if problem.is_mip or answer.stop_reason not in ended:
        return answer
    if verify(problem, answer, options).solution_status in SETTLED:
        return answer
    from solvers.pdlp.repair import repaired

    found = repaired(problem, answer, options, progress)
    if verify(problem, found, options).solution_status is not SolutionStatus.OPTIMAL:
        return answer
    progress.log("A projection brought the point within the tolerance on the original model.")
    return dataclasses.replace(found, basis=answer.basis)


def fitting_device(
    problem: Problem, options: Options, progress: Progress, *, unasked: bool = False
) -> str:
    """Return the device asked for, or all GPUs together where they pay and none was asked for.

    If the model is larger than its memory, it is all GPUs if it fits there, else the CPU. Before,
    entries are counted as they are packed, which is known only after a look at each.
    """
    from solvers import pdlp

    if options.device == "cpu":
        return "cpu"
    device = pdlp.find_place(options.device)
    if device.kind == "cpu":
        return "cpu"
    if not device.memory_free:  # zero stands for unknown
        return options.device
    needed = pdlp.memory_needed(problem)
    if unasked and problem.num_nonzeros >= SEVERAL_FROM:
        try:
            together = pdlp.find_place(ALL_GPUS)
        except DeviceError as failure:  # nobody asked for the others
            progress.log(f"{failure} PDLP runs on one GPU.")
            together = device
        if together.name != device.name and needed <= MEMORY_SHARE * together.memory_free:
            progress.log(f"{problem.num_nonzeros:,} nonzeros are worth {together.name}.")
            return ALL_GPUS
    if needed > MEMORY_SHARE * device.memory_free:
        device.release_memory()  # what an earlier solve left in CuPy's pool
        device = pdlp.find_place(options.device)
        needed = pdlp.memory_needed(problem, packed=True)
    if needed <= MEMORY_SHARE * device.memory_free:
        return options.device
    together = pdlp.find_place(ALL_GPUS)
    fits = needed <= MEMORY_SHARE * together.memory_free
    progress.log(
        f"PDLP needs about {byte_size(needed)} and {device.name} has "
        f"{byte_size(device.memory_free)} free, so it runs on "
        f"{f'{together.name} together' if fits else 'the CPU'}."
    )
    return ALL_GPUS if fits else "cpu"


HELD_FROM_SECONDS = 1.0
"""Seconds of a solve from which the point is held meanwhile: what ends sooner needs none."""


def crossed(reduction: Reduction, answer: Outcome, options: Options, progress: Progress) -> Outcome:
    """Move a point to a vertex of the original; it is held in case that takes too long."""
    from solvers.highs import engine

    held: Outcome | None = None
    if progress.seconds >= HELD_FROM_SECONDS:
        held = reduction.undo(answer)
        progress.hold(held)
    found = engine.to_vertex(reduction.problem, answer, options, progress)
    if progress.abandoned:
        return found
    if held is not None and found.x is answer.x and found.candidate is answer.candidate:
        return dataclasses.replace(held, message=found.message)
    return reduction.undo(found)
