"""Entry points for callers who have a file, matrices or a ready problem instead of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TextIO

from gpu_bridge.interrupt import solving, uninterrupted_imports
from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome
from solvers.core.errors import CrossedBoundsError, OptionError, ProblemError
from solvers.core.outcome import Start
from solvers.core.problem import Problem

if TYPE_CHECKING:
    from gpu_bridge.batch.batch import Batch
    from gpu_bridge.batch.outcomes import Outcomes
    from gpu_bridge.paths import AnyPath
    from gpu_bridge.report.improvement import Improvement
    from solvers.core.device import Device


@uninterrupted_imports()
def read(path: AnyPath) -> Problem:
    """Read an MPS or LP file, plain or gzipped.

    Raises
    ------
    FileFormatError
        The file is missing, broken or of another format.
    ProblemError
        It is no path.
    UnsupportedModelError
        It holds quadratic, conic or SOS parts.
    CrossedBoundsError
        A lower bound above its upper bound.
    """
    from gpu_bridge.files import read_problem

    if not isinstance(path, (str, bytes, PathLike)):
        raise ProblemError(
            f"read() takes the path of a model file, as text or a Path, not a "
            f"{type(path).__name__}."
        )
    return read_problem(path)


@solving()
def solve(
    model: Problem | AnyPath,
    *,
    start: Start | None = None,
    streams: Sequence[TextIO] = (),
    on_solution: Callable[[Improvement], object] | None = None,
    **options: Any,
) -> Outcome:
    """Solve a problem, or the model in a file, and return a verified answer.

    Parameters
    ----------
    model : Problem or path
        What to solve; a path is read with :func:`read`.
    start : Start, optional
        Point, duals or basis to start from.
    streams : sequence of text streams
        Where log lines go, besides what the options ``log`` and ``log_file`` ask for.
    on_solution : callable, optional
        Called with an :class:`~gpu_bridge.report.improvement.Improvement` for each better point,
        one call after the other, in a thread of its own. If it returns True the solve ends with the
        best point and the stop reason INTERRUPTED. Calls go on no longer than the time limit;
        a function slower than the improvements is not told of all of them.
    **options
        Any of the option table, such as ``method``, ``device``, ``time_limit``, ``log``.

    Returns
    -------
    Outcome
        In the sense of the model. Infeasible or unbounded models and limits do not raise.

    Raises
    ------
    Exception
        What ``on_solution`` raised, which ends the solve.
    OptionError, FileFormatError, ProblemError, UnsupportedModelError, DeviceError
        For input that cannot be used; the message names the culprit and the fix.
    """
    from gpu_bridge.outcome import crossed_bounds_outcome
    from gpu_bridge.pipeline.dispatch import solve as dispatch
    from gpu_bridge.report.improvement import Watcher
    from gpu_bridge.report.log_output import check_log_file, checked_streams

    checked = make_options(options)
    streams = checked_streams(streams)
    watcher = None if on_solution is None else Watcher(on_solution)
    if isinstance(model, (str, bytes, PathLike)):
        check_log_file(checked, model)
        try:
            problem = read(model)
        except CrossedBoundsError as error:
            return crossed_bounds_outcome(error)
    elif isinstance(model, Problem):
        problem = model
    else:
        raise ProblemError(
            f"solve() takes a Problem or the path of a model file, not a {type(model).__name__}; "
            "Pyomo and PuLP models are solved through SolverFactory('gpuheur') and GPUHEUR."
        )
    outcome = dispatch(problem, checked, start=start, streams=streams, watcher=watcher)
    if watcher is not None:
        watcher.raise_error()
    return outcome


@solving()
def solve_many(
    problems: Iterable[Problem | AnyPath] | Batch,
    *,
    start: Start | None = None,
    streams: Sequence[TextIO] = (),
    on_outcome: Callable[[int, Outcome], object] | None = None,
    **options: Any,
) -> Outcomes:
    """Solve several problems with the same options and return their answers in order.

    Linear programs that share one structure, the same places of their coefficients, are solved
    together by the simplex method: up to 300,000 rows times columns each, with ``method='simplex'``
    or ``'pdlp'``, and by themselves on a GPU where there are enough of them. Whatever the batched
    engine leaves, and all others, are solved one by one, small linear programs on all cores at once
    and then without an explanation of infeasibility.

    Parameters
    ----------
    problems : iterable of Problem or path, or Batch
        A :class:`Batch` holds many problems of one structure as arrays, which is the quickest.
    start : Start, optional
        A basis from which the members of a batch start, such as that of one of them; those that
        are solved one by one start at a point and duals, too.
    streams : sequence of text streams
        Where log lines go, besides what the options ``log`` and ``log_file`` ask for.
    on_outcome : callable, optional
        Called with the number of a problem and its outcome, in order: on a cluster as soon as it
        and all before it are known, else at the end. If it returns True the call ends, and who was
        not reached has the stop reason INTERRUPTED.
    **options
        Any of the option table. ``time_limit`` holds for the whole call: who is not reached
        in time has the stop reason TIME_LIMIT. With ``cluster`` the nodes of a Ray cluster solve
        the problems, small ones in chunks and with one thread each.

    Returns
    -------
    Outcomes
        A sequence of :class:`Outcome`, and arrays over all members.

    Raises
    ------
    OptionError, FileFormatError, ProblemError, UnsupportedModelError, DeviceError
        For input that cannot be used; the message names the culprit and the fix.
    Exception
        What ``on_outcome`` raised, which ends the call.
    """
    from gpu_bridge.report.log_output import checked_streams

    checked, streams = make_options(options), checked_streams(streams)
    if on_outcome is not None and not callable(on_outcome):
        raise OptionError(
            f"'on_outcome' takes a function of two arguments; {on_outcome!r} is a "
            f"{type(on_outcome).__name__}."
        )
    if checked.cluster is not None:
        from gpu_bridge.batch.on_cluster import solve_many_on_cluster

        return solve_many_on_cluster(
            problems, checked, start=start, streams=streams, on_outcome=on_outcome
        )
    from gpu_bridge.batch.solve_many import solve_many as solve_all

    outcomes = solve_all(problems, checked, start=start, streams=streams)
    if on_outcome is not None:
        for number, outcome in enumerate(outcomes):
            if on_outcome(number, outcome) is True:
                break
    return outcomes


@uninterrupted_imports()
def devices() -> list[Device]:
    """Return the devices that engines can run on, the CPU first."""
    from solvers.core.device import list_devices

    return list(list_devices())
