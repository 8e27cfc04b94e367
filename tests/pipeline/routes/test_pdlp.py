"""PDLP's route: its shares, the way to a vertex, and answers that miss a tolerance by little."""

from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.options import make_options
from gpu_bridge.pipeline.contenders import SIMPLEX, make_contenders
from gpu_bridge.pipeline.routes import pdlp
from gpu_bridge.verify.verify import verify
from solvers import highs, presolve
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.progress import Progress
from tests.locations import DATA
from tests.problems import LINEAR

OPTIMUM = 225494.963162


@pytest.mark.parametrize(
    ("least", "crossover", "is_vertex"),
    [(0, "auto", False), (0, "on", True), (10**9, "auto", True), (10**9, "off", False)],
)
def test_large_models_go_to_a_vertex_if_asked_for_only(least, crossover, is_vertex, monkeypatch):
    monkeypatch.setattr(pdlp, "CROSSOVER_NONZEROS", least)
    outcome = gpu_bridge.solve(
        DATA / "adlittle.mps.gz", method="pdlp", device="cpu", crossover=crossover
    )
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(OPTIMUM, rel=1e-5)
    assert (outcome.basis is not None) is is_vertex


def test_presolve_has_a_part_of_the_time_only(monkeypatch):
    allowed = []

    def noting(problem, progress, kind, threads):
        allowed.append(progress.time_left)
        return presolve.unchanged(problem)

    monkeypatch.setattr(presolve, "apply", noting)
    progress = Progress(100.0)
    options = make_options(device="cpu", crossover="off")
    answer = pdlp.pdlp_route(LINEAR[0].problem, options, progress)
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert 0.0 < allowed[0] <= 100.0 * pdlp.PRESOLVE_SHARE
    assert progress.time_limit == 100.0


@pytest.mark.parametrize(
    ("reason", "off", "is_mended"),
    [
        (StopReason.NUMERICAL_TROUBLE, 1e-6, True),
        (StopReason.CONVERGED, 1e-6, True),
        (StopReason.TIME_LIMIT, 1e-6, False),
        (StopReason.CONVERGED, 10.0, False),
    ],
)
def test_a_point_that_misses_its_rows_by_little_is_projected(reason, off, is_mended):
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    options = make_options(tolerance=1e-8)
    exact = gpu_bridge.solve(problem, method="highs", tolerance=1e-8)
    inside = (exact.x > problem.lower + 1.0) & (exact.x < problem.upper - 1.0)
    moved = replace(
        exact,
        solution_status=SolutionStatus.OPTIMAL,
        stop_reason=reason,
        x=np.where(inside, exact.x + off, exact.x),
    )
    found = pdlp.mended(problem, moved, options, Progress())
    assert (found is not moved) is is_mended
    if is_mended:
        checked = verify(problem, found, options)
        assert checked.solution_status is SolutionStatus.OPTIMAL
        assert found.basis is moved.basis


@pytest.mark.parametrize("reason", [StopReason.NUMERICAL_TROUBLE, StopReason.CONVERGED])
def test_the_reference_engine_leaves_presolve_out_where_it_brought_trouble(reason, monkeypatch):
    asked = []

    def troubled(problem, options, *_, **__):
        asked.append(options.presolve)
        ended = reason if options.presolve else StopReason.CONVERGED
        return Outcome(SolutionStatus.FEASIBLE, ended, x=np.zeros(problem.num_columns))

    monkeypatch.setattr(highs, "solve", troubled)
    (simplex,) = make_contenders((SIMPLEX,), "cpu", LINEAR[0].problem, make_options(), None)
    assert simplex.run(Progress()).stop_reason is StopReason.CONVERGED
    assert asked == ([True, False] if reason is StopReason.NUMERICAL_TROUBLE else [True])
