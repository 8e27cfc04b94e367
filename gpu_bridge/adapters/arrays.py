"""Models that come as arrays: made a problem and solved, both within one time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import numpy as np
import numpy.typing as npt

from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason, crossed_bounds_outcome
from gpu_bridge.pipeline.dispatch import report, solve
from solvers.core.errors import CrossedBoundsError
from solvers.core.problem import BoolArray, FloatArray, Problem

IndexArray = npt.NDArray[np.int64]

if TYPE_CHECKING:
    from gpu_bridge.options import Options
    from solvers.core.outcome import Basis, Start


def solve_arrays(
    options: Options,
    began: float,
    *,
    start: Start | None = None,
    streams: Sequence[TextIO] = (),
    **arrays: Any,
) -> Outcome:
    """Return the verified answer to what :meth:`Problem.from_arrays` makes of ``arrays``.

    Parameters
    ----------
    began : float
        When the caller's call began, on the clock ``time.perf_counter``; the time limit counts
        from there.
    start : Start, optional
        A point or a basis to start from.
    streams : sequence of TextIO
        Where the log goes, besides what the options ask for.
    **arrays
        Arguments of :meth:`Problem.from_arrays`.

    Raises
    ------
    ProblemError
        For data that cannot be used. Bounds that contradict each other are the answer *infeasible*,
        whose outcome has no problem.
    """
    return solve_made(
        lambda: Problem.from_arrays(**arrays), options, began, lambda _: start, streams
    )


def solve_made(
    make: Callable[[], Problem],
    options: Options,
    began: float,
    start: Callable[[Problem], Start | None],
    streams: Sequence[TextIO] = (),
) -> Outcome:
    """Return the verified answer to a problem that is yet to be made; see :func:`solve_arrays`."""
    try:
        problem = make()
    except CrossedBoundsError as error:
        return report(crossed_bounds_outcome(error), options)
    given = start(problem)
    if options.time_limit is not None:
        left = max(0.0, round(options.time_limit - (perf_counter() - began), 3))
        options = replace(options, time_limit=left)
    return solve(problem, options, start=given, streams=streams)


def places_of(A: Any, rows: IndexArray, columns: npt.NDArray[Any]) -> tuple[IndexArray, BoolArray]:
    """Return where entries (k,) stand in a matrix by rows, and which of them it has."""
    width = np.int64(max(1, A.shape[1]))
    row_of = np.repeat(np.arange(A.shape[0], dtype=np.int64), np.diff(A.indptr))
    known, wanted = row_of * width + A.indices, rows * width + columns
    places = np.searchsorted(known, wanted)
    found = places < known.size
    found[found] = known[places[found]] == wanted[found]
    return places, found


def may_be_loaded(outcome: Outcome, options: Options) -> bool:
    """Whether there are values that the caller's model may be given."""
    status = outcome.solution_status
    return status.has_point or (options.load_approximate and status.has_values)


def fits(basis: Basis | None, rows: int, columns: int) -> bool:
    """Whether there is a basis, and of a model of this size."""
    return basis is not None and basis.shapes == ((columns,), (rows,))


ITERATIONS = ("iterations", "simplex_iterations", "ipm_iterations", "pdlp_iterations")
"""Statistics under which engines count the iterations of their own method."""


def iterations(outcome: Outcome) -> int:
    """Return the iterations of the engine that answered, without those of crossover."""
    return sum(int(outcome.statistics.get(name, 0)) for name in ITERATIONS)


# The points of a solve by a model's own variables.


class Columns(Protocol):
    """The variables of a model, and which column is whose."""

    @property
    def keys(self) -> Sequence[Any]:
        """What a point by variable iterates over, in the order of the columns."""

    def number(self, key: Any) -> int | None:
        """Return the column of a variable, or of whatever else names it; None without one."""

    def absent(self, key: Any) -> str:
        """Return why there is no value for a variable."""


class PointValues(Mapping[Any, float]):
    """A point as a mapping from variables to values.

    Making one costs nothing, so that a callback that looks at the objective alone is cheap.
    """

    def __init__(self, columns: Columns, x: FloatArray) -> None:
        self._columns = columns
        self._x = x

    def __getitem__(self, key: Any) -> float:
        number = self._columns.number(key)
        if number is None:
            raise KeyError(self._columns.absent(key))
        return float(self._x[number])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns.keys)

    def __len__(self) -> int:
        return len(self._columns.keys)


# An answer in sentences, for a caller whose model has no place for them.


def why_not_loaded(outcome: Outcome) -> str:
    """Return why the model keeps its values, and what to do about it where something can be."""
    if outcome.solution_status is not SolutionStatus.APPROXIMATE:
        return explanation(outcome)
    return f"{explanation(outcome)} With the option load_approximate=True it is loaded."


def explanation(outcome: Outcome) -> str:
    """Return what the answer is and, where there is no optimum, why."""
    parts = [f"The answer is {outcome.answer}"]
    if outcome.stop_reason is not StopReason.CONVERGED:
        parts.append(str(outcome.stop_reason))
    more = [outcome.message, outcome.explanation]
    return " ".join(["; ".join(parts) + ".", *dict.fromkeys(text for text in more if text)])
