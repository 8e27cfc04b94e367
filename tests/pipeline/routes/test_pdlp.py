"""PDLP's route: its shares, which device has the memory, the way to a vertex, and near misses."""

import threading
import weakref
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.options import make_options
from gpu_bridge.pipeline import race
from gpu_bridge.pipeline.routes import ABANDONED, pdlp
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers import pdlp as first_order
from solvers import presolve
from solvers.core.device import Device
from solvers.core.errors import DeviceError
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress
from solvers.core.threads import Patience
from solvers.highs import engine as highs
from tests.locations import DATA
from tests.pipeline.test_race_of_engines import always_to_a_vertex
from tests.problems import LINEAR
from tests.soon import LONG

ADLITTLE = DATA / "adlittle.mps.gz"
OPTIMUM = 225494.963162
GPU = Device("cuda", "Some GPU", 8 * 2**30, 4 * 2**30)


@pytest.mark.parametrize(
    ("least", "crossover", "is_vertex"),
    [(0, "auto", False), (0, "on", True), (10**9, "auto", True), (10**9, "off", False)],
)
def test_large_models_go_to_a_vertex_if_asked_for_only(least, crossover, is_vertex, monkeypatch):
    monkeypatch.setattr(pdlp, "CROSSOVER_NONZEROS", least)
    outcome = gpu_bridge.solve(ADLITTLE, method="pdlp", device="cpu", crossover=crossover)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(OPTIMUM, rel=1e-5)
    assert (outcome.basis is not None) is is_vertex


@pytest.mark.parametrize(
    ("crossover", "status"), [("auto", SolutionStatus.NOTHING), ("on", SolutionStatus.OPTIMAL)]
)
def test_a_limit_of_iterations_is_no_call_for_a_crossover_unless_asked_for(crossover, status):
    wishes = {"method": "pdlp", "device": "cpu", "iteration_limit": 200, "crossover": crossover}
    outcome = gpu_bridge.solve(ADLITTLE, **wishes)
    assert outcome.solution_status is status
    assert (outcome.basis is None) is (crossover == "auto")
    assert (outcome.candidate is None) is (crossover == "on")
    if crossover == "auto":
        assert outcome.stop_reason is StopReason.ITERATION_LIMIT


def ended_early(problem, outcome, options, progress):
    return replace(outcome, message="crossover ended early")


@pytest.mark.parametrize(("crossover", "goes_on"), [("auto", True), ("on", False)])
def test_pdlp_goes_on_to_the_tolerance_where_crossover_has_not_ended(
    crossover, goes_on, monkeypatch
):
    monkeypatch.setattr(highs, "to_vertex", ended_early)
    wishes = {"method": "pdlp", "device": "cpu", "tolerance": 1e-8, "crossover": crossover}
    outcome = gpu_bridge.solve(ADLITTLE, **wishes)
    rough = gpu_bridge.solve(ADLITTLE, **{**wishes, "crossover": "off", "tolerance": 1e-5})
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert ("PDLP goes on to the tolerance" in outcome.log) is goes_on
    if goes_on:
        assert outcome.engine == "pdlp"
        assert "ended early" in outcome.message
        assert outcome.statistics["iterations"] > rough.statistics["iterations"]


def test_a_crossover_leaves_pdlp_time_to_go_on(monkeypatch):
    left = []

    def look(problem, outcome, options, progress):
        left.append(progress.time_left)
        return ended_early(problem, outcome, options, progress)

    monkeypatch.setattr(highs, "to_vertex", look)
    monkeypatch.setattr(pdlp, "FURTHER", 1e9)
    wishes = {"method": "pdlp", "device": "cpu", "tolerance": 1e-8, "time_limit": 100.0}
    gpu_bridge.solve(ADLITTLE, **wishes)
    assert 0.0 < left[0] <= 50.0


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


@pytest.mark.parametrize("when", ["before", "in presolve"])
def test_whose_answer_nobody_waits_for_begins_nothing_more(when, monkeypatch):
    begun = []
    progress = DetachableProgress(Progress())

    def abandoning(problem, *_):
        begun.append("presolve")
        progress.abandon()
        return presolve.unchanged(problem)

    def engine(*_, **__):
        begun.append("engine")

    monkeypatch.setattr(presolve, "apply", abandoning)
    monkeypatch.setattr(first_order, "solve", engine)
    monkeypatch.setattr(highs, "expect_crossover", engine)
    if when == "before":
        progress.abandon()
    answer = pdlp.pdlp_route(LINEAR[0].problem, make_options(device="cpu"), progress, hedge=True)
    assert answer.solution_status is SolutionStatus.NOTHING
    assert begun == ([] if when == "before" else ["presolve"])


def test_no_child_waits_for_a_crossover_that_nobody_wants(monkeypatch):
    begun = []
    monkeypatch.setattr(highs, "expect_crossover", begun.append)
    monkeypatch.setattr(first_order, "solve", lambda *_, **__: ABANDONED)
    options = make_options(device="cpu", presolve=False)
    pdlp.pdlp_route(LINEAR[0].problem, options, Progress(0.0), hedge=True)
    assert begun == []


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
    problem = gpu_bridge.read(ADLITTLE)
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


def test_a_model_beyond_the_memory_of_the_gpu_goes_to_the_cpu(monkeypatch):
    asked = []

    def find(wanted):
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
def test_a_model_beyond_the_memory_of_one_gpu_goes_to_all_of_them(free, place, monkeypatch):
    def find(wanted):
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


@pytest.mark.parametrize(("unasked", "place"), [(True, "cuda:all"), (False, "cuda")])
def test_all_gpus_take_part_in_large_models_where_none_is_named(unasked, place, monkeypatch):
    def find(wanted):
        return replace(GPU, name="4 x Some GPU" if wanted == "cuda:all" else GPU.name)

    monkeypatch.setattr("solvers.pdlp.find_place", find)
    monkeypatch.setattr(pdlp, "SEVERAL_FROM", LINEAR[0].problem.num_nonzeros)
    progress = BridgeProgress()
    options = make_options(device="cuda")
    found = pdlp.fitting_device(LINEAR[0].problem, options, progress, unasked=unasked)
    assert found == place
    assert ("are worth 4 x Some GPU." in progress.text) == unasked


def test_another_gpu_that_cannot_be_used_leaves_one_at_work(monkeypatch):
    def find(wanted):
        if wanted == "cuda:all":
            raise DeviceError("'cuda:1' cannot be used.")
        return GPU

    monkeypatch.setattr("solvers.pdlp.find_place", find)
    monkeypatch.setattr(pdlp, "SEVERAL_FROM", LINEAR[0].problem.num_nonzeros)
    progress = BridgeProgress()
    options = make_options(device="cuda")
    assert pdlp.fitting_device(LINEAR[0].problem, options, progress, unasked=True) == "cuda"
    assert "'cuda:1' cannot be used. PDLP runs on one GPU." in progress.text


def test_a_model_that_fits_the_gpu_once_packed_goes_there(monkeypatch):
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


def test_pdlp_goes_on_where_crossover_takes_too_long(monkeypatch):
    never = threading.Event()

    def endless(problem, answer, options, progress):
        while progress.should_stop() is None:
            never.wait(0.005)
        return answer

    monkeypatch.setattr(race, "GRACE", Patience(0.0, 0.05, 0.05))
    monkeypatch.setattr("solvers.highs.engine.to_vertex", endless)
    problem = gpu_bridge.read(ADLITTLE)
    progress = BridgeProgress()
    options = make_options(device="cpu")
    answer = pdlp.pdlp_route(problem, options, progress, hedge=True)
    assert "won by pdlp after" in progress.text
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert verify(problem, answer, options).solution_status is SolutionStatus.OPTIMAL


@pytest.mark.parametrize(("device", "waits"), [("cuda", True), ("cpu", False)])
def test_crossover_leaves_pdlp_on_a_gpu_alone_for_a_moment(device, waits, monkeypatch):
    problem = gpu_bridge.read(ADLITTLE)
    options = make_options(device="cpu")
    optimal = first_order.solve(problem, options, Progress())
    has_begun = threading.Event()

    def at_the_point(problem, options, progress, start, *, norms, milestone, points):
        milestone.reached(optimal)
        has_begun.wait(LONG if goes_on else 10 * LOOK_AGAIN)
        return optimal

    def begin(problem, answer, options, progress):
        has_begun.set()
        return answer

    monkeypatch.setattr(first_order, "solve", at_the_point)
    monkeypatch.setattr(highs, "to_vertex", begin)
    for wait, goes_on in ((LONG, False), (0.01, True)):
        has_begun.clear()
        monkeypatch.setattr(pdlp, "CROSSOVER_WAITS", wait)
        there = replace(options, device=device)
        answer = pdlp._hedged(problem, problem, None, None, there, Progress())
        assert answer.solution_status is SolutionStatus.OPTIMAL
        assert has_begun.is_set() is (goes_on or not waits)


def test_a_vertex_is_preferred_to_a_point_of_pdlp(monkeypatch):
    always_to_a_vertex(monkeypatch)
    problem = gpu_bridge.read(ADLITTLE)
    progress = BridgeProgress()
    answer = pdlp.pdlp_route(problem, make_options(device="cpu"), progress, hedge=True)
    assert "won by crossover" in progress.text
    assert answer.basis is not None
    assert answer.objective == pytest.approx(OPTIMUM, rel=1e-9)


def test_a_loose_tolerance_asks_for_no_vertex():
    ways = {"device": "cpu", "method": "pdlp"}
    loose = gpu_bridge.solve(ADLITTLE, tolerance=1e-4, **ways)
    assert loose.basis is None
    assert loose.objective == pytest.approx(OPTIMUM, rel=1e-3)
    assert gpu_bridge.solve(ADLITTLE, tolerance=1e-4, crossover="on", **ways).basis is not None
    assert gpu_bridge.solve(ADLITTLE, tolerance=1e-5, **ways).basis is not None


def test_what_follows_an_answer_from_the_cpu_asks_for_no_gpu_again(monkeypatch):
    """As after the loss of a GPU: every later call there would fail."""
    solve, asked = first_order.solve, []

    def on_cpu(problem, options, *rest, **named):
        asked.append(options.device)
        there = replace(options, device="cpu")
        if len(asked) == 1:
            there = replace(there, tolerance=0.1)
        return solve(problem, there, *rest, **named)

    monkeypatch.setattr(first_order, "solve", on_cpu)
    monkeypatch.setattr(pdlp, "fitting_device", lambda *arguments, **named: "cuda:all")
    options = make_options(device="cuda:all", crossover="off", tolerance=1e-4)
    pdlp.pdlp_route(gpu_bridge.read(ADLITTLE), options, Progress(60.0))
    assert asked[0] == "cuda:all"
    assert len(asked) > 1
    assert set(asked[1:]) == {"cpu"}


def test_nothing_is_held_of_the_reduced_model_while_the_answer_is_checked(monkeypatch):
    solve, check, left = first_order.solve, pdlp._polish, []

    def solved(reduced, *arguments, **named):
        left.append(weakref.ref(reduced))
        return solve(reduced, *arguments, **named)

    def checked(*arguments):
        assert left[-1]() is None
        return check(*arguments)

    monkeypatch.setattr(first_order, "solve", solved)
    monkeypatch.setattr(pdlp, "_polish", checked)
    problem = gpu_bridge.read(ADLITTLE)
    outcome = gpu_bridge.solve(problem, method="pdlp", device="cpu", crossover="off")
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert len(left) == 1
