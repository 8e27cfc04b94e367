"""A presolve for first-order methods: milliseconds, and no coefficient is ever changed.

A first-order method gains from every row and column that is gone and from a dual space that is
smaller, and little from the eliminations that simplex likes, which fill and rescale the matrix.
So nearly all reductions here remove rows and columns and change sides, bounds and costs, but no
coefficient (Andersen and Andersen, "Presolving in linear programming", 1995, has them all):

* ``rows``: empty, redundant, forcing rows, and rows that are bounds;
* ``columns``: fixed, empty and weakly dominated columns, and columns that are slack of a row,
  implied free ones among them;
* ``dominated``: columns whose reduced cost has a sign at every dual feasible point;
* ``parallel``: rows and columns that are multiples of each other.

One replaces columns by equations where no entry is added, a whole set at a time:

* ``substitution``: equations with two columns, and columns with few entries that an equation
  keeps within their bounds.

Each step is exact for the primal and the dual, so that a point and duals, a ray or a basis come
back, and a starting point goes forward (``undo``). The loop ends when a round
gains little or the allowance of looks at entries is spent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from solvers.core.errors import CrossedBoundsError
from solvers.core.lp_answer import proves_infeasible
from solvers.core.machine import STEPS_PER_LOOK, WORTH_IT, threads_for
from solvers.core.outcome import Basis, BasisStatus, Outcome, Proof, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.native.presolve_light_columns import reduce_columns
from solvers.native.presolve_light_dominated import fix_dominated_columns
from solvers.native.presolve_light_parallel import merge_parallel_columns, merge_parallel_rows
from solvers.native.presolve_light_rows import reduce_rows
from solvers.presolve.light.substitution import substitute
from solvers.presolve.light.workspace import (
    ALIVE,
    CONTRADICTION,
    STEPS,
    WORK,
    WORK_LIMIT,
    Way,
    Workspace,
    begin,
    reduced_problem,
)
from solvers.presolve.reduction import Reduction, chained, completed, unchanged

ENGINE = "presolve"

LOOKS_PER_ENTRY = 40
"""Looks at a stored entry, on average, after which reducing ends."""

MOST_ROUNDS = 1000

MOST_SUBSTITUTIONS = 4
"""Rounds of replacing columns by equations, each of which is a sparse product."""

ANOTHER = 0.1
"""A round that replaced less than this part of the columns has no other after it: of 36 models on
which one did, the next one found enough (``substitution.ENOUGH``) on two, and looking for it took
up to 20 ms of the 150 that the presolve takes."""

LITTLE = 0.001
"""A round of the cheap passes that removes less than this part of what is left is the last."""

SOME = 0.01
"""So is one of the others."""


WORTH_A_COPY = 0.1
"""Where less than this part of an iteration's work on a model of so many nonzeros is saved, it
stays as it is:"""

COPY_NONZEROS = 1_000_000
"""what is left of one with four million takes as long to copy as thousands of iterations on a GPU,
and twice its memory. Multi-stage programs lose 8 % of that work, and take as many iterations to
1e-4 with it as without: with two seeds 3,400 and 3,200 of 1.4 million nonzeros, 2,400 of
200,000."""

OWNER_ENTRIES = 3
"""Entries that a row or a column counts for in an iteration: on two programs of 130,000 nonzeros an
iteration moves 22 bytes for an entry, and 66 for a row or a column."""


def apply(problem: Problem, progress: Progress, threads: int = 0) -> Reduction:
    """Reduce a linear program.

    Parameters
    ----------
    problem : Problem
        A mixed-integer one stays as it is.
    progress : Progress
        Asked between rounds.
    threads : int
        CPU threads at most, 0 for all cores; any number of them gives the same.

    Returns
    -------
    Reduction
        With ``forward`` for starts. ``settled`` where nothing is left, or where a row contradicts
        the bounds and a ray proves it on the original.
    """
    if problem.is_mip or problem.num_columns == 0:
        return unchanged(problem)
    reduction = _substituted(_remove(problem, progress, threads), problem, progress, threads)
    left = reduction.problem
    if left is problem and reduction.settled is None:
        return reduction
    if reduction.settled is None and left.num_columns == 0:
        reduction = replace(reduction, settled=reduction.undo(_nothing_left(left)))
    settled = reduction.settled
    if settled is not None:
        if settled.solution_status is SolutionStatus.INFEASIBLE:
            assert settled.dual_ray is not None  # the only proof there is
            if not proves_infeasible(problem, settled.dual_ray):
                settled = None
        else:
            settled = completed(problem, settled)
    progress.log(
        f"Light presolve: {problem.num_rows} rows, {problem.num_columns} columns, "
        f"{problem.num_nonzeros} nonzeros reduced to {left.num_rows}, "
        f"{left.num_columns}, {left.num_nonzeros}."
    )
    undo = reduction.undo
    return replace(
        reduction, undo=lambda outcome: completed(problem, undo(outcome)), settled=settled
    )


def _substituted(
    reduction: Reduction, problem: Problem, progress: Progress, threads: int
) -> Reduction:
    """Replace columns by equations as long as there are enough, and remove what that frees."""
    for _ in range(MOST_SUBSTITUTIONS):
        if reduction.settled is not None or progress.should_stop() is not None:
            break
        before = reduction.problem
        try:
            substituted = substitute(before)
        except CrossedBoundsError:  # see _remove
            break
        if substituted.problem is before:
            break
        if before is not problem or problem.num_nonzeros >= WORTH_IT:
            before.forget_columns()  # the way back does without them, as a check makes them anew
        last = _remove(substituted.problem, progress, threads)
        if last.problem is not substituted.problem:
            substituted.problem.forget_columns()
        reduction = chained(chained(reduction, substituted), last)
        replaced = before.num_columns - substituted.problem.num_columns
        if replaced < ANOTHER * before.num_columns:
            break
    return reduction


def _remove(problem: Problem, progress: Progress, threads: int = 1) -> Reduction:
    """Run all reductions that leave the coefficients alone, as long as they gain."""
    work = LOOKS_PER_ENTRY * (problem.num_nonzeros + problem.num_rows + problem.num_columns)
    threads = threads_for(STEPS_PER_LOOK * problem.num_nonzeros, threads)
    workspace = begin(problem, work, threads)
    _reduce(workspace, progress, threads)
    if workspace.count[CONTRADICTION]:
        ray = Way(problem, workspace).contradiction()
        if proves_infeasible(problem, ray):
            return replace(unchanged(problem), settled=_infeasible(ray))
    if not _is_worth_a_copy(problem, workspace):
        return unchanged(problem)
    try:
        reduced = reduced_problem(problem, workspace, threads)
    except CrossedBoundsError:  # by rounding, or numbers that came to be beyond all that is finite
        return unchanged(problem)
    way = Way(problem, workspace, threads)
    return Reduction(reduced, way.back, forward=way.forward)


def _is_worth_a_copy(problem: Problem, w: Workspace) -> bool:
    """Whether anything was removed, and of a large model enough."""
    if not w.count[STEPS] or problem.num_nonzeros < COPY_NONZEROS:
        return bool(w.count[STEPS])
    rows, columns = w.row_removed == ALIVE, w.column_removed == ALIVE
    owners = np.count_nonzero(rows) + np.count_nonzero(columns)
    left = w.row_length.sum(where=rows) + OWNER_ENTRIES * owners
    whole = problem.num_nonzeros + OWNER_ENTRIES * (rows.size + columns.size)
    return bool(whole - left >= WORTH_A_COPY * whole)


def _reduce(w: Workspace, progress: Progress, threads: int = 1) -> None:
    """Run the reductions until they gain little; those that look at everything now and then."""
    m, n = w.row_removed.size, w.column_removed.size
    for turn in range(MOST_ROUNDS):
        before = int(w.count[STEPS])
        _reduce_cheaply(w, threads)
        if _finished(w, progress):
            return
        # merging by itself makes nothing else parallel
        if turn and int(w.count[STEPS]) - before <= SOME * (m + n - before):
            return
        before = int(w.count[STEPS])
        fix_dominated_columns(w, np.empty(m), np.empty(m), threads)
        merge_parallel_rows(w, threads)
        merge_parallel_columns(w, threads)
        gained = int(w.count[STEPS]) - before
        if _finished(w, progress) or gained <= SOME * (m + n - int(w.count[STEPS])):
            break
    _reduce_cheaply(w, threads)


def _reduce_cheaply(w: Workspace, threads: int) -> None:
    for _ in range(MOST_ROUNDS):
        before = int(w.count[STEPS])
        reduce_columns(w, threads)
        reduce_rows(w, threads)
        left = w.row_removed.size + w.column_removed.size - int(w.count[STEPS])
        if int(w.count[STEPS]) - before <= LITTLE * left or _spent(w):
            return


def _finished(w: Workspace, progress: Progress) -> bool:
    return _spent(w) or progress.should_stop() is not None


def _spent(w: Workspace) -> bool:
    """Whether the work allowed is done, or a contradiction was found."""
    return bool(w.count[WORK] > w.count[WORK_LIMIT] or w.count[CONTRADICTION] != 0)


def _infeasible(ray: Any) -> Outcome:
    return Outcome(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
        dual_ray=ray,
        proof=Proof.SEARCH,
        engine=ENGINE,
        message="Presolve showed that no point satisfies the constraints.",
    )


def _nothing_left(reduced: Problem) -> Outcome:
    rows = np.full(reduced.num_rows, BasisStatus.BASIC, dtype=np.int8)
    return Outcome(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        x=np.zeros(0),
        row_dual=np.zeros(reduced.num_rows),
        basis=Basis(np.zeros(0, dtype=np.int8), rows),
        proof=Proof.SEARCH,
        engine=ENGINE,
    )
