"""Engines of a race share what presolve leaves."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.pipeline.routes.shared_presolve import SharedPresolve
from solvers import presolve
from solvers.core.problem import Problem
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
