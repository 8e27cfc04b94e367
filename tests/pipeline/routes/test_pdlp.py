"""PDLP's route: presolve has its share, and which answers go on to a vertex."""

import pytest

import gpu_bridge
from gpu_bridge.options import make_options
from gpu_bridge.pipeline.routes import pdlp
from solvers import presolve
from solvers.core.outcome import SolutionStatus
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
