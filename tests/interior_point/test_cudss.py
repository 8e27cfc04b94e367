"""The factorisation by cuDSS beside a stand-in for the library, and the library's own symbols."""

from __future__ import annotations

import _ctypes
import contextlib
import ctypes
import dataclasses
import gc
import itertools
import shutil
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_bridge
from solvers import interior_point
from solvers.core.device import Device, cpu
from solvers.core.errors import DeviceError, EngineError
from solvers.core.lp_answer import proves_infeasible
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import Progress
from solvers.interior_point import cudss, on_device, on_host
from solvers.interior_point import cudss_library as names
from solvers.interior_point.assembly import Pattern
from solvers.interior_point.cudss import CuDSS
from solvers.interior_point.linear_system import LinearSystem, SingularError
from solvers.interior_point.loop import Run
from tests.interior_point.fake_cudss import FakeCuDSS
from tests.interior_point.lps import of_every_kind
from tests.interior_point.pretended_gpu import PretendedGpu, pretend
from tests.interior_point.test_ordering import chain
from tests.locations import DATA

HOST = Device("cpu", "a stand-in", memory_free=10**9)


def install(monkeypatch: pytest.MonkeyPatch, made: FakeCuDSS) -> FakeCuDSS:
    monkeypatch.setattr(names, "library", lambda: names.Library(made, made.version))
    monkeypatch.setattr(names, "threading_layer", lambda version: None)
    return made


@pytest.fixture(params=names.VERSIONS, ids=lambda version: version.suffix)
def fake(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FakeCuDSS:
    return install(monkeypatch, FakeCuDSS(request.param))


def a_system(rng: np.random.Generator, progress: Progress | None = None) -> LinearSystem:
    dense = np.where(rng.random((12, 30)) < 0.3, rng.normal(size=(12, 30)), 0.0)
    dense[:, :12] += np.eye(12)
    A = sp.csr_array(dense)
    kept = np.arange(30) % 4 == 0
    factors = CuDSS(HOST, progress or Progress())
    pattern = Pattern.of(A.T.tocsr(), kept)
    factors.analyse(pattern.row, pattern.column, pattern.size)
    return LinearSystem(A, A.T.tocsr(), pattern.assembly(A.T.tocsr(), cpu()), factors)


def test_systems_are_analysed_once_and_factorised_for_each_diagonal(fake: FakeCuDSS) -> None:
    rng = np.random.default_rng(1)
    system = a_system(rng)
    for _ in range(3):
        d = rng.uniform(0.1, 10.0, 30)
        system.factorise(d)
        f, g = rng.normal(size=30), rng.normal(size=12)
        dx, dy = system.solve(f, g)
        assert np.linalg.norm(system.transposed @ dy - d * dx - f) <= 1e-9 * np.linalg.norm(f)
        assert np.linalg.norm(system.matrix @ dx - g) <= 1e-9 * np.linalg.norm(g)
    work = [phase for phase, _ in itertools.groupby(fake.phases) if phase != names.SOLVE]
    assert work == [names.FULL_ANALYSIS, names.FACTORISATION, *[names.REFACTORISATION] * 2]
    assert fake.settings[fake.version.pivot_type] == fake.version.no_pivoting
    assert system.factorisation.entries == 7


def test_rows_that_touch_very_many_others_are_ordered_last(
    fake: FakeCuDSS, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cudss, "PARTS", 1)
    factors = CuDSS(HOST, Progress())
    factors.analyse(*chain(40))
    assert not fake.told
    factors.analyse(*chain(400))
    order, tree = fake.told[names.OWN_ORDER], fake.told[fake.version.own_tree]
    assert sorted(order.tolist()) == list(range(403))
    assert order[-3:].tolist() == [0, 1, 2]
    assert tree.tolist() == [0, 0, 403]


def test_what_leaves_less_than_a_row_a_part_is_dissected_whole(fake: FakeCuDSS) -> None:
    CuDSS(HOST, Progress()).analyse(*chain(400))
    assert fake.told[names.OWN_ORDER].tolist() == [*reversed(range(3, 403)), 0, 1, 2]


def test_a_tree_that_means_something_else_is_taken_as_it_is(
    fake: FakeCuDSS, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cudss, "PARTS", 1)
    fake.tree = lambda rows: np.array([5, rows, 2])  # type: ignore[method-assign]
    factors = CuDSS(HOST, Progress())
    factors.analyse(*chain(400))
    order, tree = fake.told[names.OWN_ORDER], fake.told[fake.version.own_tree]
    assert order.tolist() == [*reversed(range(3, 403)), 0, 1, 2]
    assert tree.tolist() == [5, 400, 2 + 3]


def test_everything_is_given_back(fake: FakeCuDSS) -> None:
    system = a_system(np.random.default_rng(2))
    assert fake.live == 6
    del system
    gc.collect()
    assert fake.live == 0


@pytest.mark.parametrize(
    ("phase", "status", "error", "words"),
    [
        (names.FULL_ANALYSIS, 4, EngineError, "the analysis: this is not supported"),
        (names.FULL_ANALYSIS, names.ALLOCATION_FAILED, DeviceError, "memory ran out"),
        (names.FACTORISATION, names.ALLOCATION_FAILED, DeviceError, "do not fit on the GPU"),
        (names.SOLVE, 6, EngineError, "a solve: it met an internal error"),
    ],
)
def test_failures_are_told_in_words(
    fake: FakeCuDSS, phase: int, status: int, error: type[Exception], words: str
) -> None:
    fake.failing[phase] = status

    def work() -> None:
        system = a_system(np.random.default_rng(3))
        system.factorise(np.ones(30))
        system.solve(np.ones(30), np.ones(12))

    with pytest.raises(error, match=words):
        work()


def test_a_pivot_that_is_zero_strengthens_regularisation(fake: FakeCuDSS) -> None:
    system = a_system(np.random.default_rng(4))
    fake.info = 5
    with pytest.raises(SingularError):
        system.factorise(np.ones(30))
    assert system.delta > 1e-3


class Waiting(FakeCuDSS):
    """Factorises until it is told to stop, as a large matrix would."""

    phase = names.FACTORISATION

    def cudssExecute(self, handle: object, phase: int, *rest: object) -> int:  # noqa: N802
        if phase == self.phase:
            self.reached.set()
            while not self.stop.value:
                self.pause.wait(0.01)
            return names.EXECUTION_FAILED
        return super().cudssExecute(handle, phase, *rest)

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.pause = threading.Event(), threading.Event()


def test_an_interruption_reaches_a_factorisation_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = Waiting()
    install(monkeypatch, made)
    progress = Progress()
    system = a_system(np.random.default_rng(5), progress)
    told = threading.Thread(target=lambda: made.reached.wait() and progress.interrupt())
    told.start()
    with pytest.raises(SingularError, match="interrupted"):
        system.factorise(np.ones(30))
    told.join()


@pytest.fixture
def gpu(fake: FakeCuDSS, monkeypatch: pytest.MonkeyPatch) -> PretendedGpu:
    made = pretend(monkeypatch)
    monkeypatch.setattr(
        interior_point, "find_device", lambda wanted: cpu() if wanted == "cpu" else made
    )
    return made


def on_gpu(problem: Problem, progress: Progress | None = None) -> Outcome:
    return interior_point.solve(
        problem, EngineOptions(device="cuda", tolerance=1e-8), progress or Progress()
    )


@pytest.mark.parametrize("seed", range(6))
def test_whole_solves_keep_to_the_arrays_of_the_device(gpu: PretendedGpu, seed: int) -> None:
    problem = of_every_kind(np.random.default_rng(seed), rows=25, columns=40)
    there = on_gpu(problem)
    here = interior_point.solve(problem, EngineOptions(tolerance=1e-8, device="cpu"), Progress())
    assert (there.device, here.device) == ("cuda", "cpu")
    assert there.solution_status is SolutionStatus.OPTIMAL
    assert there.objective == pytest.approx(here.objective, rel=1e-6)
    assert there.statistics["replaced_pivots"] == 2
    assert isinstance(there.x, np.ndarray)


@pytest.mark.parametrize("seed", range(3))
def test_a_start_is_judged_on_the_device_as_on_the_host(gpu: PretendedGpu, seed: int) -> None:
    problem = of_every_kind(np.random.default_rng(seed), rows=25, columns=40)
    options = EngineOptions(tolerance=1e-8, device="cpu")
    near = interior_point.solve(problem, dataclasses.replace(options, tolerance=1e-3), Progress())
    start = Start(near.candidate if near.x is None else near.x, near.row_dual)
    cold, here, there = (
        interior_point.solve(problem, dataclasses.replace(options, device=place), Progress(), given)
        for place, given in (("cpu", None), ("cpu", start), ("cuda", start))
    )
    assert there.device == "cuda"
    assert there.objective == pytest.approx(here.objective, rel=1e-6)
    counts = [int(one.statistics["iterations"]) for one in (cold, here, there)]
    assert counts[2] == counts[1] < counts[0]


def test_what_sending_raises_comes_out_and_holds_nothing_on_the_cpu(
    gpu: PretendedGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, sent = interior_point.solve_form, list[weakref.ref[PretendedGpu]]()

    def full(*_: object) -> None:
        part = PretendedGpu("cuda", "what was sent before")
        sent.append(weakref.ref(part))
        raise MemoryError("the GPU is full")

    def solve_form(run: Run) -> Outcome:
        assert sent[0]() is None
        return inner(run)

    monkeypatch.setattr(on_device, "problem_on", full)
    monkeypatch.setattr(interior_point, "solve_form", solve_form)
    progress = Talking()
    outcome = on_gpu(gpu_bridge.read(DATA / "afiro.mps.gz"), progress)
    assert outcome.device == "cpu"
    assert any("the GPU is full" in line for line in progress.lines)


def test_more_products_than_places_of_a_gpu_are_refused(gpu: PretendedGpu) -> None:
    few, starts = np.zeros(1), np.array([0, 2**31])
    with pytest.raises(DeviceError, match="two billion"):
        on_device.csr_on(few, few.astype(np.int32), starts, (1, 1), gpu)


class Watching(Progress):
    """Looks at something in each iteration."""

    def __init__(self, look: Callable[[], object]) -> None:
        super().__init__()
        self._look = look

    def iteration(self, count: int, **figures: float | int | str) -> None:
        self._look()


def test_other_numbers_are_factorised_with_the_analysis_that_there_is(
    gpu: PretendedGpu, fake: FakeCuDSS
) -> None:
    problem = of_every_kind(np.random.default_rng(2), rows=15, columns=25)
    analyses, options = Analyses(), EngineOptions(device="cuda", tolerance=1e-8)
    current: list[int] = []
    for factor in (1.0, 3.0, 0.5):
        other = dataclasses.replace(problem, cost=factor * problem.cost)
        progress = Watching(lambda: current.append(gpu.xp.cuda.get_current_stream().ptr))
        outcome = interior_point.solve(other, options, progress, analyses=analyses)
        assert (outcome.solution_status, outcome.device) == (SolutionStatus.OPTIMAL, "cuda")
        alone = interior_point.solve(other, dataclasses.replace(options, device="cpu"), Progress())
        assert outcome.objective == pytest.approx(alone.objective, rel=1e-6)
    assert fake.phases.count(names.FULL_ANALYSIS) == fake.phases.count(names.FACTORISATION) == 1
    assert fake.phases.count(names.REFACTORISATION) > 3
    assert set(current) == set(fake.streams)  # one stream, on which all of them queue
    assert len(set(current)) == 1


def test_proofs_come_from_the_device_too(gpu: PretendedGpu) -> None:
    problem = gpu_bridge.read(DATA / "klein1.mps.gz")
    outcome = on_gpu(problem)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None
    assert proves_infeasible(problem, outcome.dual_ray)


class Talking(Progress):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def log(self, message: str) -> None:
        self.lines.append(message)


def test_factors_too_large_for_the_gpu_are_left_to_the_cpu(
    gpu: PretendedGpu, fake: FakeCuDSS
) -> None:
    fake.memory = 2 * 10**9
    progress = Talking()
    outcome = on_gpu(gpu_bridge.read(DATA / "afiro.mps.gz"), progress)
    assert outcome.device == "cpu"
    assert outcome.objective == pytest.approx(-464.753142857)
    assert any("needs about 2.0 GB" in line and "on the CPU" in line for line in progress.lines)
    assert names.FACTORISATION not in fake.phases


@pytest.mark.parametrize("phase", [names.FULL_ANALYSIS, names.FACTORISATION, names.SOLVE])
def test_memory_that_runs_out_on_the_gpu_leaves_the_solve_to_the_cpu(
    gpu: PretendedGpu, fake: FakeCuDSS, phase: int
) -> None:
    fake.failing[phase] = names.ALLOCATION_FAILED
    outcome = on_gpu(gpu_bridge.read(DATA / "afiro.mps.gz"))
    assert outcome.device == "cpu"
    assert outcome.objective == pytest.approx(-464.753142857)


@pytest.mark.parametrize(("small", "device"), [(True, "cpu"), (False, "cuda")])
def test_numerical_trouble_on_the_gpu_leaves_a_small_solve_to_the_cpu(
    gpu: PretendedGpu, monkeypatch: pytest.MonkeyPatch, small: bool, device: str
) -> None:
    if not small:
        monkeypatch.setattr(interior_point, "GPU_FROM_NONZEROS", 1)
    inner = interior_point.solve_form

    def troubled_there(run: Run) -> Outcome:
        found = inner(run)
        there = run.device.kind == "cuda"
        reason = StopReason.NUMERICAL_TROUBLE if there else found.stop_reason
        return dataclasses.replace(found, stop_reason=reason)

    monkeypatch.setattr(interior_point, "solve_form", troubled_there)
    progress = Talking()
    outcome = on_gpu(gpu_bridge.read(DATA / "afiro.mps.gz"), progress)
    assert outcome.device == device
    assert (outcome.stop_reason is StopReason.CONVERGED) == small
    assert any("ended in numerical trouble" in line for line in progress.lines) == small


def with_few_iterations(run: Run, count: int) -> Run:
    few = dataclasses.replace(run.options, iteration_limit=count)
    return dataclasses.replace(run, options=few)


@pytest.mark.parametrize(
    ("hindrance", "reason"),
    [
        ("limit", StopReason.TIME_LIMIT),
        ("refused", StopReason.NUMERICAL_TROUBLE),
        ("less near", StopReason.ITERATION_LIMIT),
    ],
)
def test_an_attempt_on_the_cpu_does_not_lose_the_point_of_the_gpu(
    gpu: PretendedGpu, monkeypatch: pytest.MonkeyPatch, hindrance: str, reason: StopReason
) -> None:
    inner, progress, on_the_gpu = interior_point.solve_form, Talking(), list[Outcome]()

    def troubled_there(run: Run) -> Outcome:
        if run.device.kind == "cpu":
            return inner(with_few_iterations(run, 2))
        on_the_gpu.append(inner(with_few_iterations(run, 6)))
        if hindrance == "limit":
            progress.time_limit = 0.0
        elif hindrance == "refused":
            progress.time_limit = 1e3
            monkeypatch.setattr(on_host, "OPERATIONS_PER_SECOND", 1e-3)
        return dataclasses.replace(on_the_gpu[0], stop_reason=StopReason.NUMERICAL_TROUBLE)

    monkeypatch.setattr(interior_point, "solve_form", troubled_there)
    outcome = on_gpu(gpu_bridge.read(DATA / "afiro.mps.gz"), progress)
    assert outcome.stop_reason is reason
    assert outcome.candidate is not None
    assert outcome.candidate is on_the_gpu[0].candidate
    assert outcome.statistics["iterations"] == 6


def test_without_the_library_the_cpu_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    made = pretend(monkeypatch)
    monkeypatch.setattr(interior_point, "find_device", lambda wanted: made)
    monkeypatch.setattr(names, "FILE", "no-such-library")
    monkeypatch.setattr(names, "_loaded", SimpleNamespace(value=[]))
    progress = Talking()
    outcome = on_gpu(gpu_bridge.read(DATA / "afiro.mps.gz"), progress)
    assert outcome.objective == pytest.approx(-464.753142857)
    assert any("pip install 'nvidia-cudss" in line for line in progress.lines)


@pytest.mark.parametrize(("suffix", "release"), [(".so.0", (0, 8)), (".so.1", (2, 0))])
def test_another_version_is_refused(
    monkeypatch: pytest.MonkeyPatch, suffix: str, release: tuple[int, int]
) -> None:
    class Other(FakeCuDSS):
        def cudssGetProperty(self, place: int, value: Any) -> int:  # noqa: N802
            value._obj.value = release[place]
            return 0

    def load(file: str) -> None:
        if not file.endswith(suffix):
            raise OSError("no such file")

    monkeypatch.setattr(names, "declared", lambda loaded, version: Other())
    monkeypatch.setattr(names.ctypes, "CDLL", load)
    with pytest.raises(DeviceError, match=rf"cuDSS {release[0]}\.{release[1]} is not supported"):
        names._load()


def test_the_library_has_the_functions() -> None:
    files = [
        folder / f"{names.FILE}{v.suffix}" for folder in names.folders() for v in names.VERSIONS
    ]
    if not any(file.exists() for file in files):
        pytest.skip("the wheel of cuDSS is not installed")
    try:
        found = names.library()
    except DeviceError as error:
        pytest.skip(str(error))  # cuBLAS, which it needs, comes in a wheel of its own
    assert all(getattr(found.functions, name) for name in names.SIGNATURES)


def test_a_limit_in_the_middle_of_the_analysis_ends_the_solve(
    gpu: PretendedGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Waiting()
    made.phase = names.FULL_ANALYSIS
    install(monkeypatch, made)
    problem = of_every_kind(np.random.default_rng(6), rows=30, columns=50)
    options = EngineOptions(tolerance=1e-8, device="cuda")
    progress = Progress(time_limit=0.2)
    outcome = interior_point.solve(problem, options, progress, only_there=True)
    assert made.reached.is_set()
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.solution_status is SolutionStatus.NOTHING


def test_the_threading_layer_stays_where_the_library_unloads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [version, *_] = names.VERSIONS
    monkeypatch.setattr(names, "folders", lambda: [tmp_path])
    assert names.threading_layer(version) is None
    file = tmp_path / f"{names.THREADING_FILE}{version.suffix}"
    shutil.copy(np.linalg._umath_linalg.__file__, file)
    assert names.threading_layer(version) == bytes(file)
    handle = ctypes.CDLL(str(file))._handle
    for _ in range(3):  # as often as it was opened, and once more
        with contextlib.suppress(OSError):
            _ctypes.dlclose(handle)
    assert str(file) in Path("/proc/self/maps").read_text()


def test_without_what_the_threading_layer_needs_one_thread_orders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [version, *_] = names.VERSIONS
    monkeypatch.setattr(names, "folders", lambda: [tmp_path])
    (tmp_path / f"{names.THREADING_FILE}{version.suffix}").write_bytes(b"no library")
    assert names.threading_layer(version) is None
