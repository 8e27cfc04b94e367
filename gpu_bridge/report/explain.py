"""Why a model is infeasible: constraints, bounds and integrality that contradict each other.

For a linear program, and a mixed-integer one whose relaxation is infeasible already, HiGHS finds
an irreducible conflict. Where only integrality stands in the way, a deletion filter looks for
one: leave out some rows, solve again, and put them back only if the rest can be satisfied; then
the same for integrality and bounds. It halves its portions (Junker, "QuickXplain", 2004, in its
plainest form), and what the time did not allow to test stays in, which ``minimal`` then says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gpu_bridge.report.relax import Relaxation, number
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.progress import Progress

FREE, LOWER, UPPER, BOTH = 0, 1, 2, 3
"""Which sides of a row or column a conflict needs; the numbers of ``solvers.highs.run``."""

SHARE_OF_TRIAL = 0.2
"""A trial of the deletion filter may use this part of the time left."""

Sides = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Conflict:
    """Members of a model that cannot hold together.

    Parameters
    ----------
    rows : tuple of int
        Rows that take part.
    columns : tuple of int
        Columns whose bounds take part.
    lines : tuple of str
        One readable sentence per member, with names.
    minimal : bool
        Whether leaving out any one member would make the rest satisfiable.
    integers : tuple of int
        Columns whose integrality takes part.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    lines: tuple[str, ...]
    minimal: bool
    integers: tuple[int, ...] = ()

    def __str__(self) -> str:
        return paragraph(self.lines, self.minimal)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a model is infeasible and, where that was asked for, what would mend it."""

    conflict: Conflict | None = None
    relaxation: Relaxation | None = None

    def __str__(self) -> str:
        return "\n".join(str(part) for part in (self.conflict, self.relaxation) if part is not None)


@dataclass(frozen=True, eq=False)
class _Members:
    """Sides of rows (m,) and columns (n,), and which columns must be integer (n,)."""

    row_sides: Sides
    column_sides: Sides
    integer: BoolArray

    @classmethod
    def none(cls, problem: Problem) -> _Members:
        rows, columns = problem.num_rows, problem.num_columns
        sides = np.zeros(rows, dtype=np.int8), np.zeros(columns, dtype=np.int8)
        return cls(*sides, np.zeros(columns, dtype=bool))


def explain(problem: Problem, time_limit: float) -> Conflict | None:
    """Find constraints and bounds that make a model infeasible.

    Parameters
    ----------
    problem : Problem
        A model known to be infeasible.
    time_limit : float
        Seconds this may take.

    Returns
    -------
    Conflict or None
        A conflict that was solved on its own and found infeasible; None if the model is
        feasible or the time did not allow to find one.
    """
    from solvers.highs.model import prepare

    progress = Progress(time_limit)
    if not problem.num_rows and not problem.is_mip:
        return None  # bounds that cross never become a problem
    empty = prepare(problem).empty_column
    if empty is not None:
        return _one_column(problem, empty)
    if not problem.num_columns:
        return _empty_rows(problem)
    found, minimal = _linear_conflict(problem, progress)
    if found is None and problem.is_mip:
        found, minimal = _filtered(problem, progress)
    return None if found is None else _conflict(problem, found, minimal)


def _linear_conflict(problem: Problem, progress: Progress) -> tuple[_Members | None, bool]:
    from solvers.highs.child import run_task
    from solvers.highs.engine import make_task
    from solvers.highs.model import prepare
    from solvers.highs.task import Work

    if progress.should_stop() is not None:
        return None, False
    prepared = prepare(problem.relaxation() if problem.is_mip else problem)
    task = replace(make_task(prepared, EngineOptions(threads=1)), work=Work.CONFLICT)
    reply = run_task(task, progress)
    if reply.row_sides is None or reply.column_sides is None:
        return None, False
    members = _Members(reply.row_sides, reply.column_sides, _Members.none(problem).integer)
    return members, reply.minimal


def _filtered(problem: Problem, progress: Progress) -> tuple[_Members | None, bool]:
    """Shrink the whole model to a conflict by leaving out one portion after the other."""
    whole = _Members(
        _sides(problem.row_lower, problem.row_upper),
        _sides(problem.lower, problem.upper),
        problem.integrality.copy(),
    )
    if not _is_infeasible(problem, whole, progress, progress.time_left):
        return None, False
    members, minimal = whole, True
    for kind in ("row_sides", "integer", "column_sides"):
        members, complete = _without_needless(problem, members, kind, progress)
        minimal = minimal and complete
    if not minimal and _size(members) == _size(whole):
        return None, False  # the whole model is no explanation
    return members, minimal


def _without_needless(
    problem: Problem, members: _Members, kind: str, progress: Progress
) -> tuple[_Members, bool]:
    """Leave out what is not needed of one kind; also return whether all of it was tested."""
    untested = np.flatnonzero(getattr(members, kind))
    portion = max(1, untested.size // 2)
    complete = True
    while untested.size:
        if progress.should_stop() is not None:
            return members, False
        kept = []
        for begin in range(0, untested.size, portion):
            some = untested[begin : begin + portion]
            flags = getattr(members, kind).copy()
            flags[some] = 0
            trial = replace(members, **{kind: flags})
            seconds = SHARE_OF_TRIAL * progress.time_left
            answer = _is_infeasible(problem, trial, progress, seconds)
            if answer:
                members = trial
            else:
                kept.append(some)
                complete = complete and (answer is not None or portion > 1)
        if portion == 1:
            return members, complete
        untested = np.concatenate(kept) if kept else np.zeros(0, dtype=np.intp)
        portion //= 2
    return members, complete


def _is_infeasible(
    problem: Problem, members: _Members, progress: Progress, seconds: float
) -> bool | None:
    """Solve the part of the model that ``members`` name; None if that could not be settled."""
    from solvers.highs import solve

    options = EngineOptions(threads=1, rel_gap=1e9)
    trial = Progress(min(seconds, progress.time_left))
    outcome = solve(_part(problem, members), options, trial)
    if outcome.solution_status is SolutionStatus.INFEASIBLE:
        return True
    settled = outcome.solution_status is not SolutionStatus.NOTHING
    return False if settled else None


def _part(problem: Problem, members: _Members) -> Problem:
    rows, columns = members.row_sides, members.column_sides
    used = np.flatnonzero(rows)
    return Problem(
        cost=np.zeros(problem.num_columns),
        matrix=problem.matrix[used],
        row_lower=np.where(rows & LOWER, problem.row_lower, -np.inf)[used],
        row_upper=np.where(rows & UPPER, problem.row_upper, np.inf)[used],
        lower=np.where(columns & LOWER, problem.lower, -np.inf),
        upper=np.where(columns & UPPER, problem.upper, np.inf),
        integrality=members.integer,
    )


def _size(members: _Members) -> int:
    return sum(map(np.count_nonzero, (members.row_sides, members.column_sides, members.integer)))


def _sides(low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> Sides:
    sides: Sides = (LOWER * np.isfinite(low) + UPPER * np.isfinite(high)).astype(np.int8)
    return sides


def _conflict(problem: Problem, members: _Members, minimal: bool) -> Conflict:
    integers = tuple(int(j) for j in np.flatnonzero(members.integer))
    return Conflict(
        rows=tuple(int(i) for i in np.flatnonzero(members.row_sides)),
        columns=tuple(int(j) for j in np.flatnonzero(members.column_sides)),
        lines=sentences(problem, members.row_sides, members.column_sides, integers),
        minimal=minimal,
        integers=integers,
    )


def _one_column(problem: Problem, column: int) -> Conflict:
    """Return the conflict of an integer column without an integer between its bounds."""
    members = _Members.none(problem)
    members.integer[column], members.column_sides[column] = True, BOTH
    return _conflict(problem, members, True)


def _empty_rows(problem: Problem) -> Conflict | None:
    """Return the conflict of a model without columns: one row that zero does not satisfy."""
    sides = np.where(problem.row_lower > 0, LOWER, np.where(problem.row_upper < 0, UPPER, FREE))
    broken = np.flatnonzero(sides)
    if not broken.size:
        return None
    members = _Members.none(problem)
    members.row_sides[broken[0]] = sides[broken[0]]
    return _conflict(problem, members, True)


# The words of an explanation: rows, bounds and integrality as a modeller would write them.


LONGEST_ROW = 8
"""Terms of a row that are written out."""

LONGEST_LIST = 30
"""Members of a conflict that are listed in its paragraph."""


def sentences(
    problem: Problem,
    row_sides: npt.NDArray[np.int8],
    column_sides: npt.NDArray[np.int8],
    integers: Sequence[int],
) -> tuple[str, ...]:
    """Return one sentence per row, bound and integrality that takes part.

    Parameters
    ----------
    row_sides, column_sides : (m,) and (n,) arrays
        1 for the lower side, 2 for the upper, 3 for both, 0 for none.
    integers : sequence of int
        Columns whose integrality takes part.
    """
    rows = [
        f"{problem.row_label(int(i))}: "
        + between(
            problem.row_lower[i], row_terms(problem, int(i)), problem.row_upper[i], row_sides[i]
        )
        for i in np.flatnonzero(row_sides)
    ]
    bounds = []
    for j in np.flatnonzero(column_sides):
        name = problem.column_label(int(j))
        limits = between(problem.lower[j], name, problem.upper[j], column_sides[j])
        bounds.append(f"bound of {name}: {limits}")
    whole = [f"{problem.column_label(j)} must be integer" for j in integers]
    return tuple([*rows, *bounds, *whole])


def paragraph(lines: Sequence[str], minimal: bool) -> str:
    """Return the explanation as a paragraph, cut after some members."""
    if len(lines) == 1:
        return f"The model is infeasible: this cannot hold:\n  {lines[0]}"
    listed = [f"  {line}" for line in lines[:LONGEST_LIST]]
    if len(lines) > LONGEST_LIST:
        listed.append(f"  ... and {len(lines) - LONGEST_LIST} more")
    head = f"The model is infeasible: these {len(lines)} conditions cannot hold together"
    tail = "without any one of them the others can." if minimal else "not all may be needed."
    return "\n".join([f"{head}; {tail}", *listed])


def direction(problem: Problem, ray: FloatArray) -> str:
    """Return the way along which the objective improves without limit, with names.

    Parameters
    ----------
    ray : (n,) array
        A recession direction; only its direction counts.
    """
    step = ray / np.abs(ray).max()
    moved = np.flatnonzero(np.abs(step) > 1e-9)
    order = moved[np.argsort(-np.abs(step[moved]), kind="stable")]
    terms = [f"{problem.column_label(int(j))} by {step[j]:+.6g}" for j in order[:LONGEST_LIST]]
    if order.size > LONGEST_LIST:
        terms.append(f"{order.size - LONGEST_LIST} more")
    gain = abs(float(problem.cost @ step))
    return (
        f"The objective improves by {gain:.6g}, again and again, if these change together: "
        f"{', '.join(terms)}"
    )


def between(low: float, middle: str, high: float, sides: int) -> str:
    """Return ``low <= middle <= high`` with the sides that take part (1 lower, 2 upper)."""
    if low == high:
        return f"{middle} = {number(low)}"
    if sides == 3 and np.isfinite(low) and np.isfinite(high):
        return f"{number(low)} <= {middle} <= {number(high)}"
    if sides & 1:
        return f"{middle} >= {number(low)}"
    return f"{middle} <= {number(high)}"


def row_terms(problem: Problem, row: int) -> str:
    """Return a row's left-hand side, such as ``3 x + 2 y - z``."""
    begin, end = problem.entries.indptr[row : row + 2]
    if begin == end:
        return "0"
    text = ""
    for k in range(begin, min(end, begin + LONGEST_ROW)):
        value = float(problem.entries.data[k])
        name = problem.column_label(int(problem.entries.indices[k]))
        size = "" if abs(value) == 1 else f"{number(abs(value))} "
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += f"{sign}{size}{name}"
    hidden = end - begin - LONGEST_ROW
    return f"{text} + ... ({hidden} more terms)" if hidden > 0 else text
