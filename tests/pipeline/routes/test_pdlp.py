"""PDLP's route: which answers go on to a vertex."""

import pytest

import gpu_bridge
from gpu_bridge.pipeline.routes import pdlp
from solvers.core.outcome import SolutionStatus
from tests.locations import DATA

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
