"""Interior point among the contenders: which one it is, and how it shares the machine with PDLP."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.options import make_options
from gpu_bridge.pipeline import contenders as module
from gpu_bridge.pipeline import interior_points, race
from gpu_bridge.pipeline.contenders import (
    GPU_IPM,
    IPM,
    PDLP,
    SIMPLEX,
    make_contenders,
)
from gpu_bridge.pipeline.routes import interior_point
from gpu_bridge.verify.verify import verify
from solvers import interior_point as engine
from solvers import presolve
from solvers.core.errors import DeviceError
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import DetachableProgress, Progress
from solvers.interior_point import cudss_library
from tests.locations import DATA
from tests.pipeline.test_contenders import sparse_problem
from tests.problems import LINEAR
from tests.soon import LONG


def fully_dense(rows: int) -> Problem:
    rng = np.random.default_rng(rows)
    matrix = rng.uniform(0.5, 1.5, (rows, rows // 4))
    return Problem.from_arrays(np.ones(rows // 4), matrix, np.ones(rows))


@pytest.mark.parametrize(
    ("problem", "least", "few", "engine"),
    [
        (sparse_problem(400), 0, 0, "ipm"),
        (sparse_problem(400), 1000, 0, "highs"),  # too small
        (fully_dense(80), 0, 0, "highs"),  # more than one entry for each coefficient
        (fully_dense(80), 0, 10_000, "ipm"),  # which are few all the same
    ],
)
def test_interior_point_is_our_own_where_its_factor_is_sparse(
    problem: Problem, least: int, few: int, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OWN_IPM_NONZEROS", least)
    monkeypatch.setattr(interior_point, "FEW_ENTRIES", few)
    monkeypatch.setattr(interior_point, "FILL", 1.0)
    monkeypatch.setattr(interior_point, "MOST_FILL", 1.0)
    monkeypatch.setattr(interior_points, "HEAD_START", LONG)
    (contender,) = make_contenders((IPM,), "cpu", problem, make_options(presolve=False), None)
    outcome = verify(problem, contender.run(Progress()), make_options())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.engine == engine


@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_is_told_before_iterating_is_whether_the_factor_is_sparse(
    is_sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interior_point, "FEW_ENTRIES", 0)
    monkeypatch.setattr(interior_point, "FILL", 8.0 if is_sparse else 0.0)
    told: list[bool] = []
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    found = interior_point.run_where_sparse(
        problem, make_options(), Progress(), Analyses(), told.append
    )
    assert found is not None
    assert verify(problem, found, make_options()).solution_status is SolutionStatus.OPTIMAL
    assert told == [is_sparse]


def test_iterations_of_a_crossover_tell_nothing_of_the_factor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_iterations(problem: Problem, options: object, progress: Progress, **_: object):
        progress.iteration(1)  # as HiGHS does
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    monkeypatch.setattr(engine, "solve", without_iterations)
    told: list[bool] = []
    options = make_options(presolve=False, crossover="off")
    problem = LINEAR[0].problem
    found = interior_point.run_where_sparse(problem, options, Progress(), Analyses(), told.append)
    assert found is not None
    assert told == []


def test_where_our_own_interior_point_gives_up_the_reference_engine_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "OWN_IPM_NONZEROS", 0)
    trouble = Outcome(SolutionStatus.NOTHING, StopReason.NUMERICAL_TROUBLE, engine="ipm")
    monkeypatch.setattr(interior_point, "_by_engine", lambda *_, **__: trouble)
    (contender,) = make_contenders((IPM,), "cpu", LINEAR[0].problem, make_options(), None)
    assert contender.run(Progress()).engine == "highs"


@pytest.mark.parametrize("stage", ["apply", "structure_of", "smallest_system"])
def test_interior_point_that_nobody_waits_for_ends_before_its_next_stage(
    stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = DetachableProgress(Progress())
    begun: list[str] = []
    stages = {
        "apply": presolve,
        "structure_of": engine,
        "smallest_system": engine,
        "solve_form": engine,
    }

    def noting(name: str, work: Callable[..., object]) -> Callable[..., object]:
        def noted(*given: object) -> object:
            begun.append(name)
            if name == stage:
                progress.abandon()
            return work(*given)

        return noted

    for name, place in stages.items():
        monkeypatch.setattr(place, name, noting(name, getattr(place, name)))
    found = interior_point.run_where_sparse(
        gpu_bridge.read(DATA / "adlittle.mps.gz"),
        make_options(),
        progress,
        Analyses(),
        lambda: None,
    )
    assert found is not None
    assert found.solution_status is SolutionStatus.NOTHING
    assert begun[-1] == stage


def test_pdlp_waits_for_our_own_interior_point_where_cores_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "usable_cores", lambda: 2)
    told: list[str] = []
    begun, may_end = threading.Event(), threading.Event()

    def sparse(*_: object, beside: bool) -> Outcome:
        begun.set()
        may_end.wait()
        told.append("ipm")
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    def route(*_: object, **_more: object) -> Outcome:
        told.append("pdlp")
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    monkeypatch.setattr(module, "OWN_IPM_NONZEROS", 0)
    monkeypatch.setattr(module, "PDLP_WAITS", 0.0)
    monkeypatch.setattr(module, "pdlp_route", route)
    monkeypatch.setattr(interior_point, "run_where_sparse", sparse)
    contenders = make_contenders(
        (SIMPLEX, IPM, PDLP), "cpu", LINEAR[0].problem, make_options(), None
    )
    threads = [threading.Thread(target=c.run, args=(Progress(),)) for c in contenders[1:]]
    threads[0].start()
    begun.wait()
    threads[1].start()
    threads[1].join(3 * race.LOOK_AGAIN)
    may_end.set()
    for thread in threads:
        thread.join()
    assert told == ["ipm", "pdlp"]


def test_without_cudss_interior_point_leaves_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise DeviceError("cuDSS cannot be loaded")

    monkeypatch.setattr(cudss_library, "library", missing)
    (contender,) = make_contenders((GPU_IPM,), "cuda", LINEAR[0].problem, make_options(), None)
    with pytest.raises(DeviceError, match="cuDSS"):
        contender.run(Progress())
