"""The k best points of a mixed-integer model, one after the other.

After each point a row forbids it: of its integer variables at least one has to differ. A binary
one differs by taking its other value; another one goes above or below by a binary that is added for
each side (Balas, Jeroslow, "Canonical cuts on the unit hypercube", 1972, for the binary case). The
best point of what is left is the next best of the model, and it is proven as any optimum is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.solution_pool import key_of, pool_solutions
from solvers.core.errors import ProblemError
from solvers.core.linear_algebra import SparseRows
from solvers.core.outcome import PoolSolution, SolutionStatus
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from gpu_bridge.options import Options
    from gpu_bridge.outcome import Outcome

SOURCE = "pool search"


def with_best_points(
    problem: Problem,
    outcome: Outcome,
    options: Options,
    progress: Progress,
    solve: Callable[[Problem, Options], Outcome],
) -> Outcome:
    """Return an optimal outcome with the ``pool_size`` best points there are as its pool.

    Where the time is up before, the pool has the proven ones first and then what was found.

    Parameters
    ----------
    problem : Problem
    outcome : Outcome
        Proven optimal, in the sense of the model.
    options : Options
    progress : Progress
        Of the whole solve: its clock and its interruption count.
    solve : callable
        Solves a problem and returns a verified outcome.

    Raises
    ------
    ProblemError
        An integer variable has an infinite bound, so that "differs" cannot be said in a row.
    """
    found = list(pool_solutions(outcome)[:1])
    _check_bounds(problem)
    rest, complete = problem, False
    while len(found) < options.pool_size:
        forbidden = without_point(rest, problem.num_columns, found[-1].x)
        if forbidden is None:
            complete = True
            break
        if progress.should_stop() is not None:
            break
        rest = forbidden
        answer = solve(rest, _options_of_step(options, progress))
        if answer.solution_status is SolutionStatus.INFEASIBLE:
            complete = True
            break
        if answer.solution_status is not SolutionStatus.OPTIMAL or answer.x is None:
            break
        x = answer.x[: problem.num_columns]
        found.append(PoolSolution(x, answer.objective, progress.seconds, SOURCE))
    complete = complete or len(found) == options.pool_size
    number = f"the {len(found)} best points" if len(found) > 1 else "one point"
    if complete:
        more = ", and there are no others" if len(found) < options.pool_size else ""
        progress.log(f"Pool search: {number}, each proven{more}.")
    else:
        progress.log(f"Pool search ended early: {number} proven; others were found on the way.")
        found += _others(problem, outcome, found)[: options.pool_size - len(found)]
    return dataclasses.replace(outcome, pool=tuple(found), seconds=progress.seconds)


def without_point(problem: Problem, width: int, x: FloatArray) -> Problem | None:
    """Return a problem without the points that have the integers of ``x`` in its first columns.

    None where all its integers are fixed, so that no other point has others.
    """
    n, literals, floor = problem.num_columns, {}, 1.0
    new_rows: list[dict[int, float]] = []
    sides: list[tuple[float, float]] = []
    for j in np.flatnonzero(problem.integrality[:width]).tolist():
        value = float(np.rint(x[j]))
        low, high = float(np.ceil(problem.lower[j])), float(np.floor(problem.upper[j]))
        if low >= high:
            continue
        if high - low == 1.0:
            literals[j] = 1.0 if value == low else -1.0
            floor += low if value == low else -high
            continue
        if value < high:  # d = 1 lets x_j be above
            new_rows.append({j: 1.0, n: -(value + 1.0 - low)})
            sides.append((low, np.inf))
            literals[n] = 1.0
            n += 1
        if value > low:  # d = 1 lets it be below
            new_rows.append({j: 1.0, n: high - value + 1.0})
            sides.append((-np.inf, high))
            literals[n] = 1.0
            n += 1
    if not literals:
        return None
    new_rows.append(literals)
    sides.append((floor, np.inf))
    return with_binaries(problem, n - problem.num_columns, new_rows, sides)


def with_binaries(
    problem: Problem,
    columns: int,
    rows: Sequence[Mapping[int, float]],
    sides: Sequence[tuple[float, float]],
    column_names: Sequence[str] | None = None,
    row_names: Sequence[str] | None = None,
) -> Problem:
    """Return the problem with further binaries without cost, and rows over all columns."""
    n, A = problem.num_columns + columns, problem.entries
    low, high = zip(*sides, strict=True)
    matrix = SparseRows(
        np.append(A.data, [value for row in rows for value in row.values()]),
        np.append(A.indices, [j for row in rows for j in row]),
        np.append(A.indptr, A.nnz + np.cumsum([len(row) for row in rows])),
        (problem.num_rows + len(rows), n),
    )
    return dataclasses.replace(
        problem,
        cost=np.append(problem.cost, np.zeros(columns)),
        matrix=matrix,
        row_lower=np.append(problem.row_lower, low),
        row_upper=np.append(problem.row_upper, high),
        lower=np.append(problem.lower, np.zeros(columns)),
        upper=np.append(problem.upper, np.ones(columns)),
        integrality=np.append(problem.integrality, np.ones(columns, dtype=bool)),
        column_names=column_names,
        row_names=row_names,
    )


def _check_bounds(problem: Problem) -> None:
    infinite = problem.integrality & ~(np.isfinite(problem.lower) & np.isfinite(problem.upper))
    if infinite.any():
        j = int(np.flatnonzero(infinite)[0])
        raise ProblemError(
            f"The integer variable '{problem.column_label(j)}' has the bounds "
            f"[{problem.lower[j]:g}, {problem.upper[j]:g}]; pool_search='best' needs finite ones."
        )


def _options_of_step(options: Options, progress: Progress) -> Options:
    left = options.time_limit
    if left is not None:
        left = max(0.0, left - progress.seconds)
    return dataclasses.replace(
        options, pool_search="found", time_limit=left, log=False, log_file=None, explain=False
    )


def _others(problem: Problem, outcome: Outcome, known: list[PoolSolution]) -> list[PoolSolution]:
    keys = {key_of(entry.x, problem) for entry in known}
    return [entry for entry in pool_solutions(outcome) if key_of(entry.x, problem) not in keys]
