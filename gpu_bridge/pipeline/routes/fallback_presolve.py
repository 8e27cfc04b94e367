"""PDLP on what the light presolve leaves, and after very many iterations on what HiGHS's leaves.

A few small models with hardly any numbers on their right sides, all of whose rows tie columns to
each other, need millions of iterations after the light presolve and far fewer once HiGHS has
substituted columns (``docs/pdlp-constants.md``). Which presolve is better is not known beforehand:
on most models HiGHS's costs more than the whole solve, and made some of them harder. So it comes
when so many iterations have not done.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from gpu_bridge.options import Options
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from solvers.pdlp import IntermediatePoints, Norms, Settings
    from solvers.presolve import Reduction

ITERATIONS_OF_LIGHT, DECADES_OF_LIGHT, POWER_OF_DECADES = 1_280_000, 8.0, 4
"""Iterations after which PDLP goes on with what HiGHS's presolve leaves, for a tolerance of so
many decades; for a looser one they are fewer by this power of its decades: 80,000 at 1e-4. Of 111
models those that end after the light presolve at 1e-4 have ended by then but for one, and of three
that need more than 437,000 two take less than 190,000 after HiGHS's
(``docs/pdlp-constants.md``). At 1e-8 the longest that ends on an H200 takes 0.95 million."""

LARGE = 1_000_000
"""Nonzeros from which there is no second attempt. Of five families of that size for choosing
HiGHS's presolve removes at most 3 % of the nonzeros, and adds 16 % on one. It takes 0.7 to 2.6 s of
a core and 5 to 14 times the model's memory, and the second attempt begins anew."""

HOPELESS_AFTER = 40_000
"""Iterations from which a scaling that ends with an error of more than 1e-2 is the last one,
whatever the tolerance: of 111 models all but `greenbea` have less by then
(``docs/pdlp-constants.md``), and what comes instead has the other scaling, too."""

ERRORS = ("relative_primal_residual", "relative_dual_residual", "relative_gap")
"""Statistics of an answer by which one is nearer to an optimum than another."""


def solve_reduced(
    problem: Problem,
    reduction: Reduction,
    options: Options,
    progress: Progress,
    start: Start | None,
    norms: Norms,
    points: IntermediatePoints,
) -> tuple[Outcome, Reduction]:
    """Solve a reduced linear program by PDLP, if need be by another reduction.

    Parameters
    ----------
    problem : Problem
        The original.
    reduction : Reduction
        What the light presolve has left of it, or the original unchanged.
    options : Options
        Only with ``presolve`` and enough iterations is there another reduction, of models that are
        not large.
    progress : Progress
    start : Start, optional
        A point of the reduced problem.
    norms : Norms
        Of the original.
    points : IntermediatePoints
        Are given points of the original on the way.

    Returns
    -------
    Outcome
        In the space of the reduction that comes with it; the better one if neither is optimal.
    Reduction
    """
    from solvers import pdlp, presolve

    def attempt(
        reduced: Reduction, options: Options, start: Start | None, settings: Settings
    ) -> Outcome:
        through = points.through(reduced.undo)
        return pdlp.solve(
            reduced.problem,
            options,
            progress,
            start,
            settings=settings,
            norms=norms,
            points=through,
        )

    usual = pdlp.Settings()
    allowed = math.inf if options.iteration_limit is None else options.iteration_limit
    enough = _iterations_of_light(options.tolerance)
    if not options.presolve or allowed <= enough or problem.num_nonzeros >= LARGE:
        return attempt(reduction, options, start, usual), reduction
    brief = dataclasses.replace(options, iteration_limit=enough)
    hopeless = usual.changed(alternation={"hopeless_from": HOPELESS_AFTER})
    first = attempt(reduction, brief, start, hopeless)
    if first.stop_reason not in (StopReason.ITERATION_LIMIT, StopReason.NUMERICAL_TROUBLE):
        return first, reduction
    progress.log("PDLP goes on with what HiGHS's presolve leaves.")
    other = presolve.apply(problem, progress, "highs")
    if other.settled is not None:
        return other.settled, presolve.unchanged(problem)
    made = _iterations(first)
    left = None if options.iteration_limit is None else options.iteration_limit - made
    rest = dataclasses.replace(pdlp.where_it_ran(first, options), iteration_limit=left)
    second = attempt(other, rest, None, settings_of_second_attempt())
    total = {"iterations": made + _iterations(second)}
    if second.stop_reason is StopReason.CONVERGED or _error(second) <= _error(first):
        return dataclasses.replace(second, statistics={**second.statistics, **total}), other
    counted = {**first.statistics, **total}
    first = dataclasses.replace(first, stop_reason=second.stop_reason, statistics=counted)
    return first, reduction


def _iterations_of_light(tolerance: float) -> int:
    """Return the iterations of the first attempt at a tolerance."""
    decades = min(max(-math.log10(tolerance), 1.0), DECADES_OF_LIGHT)
    return round(ITERATIONS_OF_LIGHT * (decades / DECADES_OF_LIGHT) ** POWER_OF_DECADES)


def settings_of_second_attempt() -> Settings:
    """Return constants for a long solve: Ruiz's scaling alone."""
    from solvers import pdlp

    return pdlp.Settings().changed(scaling={"curtis_reid_passes": 0})


def _iterations(answer: Outcome) -> int:
    return int(answer.statistics.get("iterations", 0))


def _error(answer: Outcome) -> float:
    """Return the largest relative error of an answer, infinite where it is not known."""
    errors = [float(answer.statistics.get(name, math.inf)) for name in ERRORS]
    return math.inf if any(math.isnan(error) for error in errors) else max(errors)
