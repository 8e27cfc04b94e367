"""Which engines race on which model, and real races on small models."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.options import Options, make_options
from gpu_bridge.pipeline import brief, race
from gpu_bridge.pipeline import contenders as module
from gpu_bridge.pipeline.contenders import (
    GPU_IPM,
    IPM,
    PDLP,
    SIMPLEX,
    make_contenders,
    plan_contenders,
)
from gpu_bridge.pipeline.registry import choose, unheeded
from gpu_bridge.pipeline.routes import pdlp
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers import highs
from solvers import pdlp as first_order
from solvers.core.device import Device
from solvers.core.errors import EngineError
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import child
from tests.cases import through
from tests.locations import DATA
from tests.pipeline.test_dispatch import check
from tests.problems import LINEAR, Case
from tests.soon import soon

GPU = Device("cuda", "Some GPU", 8 * 2**30, 4 * 2**30)
ADLITTLE = DATA / "adlittle.mps.gz"
ADLITTLE_OPTIMUM = 225494.963162


def sparse_problem(nonzeros: int) -> Problem:
    """Return a linear program of this many nonzeros, two in a row."""
    rows = nonzeros // 2
    index = np.arange(rows)
    from scipy.sparse import csr_array

    columns = np.concatenate([index, index + 1])
    matrix = csr_array((np.ones(2 * rows), (np.tile(index, 2), columns)), shape=(rows, rows + 1))
    return Problem.from_arrays(np.ones(rows + 1), matrix, np.ones(rows))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], None]:
    """Return a function that makes this machine one of so many cores, with a GPU or without."""

    def make(cores: int, gpu: bool) -> None:
        monkeypatch.setattr(module, "usable_cores", lambda: cores)
        seen = GPU if gpu else None
        monkeypatch.setattr(module, "seen_gpu", lambda: seen)
        monkeypatch.setattr(
            module, "find_device", lambda wanted: seen or Device("cpu", "a processor")
        )

    return make


BOTH = (SIMPLEX, IPM)


@through(
    ("nonzeros", "cores", "gpu", "options", "names"),
    [
        (module.RACE_NONZEROS - 2, 16, True, {}, (SIMPLEX,)),
        (module.RACE_NONZEROS, 2, False, {}, BOTH),
        (module.RACE_NONZEROS, 16, True, {}, BOTH),
        (module.RACE_NONZEROS, 16, False, {"lp_algorithm": "ipm"}, (SIMPLEX,)),
        (module.PDLP_NONZEROS, 16, True, {}, (PDLP, *BOTH, GPU_IPM)),
        (module.PDLP_NONZEROS, 3, True, {}, (PDLP, *BOTH)),
        (module.PDLP_NONZEROS, 2, True, {}, (PDLP, SIMPLEX)),
        (module.PDLP_NONZEROS, 16, True, {"device": "cpu"}, (*BOTH, PDLP)),
        (module.PDLP_NONZEROS, 16, True, {"lp_algorithm": "ipm"}, (PDLP, SIMPLEX)),
        (module.PDLP_NONZEROS, 16, True, {"threads": 1}, (SIMPLEX,)),
        (module.PDLP_ALONE_NONZEROS, 16, True, {"threads": 1}, (PDLP,)),
        (module.PDLP_ALONE_NONZEROS, 16, False, {"threads": 1}, (SIMPLEX,)),
        (module.PDLP_NONZEROS - 2, 16, False, {}, BOTH),
        (module.PDLP_NONZEROS, 2, False, {}, (*BOTH, PDLP)),
        (module.PDLP_NONZEROS, 3, False, {"threads": 3}, (*BOTH, PDLP)),
        (module.PDLP_NONZEROS, 16, False, {"threads": 2}, BOTH),
        (module.PDLP_ALONE_NONZEROS, 16, False, {"threads": 2}, (SIMPLEX, PDLP)),
    ],
)
def test_the_engines_follow_from_size_and_machine(
    nonzeros: int,
    cores: int,
    gpu: bool,
    options: dict[str, object],
    names: tuple[str, ...],
    machine: Callable[[int, bool], None],
) -> None:
    machine(cores, gpu)
    plan = plan_contenders(sparse_problem(nonzeros), make_options(options))
    assert plan.names == names
    on_gpu = gpu and PDLP in names and options.get("device") != "cpu"
    assert plan.device == ("cuda" if on_gpu else "cpu")


def test_interior_point_stays_out_of_the_race_on_the_gpu_with_very_large_models(
    machine: Callable[[int, bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(16, True)
    monkeypatch.setattr(module, "GPU_IPM_NONZEROS", module.PDLP_NONZEROS - 1)
    plan = plan_contenders(sparse_problem(module.PDLP_NONZEROS), make_options())
    assert plan.names == (PDLP, *BOTH)


def test_the_choice_names_the_race(machine: Callable[[int, bool], None]) -> None:
    machine(16, True)
    choice = choose(sparse_problem(module.PDLP_NONZEROS), make_options())
    assert choice.title == "race of pdlp on cuda, simplex, ipm and ipm on cuda"
    assert choice.device == "cuda"
    assert "first verified answer" in choice.reason
    idle = unheeded(make_options(pool_size=3, simplex_variant="dense", lp_algorithm="ipm"), choice)
    assert set(idle) == {"pool_size", "simplex_variant"}


def test_an_engine_asked_for_by_name_runs_alone(machine: Callable[[int, bool], None]) -> None:
    machine(16, True)
    problem = sparse_problem(module.PDLP_NONZEROS)
    for method in ("highs", "pdlp"):
        choice = choose(problem, make_options(method=method, device="cpu"))
        assert (choice.method, choice.contenders) == (method, ())


def test_pdlp_gets_the_threads_that_are_left(
    monkeypatch: pytest.MonkeyPatch, machine: Callable[[int, bool], None]
) -> None:
    machine(16, True)
    seen: dict[str, Options] = {}

    def route(problem: Problem, options: Options, *_: object, hedge: bool) -> Outcome:
        seen["pdlp"] = options
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    monkeypatch.setattr(module, "pdlp_route", route)
    problem = LINEAR[0].problem
    contenders = make_contenders((PDLP, *BOTH), "cuda", problem, make_options(), None)
    assert [contender.name for contender in contenders] == [PDLP, *BOTH]
    contenders[0].run(Progress())
    assert (seen["pdlp"].threads, seen["pdlp"].device) == (14, "cuda")


@pytest.fixture
def everything_races(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make simplex, interior point and PDLP on the CPU race on every linear program."""
    monkeypatch.setattr(brief, "MOST", 0)
    monkeypatch.setattr(module, "RACE_NONZEROS", 0)
    monkeypatch.setattr(module, "PDLP_NONZEROS", 0)
    monkeypatch.setattr(module, "seen_gpu", lambda: None)
    monkeypatch.setattr(module, "usable_cores", lambda: 3)
    always_to_a_vertex(monkeypatch)


def always_to_a_vertex(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PDLP's own end wait for crossover, however busy this machine is."""
    monkeypatch.setattr(race, "GRACE_LOW", 1000.0)
    monkeypatch.setattr(race, "GRACE_HIGH", 1000.0)


@pytest.mark.usefixtures("everything_races")
@through("case", LINEAR)
def test_linear(case: Case) -> None:
    check(case, gpu_bridge.solve(case.problem))


@pytest.mark.usefixtures("everything_races")
@pytest.mark.parametrize("alone", [SIMPLEX, IPM, PDLP])
def test_any_engine_may_be_the_only_sound_one(alone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module.make_contenders

    def with_traps(*arguments: object) -> list[module.Contender]:
        def crash(progress: Progress) -> Outcome:
            raise EngineError("this engine is out of order")

        contenders = real(*arguments)  # type: ignore[arg-type]
        return [
            contender if contender.name == alone else replace(contender, run=crash)
            for contender in contenders
        ]

    monkeypatch.setattr("gpu_bridge.pipeline.contenders.make_contenders", with_traps)
    outcome = gpu_bridge.solve(ADLITTLE)
    assert outcome.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)
    assert outcome.basis is not None
    assert f"won by {alone}" in outcome.log
    assert outcome.engine == ("pdlp" if alone == PDLP else "highs")


@pytest.mark.usefixtures("everything_races")
def test_time_limit_zero_stops_before_the_race() -> None:
    outcome = gpu_bridge.solve(LINEAR[0].problem, time_limit=0)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.TIME_LIMIT


@pytest.mark.usefixtures("everything_races")
def test_a_race_that_ends_without_a_point_tells_what_zero_misses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def idle(*arguments: object, **_: object) -> Outcome:
        (progress,) = [one for one in arguments if isinstance(one, Progress)]
        assert soon(lambda: progress.should_stop() is not None)
        return Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)

    monkeypatch.setattr(highs, "solve", idle)
    monkeypatch.setattr(module, "pdlp_route", idle)
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], row_lower=4.0, lower=[1.0, 0.0])
    outcome = gpu_bridge.solve(problem, time_limit=0.2)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.candidate.tolist() == [1.0, 0.0]
    assert outcome.residuals.primal == 3.0
    assert np.isfinite(outcome.residuals.largest_relative)
    assert "nearest to zero" in outcome.message


@pytest.mark.usefixtures("everything_races")
def test_when_no_engine_is_right_the_reference_engine_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = Outcome(SolutionStatus.OPTIMAL, StopReason.CONVERGED, x=np.zeros(2), engine="highs")
    real = highs.solve

    def careless(problem: Problem, options: Options, *more: object, **names: object) -> Outcome:
        if options.presolve:
            return wrong
        return real(problem, options, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(highs, "solve", careless)
    monkeypatch.setattr(module, "pdlp_route", lambda *_, **__: wrong)
    outcome = gpu_bridge.solve(LINEAR[0].problem)
    assert "second opinion" in outcome.log
    assert outcome.objective == pytest.approx(LINEAR[0].objective)


@pytest.mark.usefixtures("everything_races")
def test_when_all_engines_break_the_reference_engine_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = highs.solve

    def fragile(problem: Problem, options: Options, *more: object, **names: object) -> Outcome:
        if options.presolve:
            raise EngineError("it crashed")
        return real(problem, options, *more)  # type: ignore[arg-type]

    def broken(*_: object, **__: object) -> Outcome:
        raise EngineError("it crashed too")

    monkeypatch.setattr(highs, "solve", fragile)
    monkeypatch.setattr(module, "pdlp_route", broken)
    outcome = gpu_bridge.solve(LINEAR[0].problem)
    assert "No engine has an answer: it crashed" in outcome.log
    assert outcome.objective == pytest.approx(LINEAR[0].objective)
    monkeypatch.setattr(highs, "solve", broken)
    outcome = gpu_bridge.solve(LINEAR[0].problem)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "it crashed too" in outcome.log


@pytest.mark.usefixtures("everything_races")
def test_a_crash_in_a_race_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SMALL_LP", "SMALL_STUBBORN"):
        monkeypatch.setattr(child, name, -1)
    crash = "os.kill(os.getpid(), 11) if task.settings['solver'] == 'ipm' else run(task, channel)"
    monkeypatch.setattr(child, "BOOTSTRAP", child_that(crash))
    contender = make_contenders((IPM,), "cpu", gpu_bridge.read(ADLITTLE), make_options(), None)[0]
    progress = BridgeProgress()
    left = contender.run(progress)
    assert left.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "crashed" in left.message
    assert "once more" not in progress.text
    outcome = gpu_bridge.solve(ADLITTLE)
    assert outcome.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)


@pytest.mark.parametrize(("memory", "names"), [(1e7, (SIMPLEX,)), (1e12, (SIMPLEX, IPM))])
def test_engines_that_do_not_fit_together_do_not_race(
    memory: float,
    names: tuple[str, ...],
    machine: Callable[[int, bool], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(16, False)
    monkeypatch.setattr(module, "cpu", lambda: Device("cpu", "a processor", int(memory)))
    plan = plan_contenders(sparse_problem(module.RACE_NONZEROS), make_options())
    assert plan.names == names


def test_pdlp_waits_where_it_has_no_core_of_its_own(
    monkeypatch: pytest.MonkeyPatch, machine: Callable[[int, bool], None]
) -> None:
    began: list[float] = []

    def route(
        problem: Problem, options: Options, progress: Progress, *_: object, hedge: bool
    ) -> Outcome:
        began.append(progress.seconds)
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    monkeypatch.setattr(module, "pdlp_route", route)
    monkeypatch.setattr(module, "PDLP_WAITS", 0.2)
    for cores in (2, 3):
        machine(cores, False)
        contenders = make_contenders((*BOTH, PDLP), "cpu", LINEAR[0].problem, make_options(), None)
        contenders[-1].run(Progress())
    assert began[0] >= 0.2 > began[1]


def child_that(does: str) -> str:
    """Return the first words of a child process that does something else with its task."""
    return (
        "import sys, json, time, os; sys.path[:] = json.loads(sys.argv[1]); "
        "from solvers.highs import worker; run = worker.run; "
        f"worker.run = lambda task, channel: {does}; "
        "worker.main()"
    )


@pytest.mark.usefixtures("everything_races")
def test_nothing_is_left_of_the_losers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SMALL_LP", "SMALL_STUBBORN"):
        monkeypatch.setattr(child, name, -1)
    hang = "time.sleep(600) if task.settings['solver'] == 'ipm' else run(task, channel)"
    monkeypatch.setattr(child, "BOOTSTRAP", child_that(hang))
    monkeypatch.setattr(module, "PDLP_NONZEROS", 10**9)
    before = children(), lane_threads()
    outcome = gpu_bridge.solve(ADLITTLE)
    assert outcome.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)
    assert "won by simplex" in outcome.log
    assert soon(lambda: children() <= before[0])
    assert soon(lambda: lane_threads() <= before[1])


@pytest.mark.usefixtures("everything_races")
def test_nothing_is_left_after_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SMALL_LP", "SMALL_STUBBORN"):
        monkeypatch.setattr(child, name, -1)
    monkeypatch.setattr(child, "BOOTSTRAP", child_that("time.sleep(600)"))
    monkeypatch.setattr(module, "PDLP_NONZEROS", 10**9)
    before = children(), lane_threads()
    outcome = gpu_bridge.solve(ADLITTLE, time_limit=0.3)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert soon(lambda: children() <= before[0])
    assert soon(lambda: lane_threads() <= before[1])


def children() -> set[int]:
    """Return the child processes of this one, zombies included, where /proc tells them."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[1]) == os.getpid():
            found.add(int(entry.parent.name))
    return found


def lane_threads() -> set[threading.Thread]:
    """Return the running threads of races and of HiGHS."""
    threads = threading.enumerate()
    return {thread for thread in threads if thread.name.startswith(("contender ", "highs"))}


def test_a_model_beyond_the_memory_of_the_gpu_goes_to_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def find(wanted: str) -> Device:
        asked.append(wanted)
        return replace(GPU, memory_free=100) if wanted.startswith("cuda") else Device("cpu", "")

    monkeypatch.setattr("solvers.pdlp.find_place", find)
    monkeypatch.setattr(Device, "release_memory", lambda self: None)
    progress = BridgeProgress()
    answer = pdlp.pdlp_route(
        LINEAR[0].problem, make_options(device="cuda:1", presolve=False), progress
    )
    assert asked[:2] == ["cuda:1", "cuda:1"]  # once more after the pool was emptied
    assert "Some GPU has 100 B free, so it runs on the CPU" in progress.text
    assert (answer.solution_status, answer.device) == (SolutionStatus.OPTIMAL, "cpu")


@pytest.mark.parametrize(("free", "place"), [(100, "cpu"), (2**30, "cuda:all")])
def test_a_model_beyond_the_memory_of_one_gpu_goes_to_all_of_them(
    free: int, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(wanted: str) -> Device:
        if wanted == "cuda:all":
            return replace(GPU, name="4 x Some GPU", memory_free=free)
        return replace(GPU, memory_free=100)

    monkeypatch.setattr("solvers.pdlp.find_place", find)
    monkeypatch.setattr(Device, "release_memory", lambda self: None)
    progress = BridgeProgress()
    options = make_options(device="cuda")
    assert pdlp.fitting_device(LINEAR[0].problem, options, progress) == place
    where = "4 x Some GPU together" if place == "cuda:all" else "the CPU"
    assert f"Some GPU has 100 B free, so it runs on {where}." in progress.text


def test_a_model_that_fits_the_gpu_once_packed_goes_there(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = LINEAR[0].problem
    plain = first_order.memory_needed(problem)
    monkeypatch.setattr(
        first_order, "memory_needed", lambda _, packed=False: plain // 2 if packed else plain
    )
    monkeypatch.setattr(first_order, "find_place", lambda _: replace(GPU, memory_free=plain))
    monkeypatch.setattr(Device, "release_memory", lambda self: None)
    progress = BridgeProgress()
    assert pdlp.fitting_device(problem, make_options(device="cuda"), progress) == "cuda"
    assert not progress.text


def test_pdlp_goes_on_where_crossover_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()

    def endless(problem: Problem, answer: Outcome, options: Options, progress: Progress) -> Outcome:
        while progress.should_stop() is None:
            never.wait(0.005)
        return answer

    monkeypatch.setattr(race, "GRACE_LOW", 0.05)
    monkeypatch.setattr("solvers.highs.engine.to_vertex", endless)
    problem = gpu_bridge.read(ADLITTLE)
    progress = BridgeProgress()
    options = make_options(device="cpu")
    answer = pdlp.pdlp_route(problem, options, progress, hedge=True)
    assert "won by pdlp after" in progress.text
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert verify(problem, answer, options).solution_status is SolutionStatus.OPTIMAL


def test_a_vertex_is_preferred_to_a_point_of_pdlp(monkeypatch: pytest.MonkeyPatch) -> None:
    always_to_a_vertex(monkeypatch)
    problem = gpu_bridge.read(ADLITTLE)
    progress = BridgeProgress()
    answer = pdlp.pdlp_route(problem, make_options(device="cpu"), progress, hedge=True)
    assert "won by crossover" in progress.text
    assert answer.basis is not None
    assert answer.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)


def test_a_loose_tolerance_asks_for_no_vertex() -> None:
    ways = {"device": "cpu", "method": "pdlp"}
    loose = gpu_bridge.solve(ADLITTLE, tolerance=1e-4, **ways)
    assert loose.basis is None
    assert loose.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-3)
    assert gpu_bridge.solve(ADLITTLE, tolerance=1e-4, crossover="on", **ways).basis is not None
    assert gpu_bridge.solve(ADLITTLE, tolerance=1e-5, **ways).basis is not None


@pytest.mark.gpu
@pytest.mark.parametrize("alone", [None, PDLP, SIMPLEX], ids=str)
def test_a_race_with_a_gpu(alone: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    always_to_a_vertex(monkeypatch)
    monkeypatch.setattr(brief, "MOST", 0)
    monkeypatch.setattr(module, "RACE_NONZEROS", 0)
    monkeypatch.setattr(module, "PDLP_NONZEROS", 0)
    monkeypatch.setattr(module, "usable_cores", lambda: 4)
    real = module.make_contenders

    def with_traps(*arguments: object) -> list[module.Contender]:
        def crash(progress: Progress) -> Outcome:
            raise EngineError("this engine is out of order")

        contenders = real(*arguments)  # type: ignore[arg-type]
        return [
            contender if alone in (None, contender.name) else replace(contender, run=crash)
            for contender in contenders
        ]

    monkeypatch.setattr("gpu_bridge.pipeline.contenders.make_contenders", with_traps)
    for _ in range(2):  # before and after CuPy is loaded
        outcome = gpu_bridge.solve(ADLITTLE)
        assert "race of pdlp on cuda, simplex, ipm and ipm on cuda" in outcome.log
        assert outcome.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)
        assert outcome.device == ("cuda" if outcome.engine == "pdlp" else "cpu")
        assert alone is None or f"won by {alone}" in outcome.log
