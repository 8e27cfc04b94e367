"""Engines of a race share what presolve leaves."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.options import make_options
from gpu_bridge.pipeline.routes import interior_point
from gpu_bridge.pipeline.routes.shared_presolve import SharedPresolve
from solvers import presolve
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.presolve import Reduction
from tests.locations import DATA


def test_presolve_is_made_once_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    real, made = presolve.apply, list[str]()

    def slow(problem: Problem, progress: Progress, kind: str, threads: int) -> Reduction:
        made.append(kind)
        time.sleep(2 * LOOK_AGAIN)
        return real(problem, progress, kind, threads)

    monkeypatch.setattr(presolve, "apply", slow)
    shared, found = SharedPresolve(), list[Reduction]()
    threads = [
        threading.Thread(target=lambda: found.append(shared.reduction(problem, Progress(), 1)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["light"]
    assert found[0] is found[1] is found[2]
    alone = real(problem, Progress(), "light", 1).problem
    np.testing.assert_array_equal(found[0].problem.cost, alone.cost)


@pytest.mark.parametrize(("is_shared", "most"), [(True, 20.0), (False, 100.0)])
def test_interior_point_whose_presolve_pdlp_waits_for_keeps_its_share_of_the_limit(
    is_shared: bool, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    left: list[float] = []

    def applied(problem: Problem, progress: Progress, kind: str, threads: int) -> Reduction:
        left.append(progress.time_left)
        settled = Outcome(SolutionStatus.INFEASIBLE, StopReason.CONVERGED)
        return replace(presolve.unchanged(problem), settled=settled)

    monkeypatch.setattr(presolve, "apply", applied)
    presolved = SharedPresolve() if is_shared else None
    progress = Progress(time_limit=100.0)
    rest = Analyses(), lambda: None
    interior_point._by_engine(problem, make_options(), progress, *rest, presolved=presolved)
    assert left == [pytest.approx(most, rel=0.05)]
    assert progress.time_left > 90.0
