"""From a problem to a verified answer: choose an engine, run it, check it, and say so.

    Problem -> choose -> (presolve -> engine -> crossover -> undo) -> verify -> Outcome

An answer that does not pass ``verify.py`` gets a second opinion from the reference engine while
there is time; what is left then is reported for what it is.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import numpy as np

import solvers.outcome
from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.interrupt import interruptible
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.progress import BridgeProgress
from gpu_bridge.verify import verify
from solvers.device import Device, find_device
from solvers.errors import FileFormatError, OptionError
from solvers.outcome import SolutionStatus, Start, StopReason
from solvers.problem import Problem

if TYPE_CHECKING:
    from gpu_bridge.explain import Conflict

PDLP_NONZEROS = 200_000
"""From this size on a linear program goes to PDLP when there is a GPU.

On an H200 presolve, PDLP and crossover to a vertex were faster than HiGHS's simplex on all five
models beyond it and slower on most below (``benchmarks/results/lp-large-*``).
"""

PDLP_TOLERANCE_BEFORE_CROSSOVER = 1e-5
"""How exact PDLP's point must be when crossover and simplex clean-up will make it exact."""

PDLP_SHARE = 0.6
"""Part of the time limit PDLP may use when a crossover and its clean-up are to follow."""

EXPLANATION_SHARE = 0.5
"""An explanation of infeasibility may take this part of the time the solve took, plus 2 s."""


@dataclass(frozen=True)
class Capability:
    """What an engine can treat, and where."""

    kinds: frozenset[ProblemKind]
    devices: frozenset[str]


ENGINES = {
    "highs": Capability(frozenset(ProblemKind), frozenset({"cpu"})),
    "pdlp": Capability(frozenset({ProblemKind.EMPTY, ProblemKind.LP}), frozenset({"cpu", "cuda"})),
}
"""The capability table: which engine takes which kind of problem on which device."""


@dataclass(frozen=True)
class Choice:
    """The engine that will answer, where it runs, and why it was picked."""

    method: str
    device: str
    reason: str


def choose(problem: Problem, options: Options) -> Choice:
    """Pick an engine by structure, size and device.

    Raises
    ------
    OptionError
        The method asked for cannot treat this kind of problem.
    DeviceError
        A GPU was asked for where there is none.
    """
    found = classify(problem)
    if options.device == "cuda":
        find_device("cuda")  # says what is missing
    if options.method != "auto":
        engine = ENGINES[options.method]
        if found.kind not in engine.kinds:
            raise OptionError(
                f"method='{options.method}' treats linear programs only, and this is "
                f"{found.sentence}; use method='auto', or relax=True for its relaxation."
            )
        place = find_device(options.device).kind if "cuda" in engine.devices else "cpu"
        return Choice(options.method, place, f"{found.sentence}; the method was asked for")
    if found.kind is not ProblemKind.LP:
        return Choice("highs", "cpu", f"{found.sentence}, which the reference engine solves")
    # Asking for a GPU loads CuPy, which a small model must not wait for.
    if options.device == "auto" and problem.num_nonzeros < PDLP_NONZEROS:
        return Choice("highs", "cpu", f"{found.sentence}, too small to gain from a GPU")
    if find_device(options.device).kind == "cuda":
        return Choice("pdlp", "cuda", f"{found.sentence} for the GPU")
    return Choice("highs", "cpu", f"{found.sentence}; no GPU is used")


def solve(
    problem: Problem,
    options: Options,
    *,
    start: Start | None = None,
    streams: Sequence[TextIO] = (),
) -> Outcome:
    """Solve ``problem`` and return a verified answer in the sense of its model.

    Parameters
    ----------
    problem : Problem
    options : Options
        From :func:`gpu_bridge.options.make_options`.
    start : Start, optional
        A point, duals or a basis to start from; a point may be partial.
    streams : sequence of text streams
        Where log lines go, besides what ``options.log`` and ``options.log_file`` ask for.

    Raises
    ------
    OptionError, DeviceError, FileFormatError
        For a wish that cannot be met. Limits, infeasibility and interruption never raise.
    """
    if options.relax and problem.is_mip:
        problem = problem.relaxation()
    if start is not None:
        _check_start(problem, start)
    choice = choose(problem, options)
    with ExitStack() as stack:
        progress = BridgeProgress(
            np.inf if options.time_limit is None else options.time_limit,
            streams=[*streams, *_asked_streams(options, stack)],
            live=options.log,
            maximize=problem.maximize,
        )
        stack.enter_context(progress)
        stack.enter_context(interruptible(progress))
        progress.header(problem, options, _device_name(choice))
        progress.decision(f"{choice.method} on {choice.device}: {choice.reason}")
        answer = _answer(problem, options, choice, progress, start)
        conflict = None
        if answer.solution_status is SolutionStatus.INFEASIBLE and options.explain:
            conflict = _explain(problem, progress)
        answer = dataclasses.replace(answer, seconds=progress.seconds, history=progress.history)
        outcome = Outcome.in_model_sense(
            answer, problem, conflict=conflict, iterations=progress.iterations
        )
        progress.footer(outcome)
        return dataclasses.replace(outcome, log=progress.text)


def report(outcome: Outcome, options: Options, *, streams: Sequence[TextIO] = ()) -> Outcome:
    """Log an answer that needed no engine where a solve would, and return it with that log."""
    with ExitStack() as stack:
        progress = BridgeProgress(streams=[*streams, *_asked_streams(options, stack)])
        stack.enter_context(progress)
        progress.footer(outcome)
        return dataclasses.replace(outcome, log=progress.text)


def _answer(
    problem: Problem,
    options: Options,
    choice: Choice,
    progress: BridgeProgress,
    start: Start | None,
) -> solvers.outcome.Outcome:
    """Run the chosen engine and verify it; ask the reference engine where that fails."""
    stopped = progress.should_stop()
    if stopped is not None:
        return solvers.outcome.Outcome(
            SolutionStatus.NOTHING, stopped, engine=choice.method, device=choice.device
        )
    answer = verify(problem, _run(problem, options, choice, progress, start), options)
    if answer.solution_status.has_point:
        progress.incumbent(answer.objective, answer.engine)
        progress.bound(answer.bound, answer.engine)
    stopped = progress.should_stop()
    if stopped is not None and answer.stop_reason is StopReason.NUMERICAL_TROUBLE:
        return dataclasses.replace(answer, stop_reason=stopped)
    if stopped is not None or not _gave_up(answer, progress):
        return answer
    progress.log(f"{answer.engine} ended short of the tolerances; asking for a second opinion.")
    careful = dataclasses.replace(options, presolve=False)
    second = verify(problem, _run_highs(problem, careful, progress, start), options)
    return _better(answer, second)


def _gave_up(answer: solvers.outcome.Outcome, progress: BridgeProgress) -> bool:
    """Whether an engine ended short of an answer with time to spare."""
    if answer.stop_reason is StopReason.TIME_LIMIT:
        # PDLP is given a part of the time only, and crossover may end early.
        return progress.time_left > (1.0 - PDLP_SHARE) / 2 * progress.time_limit
    return answer.stop_reason is StopReason.NUMERICAL_TROUBLE


def _run(
    problem: Problem,
    options: Options,
    choice: Choice,
    progress: BridgeProgress,
    start: Start | None,
) -> solvers.outcome.Outcome:
    if choice.method == "pdlp":
        return _run_pdlp(
            problem, dataclasses.replace(options, device=choice.device), progress, start
        )
    return _run_highs(problem, options, progress, start)


def _run_highs(
    problem: Problem, options: Options, progress: BridgeProgress, start: Start | None
) -> solvers.outcome.Outcome:
    from solvers import highs

    return highs.solve(problem, options, progress, start)


def _run_pdlp(
    problem: Problem, options: Options, progress: BridgeProgress, start: Start | None
) -> solvers.outcome.Outcome:
    """Presolve, PDLP, crossover to a vertex, and the way back to the original space."""
    from gpu_bridge import presolve
    from solvers import pdlp
    from solvers.highs import crossover

    reduced, undo = problem, None
    if options.presolve and start is None:
        reduction = presolve.apply(problem, progress)
        if reduction.settled is not None:
            return reduction.settled
        reduced, undo = reduction.problem, reduction.undo
    first_order, share = options, np.inf
    to_vertex = options.crossover != "off"
    if to_vertex:
        tolerance = max(options.tolerance, PDLP_TOLERANCE_BEFORE_CROSSOVER)
        first_order = dataclasses.replace(options, tolerance=tolerance)
        share = PDLP_SHARE * progress.time_left
    with progress.budget(share):
        answer = pdlp.solve(reduced, first_order, progress, start)
    proof = (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)
    if to_vertex and answer.solution_status not in proof and not progress.interrupted:
        answer = crossover.to_vertex(reduced, answer, options, progress)
    if undo is None:
        return answer
    answer = undo(answer)
    if to_vertex or answer.solution_status is not SolutionStatus.OPTIMAL:
        return answer
    return _polish(problem, answer, options, progress)


def _polish(
    problem: Problem,
    answer: solvers.outcome.Outcome,
    options: Options,
    progress: BridgeProgress,
) -> solvers.outcome.Outcome:
    """Go on from a postsolved first-order point that misses the tolerance on the original."""
    from solvers import pdlp

    if verify(problem, answer, options).solution_status is SolutionStatus.OPTIMAL:
        return answer
    progress.log("The point misses the tolerance on the original model; going on from it there.")
    return pdlp.solve(problem, options, progress, Start(answer.x, answer.row_dual))


def _better(
    first: solvers.outcome.Outcome, second: solvers.outcome.Outcome
) -> solvers.outcome.Outcome:
    """Return the answer that says more; of two points the better one."""
    rank = {
        SolutionStatus.NOTHING: 0,
        SolutionStatus.FEASIBLE: 1,
        SolutionStatus.OPTIMAL: 2,
        SolutionStatus.INFEASIBLE: 2,
        SolutionStatus.UNBOUNDED: 2,
    }
    ours, theirs = rank[first.solution_status], rank[second.solution_status]
    if ours == theirs == 1:
        return first if first.objective <= second.objective else second
    return first if ours > theirs else second


def _explain(problem: Problem, progress: BridgeProgress) -> Conflict | None:
    from gpu_bridge.explain import explain

    allowed = min(progress.time_left, 2.0 + EXPLANATION_SHARE * progress.seconds)
    conflict = explain(problem, allowed)
    if conflict is not None:
        progress.log(str(conflict))
    return conflict


def _check_start(problem: Problem, start: Start) -> None:
    for name, values, size in (
        ("x", start.x, problem.num_columns),
        ("row_dual", start.row_dual, problem.num_rows),
    ):
        if values is not None and values.shape != (size,):
            raise OptionError(
                f"The starting '{name}' has shape {values.shape}; it must be ({size},)."
            )


def _asked_streams(options: Options, stack: ExitStack) -> list[TextIO]:
    streams: list[TextIO] = [sys.stdout] if options.log else []
    if options.log_file is not None:
        try:
            log_file = open(options.log_file, "w", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise FileFormatError(
                f"The log file '{options.log_file}' cannot be written: {error.strerror}."
            ) from error
        streams.append(stack.enter_context(log_file))
    return streams


def _device_name(choice: Choice) -> str:
    device: Device = find_device(choice.device)
    return device.name
