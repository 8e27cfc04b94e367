"""Reductions of a model, each with its way back.

A reduction is a function ``apply(problem, progress) -> Reduction``. It returns a smaller problem
with the same optimal value (its offset included, so that bounds carry over as they are) and
``undo``, which maps an outcome of the small problem to one of the large: the point always, duals
and basis for linear programs. Or it settles the matter, when nothing is left to solve or the
model is shown to be infeasible. ``undo`` may be called any number of times.

One rule per file; :func:`apply` runs them in order. HiGHS's own presolve is the first.
"""

from __future__ import annotations

from gpu_bridge.presolve.reduction import Reduction, unchanged
from solvers.problem import Problem
from solvers.progress import Progress

__all__ = ["Reduction", "apply", "unchanged"]


def apply(problem: Problem, progress: Progress) -> Reduction:
    """Reduce a problem by all rules we have.

    Parameters
    ----------
    problem : Problem
    progress : Progress
        Keeps the time limit; what it leaves undone is left to the engine.

    Returns
    -------
    Reduction
        With ``settled`` where no engine is needed any more.
    """
    from gpu_bridge.presolve import highs

    if progress.should_stop() is not None or not (problem.num_rows and problem.num_columns):
        return unchanged(problem)
    return highs.apply(problem, progress)
