"""Several devices as one: the iterates are those of one device, whatever the number of parts.

On CPUs, which stand for the GPUs of a host, messages are copies; everything else is the same.
"""

from __future__ import annotations

import itertools
from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp

from solvers import pdlp
from solvers.core.device import Device, cpu
from solvers.core.errors import DeviceError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import layout
from solvers.pdlp.bounds import OTHERS
from solvers.pdlp.control import Control
from solvers.pdlp.distributed import sharing, sides
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.distributed.sharing import share_out
from solvers.pdlp.distributed.sides import PARTS
from solvers.pdlp.execution import iteration_blocks
from solvers.pdlp.execution.on_cpu import BlocksOnCpu
from solvers.pdlp.execution.on_group import _PartStates
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.shrinking import part as shrinking_part
from solvers.pdlp.supervision import IntermediatePoints
from solvers.sparse.shape import Plan
from solvers.sparse.slices import Slices
from tests.pdlp.lps import random_lp
from tests.pdlp.matrices import PRETENDED_GPU
from tests.pdlp.shrinking.test_compaction import OFTEN
from tests.pdlp.shrinking.wide_lps import covering
from tests.pdlp.solving import assert_kkt
from tests.pdlp.test_certificates import contradiction, unbounded

COUNTS = (1, 2, 3, 5)


def long_row_lp() -> Problem:
    """Return an LP with one row of 100,000 entries, empty rows and an empty column."""
    generator = np.random.default_rng(2)
    n = 100_000
    long = sp.csr_array(generator.uniform(0.5, 1.5, (1, n)))
    pairs = sp.csr_array(
        (np.ones(80), (np.repeat(np.arange(40), 2), generator.integers(0, n - 1, 80))), (60, n)
    )
    coefficients = sp.vstack([pairs, long, pairs], format="csr")
    coefficients.sum_duplicates()
    rows = coefficients.shape[0]
    return Problem(
        generator.uniform(-1.0, 1.0, n),
        coefficients,
        np.full(rows, -np.inf),
        np.full(rows, 30.0),
        np.zeros(n),
        np.where(generator.random(n) < 0.5, 1.0, 5.0),
        np.zeros(n, bool),
    )


PROBLEMS = {
    "square": lambda: random_lp(3, 60, 60),
    "wide": lambda: random_lp(4, 7, 90),
    "tall": lambda: random_lp(5, 90, 7),
    "one column": lambda: random_lp(6, 50, 1, density=0.9),
    "one row": lambda: random_lp(7, 1, 50, density=0.9),
    "sparse": lambda: random_lp(8, 300, 200, density=0.01),
    "long row": long_row_lp,
}
"""Awkward shapes; random ones have infinite sides and bounds, and sparse ones empty rows."""


def group_of(count: int) -> DeviceGroup:
    return DeviceGroup.of([cpu()] * count)


def after_blocks(
    problem: Problem, device: Device, settings: Settings, counts: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the points of both sides and the control array after blocks of iterations."""
    options = EngineOptions(tolerance=1e-9)
    with device.activate():
        state = pdlp.prepare(problem, options, device, Progress(), settings=settings)
        on_host = device is PRETENDED_GPU
        blocks = (BlocksOnCpu if on_host else iteration_blocks)(state, Progress())
        for count in counts:
            blocks.submit(count)
            record = blocks.take()
        there = state.problem
        x, y = there.columns_to_host(state.x.point), there.rows_to_host(state.y.point)
    return x, y, record.control


@pytest.mark.parametrize("devices", COUNTS)
@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_iterates_are_those_of_one_device(name, devices):
    """The first block is the same to the bit; its sums are, but for the order of addition."""
    problem = PROBLEMS[name]()
    x, y, control = after_blocks(problem, cpu(), DEFAULT, (200,))
    x2, y2, control2 = after_blocks(problem, group_of(devices), DEFAULT, (200,))
    if control[Control.RESTART] == 0.0 or devices == 1:
        assert np.array_equal(x, x2)
        assert np.array_equal(y, y2)
    np.testing.assert_allclose(control2, control, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("devices", [2, 3])
@pytest.mark.parametrize("name", sorted(set(PROBLEMS) - {"long row"}))
def test_iterates_are_the_same_in_the_layout_of_gpus(name, devices):
    group = replace(DeviceGroup.of([PRETENDED_GPU] * devices), kind="cpu")
    problem = PROBLEMS[name]()
    x, y, control = after_blocks(problem, PRETENDED_GPU, DEFAULT, (200,))
    x2, y2, control2 = after_blocks(problem, group, DEFAULT, (200,))
    if control[Control.RESTART] == 0.0:
        assert np.array_equal(x, x2)
        assert np.array_equal(y, y2)
    np.testing.assert_allclose(control2, control, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_each_part_has_the_codes_of_its_bounds(name, devices):
    group, problem = group_of(devices), PROBLEMS[name]()
    state = pdlp.prepare(problem, EngineOptions(device="cpu"), group, Progress())
    coefficients, coded = state.problem.coefficients, 0
    for matrix in (coefficients.by_row, coefficients.by_column):
        parts = _PartStates(state, group, matrix)
        for device, part in itertools.product(range(devices), range(PARTS)):
            own = parts(device, part).problem
            if matrix is coefficients.by_column:
                bounds, low, high = own.bounds, own.lower, own.upper
            else:
                bounds, low, high = own.sides, own.row_lower, own.row_upper
            told = bounds.codes != OTHERS
            coded += int(told.sum())
            pairs = bounds.pairs[bounds.codes[told]]
            assert np.array_equal(pairs, np.stack([low[told], high[told]], axis=1))
    assert coded > 0


@pytest.mark.parametrize("devices", [2, 3])
@pytest.mark.parametrize("name", sorted(set(PROBLEMS) - {"long row"}))
def test_devices_lay_out_what_the_host_does(name, devices, monkeypatch):
    group = replace(DeviceGroup.of([PRETENDED_GPU] * devices), kind="cpu")
    problem = PROBLEMS[name]()

    def laid() -> list[Slices]:
        found = share_out(problem, group, Plan(), 0)
        return [
            part for side in (found.by_row, found.by_column) for own in side.slices for part in own
        ]

    expected = laid()
    monkeypatch.setattr(sharing, "ON_DEVICE_FROM", 0)
    monkeypatch.setattr(layout, "PIECE_ENTRIES", 37)
    for one, other in zip(laid(), expected, strict=True):
        for part in fields(Slices):
            np.testing.assert_array_equal(getattr(one, part.name), getattr(other, part.name))


def test_sharing_out_takes_no_more_threads_than_allowed(monkeypatch):
    group = replace(DeviceGroup.of([PRETENDED_GPU] * 2), kind="cpu")
    allowed = []

    def noted(work: int, threads: int = 0) -> int:
        allowed.append(threads)
        return 1

    monkeypatch.setattr(sides, "threads_for", noted)
    monkeypatch.setattr(sharing, "ON_DEVICE_FROM", 0)
    share_out(random_lp(1, 20, 30), group, Plan(), 0, threads=1)
    assert allowed
    assert set(allowed) == {1}


@pytest.mark.parametrize("devices", COUNTS)
def test_later_blocks_follow_what_the_host_changes(devices):
    """Restarts move the points on all devices, copies of others' elements too."""
    problem = random_lp(9, 40, 60)
    found = [
        after_blocks(problem, device, DEFAULT, (200, 200, 137, 200))
        for device in (cpu(), group_of(devices))
    ]
    for one, several in zip(*found, strict=True):
        np.testing.assert_allclose(several, one, rtol=1e-6, atol=1e-9)


def solve_on(device: Device, problem: Problem, monkeypatch, **options) -> Outcome:
    monkeypatch.setattr(pdlp, "find_devices", lambda wanted: device_members(device))
    return pdlp.solve(problem, EngineOptions(device="cuda:all", **options), Progress(600.0))


def device_members(device: Device) -> tuple[Device, ...]:
    return device.members if isinstance(device, DeviceGroup) else (device,)


@pytest.mark.parametrize("devices", COUNTS)
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_those_of_one_device(seed, devices, monkeypatch):
    problem = random_lp(seed, 60, 90)
    one = solve_on(cpu(), problem, monkeypatch, tolerance=1e-8)
    several = solve_on(group_of(devices), problem, monkeypatch, tolerance=1e-8)
    assert several.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, several, 1e-8)
    assert several.objective == pytest.approx(one.objective, rel=1e-7, abs=1e-7)
    assert several.statistics["iterations"] == one.statistics["iterations"]


@pytest.mark.parametrize(
    ("problem", "status"),
    [(contradiction(), SolutionStatus.INFEASIBLE), (unbounded(), SolutionStatus.UNBOUNDED)],
)
def test_certificates_are_found(problem, status, monkeypatch):
    assert solve_on(group_of(2), problem, monkeypatch).solution_status is status


def test_without_nccl_one_gpu_does_it(monkeypatch):
    def missing(self):
        raise DeviceError("NCCL is missing.")

    monkeypatch.setattr(DeviceGroup, "connect", missing)
    lines: list[str] = []
    progress = Progress(600.0)
    monkeypatch.setattr(progress, "log", lines.append)
    monkeypatch.setattr(pdlp, "find_devices", lambda wanted: group_of(2).members)
    found = pdlp.solve(random_lp(1, 20, 30), EngineOptions(device="cuda:all"), progress)
    assert found.solution_status is SolutionStatus.OPTIMAL
    assert lines[0] == "NCCL is missing. PDLP runs on one GPU."


def test_the_cpu_goes_on_where_one_is_lost(monkeypatch):
    problem = random_lp(1, 20, 30)
    reached = solve_on(cpu(), problem, monkeypatch, tolerance=1e-9, iteration_limit=60)
    assert reached.x is None
    run, asked = pdlp.run_with_alternate_scalings, []
    error = type("NcclError", (RuntimeError,), {"__module__": "cupy_backends.cuda"})
    points = IntermediatePoints(lambda outcome: None)

    def lost_at_first(request, settings):
        asked.append(request)
        if len(asked) == 1:
            points.keep(lambda: (reached, 1.0))
            with request.device.activate():
                raise error("unhandled")
        return run(request, settings)

    monkeypatch.setattr(pdlp, "run_with_alternate_scalings", lost_at_first)
    monkeypatch.setattr(pdlp, "find_devices", lambda wanted: group_of(2).members)
    lines: list[str] = []
    progress = Progress(600.0)
    monkeypatch.setattr(progress, "log", lines.append)
    found = pdlp.solve(problem, EngineOptions(device="cuda:all"), progress, points=points)
    assert found.solution_status is SolutionStatus.OPTIMAL
    assert not isinstance(asked[1].device, DeviceGroup)
    assert asked[1].start.x is reached.candidate
    assert asked[1].start.row_dual is reached.row_dual
    assert "was lost, or a link (unhandled); going on on the CPU" in lines[1]


@pytest.mark.parametrize("shared_from", [0, 10**9])
def test_a_small_part_goes_on_on_one_device(shared_from, monkeypatch):
    prepare, places = shrinking_part.prepare, []

    def noted(problem, options, device, *rest):
        places.append(device)
        return prepare(problem, options, device, *rest)

    monkeypatch.setattr(shrinking_part, "SHARED_FROM", shared_from)
    monkeypatch.setattr(shrinking_part, "prepare", noted)
    monkeypatch.setattr(pdlp, "find_devices", lambda wanted: group_of(2).members)
    options = EngineOptions(device="cuda:all", tolerance=1e-6)
    problem = covering(3)
    found = pdlp.solve(problem, options, Progress(600.0), settings=OFTEN)
    assert found.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, found, 1e-6)
    assert places
    assert all(isinstance(place, DeviceGroup) == (shared_from == 0) for place in places)
