"""Device code against its twins on the same input, and whole solves on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers import pdlp
from solvers.device import Device, find_device
from solvers.kernels.family import Family
from solvers.options import EngineOptions
from solvers.outcome import SolutionStatus, Start, StopReason
from solvers.pdlp.kernels.layout import launch
from solvers.pdlp.kernels.matrix import MATRIX
from solvers.pdlp.kernels.measure import MEASURE, SUMS
from solvers.pdlp.kernels.step import STEP
from solvers.progress import Progress
from tests.pdlp.lps import random_lp
from tests.pdlp.matrices import MATRICES, compressed
from tests.pdlp.step_cases import make_case

pytestmark = pytest.mark.gpu

NAMES = sorted(MATRICES)
POISON = -7.25


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


def run_both(family: Family, name: str, values: list[Any], gpu: Device) -> list[tuple[Any, Any]]:
    """Run a kernel here and there; return its outputs as (twin's, device's) pairs."""
    kernel = family.kernels[name]
    on_device = [
        gpu.to_device(value) if isinstance(value, np.ndarray) else value for value in values
    ]
    family[name](*values)
    family[name](*on_device)
    gpu.synchronize()
    return [
        (here, gpu.to_host(there))
        for argument, here, there in zip(kernel.arguments, values, on_device, strict=True)
        if argument.direction != "in"
    ]


def assert_close(pairs: list[tuple[Any, Any]]) -> None:
    assert pairs
    for here, there in pairs:
        np.testing.assert_allclose(there, here, rtol=1e-10, atol=1e-10)


def layout(matrix) -> list[Any]:
    return list(compressed(matrix).arguments)


def empty(size: int) -> np.ndarray:
    return np.full(size, POISON)


@pytest.mark.parametrize("name", NAMES)
def test_matrix_kernels_equal_their_twins(name, gpu):
    matrix = MATRICES[name]
    m, n = matrix.shape
    generator = np.random.default_rng(1)
    vector = generator.standard_normal(n)
    scales = [generator.uniform(0.5, 2.0, m), generator.uniform(0.5, 2.0, n)]
    assert_close(run_both(MATRIX, "multiply", [*layout(matrix), vector, empty(m)], gpu))
    sizes = [*layout(matrix), *scales, empty(m), empty(m), empty(m)]
    assert_close(run_both(MATRIX, "row_sizes", sizes, gpu))
    scaled = [*layout(matrix), *scales, empty(matrix.nnz)]
    assert_close(run_both(MATRIX, "scale_entries", scaled, gpu))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("keep", [0, 1])
def test_step_kernels_equal_their_twins(name, keep, gpu):
    case = make_case(MATRICES[name], 11)
    m, n = case.shape
    primal = [
        *layout(case.matrix.T.tocsr()),
        case.y, case.x.copy(), case.x_anchor, case.cost, case.lower, case.upper,
        empty(n), empty(n), empty(n), case.control, 4, keep,
    ]  # fmt: skip
    assert_close(run_both(STEP, "primal_step", primal, gpu))
    dual = [
        *layout(case.matrix),
        case.reflected, case.y.copy(), case.y_anchor, case.row_lower, case.row_upper,
        empty(m), empty(m), case.control, 4, keep,
    ]  # fmt: skip
    assert_close(run_both(STEP, "dual_step", dual, gpu))


@pytest.mark.parametrize("name", NAMES)
def test_measuring_kernels_equal_their_twins(name, gpu):
    case = make_case(MATRICES[name], 12)
    m, n = case.shape
    y = np.where(np.isfinite(case.row_lower), case.y, np.minimum(case.y, 0.0))
    y = np.where(np.isfinite(case.row_upper), y, np.maximum(y, 0.0))
    for family_arguments, kernel in (
        (
            [*layout(case.matrix), case.x, case.x_anchor, y, case.y_anchor, case.y_anchor,
             case.row_lower, case.row_upper, np.full(m, 1.5)],
            "measure_rows",
        ),
        (
            [*layout(case.matrix.T.tocsr()), case.y, case.x, case.x_anchor, case.x_anchor,
             case.cost, case.lower, case.upper, np.full(n, 1.5)],
            "measure_columns",
        ),
    ):  # fmt: skip
        shape = launch(
            {
                "rows": family_arguments[0],
                "long_count": family_arguments[4],
                "lanes": family_arguments[7],
            }
        )
        slots = max(1, shape.grid)
        partial = np.zeros((slots, SUMS))
        pairs = run_both(MEASURE, kernel, [*family_arguments, slots, partial], gpu)
        assert_close([(here.sum(axis=0), there.sum(axis=0)) for here, there in pairs])


def test_views_that_start_anywhere_are_read_where_they_start(gpu):
    matrix = MATRICES["square 129"]
    vector = np.random.default_rng(3).standard_normal(130)
    on_device = gpu.to_device(vector)[1:]
    product = gpu.xp.full(130, POISON)
    arguments = compressed(matrix, gpu).arguments
    MATRIX["multiply"](*arguments, on_device, product[1:])
    found = gpu.to_host(product)
    assert found[0] == POISON
    np.testing.assert_allclose(found[1:], matrix @ vector[1:], rtol=1e-12, atol=1e-12)


def test_strided_arrays_are_refused(gpu):
    arguments = compressed(MATRICES["square 32"], gpu).arguments
    strided = gpu.xp.zeros(64)[::2]
    with pytest.raises(TypeError, match="contiguous"):
        MATRIX["multiply"](*arguments, strided, gpu.xp.zeros(32))


def test_launches_repeated_give_the_same_bits(gpu):
    arguments = compressed(MATRICES["long row"], gpu).arguments
    vector = gpu.to_device(np.random.default_rng(4).standard_normal(100_000))
    products = [gpu.xp.zeros(arguments[0]) for _ in range(3)]
    for product in products:
        MATRIX["multiply"](*arguments, vector, product)
    assert np.array_equal(gpu.to_host(products[0]), gpu.to_host(products[1]))
    assert np.array_equal(gpu.to_host(products[0]), gpu.to_host(products[2]))


@pytest.mark.parametrize("seed", range(4))
def test_gpu_and_cpu_find_the_same_optimum(seed, gpu):
    problem = random_lp(seed, rows=60, columns=90)
    found = {
        device: pdlp.solve(problem, EngineOptions(device=device), Progress())
        for device in ("cpu", "cuda")
    }
    assert found["cuda"].device == "cuda"
    for outcome in found.values():
        assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert found["cuda"].objective == pytest.approx(found["cpu"].objective, rel=1e-5, abs=1e-5)


def test_gpu_solve_repeated_gives_the_same_bits(gpu):
    problem = random_lp(7, rows=80, columns=100)
    first, second = (
        pdlp.solve(problem, EngineOptions(device="cuda"), Progress()) for _ in range(2)
    )
    assert np.array_equal(first.x, second.x)
    assert first.statistics["iterations"] == second.statistics["iterations"]


def test_recorded_graph_changes_nothing(gpu, monkeypatch):
    from solvers.pdlp.pace import Pace

    problem = random_lp(8, rows=80, columns=100)
    recorded = pdlp.solve(problem, EngineOptions(device="cuda"), Progress())
    monkeypatch.setattr(Pace, "slice_length", lambda *arguments: 50)
    launched = pdlp.solve(problem, EngineOptions(device="cuda"), Progress())
    assert np.array_equal(recorded.x, launched.x)


def test_gpu_warm_start_needs_fewer_iterations(gpu):
    problem = random_lp(9, rows=60, columns=90)
    cold = pdlp.solve(problem, EngineOptions(device="cuda"), Progress())
    start = Start(x=cold.x, row_dual=cold.row_dual)
    warm = pdlp.solve(problem, EngineOptions(device="cuda"), Progress(), start)
    assert warm.statistics["iterations"] < cold.statistics["iterations"]


def test_time_limit_on_the_gpu(gpu):
    problem = random_lp(10, rows=60, columns=90)
    outcome = pdlp.solve(problem, EngineOptions(device="cuda", tolerance=1e-10), Progress(0.0))
    assert outcome.stop_reason is StopReason.TIME_LIMIT


def test_out_of_gpu_memory_goes_on_on_the_cpu(gpu, monkeypatch):
    import cupy

    from solvers.pdlp import start

    said: list[str] = []
    progress = Progress()
    progress.log = said.append  # type: ignore[method-assign]
    real = start.to_device

    def fail_on_gpu(matrix, device, long_row):
        if device.kind == "cuda":
            raise cupy.cuda.memory.OutOfMemoryError(10**15, 0, 0)
        return real(matrix, device, long_row)

    monkeypatch.setattr(start, "to_device", fail_on_gpu)
    outcome = pdlp.solve(random_lp(11, 20, 30), EngineOptions(device="cuda"), progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.device == "cpu"
    assert any("out of memory" in line for line in said)
