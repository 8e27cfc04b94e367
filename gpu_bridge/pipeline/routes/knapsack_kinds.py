"""Which of the exact engines takes which kind of knapsack problem."""

from __future__ import annotations

from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.options import Options
from solvers.core.outcome import Outcome
from solvers.core.problem import Problem
from solvers.core.progress import Progress


def solve_exactly(
    problem: Problem,
    options: Options,
    progress: Progress,
    *,
    kind: ProblemKind | None = None,
) -> Outcome:
    """Solve a knapsack problem of any kind exactly; the outcome is not yet verified.

    Parameters
    ----------
    kind : ProblemKind, optional
        What :func:`~gpu_bridge.classify.classify` says, if that is known.
    """
    kind = classify(problem).kind if kind is None else kind
    if kind is ProblemKind.KNAPSACK_MULTIPLE_CHOICE:
        from solvers.knapsack.multiple_choice.engine import solve as solve_multiple_choice

        return solve_multiple_choice(problem, options, progress)
    if kind is ProblemKind.KNAPSACK_MULTIPLE:
        from solvers.knapsack.multiple.engine import solve as solve_multiple

        return solve_multiple(problem, options, progress)
    if kind is ProblemKind.KNAPSACK_MULTIDIMENSIONAL:
        from solvers.knapsack.multidimensional.engine import solve as solve_multidimensional

        return solve_multidimensional(problem, options, progress)
    from solvers import knapsack

    return knapsack.solve(problem, options, progress)
