"""Whole solves by every variant, without a GPU: twins and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_bridge
from gpu_bridge.verify.verify import verify
from solvers import highs
from solvers.core.errors import OptionError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.papers.simplex_variants.engine import VARIANTS, solve
from tests.cases import through
from tests.locations import DATA
from tests.papers.simplex_variants.models import (
    assignment,
    beale,
    integer_problem,
    klee_minty,
    kuhn,
    random_problem,
    reference,
    rotating,
)
from tests.problems import LINEAR

OPTIONS = EngineOptions(device="cpu")
OPTIMAL = SolutionStatus.OPTIMAL
OPTIMA = {"afiro": -464.75314286, "adlittle": 225494.96316, "forplan": -664.21896127}

variants = pytest.mark.parametrize("variant", VARIANTS)


def verified(problem: Problem, variant: str) -> Outcome:
    found = solve(problem, OPTIONS, Progress(), variant=variant)
    return verify(problem, found, EngineOptions(tolerance=1e-9))


@variants
@through("case", LINEAR)
def test_every_kind_of_problem_gets_its_status(case, variant):
    found = verified(case.problem, variant)
    assert found.solution_status is case.status
    if case.status is OPTIMAL:
        sign = -1.0 if case.problem.maximize else 1.0
        assert sign * found.objective == pytest.approx(case.objective, abs=1e-9)


@variants
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8)
def test_random_problems_are_solved_as_by_highs(variant, seed):
    problem = random_problem(seed)
    found = verified(problem, variant)
    assert found.solution_status is OPTIMAL
    assert found.objective == pytest.approx(reference(problem), rel=1e-9, abs=1e-9)


@given(seed=st.integers(0, 10_000), variant=st.sampled_from(["resident", "graphs"]))
@settings(max_examples=40)
def test_small_integers_give_the_status_that_highs_gives(seed, variant):
    problem = integer_problem(seed)
    expected = verify(problem, highs.solve(problem, OPTIONS, Progress()), OPTIONS)
    found = verified(problem, variant)
    assert found.solution_status is expected.solution_status
    if expected.solution_status is OPTIMAL:
        assert found.objective == pytest.approx(expected.objective, abs=1e-9)


@variants
@through(
    ("problem", "objective"),
    [(beale(), -0.05), (kuhn(), -2.0), (rotating(), None), (klee_minty(8), -(5.0**8))],
)
def test_cycling_examples_end(problem, objective, variant):
    found = verified(problem, variant)
    known = reference(problem) if objective is None else objective
    assert found.solution_status is OPTIMAL
    assert found.objective == pytest.approx(known, abs=1e-9)


@pytest.mark.parametrize("variant", ["resident", "graphs"])
def test_a_degenerate_model_with_a_redundant_row_is_solved(variant):
    problem = assignment(12, seed=1)
    found = verified(problem, variant)
    assert found.solution_status is OPTIMAL
    assert found.objective == pytest.approx(reference(problem))
    assert np.array_equal(found.x, found.x.round())


@pytest.mark.parametrize(
    ("name", "variant"),
    [(name, variant) for name in OPTIMA for variant in ("resident", "graphs")]
    + [("afiro", "cpu"), ("adlittle", "naive")],
)
def test_netlib_models_reach_their_optima(name, variant):
    problem = gpu_bridge.read(DATA / f"{name}.mps.gz")
    found = verified(problem, variant)
    assert found.solution_status is OPTIMAL
    assert found.objective == pytest.approx(OPTIMA[name], rel=1e-9)


def test_an_infeasible_netlib_model_is_proven_infeasible():
    problem = gpu_bridge.read(DATA / "klein1.mps.gz")
    assert verified(problem, "graphs").solution_status is SolutionStatus.INFEASIBLE


def test_time_and_iteration_limits_are_kept():
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    late = solve(problem, OPTIONS, Progress(0.0))
    assert late.stop_reason is StopReason.TIME_LIMIT
    assert late.statistics["iterations"] == 0
    for variant in VARIANTS:
        short = EngineOptions(device="cpu", iteration_limit=7)
        few = solve(problem, short, Progress(), variant=variant)
        assert few.stop_reason is StopReason.ITERATION_LIMIT
        assert few.statistics["iterations"] == 7


def test_an_interrupt_is_heard():
    progress = Progress()
    progress.interrupt()
    found = solve(random_problem(1), OPTIONS, progress)
    assert found.stop_reason is StopReason.INTERRUPTED


def test_two_solves_are_the_same():
    problem = gpu_bridge.read(DATA / "forplan.mps.gz")
    one, other = (solve(problem, OPTIONS, Progress()) for _ in range(2))
    assert np.array_equal(one.x, other.x)
    assert one.statistics["iterations"] == other.statistics["iterations"]


def test_an_unknown_variant_is_named():
    with pytest.raises(OptionError, match=r"'fast'.*graphs"):
        solve(random_problem(1), OPTIONS, Progress(), variant="fast")
