"""``method='simplex'``: HiGHS's on the CPU, and the dense engine with a way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.options import make_options
from gpu_bridge.pipeline.routes.simplex import HIGHS, implementation, place
from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.problem import Problem
from solvers.simplex.dense_gpu import arrays
from tests.locations import NETLIB_MODELS

SHARE2B = -415.73224074
BY_HIGHS = "On the CPU the simplex method is that of HiGHS"


def share2b() -> Problem:
    return gb.read(NETLIB_MODELS / "share2b.mps.gz")


@pytest.mark.parametrize(
    "way",
    [{}, {"presolve": False}, {"crossover": "off"}, {"lp_algorithm": "ipm"}, {"tolerance": 1e-2}],
    ids=str,
)
def test_on_the_cpu_it_is_that_of_highs_and_ends_at_a_vertex(way: dict[str, Any]) -> None:
    problem = share2b()
    outcome = gb.solve(problem, method="simplex", device="cpu", **way)
    assert BY_HIGHS in outcome.log
    assert outcome.engine == "highs"
    assert outcome.objective == pytest.approx(SHARE2B, rel=1e-9)
    assert "ipm_iterations" not in outcome.statistics
    assert outcome.basis is not None
    basic = np.concatenate([outcome.basis.column_status, outcome.basis.row_status]) == 1
    assert np.count_nonzero(basic) == problem.num_rows


def test_a_basis_to_start_from_is_used() -> None:
    problem = share2b()
    first = gb.solve(problem, method="simplex", device="cpu")
    again = gb.solve(problem, method="simplex", device="cpu", start=gb.Start(basis=first.basis))
    assert again.statistics["simplex_iterations"] == 0
    assert again.objective == pytest.approx(SHARE2B, rel=1e-9)


def test_limits_hold() -> None:
    outcome = gb.solve(share2b(), method="simplex", device="cpu", iteration_limit=5, presolve=False)
    assert outcome.stop_reason is gb.StopReason.ITERATION_LIMIT
    assert int(outcome.statistics["simplex_iterations"]) <= 5
    outcome = gb.solve(share2b(), method="simplex", device="cpu", time_limit=0)
    assert outcome.stop_reason is gb.StopReason.TIME_LIMIT


def test_infeasible_and_unbounded_come_with_a_proof() -> None:
    problem = gb.read(NETLIB_MODELS / "itest2.mps.gz")
    outcome = gb.solve(problem, method="simplex", device="cpu")
    assert outcome.dual_ray is not None
    assert proves_infeasible(problem, outcome.dual_ray)
    problem = Problem.from_arrays([0.0, -1.0], [[1.0, -1.0]], row_upper=[4.0])
    outcome = gb.solve(problem, method="simplex", device="cpu")
    assert outcome.solution_status is gb.SolutionStatus.UNBOUNDED
    assert outcome.primal_ray is not None
    assert proves_unbounded(problem, outcome.primal_ray)


@pytest.mark.parametrize("presolve", [True, False])
def test_an_inverse_that_does_not_fit_is_a_case_for_highs(
    presolve: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "MOST_STORED_COLUMNS", 3)
    outcome = gb.solve(
        share2b(), method="simplex", simplex_variant="dense", device="cpu", presolve=presolve
    )
    assert "columns that are no slacks" in outcome.log
    assert "HiGHS's simplex takes over" in outcome.log
    assert outcome.engine == "highs"
    assert outcome.objective == pytest.approx(SHARE2B, rel=1e-9)


def test_the_dense_engine_gives_a_vertex_of_the_original() -> None:
    problem = share2b()
    outcome = gb.solve(problem, method="simplex", simplex_variant="dense", device="cpu")
    assert outcome.engine == "simplex"
    assert outcome.objective == pytest.approx(SHARE2B, rel=1e-9)
    assert outcome.basis is not None
    assert outcome.basis.row_status.shape == (problem.num_rows,)


def test_without_a_gpu_auto_is_highs_even_for_dense_models() -> None:
    problem = Problem.from_arrays(np.ones(10), np.ones((600, 10)), row_lower=1.0)
    options = make_options(method="simplex", device="cpu")
    assert implementation(problem, options) == HIGHS
    assert place(problem, options) == "cpu"
