"""Termination, probed on both sides of each limit, and the record of a check."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.lp_answer import LpErrors
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.pdlp.control import SIZE, Control, Stop
from solvers.pdlp.termination import Criteria, Record, is_optimal, is_primal_feasible
from tests.pdlp.lps import random_lp

TOLERANCE = 1e-4
INSIDE, OUTSIDE = 0.99 * TOLERANCE, 1.01 * TOLERANCE


def statistics(primal: float = 0.0, dual: float = 0.0, gap: float = 0.0) -> LpErrors:
    """Return figures whose three relative errors are those given."""
    p = 50.0
    d = (p - gap * (1.0 + p)) / (1.0 + gap)  # solves |p - d| = gap (1 + |p| + |d|)
    return LpErrors(
        primal_residual=primal * (1.0 + 7.0),
        dual_residual=dual * (1.0 + 3.0),
        primal_objective=p,
        dual_objective=d,
        side_norm=7.0,
        cost_norm=3.0,
    )


CRITERIA = Criteria.uniform(TOLERANCE)


def test_everything_just_inside_is_optimal():
    assert is_optimal(statistics(INSIDE, INSIDE, INSIDE), CRITERIA)


@pytest.mark.parametrize("error", ["primal", "dual", "gap"])
def test_one_error_just_outside_is_not_optimal(error):
    assert not is_optimal(statistics(**{error: OUTSIDE}), CRITERIA)


@pytest.mark.parametrize("error", ["primal", "dual", "gap"])
def test_each_error_has_its_own_tolerance(error):
    generous = replace(CRITERIA, **{error: 1.02 * TOLERANCE})
    assert is_optimal(statistics(**{error: OUTSIDE}), generous)


@pytest.mark.parametrize("field", ["primal_residual", "dual_residual", "dual_objective"])
def test_nan_is_never_optimal(field):
    broken = replace(statistics(), **{field: math.nan})
    assert not is_optimal(broken, CRITERIA)
    assert math.isnan(broken.worst)


def test_primal_feasibility_ignores_dual_and_gap():
    assert is_primal_feasible(statistics(INSIDE, 1.0, 1.0), CRITERIA)
    assert not is_primal_feasible(statistics(OUTSIDE), CRITERIA)


def test_worst_is_the_largest_of_the_three():
    assert statistics(1e-3, 2e-3, 5e-4).worst == pytest.approx(2e-3)


def test_a_record_reads_the_control_array_by_name():
    control = np.arange(SIZE, dtype=float)
    control[Control.STOP] = Stop.BROKEN
    record = Record(control)
    assert record[Control.STEP] == Control.STEP
    assert record.stop is Stop.BROKEN
    assert record.iterations == Control.ITERATIONS
    found = record.statistics
    for name in ("primal_residual", "dual_residual", "primal_objective", "dual_objective",
                 "side_norm", "cost_norm"):  # fmt: skip
        assert getattr(found, name) == Control[name.upper()]


def test_errors_are_measured_against_the_smaller_norms():
    problem = random_lp(31, 30, 40)
    far = replace(
        problem,
        row_upper=np.where(np.isfinite(problem.row_upper), problem.row_upper, 3e3),
    )
    own = pdlp.Norms.of(problem)
    assert pdlp.Norms.of(far).sides > 20 * own.sides
    options = EngineOptions(device="cpu", tolerance=1e-6)
    found = {norms: pdlp.solve(far, options, Progress(600.0), norms=norms) for norms in (None, own)}
    misses = {}
    for norms, outcome in found.items():
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        activity = far.matrix @ outcome.x
        misses[norms] = np.linalg.norm(activity - np.clip(activity, far.row_lower, far.row_upper))
    assert misses[own] <= 1e-6 * (1.0 + own.sides)
    errors = [found[norms].statistics["relative_primal_residual"] for norms in (own, None)]
    assert errors[0] == pytest.approx(misses[own] / (1.0 + own.sides), rel=1e-6, abs=1e-12)
    assert errors[1] == pytest.approx(misses[None] / (1.0 + pdlp.Norms.of(far).sides), rel=1e-6)
