"""Device code against its twins on the same input, and whole solves on a GPU."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from solvers import pdlp
from solvers.device import Device, cpu, find_device
from solvers.kernels.family import Family
from solvers.options import EngineOptions
from solvers.outcome import SolutionStatus, Start, StopReason
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.kernels.decide import DECISIONS
from solvers.pdlp.kernels.flow import FLOW
from solvers.pdlp.kernels.matrix import GEOMETRIC, LARGEST, MATRIX, TOTAL
from solvers.pdlp.kernels.measure import MEASURE, SUMS
from solvers.pdlp.kernels.step import STEP
from solvers.pdlp.kernels.window import WINDOW
from solvers.pdlp.matrix import to_device
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.start import place
from solvers.pdlp.step_size import spectral_norm
from solvers.problem import Problem
from solvers.progress import Progress
from solvers.sparse.slices import Plan, Slices
from tests.pdlp.checks import Figures, control_of, spread, sums_of
from tests.pdlp.lps import random_lp, solve_with_highs
from tests.pdlp.matrices import MATRICES, PACKINGS, PLANS, PRETENDED_GPU, Laid, lay_out
from tests.pdlp.step_cases import POISON, StepCase, make_case, make_measured_case
from tests.pdlp.test_certificate import INFEASIBLE, UNBOUNDED
from tests.pdlp.test_pdlp import SHAPES, Spoiling, assert_kkt, counts

pytestmark = pytest.mark.gpu

NAMES = sorted(MATRICES)
GPU_PLANS = sorted(set(PLANS) - {"cpu"})
FLOW_PLANS = ["one step", "usual"]
"""Plans whose units all have entries, as those with units_from a multiple of 256."""

LAYOUTS = [
    *((name, plan, "float64") for name in NAMES for plan in GPU_PLANS),
    *(
        (name, "one step", packing)
        for name in ("square 129", "empty rows", "long row", "large")
        for packing in PACKINGS[1:]
    ),
]
"""Every matrix in every layout, and every packing with short and long column indices."""

by_layout = pytest.mark.parametrize(("name", "plan", "packing"), LAYOUTS)

MODES: dict[str, Settings] = {
    "flow": replace(DEFAULT, barrier_from=10**9),
    "barrier": replace(DEFAULT, flow_up_to=0, barrier_from=0),
    "launches": replace(DEFAULT, flow_up_to=0, barrier_up_to=0),
    "large model": replace(DEFAULT, flow_up_to=0, barrier_up_to=0, latency_up_to=0, pack_from=0),
    "all in turn": replace(DEFAULT, barrier_from=0, launches_from=0),
}
"""Ways to run a window, each enforced by settings."""


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


@cache
def laid_out(name: str, plan: str, packing: str) -> Laid:
    return lay_out(MATRICES[name], PLANS[plan], packing)


def assert_equal_twin(
    family: Family,
    name: str,
    arguments: Callable[[Any], tuple[Any, ...]],
    cases: tuple[Any, Any],
    gpu: Device,
    tolerance: float = 1e-10,
) -> None:
    """Run a kernel on a case here, without packing, and on the same case there, with it."""
    kernel = family.kernels[name]
    here, there = (list(arguments(case)) for case in cases)
    there = [gpu.to_device(value) if isinstance(value, np.ndarray) else value for value in there]
    family[name](*here)
    family[name](*there)
    gpu.synchronize()
    compared = 0
    for argument, one, other in zip(kernel.arguments, here, there, strict=True):
        if argument.name.endswith("tickets"):
            assert not gpu.to_host(other).any(), "tickets are zero again after every launch"
        elif argument.direction != "in" and not argument.name.endswith("partials"):
            if argument.name in ("arrivals", "tagged_reflected", "tagged_y"):
                continue
            if argument.name == "partial":
                one, other = one.sum(axis=0), other.sum(axis=0)
            np.testing.assert_allclose(
                gpu.to_host(other), one, rtol=tolerance, atol=tolerance, err_msg=argument.name
            )
            compared += 1
    assert compared


def two_cases(laid: Laid, seed: int, make: Callable[..., StepCase] = make_case) -> Any:
    """Return the same vectors on the unpacked and on the packed matrix."""
    return make(laid.plain, seed), make(laid, seed)


# Kernels


@by_layout
def test_multiply_equals_its_twin(name, plan, packing, gpu):
    laid = laid_out(name, plan, packing)
    generator = np.random.default_rng(1)
    for side in ("by_row", "by_column"):
        slices: tuple[Slices, Slices] = getattr(laid.plain, side), getattr(laid, side)
        vector = generator.standard_normal(slices[0].columns)

        def arguments(matrix: Slices, vector: Any = vector) -> tuple[Any, ...]:
            return (*matrix.arguments, vector, np.full(matrix.rows, POISON))

        assert_equal_twin(MATRIX, "multiply", arguments, slices, gpu)


@by_layout
def test_multiply_scaled_equals_its_twin(name, plan, packing, gpu):
    laid = laid_out(name, plan, packing)
    generator = np.random.default_rng(2)
    factor = generator.uniform(0.5, 2.0, laid.by_row.rows)
    vector = generator.standard_normal(laid.by_row.columns)

    def arguments(matrix: Slices) -> tuple[Any, ...]:
        return (*matrix.arguments, factor, vector, np.full(matrix.rows, POISON))

    assert_equal_twin(MATRIX, "multiply_scaled", arguments, (laid.plain.by_row, laid.by_row), gpu)


@pytest.mark.parametrize("mode", [GEOMETRIC, LARGEST, TOTAL])
@by_layout
def test_rescale_equals_its_twin(name, plan, packing, mode, gpu):
    laid = laid_out(name, plan, packing)
    generator = np.random.default_rng(2)
    for side in ("by_row", "by_column"):
        slices: tuple[Slices, Slices] = getattr(laid.plain, side), getattr(laid, side)
        own = generator.uniform(0.5, 2.0, slices[0].rows)
        other = generator.uniform(0.5, 2.0, slices[0].columns)

        def arguments(matrix: Slices, own: Any = own, other: Any = other) -> tuple[Any, ...]:
            return (*matrix.arguments, mode, own, other, np.full(matrix.rows, POISON))

        assert_equal_twin(MATRIX, "rescale", arguments, slices, gpu)


@by_layout
def test_balance_equals_its_twin(name, plan, packing, gpu):
    laid = laid_out(name, plan, packing)
    generator = np.random.default_rng(3)
    for side in ("by_row", "by_column"):
        slices: tuple[Slices, Slices] = getattr(laid.plain, side), getattr(laid, side)
        other = generator.uniform(0.5, 2.0, slices[0].columns)

        def arguments(matrix: Slices, other: Any = other) -> tuple[Any, ...]:
            return (*matrix.arguments, other, np.full(matrix.rows, POISON))

        assert_equal_twin(MATRIX, "balance", arguments, slices, gpu)


@pytest.mark.parametrize("keep", [0, 1, 2, 3])
@by_layout
def test_steps_equal_their_twins(name, plan, packing, keep, gpu):
    laid = laid_out(name, plan, packing)
    cases = two_cases(laid, 11)
    assert_equal_twin(
        STEP, "primal_step", lambda case: (*case.primal_arguments(), 4, keep), cases, gpu
    )
    cases = two_cases(laid, 12)
    for case in cases:
        case.reflected[...] = np.random.default_rng(13).standard_normal(case.reflected.size)
    assert_equal_twin(STEP, "dual_step", lambda case: (*case.dual_arguments(), 4, keep), cases, gpu)


@by_layout
def test_sums_of_a_check_equal_their_twins(name, plan, packing, gpu):
    laid = laid_out(name, plan, packing)

    def of_rows(case: StepCase) -> tuple[Any, ...]:
        return case.row_measure_arguments(np.zeros((max(1, case.laid.by_row.units), SUMS)))

    def of_columns(case: StepCase) -> tuple[Any, ...]:
        return case.column_measure_arguments(np.zeros((max(1, case.laid.by_column.units), SUMS)))

    cases = two_cases(laid, 14, make_measured_case)
    assert_equal_twin(MEASURE, "measure_rows", of_rows, cases, gpu, 1e-8)
    assert_equal_twin(MEASURE, "measure_columns", of_columns, cases, gpu, 1e-8)


def window_case(laid: Laid, seed: int) -> StepCase:
    """Return a case with steps so short that rounding does not grow."""
    case = make_case(laid, seed)
    sizes = abs(case.matrix)
    norm = np.sqrt(sizes.sum(axis=0).max(initial=0.0) * sizes.sum(axis=1).max(initial=0.0))
    case.control[[Control.TAU, Control.SIGMA]] = 0.4 / max(norm, 1.0)
    case.control[Control.ITERATIONS] = 1000.0
    return case


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("blocks", [1, 3, 100])
@by_layout
def test_window_with_barriers_equals_its_twin(name, plan, packing, blocks, count, gpu):
    assert_window_equals_its_twin(
        WINDOW, "window_steps", laid_out(name, plan, packing), blocks, count, gpu
    )


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("blocks", [1, 3, 100])
@pytest.mark.parametrize(
    ("name", "plan", "packing"), [layout for layout in LAYOUTS if layout[1] in FLOW_PLANS]
)
def test_window_without_barriers_equals_its_twin(name, plan, packing, blocks, count, gpu):
    assert_window_equals_its_twin(
        FLOW, "flow_steps", laid_out(name, plan, packing), blocks, count, gpu
    )


def assert_window_equals_its_twin(
    family: Family, name: str, laid: Laid, blocks: int, count: int, gpu: Device
) -> None:
    kernel = family.kernels[name]
    cases = two_cases(laid, 15, window_case)
    assert_equal_twin(
        family, name, lambda case: case.window_arguments(kernel, count, blocks), cases, gpu, 1e-9
    )


@pytest.mark.parametrize("stop", [Stop.OPTIMAL, Stop.BROKEN])
def test_nothing_happens_on_the_gpu_while_control_says_stop(stop, gpu):
    for family, name in ((WINDOW, "window_steps"), (FLOW, "flow_steps")):
        case = make_case(lay_out(MATRICES["square 129"], Plan()), 16)
        case.control[Control.STOP] = stop
        kernel = family.kernels[name]
        values = case.window_arguments(kernel, 3, 2)
        there = [gpu.to_device(v) if isinstance(v, np.ndarray) else v for v in values]
        family[name](*there)
        for argument, before, after in zip(kernel.arguments, values, there, strict=True):
            if argument.direction != "in":
                assert np.array_equal(gpu.to_host(after), before)


FIGURES = {
    "nothing special": Figures(),
    "sufficient decrease": Figures(square=0.01),
    "a longer dual way": Figures(square=0.01, primal_distance=0.25, dual_distance=9.0),
    "no distance": Figures(square=0.01, primal_distance=0.0, dual_distance=9.0),
    "far apart": Figures(square=0.01, primal=1e-9, dual=1e3),
    "primal residual zero": Figures(square=0.01, primal=0.0),
    "negative metric": Figures(square=-0.5),
    "feasible": Figures(primal=1e-5),
    "optimal": Figures(1e-5, 1e-5, 1e-5),
    "broken": Figures(primal=np.nan),
    "infinite": Figures(dual=np.inf),
}


@pytest.mark.parametrize("slots", [1, 7, 5000])
@pytest.mark.parametrize("new_epoch", [False, True])
@pytest.mark.parametrize("figures", FIGURES)
def test_decide_equals_its_twin(figures, new_epoch, slots, gpu):
    control = control_of(
        best_error=np.inf, best_objective=np.inf, best_imbalance=np.inf,
        epoch_iterations=0.0 if new_epoch else 600.0,
    )  # fmt: skip
    rows, columns = sums_of(FIGURES[figures], control)

    def arguments(control: np.ndarray) -> tuple[Any, ...]:
        parts = spread(rows, slots, 1), spread(columns, slots + 3, 2)
        return slots, parts[0], slots + 3, parts[1], 200, control

    assert_equal_twin(DECISIONS, "decide", arguments, (control.copy(), control.copy()), gpu)


@pytest.mark.parametrize("flags", range(8))
@pytest.mark.parametrize(("columns", "rows"), [(1, 5000), (300_000, 3), (0, 0)])
def test_settle_equals_its_twin(columns, rows, flags, gpu):
    control = control_of(restart=flags & 1, keep_best=flags & 2, keep_feasible=flags & 4)

    def arguments(seed: int) -> tuple[Any, ...]:
        generator = np.random.default_rng(seed)
        of_columns = [generator.standard_normal(columns) for _ in range(5)]
        of_rows = [generator.standard_normal(rows) for _ in range(4)]
        return columns, *of_columns, rows, *of_rows, control.copy()

    assert_equal_twin(DECISIONS, "settle", arguments, (1, 1), gpu, 0.0)


def on_gpu(slices: Slices, gpu: Device) -> tuple[Any, ...]:
    return tuple(
        gpu.to_device(value) if isinstance(value, np.ndarray) else value
        for value in slices.arguments
    )


def test_views_that_start_anywhere_are_read_where_they_start(gpu):
    laid = lay_out(MATRICES["square 129"], Plan())
    vector = np.random.default_rng(3).standard_normal(130)
    on_device = gpu.to_device(vector)[1:]
    product = gpu.xp.full(130, POISON)
    MATRIX["multiply"](*on_gpu(laid.by_row, gpu), on_device, product[1:])
    found = gpu.to_host(product)
    assert found[0] == POISON
    np.testing.assert_allclose(found[1:], laid.matrix @ vector[1:], rtol=1e-12, atol=1e-12)


def test_strided_arrays_are_refused(gpu):
    arguments = on_gpu(lay_out(MATRICES["square 32"], Plan()).by_row, gpu)
    strided = gpu.xp.zeros(64)[::2]
    with pytest.raises(TypeError, match="contiguous"):
        MATRIX["multiply"](*arguments, strided, gpu.xp.zeros(32))


@pytest.mark.parametrize("plan", GPU_PLANS)
def test_launches_repeated_give_the_same_bits(plan, gpu):
    slices = lay_out(MATRICES["long row"], PLANS[plan]).by_row
    arguments = on_gpu(slices, gpu)
    vector = gpu.to_device(np.random.default_rng(4).standard_normal(100_000))
    products = [gpu.xp.zeros(slices.rows) for _ in range(20)]
    for product in products:
        MATRIX["multiply"](*arguments, vector, product)
    first = gpu.to_host(products[0])
    assert all(np.array_equal(gpu.to_host(product), first) for product in products)


# Getting ready


class _OnlyMatrix:
    """As much of a problem as laying out reads."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.matrix_csc = matrix.tocsc()


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["square 129", "empty rows", "long row", "large", "one column"])
def test_the_layout_arrives_on_the_gpu(name, packing, gpu):
    matrix = lay_out(MATRICES[name], PLANS["cpu"], packing).matrix
    problem: Any = _OnlyMatrix(matrix)
    here = to_device(problem, PRETENDED_GPU, Plan(), 0)
    there = to_device(problem, gpu, Plan(), 0)
    assert np.array_equal(here.row_order, there.row_order)
    assert np.array_equal(here.column_order, there.column_order)
    for one, other in ((here.by_row, there.by_row), (here.by_column, there.by_column)):
        for array in ("meta", "indices", "values", "table", "splits", "tickets"):
            expected, found = getattr(one, array), gpu.to_host(getattr(other, array))
            assert expected.dtype == found.dtype, array
            assert np.array_equal(expected, found), array


@pytest.mark.parametrize("name", ["square 129", "empty rows", "long row", "large"])
def test_scaling_and_norm_are_those_of_the_host(name, gpu):
    problem = Problem.from_arrays(np.ones(MATRICES[name].shape[1]), MATRICES[name], 0.0, 1.0)
    found = []
    for device in (PRETENDED_GPU, gpu):
        there = place(problem, device, DEFAULT, Progress())
        scaling, norm = there.scaling, spectral_norm(there, DEFAULT, Progress())
        found.append((device.to_host(scaling.row), device.to_host(scaling.column), norm))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-8)


# Whole solves


def solve(problem: Problem, mode: str = "flow", device: str = "cuda", **options: Any) -> Any:
    return pdlp.solve(
        problem,
        EngineOptions(device=device, **options),
        Progress(60.0),
        settings=MODES[mode],
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_gpu_and_cpu_find_the_same_optimum(seed, mode, gpu):
    problem = random_lp(seed, rows=60, columns=90)
    here = solve(problem, mode, device="cpu", tolerance=1e-8)
    there = solve(problem, mode, tolerance=1e-8)
    assert there.device == "cuda"
    for outcome in (here, there):
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert_kkt(problem, outcome, 1e-8)
    assert there.objective == pytest.approx(here.objective, rel=1e-6, abs=1e-6)
    needed = [outcome.statistics["iterations"] for outcome in (here, there)]
    assert max(needed) <= 1.5 * min(needed) + 200


def after_iterations(problem: Problem, settings: Settings, gpu: Device, count: int) -> Any:
    """Return the points of both sides and the control array after so many iterations."""
    options, progress = EngineOptions(tolerance=1e-10, iteration_limit=count), Progress()
    with gpu.activate():
        state = pdlp.prepare(problem, options, gpu, progress, settings=settings)
        pdlp.run(state, options, progress)
        x = state.problem.columns_to_host(state.x.point)
        return x, state.problem.rows_to_host(state.y.point), state.read_control()


@pytest.mark.parametrize("mode", sorted(set(MODES) - {"large model", "launches"}))
def test_ways_to_run_a_window_give_the_same_bits(mode, gpu):
    """The faster way is chosen by the clock, which must have no part in the answer."""
    problem = random_lp(5, rows=300, columns=500, density=0.05)
    one = after_iterations(problem, MODES["launches"], gpu, 1000)
    other = after_iterations(problem, MODES[mode], gpu, 1000)
    for here, there in zip(one, other, strict=True):
        assert np.array_equal(here, there)


def test_the_layout_of_large_models_agrees_to_rounding(gpu):
    problem = random_lp(5, rows=300, columns=500, density=0.05)
    one = after_iterations(problem, MODES["launches"], gpu, 400)
    other = after_iterations(problem, MODES["large model"], gpu, 400)
    for here, there in zip(one, other, strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_gpu_solve_repeated_gives_the_same_bits(mode, gpu):
    problem = random_lp(7, rows=80, columns=100)
    first, second = (solve(problem, mode, tolerance=1e-8) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert counts(first) == counts(second)


@pytest.mark.parametrize("mode", MODES)
def test_a_dense_row_and_column_of_several_units(mode, gpu):
    generator = np.random.default_rng(8)
    size = 40_000
    rows = np.zeros((3, size))
    rows[0] = generator.uniform(0.5, 1.5, size)
    rows[1, ::7] = 1.0
    rows[2, :50] = 1.0
    cost = generator.uniform(-1.0, 1.0, size)
    problem = Problem.from_arrays(cost, rows, -np.inf, [100.0, 50.0, 5.0], upper=1.0)
    outcome = solve(problem, mode, tolerance=1e-5)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-5)
    assert outcome.objective == pytest.approx(solve_with_highs(problem)[1], rel=1e-3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SHAPES)
def test_awkward_shapes_on_the_gpu(name, mode, gpu):
    problem, optimum = SHAPES[name]
    outcome = solve(problem, mode)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(optimum, rel=1e-5, abs=1e-5)
    assert_kkt(problem, outcome, 1e-6)


@pytest.mark.parametrize("name", INFEASIBLE)
def test_infeasible_problems_get_a_proof_on_the_gpu(name, gpu):
    outcome = solve(INFEASIBLE[name])
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None


@pytest.mark.parametrize("name", UNBOUNDED)
def test_unbounded_problems_get_a_ray_on_the_gpu(name, gpu):
    outcome = solve(UNBOUNDED[name])
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert outcome.primal_ray is not None


def test_gpu_warm_start_needs_fewer_iterations(gpu):
    problem = random_lp(9, rows=60, columns=90)
    options = EngineOptions(device="cuda")
    cold = pdlp.solve(problem, options, Progress())
    start = Start(x=cold.x, row_dual=cold.row_dual)
    warm = pdlp.solve(problem, options, Progress(), start)
    assert warm.statistics["iterations"] < cold.statistics["iterations"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 200, 450])
def test_iteration_limit_is_exact_on_the_gpu(limit, mode, gpu):
    outcome = solve(random_lp(9, 40, 60), mode, tolerance=1e-10, iteration_limit=limit)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit


def test_time_limit_on_the_gpu(gpu):
    problem = random_lp(10, rows=60, columns=90)
    outcome = pdlp.solve(problem, EngineOptions(device="cuda", tolerance=1e-10), Progress(0.0))
    assert outcome.stop_reason is StopReason.TIME_LIMIT


def test_interruption_on_the_gpu_returns_the_best_point_so_far(gpu):
    class Interrupting(Progress):
        def iteration(self, count, **figures):
            if count >= 400:
                self.interrupt()

    options = EngineOptions(device="cuda", tolerance=1e-10)
    outcome = pdlp.solve(random_lp(10, 40, 60), options, Interrupting())
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.statistics["iterations"] in (400, 600)  # one more may be under way
    assert (outcome.x if outcome.x is not None else outcome.candidate) is not None


@pytest.mark.parametrize("mode", MODES)
def test_running_a_state_again_goes_on_on_the_gpu(mode, gpu):
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(device="cuda", tolerance=1e-8), Progress()
    results = []
    for stops in ([], [200, 333]):
        with gpu.activate():
            state = pdlp.prepare(problem, options, gpu, progress, settings=MODES[mode])
            for stop in stops:
                first = pdlp.run(state, replace(options, iteration_limit=stop), progress)
                assert first.stop_reason is StopReason.ITERATION_LIMIT
                assert first.statistics["iterations"] == stop
            results.append(pdlp.run(state, options, progress))
    for outcome in results:
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert_kkt(problem, outcome, 1e-8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("times", [1, DEFAULT.breakdowns_allowed, 100])
def test_breakdowns_on_the_gpu(times, mode, gpu):
    problem = random_lp(20, 40, 60)
    options, progress = EngineOptions(device="cuda", tolerance=1e-8), Spoiling(400, times)
    with gpu.activate():
        progress.state = pdlp.prepare(problem, options, gpu, progress, settings=MODES[mode])
        outcome = pdlp.run(progress.state, options, progress)
    if times <= DEFAULT.breakdowns_allowed:
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert_kkt(problem, outcome, 1e-8)
        assert sum("broke down" in line for line in progress.said) == times
    else:
        assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE
        best = outcome.candidate if outcome.x is None else outcome.x
        assert np.all(np.isfinite(best))


@pytest.mark.parametrize("mode", MODES)
def test_a_point_that_only_seemed_optimal_is_rejected_on_the_gpu(mode, gpu):
    problem = random_lp(22, 40, 60)
    options, progress = EngineOptions(device="cuda", tolerance=1e-7), Progress(30.0)
    with gpu.activate():
        state = pdlp.prepare(problem, options, gpu, progress, settings=MODES[mode])
        state.write_control(primal_tolerance=1.0, dual_tolerance=1.0, gap_tolerance=1.0)
        outcome = pdlp.run(state, options, progress)
        control = state.read_control()
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-7)
    assert control[Control.PRIMAL_TOLERANCE] == pytest.approx(1e-7 * DEFAULT.rejection_factor)


def test_out_of_gpu_memory_goes_on_on_the_cpu(gpu, monkeypatch):
    import cupy

    start = importlib.import_module("solvers.pdlp.start")
    said: list[str] = []
    progress = Progress()
    progress.log = said.append  # type: ignore[method-assign]
    real = start.to_device

    def fail_on_gpu(problem, device, *others):
        if device.kind == "cuda":
            raise cupy.cuda.memory.OutOfMemoryError(10**15, 0, 0)
        return real(problem, device, *others)

    monkeypatch.setattr(start, "to_device", fail_on_gpu)
    outcome = pdlp.solve(random_lp(11, 20, 30), EngineOptions(device="cuda"), progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.device == "cpu" == cpu().kind
    assert any("out of memory" in line for line in said)
