"""Many problems in one call: those of one structure together, the others one by one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from gpu_bridge.batch.batch import Batch, as_batch, groups_of_one_structure
from gpu_bridge.batch.knapsack_models import solve_knapsack_batch, solve_knapsacks
from gpu_bridge.batch.one_by_one import POOL_FROM, labelled, solve_singles
from gpu_bridge.batch.outcomes import Outcomes, Part, Singles
from gpu_bridge.interrupt import interruptible
from gpu_bridge.options import Options
from gpu_bridge.pipeline.dispatch import checked_kind, checked_start
from gpu_bridge.report.log_output import asked_streams, check_log_file
from gpu_bridge.report.progress import BridgeProgress
from solvers.core.errors import CrossedBoundsError, ProblemError
from solvers.core.outcome import Start, StopReason
from solvers.core.problem import Problem

if TYPE_CHECKING:
    from gpu_bridge.paths import AnyPath

BATCH_FROM = 64
"""Members from which the GPU is used without being asked for."""

BATCH_ENTRIES = 200_000
"""Entries of all members together from which it is: less does not make up for its start."""


def solve_many(
    problems: Iterable[Problem | AnyPath] | Batch,
    options: Options,
    *,
    start: Start | None = None,
    streams: Sequence[TextIO] = (),
) -> Outcomes:
    """Solve problems with checked options; see :func:`gpu_bridge.solve_many`."""
    given = as_given(problems, options, start)
    with one_call(options, streams) as (options, progress, streams, ended):
        if isinstance(given, Batch):
            part = _solve_batch(relaxed(given, options), options, progress, start, streams)
            found = Outcomes([part], seconds=progress.seconds, log=progress.text)
        else:
            found = _solve_iterable(given, options, progress, start, streams)
        ended(found)
        return found


def as_given(problems: Any, options: Options, start: Start | None) -> Batch | list[Any]:
    """Return what is to be solved as a batch or a list, after a look at what can be seen of it.

    Raises
    ------
    ProblemError, FileFormatError
        It cannot be used, nor its start; or the log would overwrite it.
    """
    given = problems if isinstance(problems, Batch) else _listed(problems)
    if start is not None:
        checked_kind(start)
    if not isinstance(given, Batch):
        check_log_file(options, *(one for one in given if isinstance(one, (str, bytes, PathLike))))
    return given


@contextmanager
def one_call(
    options: Options, streams: Sequence[TextIO]
) -> Iterator[tuple[Options, BridgeProgress, list[TextIO], Callable[[Outcomes], None]]]:
    """Begin the log and the clock of a call, and hear Ctrl-C.

    Gives the options for its members, which have no log of their own, the streams of its log, and a
    function that is to be told what was found.
    """
    with ExitStack() as stack:
        every = [*streams, *asked_streams(options, stack)]
        limit = np.inf if options.time_limit is None else options.time_limit
        progress = stack.enter_context(BridgeProgress(limit, streams=every))
        ended = stack.enter_context(interruptible(progress))

        def tell(found: Outcomes) -> None:
            # members that it kept from beginning have told nobody
            reasons = (one.stop_reason for one in found) if progress.interrupted else ()
            ended(StopReason.INTERRUPTED in reasons)

        yield dataclasses.replace(options, log=False, log_file=None), progress, every, tell


def _listed(problems: Any) -> list[Any]:
    """Return what is to be solved as a list.

    Raises
    ------
    ProblemError
        It is nothing to go through, or a single problem or path.
    """
    single = isinstance(problems, (str, bytes, PathLike, Problem))
    if single or not isinstance(problems, Iterable):
        raise ProblemError(
            "solve_many() takes a list of Problems or of paths of model files, or a Batch, not a "
            f"{type(problems).__name__}."
        )
    try:
        return list(problems)
    except TypeError as error:
        raise ProblemError(
            f"solve_many() cannot go through a {type(problems).__name__}: {error}"
        ) from error


def _solve_iterable(
    given: list[Any],
    options: Options,
    progress: BridgeProgress,
    start: Start | None,
    streams: Sequence[TextIO],
) -> Outcomes:
    """Find the groups of one structure, solve them together, and the rest one by one.

    Models that all are knapsack problems need not share a structure for that.
    """
    problems = [readable(item, options) for item in given]
    packed = solve_knapsacks(problems, options, progress)
    if packed is not None:
        return Outcomes([packed], seconds=progress.seconds, log=progress.text)
    found = {k: problem for k, problem in enumerate(problems) if isinstance(problem, Problem)}
    parts: list[Part] = []
    part_of = np.zeros(len(problems), dtype=np.int64)
    place_of = np.zeros(len(problems), dtype=np.int64)
    alone = set(range(len(problems)))
    for members in groups_of_one_structure(
        found, lambda one, count: _together_on(one, count, options) is not None
    ):
        batch = as_batch([found[k] for k in members])
        if batch is None:
            continue
        part_of[members], place_of[members] = len(parts), np.arange(len(members))
        parts.append(_solve_batch(batch, options, progress, start, streams))
        alone.difference_update(members)
    if alone:
        members = sorted(alone)
        part_of[members], place_of[members] = len(parts), np.arange(len(members))
        rest = [problems[k] for k in members]
        parts.append(Singles(solve_singles(rest, options, progress, streams)))
    return Outcomes(parts, part_of, place_of, progress.seconds, progress.text)


def _solve_batch(
    batch: Batch,
    options: Options,
    progress: BridgeProgress,
    start: Start | None,
    streams: Sequence[TextIO],
) -> Part:
    if start is not None:
        start = checked_start(batch.problem, start)
    device = _together_on(batch.problem, len(batch), options)
    if device is not None:
        from gpu_bridge.batch.simplex import solve_by_simplex

        options = dataclasses.replace(options, device=device)
        return solve_by_simplex(batch, options, progress, start)
    packed: Part | None = solve_knapsack_batch(batch, options, progress)
    if packed is not None:
        return packed
    members = [batch.member_or_crossing(k) for k in range(len(batch))]
    packed = solve_knapsacks(members, options, progress)
    if packed is not None:
        return packed
    outcomes = solve_singles(members, options, progress, streams, start)
    return Singles(labelled(outcomes, batch), batch)


def relaxed(batch: Batch, options: Options) -> Batch:
    """Return the batch, without integrality if so wished."""
    if not (options.relax and batch.problem.is_mip):
        return batch
    return dataclasses.replace(batch, problem=batch.problem.relaxation())


def _together_on(problem: Problem, count: int, options: Options) -> str | None:
    """Return the device on which members of this structure are solved together, if they are.

    By the simplex method: always if that or PDLP is asked for and dense matrices can hold them, for
    it ends sooner than PDLP on small ones; by itself where it ends sooner than HiGHS one by one.
    """
    from gpu_bridge.batch.simplex import fits, fits_cpu

    if count == 0 or problem.is_mip or not fits(problem):
        return None
    if options.method == "simplex":
        return options.device if options.simplex_variant == "auto" else None
    if options.method not in ("auto", "pdlp") or options.lp_algorithm != "auto":
        return None
    if options.method == "pdlp" or _pays_on_gpu(problem, count, options):
        return options.device
    if options.device.startswith("cuda") or count < POOL_FROM or not fits_cpu(problem):
        return None
    from gpu_bridge.pipeline.registry import missing_part

    return None if missing_part() else "cpu"


def _pays_on_gpu(problem: Problem, count: int, options: Options) -> bool:
    """Whether a GPU is there, and so many members make up for its start."""
    if count < BATCH_FROM:
        return False
    if options.device == "cpu" or count * problem.num_nonzeros < BATCH_ENTRIES:
        return options.device == "cuda"
    from solvers.core.device import find_device

    return find_device(options.device).kind == "cuda"


def readable(item: Any, options: Options) -> Problem | Exception:
    """Return a problem, relaxed if so wished; read it where a path is given."""
    if isinstance(item, Problem):
        return item.relaxation() if options.relax and item.is_mip else item
    if not isinstance(item, (str, bytes, PathLike)):
        raise ProblemError(
            f"solve_many() takes Problems, paths of model files, or a Batch; one of them is a "
            f"{type(item).__name__}."
        )
    from gpu_bridge.files import read_problem

    try:
        return readable(read_problem(item), options)
    except CrossedBoundsError as error:
        return error
