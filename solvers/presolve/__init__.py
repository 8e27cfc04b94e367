"""Reductions of a model, each with its way back.

A reduction is a function ``apply(problem, progress) -> Reduction``. It returns a smaller problem
with the same optimal value (its offset included, so that bounds carry over as they are) and
``undo``, which maps an outcome of the small problem to one of the large: the point always, duals
and basis for linear programs. Or it settles the matter, when nothing is left to solve or the
model is shown to be infeasible. ``undo`` may be called any number of times.

There are two: ``light``, our own, for first-order methods on linear programs, and ``highs``, which
goes farther and takes its time. A reduction may also have ``forward``, which maps a start.
"""

from __future__ import annotations

from solvers.core.machine import give_back, mapped_arrays
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.presolve.reduction import Reduction, chained, unchanged

__all__ = ["KINDS", "Reduction", "apply", "chained", "unchanged"]


KINDS = ("light", "highs", "both", "none")
"""``both`` hands to HiGHS what the light presolve leaves."""


def apply(problem: Problem, progress: Progress, kind: str = "highs", threads: int = 0) -> Reduction:
    """Reduce a problem.

    Parameters
    ----------
    problem : Problem
    progress : Progress
        Keeps the time limit; what it leaves undone is left to the engine.
    kind : str
        One of :data:`KINDS`.
    threads : int
        CPU threads that ``light`` may use; 0 for all cores.

    Returns
    -------
    Reduction
        With ``settled`` where no engine is needed any more.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}.")
    reduction = unchanged(problem)
    rules = {"light": ("light",), "highs": ("highs",), "both": ("light", "highs"), "none": ()}
    for rule in rules[kind]:
        left = reduction.problem
        if progress.should_stop() is not None or not (left.num_rows and left.num_columns):
            break
        if rule == "light":
            from solvers.presolve import light

            with mapped_arrays(left.num_nonzeros):
                made = light.apply(left, progress, threads)
        else:
            from solvers.presolve import with_highs

            made = with_highs.apply(left, progress)
        reduction = chained(reduction, made)
        if reduction.settled is not None:
            break
    give_back(problem.num_nonzeros)
    return reduction
